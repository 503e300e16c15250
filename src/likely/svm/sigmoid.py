"""A probability for the value of one pair of classes: Platt's sigmoid, by Newton's method.

    minimise  −Σ weight · (t log p + (1 − t) log(1 − p)),   p = 1 / (1 + exp(−slope · f − shift))

The truth t of a row counts a little less than one, by Laplace's rule, so that no probability becomes 0 or 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

Array = NDArray[np.float64]

MOST_STEPS, SMALLEST_STEP = 100, 1e-10
RIDGE = 1e-10
DONE = 1e-9

FEW_ROWS = 10
"""Below so many rows of a class, held-out values that point the wrong way are chance: of four rows, three are learned,
and their border lies on the side of the fourth."""


def fit_sigmoid(values: Array, is_later: NDArray[np.bool_], weight: Array) -> tuple[float, float]:
    """Slope (never below zero) and shift; values are taken for log-odds as they are where rows cannot tell.

    That is without rows of both classes, and where there are few of one and they point the wrong way.
    """
    later, earlier = float(weight @ is_later), float(weight @ ~is_later)
    if not (later > 0.0 and earlier > 0.0):
        return 1.0, 0.0
    unit = float(np.sqrt(np.average(np.square(values), weights=weight))) or 1.0
    f = values / unit
    truth = np.where(is_later, (later + 1.0) / (later + 2.0), 1.0 / (earlier + 2.0))
    start = np.array([0.0, np.log((later + 1.0) / (earlier + 1.0))])
    slope, shift = _newton(f, truth, weight, start)
    if slope > 0.0:
        return slope / unit, shift
    n_later = int(np.count_nonzero(is_later))
    return (1.0, 0.0) if min(n_later, len(is_later) - n_later) < FEW_ROWS else (0.0, float(start[1]))


def fit_slope(values: Array, is_later: NDArray[np.bool_], weight: Array) -> tuple[float, float]:
    """A slope without a shift: even odds at zero, because every row has its mirror image."""
    both = np.concatenate([values, -values]), np.concatenate([is_later, ~is_later]), np.concatenate([weight, weight])
    slope, _ = fit_sigmoid(*both)
    return (slope if slope > 0.0 else 1.0), 0.0


def _newton(f: Array, truth: Array, weight: Array, at: Array) -> tuple[float, float]:
    loss = _loss(at, f, truth, weight)
    for _ in range(MOST_STEPS):
        p = expit(at[0] * f + at[1])
        gap, curve = weight * (p - truth), weight * p * (1.0 - p)
        gradient = np.array([gap @ f, gap.sum()])
        if np.abs(gradient).max() < DONE * float(weight.sum()):
            break
        bend = np.array([[curve @ (f * f), curve @ f], [curve @ f, curve.sum()]]) + RIDGE * np.eye(2)
        step = np.linalg.solve(bend, gradient)
        size = 1.0
        while size > SMALLEST_STEP:
            there = at - size * step
            lower = _loss(there, f, truth, weight)
            if lower < loss + 1e-4 * size * float(gradient @ -step):
                break
            size *= 0.5
        else:
            break
        at, loss = there, lower
    return float(at[0]), float(at[1])


def _loss(at: Array, f: Array, truth: Array, weight: Array) -> float:
    logits = at[0] * f + at[1]
    return -float(weight @ (truth * log_expit(logits) + (1.0 - truth) * log_expit(-logits)))
