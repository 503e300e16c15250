"""Classifiers for raw tables, as scikit-learn estimators."""

from __future__ import annotations

from likely.models.bayes.classifier import BayesClassifier
from likely.models.bayes.full import FullBayesClassifier

__all__ = ["BayesClassifier", "FullBayesClassifier"]
