"""Coefficients of all tables at once: least log loss plus half their squared length.

Given rows, a design and the spread believed of each block, the coefficients u come back that minimise
Σ weight · log loss + |u|²/2. A pass over the rows yields slopes per table cell only, so it shards and merges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.evidence.design import Design
from likely.evidence.kernels.steps import inner
from likely.evidence.path import Path
from likely.evidence.rows import Passing

Array = NDArray[np.float64]

MOST_STEPS = 60
SHORTEST = 2.0**-12
LEAST_GAIN = 1e-4
"""Of the slope, what a step must bring: less, and it is halved."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients, what they were multiplied with, and how many passes they took."""

    u: Array
    scales: Array
    base: Array
    passes: int

    def tables(self, design: Design) -> Array:
        return design.tables(self.u, self.scales)


def log_prior(weights: Array) -> Array:
    """Scores before anything is known: log odds for two classes, else log shares; a class without rows is very rare."""
    shares = np.maximum(weights, 1e-3 * weights.max() / len(weights)) / weights.sum()
    logs = np.log(shares)
    return np.asarray(logs[1:] - logs[:1] if len(logs) == 2 else logs)


def solve(rows: Passing, design: Design, scales: Array, start: Array, tolerance: float) -> Fit:
    """Minimise from `start` until a step gains less than `tolerance` per row."""
    weights = rows.class_weights()
    base, total = log_prior(weights), float(weights.sum())
    shares = weights / total
    bend = (shares * (1.0 - shares))[1:] if rows.n_scores == 1 else shares * (1.0 - shares)
    starts = design.starts
    counts = rows.cell_weights(starts, design.n_cells)
    inverse = 1.0 / (1.0 + design.curvature(counts, scales)[:, None] * bend)

    def look(u: Array) -> tuple[float, Array]:
        loss, slope, _ = rows.slope(starts, design.tables(u, scales), base)
        flat = u.ravel()
        return loss + 0.5 * inner(flat, flat), design.slopes(slope, scales) + u

    u, passes = descend(look, start, inverse, tolerance * total)
    return Fit(u, scales, base, passes)


def descend(
    look: Callable[[Array], tuple[float, Array]],
    start: Array,
    inverse: Array,
    enough: float,
    floored: NDArray[np.bool_] | None = None,
) -> tuple[Array, int]:
    """The least value of `look`, from `start` until a step gains less than `enough`; and how often it looked.

    Coordinates that are `floored` stay at zero or above: one that leans on the floor takes no part in a step.
    """
    u = start.copy()
    value, slope = look(u)
    passes, idle = 1, 0
    path = Path(np.ascontiguousarray(inverse.ravel()))
    for _ in range(MOST_STEPS):
        step, descent = path.step(slope.ravel(), None if floored is None else floored & (u <= 0.0))
        if descent >= 0.0:
            if path.is_straight:
                break
            path.forget()
            continue
        length, found = 1.0, None
        while found is None and length > SHORTEST:
            tried = u + length * step.reshape(u.shape)
            if floored is not None:
                tried[floored] = np.maximum(tried[floored], 0.0)
            new_value, new_slope = look(tried)
            passes += 1
            if new_value <= value + LEAST_GAIN * length * descent:
                found = tried
            else:
                length *= 0.5
        if found is None:
            break
        path.remember((found - u).ravel(), (new_slope - slope).ravel())
        idle = idle + 1 if value - new_value < enough else 0
        u, value, slope = found, new_value, new_slope
        if idle == 2 or (idle and length == 1.0):
            break
    return u, passes
