"""Support vector machines beside scikit-learn's SVC, on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from benchmarks.measure import Case
from likely import SVMClassifier

SIZES = ((5_000, 30, 2), (5_000, 100, 10), (15_000, 30, 2))


def svm(scale: float) -> Iterator[Case]:
    """Numbers of two and of ten classes that overlap; theirs come standardised, ours do it themselves."""
    for rows, columns, n_classes in SIZES:
        n = max(int(rows * scale), 200)
        X, y = make_classification(
            n + 20_000, columns, n_informative=columns // 2, n_classes=n_classes, flip_y=0.05, random_state=4
        )
        Z = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
        size = f"{n:,} × {columns}, {n_classes} classes"
        yield Case(
            f"SVMClassifier fit, {size}",
            lambda X=X, y=y, n=n: SVMClassifier().fit(X[:n], y[:n]),  # type: ignore[misc]
            lambda Z=Z, y=y, n=n: SVC().fit(Z[:n], y[:n]),  # type: ignore[misc]
            peer_name="SVC",
            limit=1,
        )
        mine, their = SVMClassifier().fit(X[:n], y[:n]), SVC().fit(Z[:n], y[:n])
        few = n + max(int(20_000 * scale), 200)
        yield Case(
            f"SVMClassifier predict, {few - n:,} rows, {len(mine.support_):,} support vectors, {n_classes} classes",
            lambda X=X, n=n, few=few, mine=mine: mine.predict(X[n:few]),  # type: ignore[misc]
            lambda Z=Z, n=n, few=few, their=their: their.predict(Z[n:few]),  # type: ignore[misc]
            peer_name="SVC",
            limit=3,
        )
    n = max(int(200_000 * scale), 12_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=n) > 0.0).astype(np.int64)
    yield Case(
        f'SVMClassifier(kernel="linear") fit, {n:,} × 50, 2 classes',
        lambda: SVMClassifier(kernel="linear").fit(X, y),
        None,
        "—",
    )
