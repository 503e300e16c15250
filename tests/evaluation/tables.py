"""Small tables with everything that can go wrong, and the slow, sure way to hold rows out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from likely import MEstimate
from likely.scorer import remaining_priors

N = 60
rng = np.random.default_rng(0)

LABELS = rng.integers(0, 3, N)
LABELS[0], LABELS[1:3] = 7, 8  # a class with one row, a class with two

WEIGHTS: dict[str, np.ndarray | None] = {
    "none": None,
    "twos": np.full(N, 2.0),
    "whole": np.maximum(rng.integers(0, 4, N), np.arange(N) < 3).astype(float),
    "fractions": rng.random(N) + 0.01,
}


def words() -> dict[str, np.ndarray]:
    """Nominal columns: rare values, one value that a single row has, gaps, a single gap."""
    letters = rng.choice(list("abcdef"), N, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02]).astype(object)
    letters[5], letters[8] = "only", None
    constant = np.full(N, "k", dtype=object)
    constant[3] = None
    return {"letters": letters, "gaps": rng.choice(["x", "y", None], N), "constant": constant}


def numbers(*, gaps: bool) -> np.ndarray:
    """Numeric columns: one constant within a class, one with an outlier that holds nearly all of the spread."""
    X = rng.normal(size=(N, 4)) + LABELS[:, None]
    X[:, 1] = np.where(LABELS == 1, 3.0, X[:, 1])
    X[10, 3] = 1e6
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[20, 1] = np.nan
    return X


def counts(*, gaps: bool = False) -> np.ndarray:
    """Counts: many zeros, and a column that only one row has."""
    X = rng.poisson(0.6, (N, 5)).astype(float)
    X[:, 4] = 0.0
    X[6, 4] = 3.0
    if gaps:
        X[7, 1] = np.nan
    return X


WORDS, NUMBERS, GAPPY, COUNTS, GAPPY_COUNTS = (
    words(),
    numbers(gaps=False),
    numbers(gaps=True),
    counts(),
    counts(gaps=True),
)
SPARSE = sparse.csr_array(COUNTS)
PRIORS: list[Any] = [None, "smoothed", "uniform", {0: 0.3, 1: 0.3, 2: 0.2, 7: 0.1, 8: 0.1}]
SMOOTHINGS = [0, 1, 0.5, MEstimate(3), MEstimate(4, p={"a": 0.5, "b": 0.25, "c": 0.25})]


def take(X: Any, rows: np.ndarray) -> Any:
    return {name: cells[rows] for name, cells in X.items()} if isinstance(X, dict) else X[rows]


def refitted(clf: Any, X: Any, y: np.ndarray, weight: np.ndarray | None, fold: np.ndarray) -> np.ndarray:
    """P(class | row) by a classifier that is fitted anew on the other folds."""
    classes = np.unique(y)
    out = np.zeros((len(y), len(classes)))
    for k in np.unique(fold[fold >= 0]):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        fresh = clone(clf).set_params(priors=remaining_priors(clf.priors, classes, np.unique(y[train])))
        fresh.fit(take(X, train), y[train], None if weight is None else weight[train])
        out[np.ix_(test, np.searchsorted(classes, fresh.classes_))] = fresh.predict_proba(take(X, test))
    return out
