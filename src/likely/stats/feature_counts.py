"""Sums over many columns of counts at once: words of a text, clicks on pages, pixels that are on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from likely.arrays import Array, Index, Int32, Int64, is_sparse
from likely.errors import BadCell, NotMergeable, TooLarge
from likely.measures import information_gains
from likely.numerics import LARGEST, MOST_PLACES
from likely.parallel import pipeline, row_blocks, run
from likely.stats.kernels import sum_dense, sum_sparse, sum_sparse_by_class
from likely.stats.protocol import (
    NEVER_SEEN,
    NOISE,
    Matrix,
    as_counted,
    leave,
    matched,
    require,
    require_counts,
    take_rows,
)

DENSE_CELLS = 1 << 22
"""A table of up to this many cells (32 MiB) is kept dense even if most of it is zero."""

CELLS_AT_ONCE = 1 << 22
"""Cells of a table without holes that is looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCounts:
    """Sum of each column in each class: a dense table, or a sparse one where that is smaller.

    >>> seen = FeatureCounts.observe(np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([0, 0], dtype=np.int32))
    >>> seen.dense().tolist()
    [[3.0, 1.0]]
    """

    stored_as: ClassVar[str] = "feature counts"
    by_column: ClassVar[bool] = False

    table: Matrix

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> FeatureCounts:
        return cls(np.zeros((n_classes, n_columns)))

    @classmethod
    def observe(
        cls,
        rows: Matrix,
        y: Int32,
        weight: Array | None = None,
        n_classes: int | None = None,
        n_jobs: int | None = 1,
    ) -> FeatureCounts:
        """Sum the rows of each class of `y`; a gap counts as nothing, a negative cell is refused."""
        weight, n_classes = as_counted(y, weight, n_classes)
        if n_classes * rows.shape[1] > DENSE_CELLS and is_sparse(rows):
            return cls._of(sum_by_class(rows, y, weight, n_classes, n_jobs))
        return cls(sum_by_block(rows, y, weight, n_classes, n_jobs))

    @classmethod
    def _of(cls, table: Matrix) -> FeatureCounts:
        """A sparse table is kept only while it is the smaller one."""
        if is_sparse(table):
            cells = table.shape[0] * table.shape[1]
            if cells <= DENSE_CELLS or 1.5 * table.nnz > cells:
                return cls(table.toarray())
        return cls(table)

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape[0], self.table.shape[1]

    @property
    def known_weights(self) -> None:
        return None

    def information(self, weights: Array) -> Array:
        """Bits per occurrence."""
        totals = self.class_sums()
        parts = [information_gains(against_rest(counts, totals)) for counts in self.dense_blocks()]
        return np.concatenate(parts) if parts else np.zeros(0)

    def dense_blocks(self) -> Iterator[Array]:
        """The table some columns at a time: all at once may be too many for a table without holes."""
        n_classes, n_columns = self.shape
        step = max(CELLS_AT_ONCE // max(2 * n_classes, 1), 1)
        for start in range(0, n_columns, step):
            yield self.select(np.arange(start, min(start + step, n_columns))).dense()

    def validate(self) -> None:
        require(len(self.table.shape) == 2, "A table of counts has classes and columns.")
        held = self.table.data if is_sparse(self.table) else self.table
        require_counts(held, *held.shape, most=LARGEST)
        with np.errstate(over="ignore"):
            require(self.table.sum() <= LARGEST, "A table of counts does not add up.")

    def dense(self) -> Array:
        """The whole table as an array."""
        return self.table.toarray() if is_sparse(self.table) else np.asarray(self.table)

    def is_zero(self) -> bool:
        return not self.table.data.any() if is_sparse(self.table) else not self.table.any()

    def column_sums(self) -> Array:
        return np.asarray(self.table.sum(axis=0), dtype=np.float64).ravel()

    def class_sums(self) -> Array:
        return np.asarray(self.table.sum(axis=1), dtype=np.float64).ravel()

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        a, b = self._matched(other)
        with np.errstate(over="ignore"):
            both = a + b
        refuse_large(both)
        return self._of(both)

    def __sub__(self, other: FeatureCounts) -> FeatureCounts:
        a, b = self._matched(other)
        if not is_sparse(a):
            return FeatureCounts(leave(a, b))
        left = scipy.sparse.csr_array(a - b)
        noise = NOISE * float(a.data.max(initial=0.0))
        if (left.data < -noise).any():
            raise NotMergeable(NEVER_SEEN)
        left.data[left.data <= noise] = 0.0
        left.eliminate_zeros()
        return self._of(left)

    def take_classes(self, source: Index) -> FeatureCounts:
        if not is_sparse(self.table):
            return FeatureCounts(take_rows(self.table, source))
        known = np.flatnonzero(source >= 0)
        ones = np.ones(len(known))
        chooser = scipy.sparse.csr_array((ones, (known, source[known])), shape=(len(source), self.shape[0]))
        return self._of(scipy.sparse.csr_array(chooser @ self.table))

    def select(self, columns: Index) -> FeatureCounts:
        return self._of(self.table[:, columns])

    def place_columns(self, places: Index, n_columns: int) -> FeatureCounts:
        """The same columns among others: column `k` becomes column `places[k]` of so many."""
        if not is_sparse(self.table):
            table = np.zeros((self.shape[0], n_columns))
            table[:, places] = self.table
            return FeatureCounts(table)
        moved = places[self.table.indices].astype(np.int32)
        spread = scipy.sparse.csr_array((self.table.data, moved, self.table.indptr), shape=(self.shape[0], n_columns))
        return self._of(spread if spread.has_sorted_indices else spread.sorted_indices())  # it shares its cells with us

    def _matched(self, other: FeatureCounts) -> tuple[Matrix, Matrix]:
        """Both tables in one shape, both sparse or both dense."""
        n_classes, n_columns = np.maximum(self.shape, other.shape)
        if n_classes * n_columns > DENSE_CELLS and (is_sparse(self.table) or is_sparse(other.table)):
            a, b = scipy.sparse.csr_array(self.table), scipy.sparse.csr_array(other.table)
            shape = (int(n_classes), int(n_columns))
            return _resized(a, shape), _resized(b, shape)
        return matched(self.dense(), other.dense())


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Weight of the rows in which a column is present (above a threshold), and in which it is a gap."""

    stored_as: ClassVar[str] = "presence"
    by_column: ClassVar[bool] = False

    present: FeatureCounts
    gaps: FeatureCounts

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> Presence:
        return cls(FeatureCounts.empty(n_classes, n_columns), FeatureCounts.empty(n_classes, n_columns))

    @classmethod
    def observe(
        cls,
        rows: Matrix,
        y: Int32,
        weight: Array | None = None,
        n_classes: int | None = None,
        n_jobs: int | None = 1,
        threshold: float = 0.0,
    ) -> Presence:
        """Count the cells above the threshold, and the gaps, for the classes `y`."""
        held = rows.data if is_sparse(rows) else rows
        present, gaps = (held > threshold).astype(np.float64), np.isnan(held).astype(np.float64)
        if is_sparse(rows):
            present, gaps = with_cells(rows, present), with_cells(rows, gaps)
        options = (y, weight, n_classes, n_jobs)
        return cls(FeatureCounts.observe(present, *options), FeatureCounts.observe(gaps, *options))

    @property
    def shape(self) -> tuple[int, int]:
        return self.present.shape

    @property
    def known_weights(self) -> None:
        return None

    def information(self, weights: Array) -> Array:
        known = np.maximum(weights[:, None] - self.gaps.dense(), 0.0)
        bits = information_gains(against_rest(self.present.dense(), known))
        return np.asarray(bits * known.sum(axis=0) / max(weights.sum(), np.finfo(float).tiny))

    def validate(self) -> None:
        require(self.present.shape == self.gaps.shape, "Gaps do not fit what is present.")
        self.present.validate()
        self.gaps.validate()

    def __add__(self, other: Presence) -> Presence:
        return Presence(self.present + other.present, self.gaps + other.gaps)

    def __sub__(self, other: Presence) -> Presence:
        return Presence(self.present - other.present, self.gaps - other.gaps)

    def take_classes(self, source: Index) -> Presence:
        return Presence(self.present.take_classes(source), self.gaps.take_classes(source))

    def select(self, columns: Index) -> Presence:
        return Presence(self.present.select(columns), self.gaps.select(columns))


def against_rest(counts: Array, totals: Array) -> Array:
    """Columns × classes × 2: what each column counts, and what is left of the totals of the classes."""
    whole = totals[:, None] if totals.ndim == 1 else totals
    return np.stack([counts, np.maximum(whole - counts, 0.0)], axis=-1).swapaxes(0, 1)


def _resized(table: scipy.sparse.csr_array, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    if table.shape == shape:
        return table
    starts = np.pad(table.indptr, (0, shape[0] - table.shape[0]), mode="edge")
    return scipy.sparse.csr_array((table.data, table.indices, starts), shape=shape)


# Sums of rows per class: over blocks of rows into dense tables, or over classes into a sparse one.

CLASS_RANGES = 8
"""Ranges of classes that threads take one by one when the table is sparse."""


def sum_by_block(rows: Matrix, y: Int32, weight: Array, n_classes: int, n_jobs: int | None) -> Array:
    """A dense table per block of rows, and their sum. A block has a few times the cells of its table."""
    n_rows, n_columns = rows.shape
    cells_per_row = rows.nnz / max(n_rows, 1) if is_sparse(rows) else n_columns
    fewest = 4 * n_classes * n_columns / max(cells_per_row, 1)

    def block_sums(block: slice) -> Array:
        counts = np.zeros((n_classes, n_columns))
        if is_sparse(rows):
            fine = sum_sparse(*csr_arrays(rows_of(rows, block)), y[block], weight[block], counts)
        else:
            dense = np.ascontiguousarray(rows[block], dtype=np.float64)
            fine = sum_dense(dense, y[block], weight[block], counts)
        if not (fine and np.isfinite(counts).all()):
            raise _bad_cell(rows[block], block.start)
        return counts

    total = np.zeros((n_classes, n_columns))
    for _, counts in pipeline(block_sums, row_blocks(n_rows, int(cells_per_row), int(fewest)), n_jobs):
        with np.errstate(over="ignore"):
            total += counts
    refuse_large(total)
    return total


def sum_by_class(
    rows: scipy.sparse.csr_array, y: Int32, weight: Array, n_classes: int, n_jobs: int | None
) -> scipy.sparse.csr_array:
    """A sparse table, class by class; threads take ranges of classes, so that each needs one line of room."""
    starts, columns, cells = csr_arrays(rows)
    order = np.argsort(y, kind="stable")
    class_starts = np.searchsorted(y[order], np.arange(n_classes + 1)).astype(np.int64)

    room = np.append(0, np.cumsum(np.diff(starts)[order]))[class_starts]
    out_columns, out_cells = np.empty(len(columns), dtype=np.int32), np.empty(len(columns))

    def range_sums(first: int, last: int) -> Int64:
        """Sum some classes into their own part of the room; where each of them ends in it."""
        mine, own = order[class_starts[first] : class_starts[last]], slice(room[first], room[last])
        own_starts = class_starts[first : last + 1] - class_starts[first]
        out = np.zeros(last - first + 1, dtype=np.int64), out_columns[own], out_cells[own]
        if not sum_sparse_by_class(starts, columns, cells, weight, mine, own_starts, rows.shape[1], *out):
            raise _bad_cell(rows, 0)
        return out[0]

    cuts = np.searchsorted(class_starts, np.linspace(0, len(y), CLASS_RANGES + 1)[1:-1])
    bounds = np.unique([0, *cuts, n_classes])
    ranges = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    table_starts: NDArray[np.integer[Any]] = np.zeros(n_classes + 1, dtype=np.int64)
    end = 0
    for (first, last), ends in zip(ranges, run(lambda ends: range_sums(*ends), ranges, n_jobs), strict=True):
        table_starts[first : last + 1] = end + ends
        found, begin = int(ends[-1]), int(room[first])
        for out in (out_columns, out_cells):
            out[end : end + found] = out[begin : begin + found]
        end += found
    if end <= MOST_PLACES:  # else SciPy widens the columns as well
        table_starts = table_starts.astype(np.int32)
    table = scipy.sparse.csr_array((out_cells[:end], out_columns[:end], table_starts), shape=(n_classes, rows.shape[1]))
    if not np.isfinite(table.data).all():
        raise _bad_cell(rows, 0)
    refuse_large(table)
    return table


def refuse_large(table: Matrix) -> None:
    """Raise for the column with the largest sum where a table of sums has left what can be learned from."""
    with np.errstate(over="ignore"):
        if table.sum() <= LARGEST:
            return
        by_column = np.asarray(table.sum(axis=0)).ravel()
    raise TooLarge(int(np.argmax(by_column)))


def _bad_cell(rows: Matrix, first_row: int) -> BadCell | TooLarge:
    """Where the first cell stands that is no count; where there is none, the column with the largest."""
    held = scipy.sparse.csr_array(rows)
    bad = np.flatnonzero((held.data < 0) | np.isinf(held.data))
    if not len(bad):
        return TooLarge(int(held.indices[np.nanargmax(held.data)]))
    row = int(np.searchsorted(held.indptr, bad[0], side="right")) - 1
    column, cell = int(held.indices[bad[0]]), float(held.data[bad[0]])
    return BadCell(first_row + row, column, cell, "counts are finite and never negative")


def csr_arrays(rows: scipy.sparse.csr_array) -> tuple[Int64, Int32, Array]:
    """The three arrays of a sparse matrix in the types that the kernels are compiled for."""
    return (
        np.asarray(rows.indptr, dtype=np.int64),
        np.asarray(rows.indices, dtype=np.int32),
        np.asarray(rows.data, dtype=np.float64),
    )


def with_cells(rows: scipy.sparse.csr_array, cells: Array) -> scipy.sparse.csr_array:
    """Other cells in the same places."""
    return scipy.sparse.csr_array((cells, rows.indices, rows.indptr), shape=rows.shape)


def rows_of(rows: scipy.sparse.csr_array, block: slice) -> scipy.sparse.csr_array:
    """A block of rows that shares its cells with the matrix: slicing, or naming them to SciPy, would copy them."""
    starts = rows.indptr[block.start : block.stop + 1]
    held = slice(starts[0], starts[-1])
    part = scipy.sparse.csr_array((len(starts) - 1, rows.shape[1]))
    part.data, part.indices, part.indptr = rows.data[held], rows.indices[held], starts - starts[0]
    return part
