"""Screening of interactions: terms are ranked by a score test of the residuals that a model without them leaves."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.encoding import Resolution
from likely.models.evidence.kernels import residuals
from likely.models.evidence.row_source import Rows
from likely.numerics import Place

PRIOR_PRECISION = 2.0
N_TASKS = 16
MAX_WORK = {2: 1 << 28, 3: 1 << 25}
"""Rows × scores × pairs, or triples, that are screened: of a wide table the most important columns are combined."""


def candidate_terms(resolution: Resolution, importance: Array, order: int, work_per_term: int) -> NDArray[np.int32]:
    """All pairs (order 2) or triples (3) of the most important columns, of as many columns as the work allows."""
    columns = np.flatnonzero(resolution.widths > 2)
    columns = columns[np.argsort(-importance[columns], kind="stable")]
    n = len(columns)
    while n > order and comb(n, order) * work_per_term > MAX_WORK[order]:
        n -= 1
    return np.array(list(combinations(sorted(columns[:n].tolist()), order)), dtype=np.int32).reshape(-1, order)


def screening_scores(rows: Rows, resolution: Resolution, terms: NDArray[np.int32], scores: Array) -> Array:
    """Σ (G² − H)/(H + 2) over the cells and classes of each term: about the gain of one Newton step per cell.

    G = observed − expected weight of a class in a cell, H = Σ weight · p (1 − p), given the present scores of rows.
    """
    residual = scores.copy()
    residuals(residual, rows.y, rows.weight)
    hessian = _hessian(residual, rows)
    by_column = np.ascontiguousarray(resolution.codes(rows.codes).T)
    out = np.empty(len(terms))
    bounds = [len(terms) * k // N_TASKS for k in range(N_TASKS + 1)]

    def screen(k: int) -> None:
        part = slice(bounds[k], bounds[k + 1])
        score_test(by_column, resolution.widths, terms[part], residual, hessian, PRIOR_PRECISION, out[part])

    rows.pool.do(screen, range(N_TASKS))
    return out


def _hessian(residual: Array, rows: Rows) -> Array:
    """weight · p (1 − p), from weight · (p − [class is true])."""
    expected = residual.copy()
    if residual.shape[1] == 1:
        expected[:, 0] += rows.weight * rows.y
    else:
        expected[np.arange(len(rows)), rows.y] += rows.weight
    weight = np.where(rows.weight > 0.0, rows.weight, 1.0)[:, None]
    return np.asarray(expected * (1.0 - expected / weight))


@numba.njit(nogil=True, cache=True)
def score_test(
    codes: NDArray[np.uint8],
    widths: NDArray[np.int32],
    terms: NDArray[np.int32],
    residual: Array,
    hessian: Array,
    prior_precision: float,
    out: Array,
) -> None:
    """Σ (G² − H)/(H + prior precision) of each term; G sums `residual` by cell, H sums `hessian`.

    `codes` is columns × rows, `residual` and `hessian` are rows × scores; a term is a line of two or three columns.
    """
    n_rows, n_scores = residual.shape
    max_cells = 0
    for k in range(len(terms)):
        n_cells = 1
        for a in terms[k]:
            n_cells *= widths[a]
        max_cells = max(max_cells, n_cells)
    g = np.empty((max_cells, n_scores))
    h = np.empty((max_cells, n_scores))
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
        _sum_by_cell(cells, residual, g)
        _sum_by_cell(cells, hessian, h)
        total = 0.0
        for cell in range(n_cells):
            for c in range(n_scores):
                total += (g[cell, c] * g[cell, c] - h[cell, c]) / (h[cell, c] + prior_precision)
        out[k] = total


@numba.njit(nogil=True, cache=True)
def _sum_by_cell(cells: NDArray[np.uint32], rows: Array, out: Array) -> None:
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
