"""The five drop-ins beside scikit-learn's own, on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn import naive_bayes as theirs

from benchmarks.measure import Case
from likely import naive_bayes as ours


def gaussian(scale: float) -> Iterator[Case]:
    """Numbers: 1,000,000 × 50, five classes."""
    rng = np.random.default_rng(0)
    n = int(1_000_000 * scale)
    y = rng.integers(0, 5, n)
    X = rng.normal(size=(n, 50)) + 0.1 * y[:, None]
    size = f"{n:,} × 50, 5 classes"
    yield Case(
        f"GaussianNB fit, {size}", lambda: ours.GaussianNB().fit(X, y), lambda: theirs.GaussianNB().fit(X, y), limit=20
    )
    yield Case(
        f"GaussianNB fit, {size}",
        lambda: ours.GaussianNB().fit(X, y),
        lambda: X.sum(),
        peer_name="one read: X.sum()",
        limit=0.5,
        peer_repeats=9,
    )
    mine, their = ours.GaussianNB().fit(X, y), theirs.GaussianNB().fit(X, y)
    yield Case(
        f"GaussianNB predict_proba, {size}", lambda: mine.predict_proba(X), lambda: their.predict_proba(X), limit=20
    )


def categorical(scale: float) -> Iterator[Case]:
    """Codes: 1,000,000 × 30 with ten values, and 200,000 × 20 with 1,000 classes."""
    rng = np.random.default_rng(1)
    n = int(1_000_000 * scale)
    X, y = rng.integers(0, 10, (n, 30)), rng.integers(0, 5, n)
    size = f"{n:,} × 30, 10 values, 5 classes"
    yield Case(
        f"CategoricalNB fit, {size}",
        lambda: ours.CategoricalNB().fit(X, y),
        lambda: theirs.CategoricalNB().fit(X, y),
        limit=50,
    )
    mine, their = ours.CategoricalNB().fit(X, y), theirs.CategoricalNB().fit(X, y)
    yield Case(f"CategoricalNB predict_proba, {size}", lambda: mine.predict_proba(X), lambda: their.predict_proba(X))
    few = int(200_000 * scale)
    X_few, many = X[:few, :20], rng.integers(0, 1000, few)
    yield Case(
        f"CategoricalNB fit, {few:,} × 20, 10 values, 1,000 classes",
        lambda: ours.CategoricalNB().fit(X_few, many),
        lambda: theirs.CategoricalNB().fit(X_few, many),
        limit=100,
        peer_repeats=1,
    )


def multinomial(scale: float) -> Iterator[Case]:
    """Sparse counts: 200,000 × 50,000 with 80 cells in a row."""
    rng = np.random.default_rng(2)
    n, columns, per_row = int(200_000 * scale), 50_000, 80
    places = (columns * rng.random((n, per_row)) ** 2).astype(np.int32)
    cells = rng.integers(1, 4, n * per_row).astype(np.float64)
    X = sparse.csr_array(
        (cells, places.ravel(), np.arange(0, n * per_row + 1, per_row, dtype=np.int32)), shape=(n, columns)
    )
    X.sum_duplicates()
    size = f"{n:,} × 50,000 sparse, 80 a row"
    for n_classes, limit, repeats in ((5, 3.0, 9), (20, 3.0, 9), (1000, 20.0, 1)):
        y = rng.integers(0, n_classes, n)
        yield Case(
            f"MultinomialNB fit, {size}, {n_classes:,} classes",
            lambda y=y: ours.MultinomialNB().fit(X, y),
            lambda y=y: theirs.MultinomialNB().fit(X, y),
            limit=limit,
            peer_repeats=repeats,
        )
    y = rng.integers(0, 20, n)
    mine, their = ours.MultinomialNB().fit(X, y), theirs.MultinomialNB().fit(X, y)
    yield Case(
        f"MultinomialNB predict_proba, {size}, 20 classes",
        lambda: mine.predict_proba(X),
        lambda: their.predict_proba(X),
        limit=2,
    )
    many = rng.integers(0, 5000, n)
    yield Case(
        f"MultinomialNB fit, {size}, 5,000 classes",
        lambda: ours.MultinomialNB().fit(X, many),
        None,
        peer_name="(scikit-learn needs 16 GB and more)",
    )
