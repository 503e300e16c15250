"""What a model leaves unexplained in the cells of some columns together."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.unsigned import Place

Array = NDArray[np.float64]


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
