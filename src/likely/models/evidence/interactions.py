"""Which columns say more together than apart: ranked by what a model without them leaves unexplained."""

from __future__ import annotations

from itertools import combinations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.encoding import Resolution
from likely.models.evidence.kernels import residuals
from likely.models.evidence.row_source import Rows
from likely.numerics import Place

PRIOR = 2.0
TASKS = 16
MOST_WORK = {2: 1 << 28, 3: 1 << 25}
"""Rows × scores × pairs, or triples, that are looked at: of a wide table the columns that say most are combined."""


def candidates(grain: Resolution, importance: Array, order: int, work_per_term: int) -> NDArray[np.int32]:
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


def unexplained_by(rows: Rows, grain: Resolution, terms: NDArray[np.int32], scores: Array) -> Array:
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


# What a model leaves unexplained in the cells of some columns together.


@numba.njit(nogil=True, cache=True)
def unexplained(
    codes: NDArray[np.uint8],
    widths: NDArray[np.int32],
    terms: NDArray[np.int32],
    wrong: Array,
    bend: Array,
    prior: float,
    out: Array,
) -> None:
    """Σ (G² − H)/(H + prior) over cells and classes for each term; G sums `wrong`, H sums `bend`.

    `codes` is columns × rows, `wrong` and `bend` are rows × scores; a term is a line of two or three columns.
    """
    n_rows, n_scores = wrong.shape
    most = 0
    for k in range(len(terms)):
        n_cells = 1
        for a in terms[k]:
            n_cells *= widths[a]
        most = max(most, n_cells)
    g = np.empty((most, n_scores))
    h = np.empty((most, n_scores))
    cells = np.empty(n_rows, dtype=np.uint32)  # three bytes at most: a term is of two or three columns
    for k in range(len(terms)):
        cells[:] = 0
        n_cells = 1
        for a in terms[k]:
            width = widths[a]
            n_cells *= width
            for i in range(n_rows):
                cells[i] = cells[i] * np.uint32(width) + np.uint32(codes[a, i])
        g[:n_cells] = 0.0
        h[:n_cells] = 0.0
        _gather(cells, wrong, g)
        _gather(cells, bend, h)
        total = 0.0
        for cell in range(n_cells):
            for c in range(n_scores):
                total += (g[cell, c] * g[cell, c] - h[cell, c]) / (h[cell, c] + prior)
        out[k] = total


@numba.njit(nogil=True, cache=True)
def _gather(cells: NDArray[np.uint32], rows: Array, out: Array) -> None:
    """Add each row to its cell."""
    n_scores = rows.shape[1]
    if n_scores == 1:
        for i in range(len(cells)):
            out[Place(cells[i]), 0] += rows[i, 0]
        return
    for i in range(len(cells)):
        cell = Place(cells[i])
        for c in range(n_scores):
            out[cell, c] += rows[i, c]
