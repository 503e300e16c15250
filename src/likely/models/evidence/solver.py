"""Coefficients of all tables at once: least log loss plus half their squared length.

Given rows, a design and the spread believed of each block, the coefficients u come back that minimise
Σ weight · log loss + |u|²/2. A pass over the rows yields slopes per table cell only, so it shards and merges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.design import Design
from likely.models.evidence.row_source import RowSource

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


def solve(rows: RowSource, design: Design, scales: Array, start: Array, tolerance: float) -> Fit:
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
    path = LBFGSHistory(np.ascontiguousarray(inverse.ravel()))
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


# The way down so far: what the last moves did to the slope tells how the ground bends (L-BFGS).

MEMORY = 8
FLAT = 1e-15


class LBFGSHistory:
    """The last few moves, and a diagonal to begin with."""

    def __init__(self, inverse: Array) -> None:
        self.inverse = inverse
        self.moves, self.turns = np.empty((MEMORY, inverse.size)), np.empty((MEMORY, inverse.size))
        self.order: list[int] = []

    @property
    def is_straight(self) -> bool:
        """Whether there is nothing to be forgotten."""
        return not self.order

    def forget(self) -> None:
        """Begin anew from here."""
        self.order.clear()

    def step(self, slope: Array, on_floor: NDArray[np.bool_] | None) -> tuple[Array, float]:
        """Where to go, and how steep it is there. A coordinate on the floor that would go below it stays."""
        held = None if on_floor is None else on_floor & (slope > 0.0)
        if held is not None:
            slope = np.where(held, 0.0, slope)
        step = direction(slope, self.moves, self.turns, np.array(self.order, dtype=np.int64), self.inverse)
        if held is not None:
            step[held] = 0.0
        return step, inner(step, slope)

    def remember(self, move: Array, turn: Array) -> None:
        """A move and how the slope turned; of no use where the ground does not bend upwards."""
        if inner(move, turn) > FLAT * inner(turn, turn):
            place = self.order.pop(0) if len(self.order) == MEMORY else len(self.order)
            self.moves[place], self.turns[place] = move, turn
            self.order.append(place)


# The direction of a quasi-Newton step.


@numba.njit(nogil=True, cache=True)
def inner(a: Array, b: Array) -> float:
    """Σ a b, always in the same order: four sums side by side."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = len(a) - len(a) % 4
    for i in range(0, n, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n, len(a)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@numba.njit(nogil=True, cache=True)
def direction(slope: Array, moves: Array, turns: Array, order: NDArray[np.int64], inverse: Array) -> Array:
    """Down the slope, bent by the last moves and what they did to the slope; `inverse` is a diagonal to begin with.

    All arrays are flat; `order` lists the places of remembered moves, the oldest first.
    """
    out = -slope
    kept = len(order)
    alpha = np.empty(kept)
    rho = np.empty(kept)
    for place in range(kept - 1, -1, -1):
        k = order[place]
        rho[place] = 1.0 / inner(moves[k], turns[k])
        alpha[place] = rho[place] * inner(moves[k], out)
        for i in range(len(out)):
            out[i] -= alpha[place] * turns[k, i]
    scale = 1.0
    if kept > 0:  # the diagonal knows no correlations: the last move tells how much shorter steps must be
        k = order[kept - 1]
        bent = 0.0
        for i in range(len(out)):
            bent += turns[k, i] * turns[k, i] * inverse[i]
        scale = 1.0 / (rho[kept - 1] * bent)
    for i in range(len(out)):
        out[i] *= scale * inverse[i]
    for place in range(kept):
        k = order[place]
        beta = rho[place] * inner(turns[k], out)
        for i in range(len(out)):
            out[i] += (alpha[place] - beta) * moves[k, i]
    return out
