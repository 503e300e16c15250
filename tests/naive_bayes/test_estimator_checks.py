"""scikit-learn's checks of the estimator contract."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

ESTIMATORS = [BernoulliNB(), CategoricalNB(), ComplementNB(), GaussianNB(), MultinomialNB()]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)
