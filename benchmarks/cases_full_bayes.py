"""Full Bayes beside scikit-learn's discriminant analysis, on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from benchmarks.measure import Case
from likely import FullBayesClassifier


def full_bayes(scale: float) -> Iterator[Case]:
    """Numbers that depend on each other: 500,000 × 50, five classes."""
    rng = np.random.default_rng(3)
    n = int(500_000 * scale)
    y = rng.integers(0, 5, n)
    X = rng.normal(size=(n, 50)) @ (np.eye(50) + 0.1 * rng.normal(size=(50, 50))) + 0.1 * y[:, None]
    size = f"{n:,} × 50, 5 classes"
    yield Case(
        f"FullBayesClassifier fit, {size}",
        lambda: FullBayesClassifier().fit(X, y),
        lambda: QuadraticDiscriminantAnalysis().fit(X, y),
        peer_name="QDA",
        limit=2,
    )
    mine, their = FullBayesClassifier().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    yield Case(
        f"FullBayesClassifier predict, {size}",
        lambda: mine.predict(X),
        lambda: their.predict(X),
        peer_name="QDA",
        limit=2,
        peer_repeats=5,
    )
    yield Case(
        f"FullBayesClassifier predict_proba, {size}",
        lambda: mine.predict_proba(X),
        lambda: their.predict_proba(X),
        peer_name="QDA",
        limit=2,
        peer_repeats=5,
    )
    yield Case(
        f'FullBayesClassifier(covariance="pooled") fit, {size}',
        lambda: FullBayesClassifier(covariance="pooled").fit(X, y),
        lambda: LinearDiscriminantAnalysis().fit(X, y),
        peer_name="LDA",
    )
    pooled, linear = FullBayesClassifier(covariance="pooled").fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    yield Case(
        f'FullBayesClassifier(covariance="pooled") predict_proba, {size}',
        lambda: pooled.predict_proba(X),
        lambda: linear.predict_proba(X),
        peer_name="LDA",
    )
    holed = np.where(rng.random((n, 1)) < 0.3, np.where(np.arange(50) % 17 == 3, np.nan, X), X)
    yield Case(
        f"FullBayesClassifier fit, {size}, 30 % of rows with gaps",
        lambda: FullBayesClassifier().fit(holed, y),
        None,
        "—",
    )
    yield Case(
        f"FullBayesClassifier predict_proba, {size}, 30 % of rows with gaps",
        lambda: mine.predict_proba(holed),
        None,
        "—",
    )
