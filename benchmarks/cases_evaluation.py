"""Cross-validation beside the price of learning and predicting once, and beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from benchmarks.measure import Case
from likely import BayesClassifier, evaluate


def evaluation(scale: float) -> Iterator[Case]:
    """Ten folds of 1,000,000 × 30 numbers, leave-one-out of 100,000 rows. A ratio of 0.33 is three times the price."""
    rng = np.random.default_rng(4)
    n = int(1_000_000 * scale)
    y = rng.integers(0, 5, n)
    X = rng.normal(size=(n, 30)) + 0.1 * y[:, None]
    clf = BayesClassifier().fit(X, y)

    def learn_and_predict() -> None:
        BayesClassifier().fit(X, y).predict_proba(X)

    def measured(cv: object, rows: slice) -> None:
        report = evaluate(clf, X[rows], y[rows], cv=cv)
        assert report.accuracy > 0.2

    everything, few = slice(0, n), slice(0, int(100_000 * scale))
    size = f"{n:,} × 30, 5 classes"
    yield Case(
        f"evaluate, 10 folds, {size}",
        lambda: measured(10, everything),
        learn_and_predict,
        peer_name="one fit and one predict_proba",
        limit=0.33,
        peer_repeats=9,
    )
    yield Case(
        f"evaluate, 10 folds, {size}",
        lambda: measured(10, everything),
        lambda: cross_val_predict(GaussianNB(), X, y, cv=10, method="predict_proba"),
        peer_name="cross_val_predict, GaussianNB",
        peer_repeats=1,
    )
    size = f"{few.stop:,} × 30, 5 classes"
    yield Case(
        f"evaluate, leave-one-out, {size}",
        lambda: measured("loo", few),
        lambda: clf.predict_proba(X[few]),
        peer_name="one predict_proba",
        limit=0.25,
        peer_repeats=9,
    )
    codes = rng.integers(0, 10, (few.stop, 30))
    nominal = BayesClassifier(families="categorical").fit(codes, y[few])
    yield Case(
        f"evaluate, leave-one-out, {few.stop:,} × 30 nominal, 5 classes",
        lambda: evaluate(nominal, codes, y[few], cv="loo").accuracy,
        lambda: nominal.predict_proba(codes),
        peer_name="one predict_proba",
        limit=0.25,
        peer_repeats=9,
    )
