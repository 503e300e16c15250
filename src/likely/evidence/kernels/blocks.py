"""From coefficients to tables and back. A block's table is scale · A U Bᵀ, with A and B its two bases.

A block of one column has no B. Row 0 of a basis belongs to the code that says nothing, and is zero. A basis of which
nothing is stored (place −1) is the identity below that row. A line of `shape` has the start of the table, rows and
rank of A, rows and rank of B, the start of u, and the places of A and of B among the stored bases.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.steps import inner

Array = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def expand(shape: NDArray[np.int64], bases: Array, scales: Array, u: Array, out: Array) -> None:
    """Tables (cells × classes) of coefficients (coefficients × classes)."""
    n_classes, flat = u.shape[1], u.reshape(-1)
    out[:] = 0.0
    for k in range(len(shape)):
        start, rows_a, rank_a, rows_b, rank_b, at, place_a, place_b = shape[k]
        half = np.empty((rank_b, n_classes))
        width = rank_b * n_classes
        block = flat[at * n_classes : at * n_classes + rank_a * width]
        for a in range(1, rows_a):
            if place_a < 0:
                half.reshape(-1)[:] = block[(a - 1) * width : a * width]
            else:
                _across(bases[place_a + a * rank_a : place_a + (a + 1) * rank_a], block, half.reshape(-1))
            if rows_b == 1:
                for c in range(n_classes):
                    out[start + a, c] = scales[k] * half[0, c]
            else:
                _along(bases, place_b, rows_b, scales[k], half, start + a * rows_b, out)


@numba.njit(nogil=True, cache=True)
def pull_back(shape: NDArray[np.int64], bases: Array, scales: Array, slope: Array, out: Array) -> None:
    """Slopes of tables as slopes of coefficients: the transpose of `expand`."""
    n_classes, flat = slope.shape[1], out.reshape(-1)
    flat[:] = 0.0
    for k in range(len(shape)):
        start, rows_a, rank_a, rows_b, rank_b, at, place_a, place_b = shape[k]
        half = np.empty((rank_b, n_classes))
        width = rank_b * n_classes
        block = flat[at * n_classes : at * n_classes + rank_a * width]
        for a in range(1, rows_a):
            if rows_b == 1:
                half[0] = slope[start + a]
            else:
                _gathered(bases, place_b, rows_b, slope, start + a * rows_b, half)
            if place_a < 0:
                for i in range(width):
                    block[(a - 1) * width + i] = scales[k] * half.reshape(-1)[i]
            else:
                row = bases[place_a + a * rank_a : place_a + (a + 1) * rank_a]
                _spread(row, scales[k], half.reshape(-1), block)


@numba.njit(nogil=True, cache=True)
def _across(row: Array, block: Array, half: Array) -> None:
    """A row of A times U."""
    width = len(half)
    if width == 1:
        half[0] = inner(row, block)
        return
    half[:] = 0.0
    for r in range(len(row)):
        factor = row[r]
        line = block[r * width : (r + 1) * width]
        for i in range(width):
            half[i] += factor * line[i]


@numba.njit(nogil=True, cache=True)
def _spread(row: Array, scale: float, half: Array, block: Array) -> None:
    """A row of A, transposed, times a row of slopes."""
    width = len(half)
    if width == 1:
        factor = scale * half[0]
        for r in range(len(row)):
            block[r] += factor * row[r]
        return
    for r in range(len(row)):
        factor = scale * row[r]
        line = block[r * width : (r + 1) * width]
        for i in range(width):
            line[i] += factor * half[i]


@numba.njit(nogil=True, cache=True)
def _along(bases: Array, place: int, rows: int, scale: float, half: Array, first: int, out: Array) -> None:
    """One row of A U times Bᵀ."""
    rank, n_classes = half.shape
    for b in range(1, rows):
        if place < 0:
            for c in range(n_classes):
                out[first + b, c] = scale * half[b - 1, c]
        elif n_classes == 1:
            total = 0.0
            for q in range(rank):
                total += bases[place + b * rank + q] * half[q, 0]
            out[first + b, 0] = scale * total
        else:
            for q in range(rank):
                factor = scale * bases[place + b * rank + q]
                for c in range(n_classes):
                    out[first + b, c] += factor * half[q, c]


@numba.njit(nogil=True, cache=True)
def _gathered(bases: Array, place: int, rows: int, slope: Array, first: int, half: Array) -> None:
    """One row of slopes times B."""
    rank, n_classes = half.shape
    half[:] = 0.0
    for b in range(1, rows):
        if place < 0:
            for c in range(n_classes):
                half[b - 1, c] = slope[first + b, c]
        elif n_classes == 1:
            factor = slope[first + b, 0]
            for q in range(rank):
                half[q, 0] += factor * bases[place + b * rank + q]
        else:
            for q in range(rank):
                factor = bases[place + b * rank + q]
                for c in range(n_classes):
                    half[q, c] += factor * slope[first + b, c]
