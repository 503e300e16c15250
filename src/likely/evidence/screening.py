"""Which columns say more together than apart: ranked by what a model without them leaves unexplained."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from likely.evidence.frame import Grain
from likely.evidence.kernels.passes import residuals
from likely.evidence.kernels.screening import unexplained
from likely.evidence.rows import Rows

Array = NDArray[np.float64]

PRIOR = 2.0
TASKS = 16
MOST_WORK = {2: 1 << 28, 3: 1 << 25}
"""Rows × scores × pairs, or triples, that are looked at: of a wide table the columns that say most are combined."""


def candidates(grain: Grain, importance: Array, order: int, work_per_term: int) -> NDArray[np.int32]:
    """All pairs (order 2) or triples (3) of the columns that have something to say, as many as can be tried."""
    columns = np.flatnonzero(grain.widths > 2)
    columns = columns[np.argsort(-importance[columns], kind="stable")]
    most = len(columns)
    while most > order and _count(most, order) * work_per_term > MOST_WORK[order]:
        most -= 1
    chosen = sorted(columns[:most].tolist())
    return np.array(list(combinations(chosen, order)), dtype=np.int32).reshape(-1, order)


def _count(n: int, order: int) -> int:
    return n * (n - 1) // 2 if order == 2 else n * (n - 1) * (n - 2) // 6


def unexplained_by(rows: Rows, grain: Grain, terms: NDArray[np.int32], scores: Array) -> Array:
    """How much each term could explain: Σ (G² − H)/(H + 2) of its cells, given the scores that rows have now."""
    wrong = scores.copy()
    residuals(wrong, rows.y, rows.weight)
    bend = _bend(wrong, rows)
    by_column = np.ascontiguousarray(grain.codes(rows.codes).T)
    out = np.empty(len(terms))
    bounds = [len(terms) * k // TASKS for k in range(TASKS + 1)]

    def one(k: int) -> None:
        part = slice(bounds[k], bounds[k + 1])
        unexplained(by_column, grain.widths, terms[part], wrong, bend, PRIOR, out[part])

    rows.crew.do(one, range(TASKS))
    return out


def _bend(wrong: Array, rows: Rows) -> Array:
    """weight · p (1 − p), from weight · (p − truth)."""
    share = wrong.copy()
    if wrong.shape[1] == 1:
        share[:, 0] += rows.weight * rows.y
    else:
        share[np.arange(len(rows)), rows.y] += rows.weight
    weight = np.where(rows.weight > 0.0, rows.weight, 1.0)[:, None]
    return np.asarray(share * (1.0 - share / weight))
