"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from likely import TreeClassifier


@parametrize_with_checks([TreeClassifier(), TreeClassifier(missing="surrogates", prune=("confidence", 0.5))])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_is_an_estimator() -> None:
    with pytest.raises(TypeError):
        TreeClassifier("gini")  # type: ignore[misc]
