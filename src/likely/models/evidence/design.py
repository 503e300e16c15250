"""The tables of a model side by side: where each begins, and the bases that its coefficients are multiplied with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int64
from likely.models.evidence.priors import ALONE, Basis
from likely.numerics import FOUR, ONE, THREE, TWO, ZERO, Place


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Blocks of coefficients, each with one basis (a column) or two (a pair of columns).

    `turned` has every basis transposed, at the same place.
    """

    shape: NDArray[np.int64]
    bases: Array
    turned: Array
    n_cells: int
    n_coefficients: int

    @classmethod
    def of(cls, blocks: Sequence[tuple[Basis, Basis]]) -> Design:
        """Lay the blocks out one after another; a basis that several share is stored once."""
        places: dict[int, int] = {}
        stored: list[Array] = []
        turned: list[Array] = []
        end = 0
        for basis in (side for block in blocks for side in block):
            if basis.matrix is not None and id(basis) not in places:
                places[id(basis)] = end
                stored.append(basis.matrix.ravel())
                turned.append(basis.matrix.T.ravel())
                end += basis.matrix.size
        lines, cell, coefficient = [], 0, 0
        for a, b in blocks:
            lines.append(
                (cell, a.rows, a.rank, b.rows, b.rank, coefficient, places.get(id(a), -1), places.get(id(b), -1))
            )
            cell += a.rows * b.rows
            coefficient += a.rank * b.rank
        shape = np.array(lines, dtype=np.int64).reshape(len(lines), 8)
        return cls(shape, _flat(stored), _flat(turned), cell, coefficient)

    @classmethod
    def of_columns(cls, bases: Sequence[Basis]) -> Design:
        """One block per column."""
        return cls.of([(basis, ALONE) for basis in bases])

    @property
    def starts(self) -> NDArray[np.int32]:
        """Where the table of each block begins."""
        return np.ascontiguousarray(self.shape[:, 0].astype(np.int32))

    def tables(self, u: Array, scales: Array) -> Array:
        """Cells × classes of coefficients × classes."""
        out = np.empty((self.n_cells, u.shape[1]))
        expand(self.shape, self.bases, self.turned, scales, u, out)
        return out

    def slopes(self, slope: Array, scales: Array) -> Array:
        """Slopes of the coefficients, given those of the tables."""
        out = np.empty((self.n_coefficients, slope.shape[1]))
        pull_back(self.shape, self.bases, self.turned, scales, slope, out)
        return out

    def curvature(self, weights: Array, scales: Array) -> Array:
        """Σ weight of cell × (what one unit of a coefficient does to it)²."""
        out = np.empty((self.n_coefficients, 1))
        pull_back(self.shape, self.bases**2, self.turned**2, scales**2, weights[:, None], out)
        return out[:, 0]


def _flat(parts: list[Array]) -> Array:
    return np.concatenate([*parts, np.zeros(0)])


# From coefficients to tables and back. A block's table is scale · A U Bᵀ, with A and B its two bases.
#
# A block of one column has no B. Row 0 of a basis belongs to the code that says nothing, and is zero. A basis of
# which
# nothing is stored (place −1) is the identity below that row. A line of `shape` has the start of the table, rows and
# rank of A, rows and rank of B, the start of u, and the places of A and of B among the stored bases; `turned` has
# every
# basis at the same place, transposed.

NOTHING, NEXT = np.int64(0), np.int64(1)
"""Ways from a cell to itself and to its neighbour; a plain 0 or 1 would be a type of its own, and compiled again."""

MANY_CLASSES = 4
"""From here on the classes of a cell are worth doing four at a time; below, its neighbours are."""


@numba.njit(nogil=True, cache=True)
def expand(shape: Int64, bases: Array, turned: Array, scales: Array, u: Array, out: Array) -> None:
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
def pull_back(shape: Int64, bases: Array, turned: Array, scales: Array, slope: Array, out: Array) -> None:
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
def _largest_half(shape: Int64, n_classes: int) -> int:
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


# A product of two small matrices that lie anywhere in flat arrays.

Whole = int | np.int64

WIDE = 16
"""Columns from which a row is done by itself, not four columns at a time."""


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def multiply(
    left: Array, left_at: Whole, left_down: Whole, left_along: Whole, n_rows: Whole, n_inner: Whole,
    right: Array, right_at: Whole, right_down: Whole, n_columns: Whole,
    scale: float, out: Array, out_at: Whole, out_down: Whole, out_along: Whole,
) -> None:  # fmt: skip
    """out[i, c] = scale · Σ left[i, q] right[q, c]; four columns of `right`, which lie side by side, at a time.

    `…_at` is where a matrix begins, `…_down` and `…_along` are the ways from one row and one column to the next.
    """
    if n_columns >= WIDE and out_along == 1:
        _multiply_wide(
            left, left_at, left_down, left_along, n_rows, n_inner, right, right_at, right_down, n_columns,
            scale, out, out_at, out_down,
        )  # fmt: skip
        return
    left_row, out_row, first = Place(left_at), Place(out_at), Place(right_at)
    to_left, to_right, across = Place(left_along), Place(right_down), Place(out_along)
    width, inner = Place(n_columns), Place(n_inner)
    for _ in range(n_rows):
        column, cell = ZERO, out_row
        while column + THREE < width:
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            a, b = left_row, first + column
            for _ in range(inner):
                factor = left[a]
                s0 += factor * right[b]
                s1 += factor * right[b + ONE]
                s2 += factor * right[b + TWO]
                s3 += factor * right[b + THREE]
                a += to_left
                b += to_right
            out[cell] = scale * s0
            out[cell + across] = scale * s1
            out[cell + TWO * across] = scale * s2
            out[cell + THREE * across] = scale * s3
            column += FOUR
            cell += FOUR * across
        while column < width:
            total = 0.0
            a, b = left_row, first + column
            for _ in range(inner):
                total += left[a] * right[b]
                a += to_left
                b += to_right
            out[cell] = scale * total
            column += ONE
            cell += across
        left_row += Place(left_down)
        out_row += Place(out_down)


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _multiply_wide(
    left: Array, left_at: Whole, left_down: Whole, left_along: Whole, n_rows: Whole, n_inner: Whole,
    right: Array, right_at: Whole, right_down: Whole, n_columns: Whole,
    scale: float, out: Array, out_at: Whole, out_down: Whole,
) -> None:  # fmt: skip
    """The same where rows are so long that each is worth a loop of its own."""
    left_row, out_row, width = Place(left_at), Place(out_at), Place(n_columns)
    for _ in range(n_rows):
        for c in range(width):
            out[out_row + c] = 0.0
        a, b = left_row, Place(right_at)
        for _ in range(n_inner):
            factor = scale * left[a]
            for c in range(width):
                out[out_row + c] += factor * right[b + c]
            a += Place(left_along)
            b += Place(right_down)
        left_row += Place(left_down)
        out_row += Place(out_down)


@numba.njit(nogil=True, cache=True)
def copy_scaled(source: Array, source_at: Whole, n: Whole, scale: float, out: Array, out_at: Whole) -> None:
    """A stretch of one array, scaled, into another."""
    a, b = Place(source_at), Place(out_at)
    for i in range(Place(n)):
        out[b + i] = scale * source[a + i]
