"""Classifiers for raw tables, as scikit-learn estimators."""

from __future__ import annotations

from likely.estimators.bayes import BayesClassifier
from likely.estimators.full import FullBayesClassifier

__all__ = ["BayesClassifier", "FullBayesClassifier"]
