"""Beyond naive: pairs and bins beside histogram gradient boosting, which is what users would take instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.measure import Case
from likely import AODEClassifier, BayesClassifier


def beyond(scale: float) -> Iterator[Case]:
    """Numbers: 200,000 × 30, three classes."""
    rng = np.random.default_rng(5)
    n = int(200_000 * scale)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 30)) + 0.2 * y[:, None]
    size = f"{n:,} × 30, 3 classes"
    boosted = HistGradientBoostingClassifier(max_iter=20)
    peer = "HistGradientBoosting, 20 rounds"
    yield Case(
        f'BayesClassifier(families="bins") fit, {size}',
        lambda: BayesClassifier(families="bins").fit(X, y),
        lambda: boosted.fit(X, y),
        peer_name=peer,
        peer_repeats=2,
    )
    yield Case(
        f"AODEClassifier fit, {size}",
        lambda: AODEClassifier().fit(X, y),
        lambda: boosted.fit(X, y),
        peer_name=peer,
        peer_repeats=2,
    )
    mine = AODEClassifier().fit(X, y)
    boosted.fit(X, y)
    yield Case(
        f"AODEClassifier predict_proba, {size}",
        lambda: mine.predict_proba(X),
        lambda: boosted.predict_proba(X),
        peer_name=peer,
    )
