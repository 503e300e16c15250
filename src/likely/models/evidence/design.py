"""The linear map from coefficients to tables, and its adjoint.

The coefficients U of a term have independent standard normal priors; its table is T = scale · A U Bᵀ. A and B are the
bases of its two sides, so that the prior covariance of the table is scale² · (A Aᵀ) ⊗ (B Bᵀ). The term of a single
column has no B; the first two columns of a triple share A. Row 0 of a basis belongs to the code that has no table
entry, and is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.jit import kernel
from likely.numerics import FOUR, ONE, THREE, TWO, ZERO, Place, refuse_many


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """M, codes × rank; a matrix of None stands for the identity below the zero row of code 0."""

    rows: int
    rank: int
    matrix: Array | None

    @classmethod
    def identity(cls, rows: int) -> Basis:
        return cls(rows, rows - 1, None)

    def dense(self) -> Array:
        """M itself."""
        return np.eye(self.rows, self.rank, k=-1) if self.matrix is None else self.matrix

    def covariance(self) -> Array:
        """Codes × codes: M Mᵀ."""
        matrix = self.dense()
        return np.asarray(matrix @ matrix.T)


UNIT_BASIS = Basis(1, 1, np.ones((1, 1)))
"""The second side of a term of one column."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Terms laid out one after another in flat arrays; a term is also called a block.

    A line of `layout` has the start of the table, rows and rank of A, rows and rank of B, the start of U, and where A
    and B begin in `bases`; −1 stands for the identity below its zero row, which is not stored. `transposed` has every
    basis transposed, at the same place.
    """

    layout: Int64
    bases: Array
    transposed: Array
    n_cells: int
    n_coefficients: int

    @classmethod
    def of(cls, blocks: Sequence[tuple[Basis, Basis]]) -> Design:
        """Lay the blocks out one after another; a basis that several share is stored once."""
        places: dict[int, int] = {}
        matrices: list[Array] = []
        transposed: list[Array] = []
        end = 0
        for basis in (side for block in blocks for side in block):
            if basis.matrix is not None and id(basis) not in places:
                places[id(basis)] = end
                matrices.append(basis.matrix.ravel())
                transposed.append(basis.matrix.T.ravel())
                end += basis.matrix.size
        lines, cell, coefficient = [], 0, 0
        for a, b in blocks:
            lines.append(
                (cell, a.rows, a.rank, b.rows, b.rank, coefficient, places.get(id(a), -1), places.get(id(b), -1))
            )
            cell += a.rows * b.rows
            coefficient += a.rank * b.rank
        refuse_many(cell, "cells in the tables of all columns and terms")  # `starts` has 32 bits
        layout = np.array(lines, dtype=np.int64).reshape(len(lines), 8)
        return cls(layout, _concatenate(matrices), _concatenate(transposed), cell, coefficient)

    @property
    def starts(self) -> Int32:
        """Where the table of each block begins."""
        return np.ascontiguousarray(self.layout[:, 0].astype(np.int32))

    def tables(self, coefficients: Array, scales: Array) -> Array:
        """Tables, cells × scores, of coefficients × scores."""
        out = np.empty((self.n_cells, coefficients.shape[1]))
        expand(self.layout, self.bases, self.transposed, scales, coefficients, out)
        return out

    def coefficient_gradient(self, table_gradient: Array, scales: Array) -> Array:
        """Gradient by the coefficients, given that by the tables (chain rule)."""
        out = np.empty((self.n_coefficients, table_gradient.shape[1]))
        expand_adjoint(self.layout, self.bases, self.transposed, scales, table_gradient, out)
        return out

    def hessian_diagonal(self, weights: Array, scales: Array) -> Array:
        """Σ over cells of weight · (∂ cell / ∂ coefficient)²: the diagonal of Mᵀ diag(weights) M."""
        out = np.empty((self.n_coefficients, 1))
        expand_adjoint(self.layout, self.bases**2, self.transposed**2, scales**2, weights[:, None], out)
        return out[:, 0]


def _concatenate(parts: list[Array]) -> Array:
    return np.concatenate([*parts, np.zeros(0)])


START, UNIT = np.int64(0), np.int64(1)
"""Strides of the type that other strides have: a plain 0 or 1 would be another type, and compiled again."""

MANY_CLASSES = 4
"""From so many classes on, the classes of a cell are done four at a time; below, neighbouring cells are."""


@kernel
def expand(layout: Int64, bases: Array, transposed: Array, scales: Array, coefficients: Array, out: Array) -> None:
    """T = scale · A U Bᵀ for every term: coefficients × classes to cells × classes."""
    n_classes, flat, tables = coefficients.shape[1], coefficients.reshape(-1), out.reshape(-1)
    tables[:] = 0.0
    partial = np.empty(_partial_size(layout, n_classes))
    for k in range(len(layout)):
        start, rows_a, rank_a, rows_b, rank_b, source_start, place_a, place_b = layout[k]
        width, first, scale = rank_b * n_classes, source_start * n_classes, scales[k]
        cell = (start + rows_b) * n_classes
        if rows_b == 1:
            _basis_times(bases, transposed, place_a, rows_a, rank_a, flat, first, n_classes, scale, tables, cell)
            continue
        source, line = flat, first
        if place_a >= 0:
            source, line = partial, START
            multiply(
                bases, place_a + rank_a, rank_a, UNIT, rows_a - 1, rank_a, flat, first, width, width,
                1.0, partial, START, width, UNIT,
            )  # fmt: skip
        for a in range(rows_a - 1):
            row, entry = line + a * width, cell + (a * rows_b + 1) * n_classes
            _basis_times(bases, transposed, place_b, rows_b, rank_b, source, row, n_classes, scale, tables, entry)


@kernel
def expand_adjoint(
    layout: Int64, bases: Array, transposed: Array, scales: Array, table_gradient: Array, out: Array
) -> None:
    """scale · Aᵀ G B for every term: a gradient by tables as one by coefficients."""
    n_classes, target, tables = table_gradient.shape[1], out.reshape(-1), table_gradient.reshape(-1)
    partial = np.empty(_partial_size(layout, n_classes))
    for k in range(len(layout)):
        start, rows_a, rank_a, rows_b, rank_b, source_start, place_a, place_b = layout[k]
        width, first, scale = rank_b * n_classes, source_start * n_classes, scales[k]
        cell = (start + rows_b) * n_classes
        if rows_b == 1:
            _transposed_times(bases, transposed, place_a, rows_a, rank_a, tables, cell, n_classes, scale, target, first)
            continue
        for a in range(rows_a - 1):
            line = cell + (a * rows_b + 1) * n_classes
            _transposed_times(
                bases, transposed, place_b, rows_b, rank_b, tables, line, n_classes, 1.0, partial, a * width
            )
        if place_a < 0:
            copy_scaled(partial, START, rank_a * width, scale, target, first)
        else:
            multiply(
                transposed, place_a + 1, rows_a, UNIT, rank_a, rows_a - 1, partial, START, width, width,
                scale, target, first, width, UNIT,
            )  # fmt: skip


@kernel
def _partial_size(layout: Int64, n_classes: int) -> int:
    size = 0
    for k in range(len(layout)):
        size = max(size, layout[k, 1] * layout[k, 4] * n_classes)
    return size


@kernel
def _basis_times(
    bases: Array, transposed: Array, place: int, rows: int, rank: int, source: Array, source_start: int, n_classes: int,
    scale: float, out: Array, out_start: int,
) -> None:  # fmt: skip
    """A basis without its zero row times rank × classes."""
    if place < 0:
        copy_scaled(source, source_start, rank * n_classes, scale, out, out_start)
    elif n_classes < MANY_CLASSES:
        multiply(
            source, source_start, UNIT, n_classes, n_classes, rank,
            transposed, place + 1, rows, rows - 1, scale, out, out_start, UNIT, n_classes,
        )  # fmt: skip
    else:
        multiply(
            bases, place + rank, rank, UNIT, rows - 1, rank,
            source, source_start, n_classes, n_classes, scale, out, out_start, n_classes, UNIT,
        )  # fmt: skip


@kernel
def _transposed_times(
    bases: Array, transposed: Array, place: int, rows: int, rank: int, source: Array, source_start: int, n_classes: int,
    scale: float, out: Array, out_start: int,
) -> None:  # fmt: skip
    """A transposed basis without its zero row times cells × classes."""
    if place < 0:
        copy_scaled(source, source_start, rank * n_classes, scale, out, out_start)
    elif n_classes < MANY_CLASSES:
        multiply(
            source, source_start, UNIT, n_classes, n_classes, rows - 1,
            bases, place + rank, rank, rank, scale, out, out_start, UNIT, n_classes,
        )  # fmt: skip
    else:
        multiply(
            transposed, place + 1, rows, UNIT, rank, rows - 1,
            source, source_start, n_classes, n_classes, scale, out, out_start, n_classes, UNIT,
        )  # fmt: skip


Integer = int | np.int64

WIDE_ROWS = 16
"""From so many columns on, a row is done at once, not four columns at a time."""


@kernel(fastmath={"contract"})
def multiply(
    left: Array, left_start: Integer, left_stride: Integer, left_step: Integer, n_rows: Integer, n_inner: Integer,
    right: Array, right_start: Integer, right_stride: Integer, n_columns: Integer,
    scale: float, out: Array, out_start: Integer, out_stride: Integer, out_step: Integer,
) -> None:  # fmt: skip
    """out[i, c] = scale · Σ left[i, q] right[q, c]; four columns of `right`, which lie side by side, at a time.

    Matrices lie in flat arrays: `…_start` is where one begins, `…_stride` and `…_step` lead to its next row and column.
    """
    if n_columns >= WIDE_ROWS and out_step == 1:
        _multiply_wide(
            left, left_start, left_stride, left_step, n_rows, n_inner, right, right_start, right_stride, n_columns,
            scale, out, out_start, out_stride,
        )  # fmt: skip
        return
    left_row, out_row, first = Place(left_start), Place(out_start), Place(right_start)
    to_left, to_right, across = Place(left_step), Place(right_stride), Place(out_step)
    width, depth = Place(n_columns), Place(n_inner)
    for _ in range(n_rows):
        column, cell = ZERO, out_row
        while column + THREE < width:
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            a, b = left_row, first + column
            for _ in range(depth):
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
            for _ in range(depth):
                total += left[a] * right[b]
                a += to_left
                b += to_right
            out[cell] = scale * total
            column += ONE
            cell += across
        left_row += Place(left_stride)
        out_row += Place(out_stride)


@kernel(fastmath={"contract"})
def _multiply_wide(
    left: Array, left_start: Integer, left_stride: Integer, left_step: Integer, n_rows: Integer, n_inner: Integer,
    right: Array, right_start: Integer, right_stride: Integer, n_columns: Integer,
    scale: float, out: Array, out_start: Integer, out_stride: Integer,
) -> None:  # fmt: skip
    """The same for long rows: one loop for each."""
    left_row, out_row, width = Place(left_start), Place(out_start), Place(n_columns)
    for _ in range(n_rows):
        for c in range(width):
            out[out_row + c] = 0.0
        a, b = left_row, Place(right_start)
        for _ in range(n_inner):
            factor = scale * left[a]
            for c in range(width):
                out[out_row + c] += factor * right[b + c]
            a += Place(left_step)
            b += Place(right_stride)
        left_row += Place(left_stride)
        out_row += Place(out_stride)


@kernel
def copy_scaled(source: Array, source_start: Integer, n: Integer, scale: float, out: Array, out_start: Integer) -> None:
    """out[out_start + i] = scale · source[source_start + i] for i < n."""
    a, b = Place(source_start), Place(out_start)
    for i in range(Place(n)):
        out[b + i] = scale * source[a + i]
