"""Weighted naive Bayes against a slow version that really leaves each row out."""

from __future__ import annotations

import numpy as np
import pytest

from likely.models.evidence.kernels import class_counts
from likely.models.evidence.row_source import RowsInMemory
from likely.models.evidence.stacking import stack
from likely.models.evidence.weighted_nb import SMOOTHING, fit_feature_weights, leave_one_out_loss, log_conditionals
from likely.parallel import WorkerPool

rng = np.random.default_rng(1)
SIZES = [4, 3]
STARTS = np.array([0, 4], dtype=np.int32)


def made(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % n_classes
    codes = np.stack([np.clip(rng.integers(0, 3, n) + (y % 2), 1, 3), rng.integers(1, 3, n)], axis=1)
    return codes.astype(np.uint8), y.astype(np.int32)


def slow_loss(codes: np.ndarray, y: np.ndarray, n_classes: int, weights: np.ndarray, base: np.ndarray) -> float:
    """Each row judged by counts without it; how common a value is over all classes stays."""
    total = 0.0
    n = len(y)
    for i in range(n):
        rest = np.arange(n) != i
        scores = base.copy()
        for j, size in enumerate(SIZES):
            share = (codes[:, j] == codes[i, j]).mean()
            for c in range(n_classes):
                held = rest & (y == c)
                count = (codes[held, j] == codes[i, j]).sum()
                scores[c] += weights[j] * np.log((count + SMOOTHING * share) / (held.sum() + SMOOTHING))
            assert size > codes[i, j]
        total += np.log(np.exp(scores).sum()) - scores[y[i]]
    return total


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_row_is_judged_without_itself(n_classes: int) -> None:
    codes, y = made(42, n_classes)
    weights = np.array([0.7, 1.3])
    counts = np.zeros((7, n_classes))
    class_counts(codes, STARTS, y, np.ones(42), counts)
    classes = np.bincount(y).astype(float)
    tables, without = log_conditionals(counts, STARTS, classes, 0.0), log_conditionals(counts, STARTS, classes, 1.0)
    without[counts <= 0.0] = tables[counts <= 0.0]
    base = np.array([0.3]) if n_classes == 2 else np.array([0.1, -0.2, 0.4])
    n_scores = len(base)

    def look(w: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        slope, base_slope = np.empty(2), np.empty(n_scores)
        nothing = np.zeros((42, 0))
        loss = leave_one_out_loss(
            codes, STARTS, tables, without, nothing, y, np.ones(42), w, b, 0, 42, slope, base_slope
        )
        return loss, slope, base_slope

    loss, slope, base_slope = look(weights, base)
    full = np.array([0.0, 0.3]) if n_classes == 2 else base
    assert loss == pytest.approx(slow_loss(codes, y, n_classes, weights, full), rel=1e-10)
    for j in range(2):
        step = np.eye(2)[j] * 1e-6
        found = (look(weights + step, base)[0] - look(weights - step, base)[0]) / 2e-6
        assert found == pytest.approx(slope[j], abs=1e-5)
    step = np.eye(n_scores)[0] * 1e-6
    assert (look(weights, base + step)[0] - loss) / 1e-6 == pytest.approx(base_slope[0], abs=1e-3)


def test_what_is_said_twice_counts_less() -> None:
    codes, y = made(300, 2)
    twice = np.concatenate([codes, codes[:, :1]], axis=1)
    rows = RowsInMemory(twice, y, np.ones(300), 2, np.zeros((0, 1)), WorkerPool(1))
    once = RowsInMemory(codes, y, np.ones(300), 2, np.zeros((0, 1)), WorkerPool(1))
    alone = fit_feature_weights(once, STARTS, 7, 1e-9)
    both = fit_feature_weights(rows, np.array([0, 4, 7], dtype=np.int32), 11, 1e-9)
    assert both.feature_weights[0] == pytest.approx(both.feature_weights[2], rel=1e-3)
    assert both.feature_weights[0] < 0.7 * alone.feature_weights[0]
    assert (both.feature_weights >= 0.0).all()


def test_a_mixture_trusts_the_better_expert_and_cools_the_loud_one() -> None:
    y = rng.integers(0, 2, 4000).astype(np.int32)
    good = (2.0 * y - 1.0 + rng.logistic(size=4000))[:, None]
    noise = rng.normal(size=(4000, 1))
    shares = stack([good, noise], y, np.ones(4000), 0)
    assert shares[0] > 5 * shares[1]
    assert (shares >= 0.0).all()
    loud = stack([10.0 * good], y, np.ones(4000), 0)
    assert loud[0] < 0.5
