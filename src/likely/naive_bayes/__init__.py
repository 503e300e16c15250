"""scikit-learn's five naive Bayes classifiers, with its parameters and attributes, on likely's statistics.

Replacing `from sklearn.naive_bayes import …` by `from likely.naive_bayes import …` is all there is to do.
"""

from __future__ import annotations

from likely.naive_bayes.bernoulli import BernoulliNB
from likely.naive_bayes.categorical import CategoricalNB
from likely.naive_bayes.discrete import ComplementNB, MultinomialNB
from likely.naive_bayes.gaussian import GaussianNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
