"""From coefficients to tables and back. A block's table is scale · A U Bᵀ, with A and B its two bases.

A block of one column has no B. Row 0 of a basis belongs to the code that says nothing, and is zero. A basis of which
nothing is stored (place −1) is the identity below that row. A line of `shape` has the start of the table, rows and
rank of A, rows and rank of B, the start of u, and the places of A and of B among the stored bases; `turned` has every
basis at the same place, transposed.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.products import copy_scaled, multiply

Array = NDArray[np.float64]
Shape = NDArray[np.int64]

NOTHING, NEXT = np.int64(0), np.int64(1)
"""Ways from a cell to itself and to its neighbour; a plain 0 or 1 would be a type of its own, and compiled again."""

MANY_CLASSES = 4
"""From here on the classes of a cell are worth doing four at a time; below, its neighbours are."""


@numba.njit(nogil=True, cache=True)
def expand(shape: Shape, bases: Array, turned: Array, scales: Array, u: Array, out: Array) -> None:
    """Tables (cells × classes) of coefficients (coefficients × classes)."""
    n_classes, given, tables = u.shape[1], u.reshape(-1), out.reshape(-1)
    tables[:] = 0.0
    half = np.empty(_largest_half(shape, n_classes))
    for k in range(len(shape)):
        start, rows_a, rank_a, rows_b, rank_b, at, place_a, place_b = shape[k]
        width, first, scale = rank_b * n_classes, at * n_classes, scales[k]
        cell = (start + rows_b) * n_classes
        if rows_b == 1:
            _times_basis(bases, turned, place_a, rows_a, rank_a, given, first, n_classes, scale, tables, cell)
            continue
        source, line = given, first
        if place_a >= 0:
            source, line = half, NOTHING
            multiply(
                bases, place_a + rank_a, rank_a, NEXT, rows_a - 1, rank_a, given, first, width, width,
                1.0, half, NOTHING, width, NEXT,
            )  # fmt: skip
        for a in range(rows_a - 1):
            to = cell + (a * rows_b + 1) * n_classes
            _times_basis(bases, turned, place_b, rows_b, rank_b, source, line + a * width, n_classes, scale, tables, to)


@numba.njit(nogil=True, cache=True)
def pull_back(shape: Shape, bases: Array, turned: Array, scales: Array, slope: Array, out: Array) -> None:
    """Slopes of tables as slopes of coefficients: the transpose of `expand`."""
    n_classes, found, tables = slope.shape[1], out.reshape(-1), slope.reshape(-1)
    half = np.empty(_largest_half(shape, n_classes))
    for k in range(len(shape)):
        start, rows_a, rank_a, rows_b, rank_b, at, place_a, place_b = shape[k]
        width, first, scale = rank_b * n_classes, at * n_classes, scales[k]
        cell = (start + rows_b) * n_classes
        if rows_b == 1:
            _times_turned(bases, turned, place_a, rows_a, rank_a, tables, cell, n_classes, scale, found, first)
            continue
        for a in range(rows_a - 1):
            line = cell + (a * rows_b + 1) * n_classes
            _times_turned(bases, turned, place_b, rows_b, rank_b, tables, line, n_classes, 1.0, half, a * width)
        if place_a < 0:
            copy_scaled(half, NOTHING, rank_a * width, scale, found, first)
        else:
            multiply(
                turned, place_a + 1, rows_a, NEXT, rank_a, rows_a - 1, half, NOTHING, width, width,
                scale, found, first, width, NEXT,
            )  # fmt: skip


@numba.njit(nogil=True, cache=True)
def _largest_half(shape: Shape, n_classes: int) -> int:
    most = 0
    for k in range(len(shape)):
        most = max(most, shape[k, 1] * shape[k, 4] * n_classes)
    return most


@numba.njit(nogil=True, cache=True)
def _times_basis(
    bases: Array, turned: Array, place: int, rows: int, rank: int, given: Array, at: int, n_classes: int,
    scale: float, out: Array, to: int,
) -> None:  # fmt: skip
    """A basis times rank × classes, without the row of zeros."""
    if place < 0:
        copy_scaled(given, at, rank * n_classes, scale, out, to)
    elif n_classes < MANY_CLASSES:
        multiply(
            given, at, NEXT, n_classes, n_classes, rank,
            turned, place + 1, rows, rows - 1, scale, out, to, NEXT, n_classes,
        )  # fmt: skip
    else:
        multiply(
            bases, place + rank, rank, NEXT, rows - 1, rank,
            given, at, n_classes, n_classes, scale, out, to, n_classes, NEXT,
        )  # fmt: skip


@numba.njit(nogil=True, cache=True)
def _times_turned(
    bases: Array, turned: Array, place: int, rows: int, rank: int, given: Array, at: int, n_classes: int,
    scale: float, out: Array, to: int,
) -> None:  # fmt: skip
    """A basis, transposed, times cells × classes, without the row of zeros."""
    if place < 0:
        copy_scaled(given, at, rank * n_classes, scale, out, to)
    elif n_classes < MANY_CLASSES:
        multiply(
            given, at, NEXT, n_classes, n_classes, rows - 1,
            bases, place + rank, rank, rank, scale, out, to, NEXT, n_classes,
        )  # fmt: skip
    else:
        multiply(
            turned, place + 1, rows, NEXT, rank, rows - 1,
            given, at, n_classes, n_classes, scale, out, to, n_classes, NEXT,
        )  # fmt: skip
