"""Decision trees beside scikit-learn's, on the same rows; nominal columns go through one-hot encoding there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import Case
from likely import TreeClassifier

ONE_HOT = "one-hot + DecisionTreeClassifier"


def trees(scale: float) -> Iterator[Case]:
    """Numbers: 200,000 × 20, three classes; categories and both: 100,000 rows. At least two cases in a leaf."""
    yield from numeric(scale)
    yield from nominal(scale)


def numeric(scale: float) -> Iterator[Case]:
    """Exact growth, growth in bins, prediction."""
    rng = np.random.default_rng(0)
    n = int(200_000 * scale)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 20)) + 0.5 * y[:, None] * (np.arange(20) < 8)
    size = f"{n:,} × 20, 3 classes"
    ours = TreeClassifier(prune=None, measure="information_gain")
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    yield Case(f"TreeClassifier fit, {size}", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), limit=0.77)
    for min_cases in (2, 50):
        binned = TreeClassifier(prune=None, measure="information_gain", min_cases=min_cases, binned=True)
        exact = TreeClassifier(prune=None, measure="information_gain", min_cases=min_cases)
        yield Case(
            f"TreeClassifier(binned=True) fit, {size}, {min_cases} cases in a leaf",
            lambda binned=binned: binned.fit(X, y),
            lambda exact=exact: exact.fit(X, y),
            peer_name="the same, exact",
            limit=3,
        )
    ours.fit(X, y)
    theirs.fit(X, y)
    yield Case(f"TreeClassifier predict, {size}", lambda: ours.predict(X), lambda: theirs.predict(X), limit=1)
    yield Case(
        f"TreeClassifier predict_proba, {size}", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), limit=1
    )


def nominal(scale: float) -> Iterator[Case]:
    """Strings, and strings beside numbers, as pandas holds them."""
    rng = np.random.default_rng(1)
    n = int(100_000 * scale)
    y = rng.integers(0, 3, n)
    words = np.array([f"value {k}" for k in range(12)])
    table = {f"c{j}": words[np.minimum(rng.poisson(2 + 0.7 * y * (j < 4)), 11)] for j in range(10)}
    categories = pd.DataFrame(table)
    numbers = {f"n{j}": rng.normal(size=n) + 0.5 * y * (j < 4) for j in range(8)}
    mixed = pd.DataFrame({**numbers, **table})
    for name, frame in (("10 strings", categories), ("8 numbers, 10 strings", mixed)):
        strings = [column for column in frame if column.startswith("c")]
        encoder = make_column_transformer((OneHotEncoder(), strings), remainder="passthrough")
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
        peer, own = make_pipeline(encoder, tree), TreeClassifier(prune=None, measure="information_gain")
        size = f"{n:,} rows, {name} (pandas)"
        yield Case(
            f"TreeClassifier fit, {size}",
            lambda own=own, frame=frame: own.fit(frame, y),
            lambda peer=peer, frame=frame: peer.fit(frame, y),
            peer_name=ONE_HOT,
            limit=1,
            peer_repeats=1,
        )
        own.fit(frame, y)
        peer.fit(frame, y)
        yield Case(
            f"TreeClassifier predict, {size}",
            lambda own=own, frame=frame: own.predict(frame),
            lambda peer=peer, frame=frame: peer.predict(frame),
            peer_name=ONE_HOT,
            limit=1,
        )
