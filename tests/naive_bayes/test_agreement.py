"""The same numbers as scikit-learn on random data: attributes and probabilities to 1e-10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.naive_bayes as theirs
from scipy import sparse

import likely.naive_bayes as ours

RTOL = 1e-10
N_ROWS, N_COLUMNS = 400, 7
NAMES = ("GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB")
ATTRIBUTES = (
    "classes_",
    "class_count_",
    "class_prior_",
    "class_log_prior_",
    "epsilon_",
    "theta_",
    "var_",
    "feature_all_",
    "feature_count_",
    "feature_log_prob_",
    "category_count_",
    "n_categories_",
    "n_features_in_",
    "feature_names_in_",
)
PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")


def rows(name: str, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(7)
    if name == "GaussianNB":
        return (rng.normal(size=(N_ROWS, N_COLUMNS)) * [1, 2, 5, 0.1, 1, 30, 1] + 3).astype(dtype)
    return rng.poisson(1.3, size=(N_ROWS, N_COLUMNS)).astype(dtype)


def labels(n_classes: int = 4) -> Any:
    return np.random.default_rng(8).integers(0, n_classes, N_ROWS)


def weights() -> Any:
    return np.random.default_rng(9).gamma(1.0, size=N_ROWS)


def same(a: Any, b: Any, rtol: float = RTOL) -> None:
    if isinstance(b, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other, rtol)
        return
    assert np.asarray(a).dtype == np.asarray(b).dtype
    if np.asarray(b).dtype.kind in "OU":
        np.testing.assert_array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def agree(mine: Any, other: Any, X: Any, rtol: float = RTOL, without: tuple[str, ...] = ()) -> None:
    """All attributes that scikit-learn has, and all predictions."""
    found = [name for name in ATTRIBUTES if hasattr(other, name) and name not in without]
    assert len(found) >= 4
    for name in found:
        same(getattr(mine, name), getattr(other, name), rtol)
    for name in PREDICTIONS:
        same(getattr(mine, name)(X), getattr(other, name)(X), rtol)


def pair(name: str, **parameters: Any) -> tuple[Any, Any]:
    return getattr(ours, name)(**parameters), getattr(theirs, name)(**parameters)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [1, 2, 4, 30])
@pytest.mark.parametrize("name", NAMES)
def test_fit(name: str, n_classes: int, weighted: bool) -> None:
    X, y, w = rows(name), labels(n_classes), weights() if weighted else None
    mine, other = pair(name)
    agree(mine.fit(X, y, sample_weight=w), other.fit(X, y, sample_weight=w), X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_partial_fit_in_three_batches(name: str, weighted: bool) -> None:
    X, y, w = rows(name), labels(), weights()
    mine, other = pair(name)
    # One class never comes. Theirs gives it, and all, the epsilon of the last batch: see below.
    classes = np.arange(4 if name == "GaussianNB" else 5)
    for batch in np.array_split(np.arange(N_ROWS), [10, 150]):
        own = {"sample_weight": w[batch]} if weighted else {}
        for clf in (mine, other):
            clf.partial_fit(X[batch], y[batch], classes=classes, **own)
    if name == "GaussianNB":
        other.fit(X, y, sample_weight=w if weighted else None)
    # Theirs takes the number of categories from the last batch, too.
    agree(mine, other, X, without=("n_categories_",))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_sparse(name: str, dtype: Any, container: Any) -> None:
    X, y = container(rows(name, dtype)), labels()
    mine, other = pair(name)
    # Where theirs multiplies in float32, only so much agrees.
    agree(mine.fit(X, y, weights()), other.fit(X, y, weights()), X, rtol=1e-5 if dtype == np.float32 else RTOL)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.uint16, np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", NAMES)
def test_types_and_orders(name: str, dtype: Any, order: Any) -> None:
    X, y = np.asarray(rows(name, dtype), order=order), labels()
    if dtype == np.bool_:
        X = np.asarray(rows(name) > 1, order=order)
    mine, other = pair(name)
    if name == "GaussianNB" and dtype == np.float32 and sklearn.__version__ < "1.8":
        pytest.skip("scikit-learn counts rows in their own type from 1.8 on")
    agree(mine.fit(X, y), other.fit(X, y), X, rtol=2e-5 if dtype == np.float32 else RTOL)


@pytest.mark.parametrize("given", [pd.DataFrame, lambda X: X.tolist()])
@pytest.mark.parametrize("name", NAMES)
def test_frames_and_lists(name: str, given: Any) -> None:
    X, y = given(rows(name)), np.array(["d", "a", "ccc", "b"])[labels()]
    if isinstance(X, pd.DataFrame):
        X.columns = [f"column {k}" for k in range(N_COLUMNS)]
    mine, other = pair(name)
    agree(mine.fit(X, y), other.fit(X, y), X)


SETTINGS = {
    "GaussianNB": [{"priors": [0.1, 0.2, 0.3, 0.4]}, {"var_smoothing": 0.3}, {"var_smoothing": 0.0}],
    "MultinomialNB": [],
    "ComplementNB": [{"norm": True}, {"norm": True, "alpha": np.arange(1.0, 8.0)}],
    "BernoulliNB": [{"binarize": 1.5}, {"binarize": 1}, {"binarize": 3.0}],
    "CategoricalNB": [{"min_categories": 12}, {"min_categories": [12, 1, 30, 9, 9, 9, 9]}],
}
COUNTS = [
    {"alpha": 0.01},
    {"alpha": 0, "force_alpha": False},
    {"fit_prior": False},
    {"class_prior": [0.1, 0.2, 0.3, 0.4]},
]
ARRAYS = [{"alpha": np.arange(1.0, 8.0)}, {"alpha": np.r_[0.0, np.arange(1.0, 7.0)], "force_alpha": False}]


@pytest.mark.filterwarnings("ignore:alpha too small")
@pytest.mark.parametrize(
    ("name", "parameters"),
    [(name, setting) for name in NAMES for setting in SETTINGS[name]]
    + [(name, setting) for name in NAMES[1:] for setting in COUNTS]
    # Theirs cannot add an array of pseudo counts to the class counts of BernoulliNB: see `test_edges`.
    + [(name, setting) for name in ("MultinomialNB", "ComplementNB") for setting in ARRAYS],
)
def test_parameters(name: str, parameters: dict[str, Any]) -> None:
    X, y = rows(name), labels()
    mine, other = pair(name, **parameters)
    agree(mine.fit(X, y), other.fit(X, y), X)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_bernoulli_without_threshold(container: Any) -> None:
    """Binary cells, and shares of presence between 0 and 1."""
    for X in (rows("BernoulliNB") > 1, np.random.default_rng(1).random((N_ROWS, N_COLUMNS))):
        X = container(X.astype(np.float64))
        mine, other = pair("BernoulliNB", binarize=None)
        agree(mine.fit(X, labels()), other.fit(X, labels()), X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.3}])
def test_many_classes_and_columns_stay_sparse(name: str, parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = sparse.random_array((600, 30_000), density=1e-3, format="csr", rng=rng)
    X.data = np.ceil(3 * X.data)
    y = rng.integers(0, 150, 600)
    mine, other = pair(name, **parameters)
    mine.fit(X, y), other.fit(X, y)
    assert sparse.issparse(mine._seen[1].table)
    agree(mine, other, X)
    agree(mine, other, X.toarray()[:50])


def test_complement_norm_with_many_classes() -> None:
    rng = np.random.default_rng(3)
    X = sparse.random_array((300, 30_000), density=1e-3, format="csr", rng=rng)
    y = rng.integers(0, 150, 300)
    mine, other = pair("ComplementNB", norm=True)
    agree(mine.fit(X, y), other.fit(X, y), X)
