"""Sums over many columns of counts at once: words of a text, clicks on pages, pixels that are on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import NotMergeable
from likely.stats.protocol import NEVER_SEEN, NOISE, Array, Index, Matrix, leave, pad, take_rows
from likely.stats.sums import refuse_large, sum_by_block, sum_by_class

DENSE_CELLS = 1 << 22
"""A table of up to this many cells (32 MiB) is kept dense even if most of it is zero."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCounts:
    """Sum of each column in each class: a dense table, or a sparse one where that is smaller.

    >>> seen = FeatureCounts.observe(np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([0, 0], dtype=np.int32))
    >>> seen.dense().tolist()
    [[3.0, 1.0]]
    """

    table: Matrix

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> FeatureCounts:
        return cls(np.zeros((n_classes, n_columns)))

    @classmethod
    def observe(
        cls,
        rows: Matrix,
        y: NDArray[np.int32],
        weight: Array | None = None,
        n_classes: int | None = None,
        n_jobs: int | None = 1,
    ) -> FeatureCounts:
        """Sum the rows of each class of `y`; a gap counts as nothing, a negative cell is refused."""
        if n_classes is None:
            n_classes = int(y.max(initial=-1)) + 1
        if weight is None:
            weight = np.ones(len(y))
        if n_classes * rows.shape[1] > DENSE_CELLS and sparse.issparse(rows):
            return cls._of(sum_by_class(rows, y, weight, n_classes, n_jobs))
        return cls(sum_by_block(rows, y, weight, n_classes, n_jobs))

    @classmethod
    def _of(cls, table: Matrix) -> FeatureCounts:
        """A sparse table is kept only while it is the smaller one."""
        if sparse.issparse(table):
            cells = table.shape[0] * table.shape[1]
            if cells <= DENSE_CELLS or 1.5 * table.nnz > cells:
                return cls(table.toarray())
        return cls(table)

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape[0], self.table.shape[1]

    def dense(self) -> Array:
        """The whole table as an array."""
        return self.table.toarray() if sparse.issparse(self.table) else np.asarray(self.table)

    def is_zero(self) -> bool:
        return not self.table.data.any() if sparse.issparse(self.table) else not self.table.any()

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
        if not sparse.issparse(a):
            return FeatureCounts(leave(a, b))
        left = sparse.csr_array(a - b)
        noise = NOISE * float(a.data.max(initial=0.0))
        if (left.data < -noise).any():
            raise NotMergeable(NEVER_SEEN)
        left.data[left.data <= noise] = 0.0
        left.eliminate_zeros()
        return self._of(left)

    def take_classes(self, source: Index) -> FeatureCounts:
        if not sparse.issparse(self.table):
            return FeatureCounts(take_rows(self.table, source))
        known = np.flatnonzero(source >= 0)
        ones = np.ones(len(known))
        chooser = sparse.csr_array((ones, (known, source[known])), shape=(len(source), self.shape[0]))
        return self._of(sparse.csr_array(chooser @ self.table))

    def select(self, columns: Index) -> FeatureCounts:
        return self._of(self.table[:, columns])

    def place_columns(self, places: Index, n_columns: int) -> FeatureCounts:
        """The same columns among others: column `k` becomes column `places[k]` of so many."""
        if not sparse.issparse(self.table):
            table = np.zeros((self.shape[0], n_columns))
            table[:, places] = self.table
            return FeatureCounts(table)
        moved = places[self.table.indices].astype(np.int32)
        spread = sparse.csr_array((self.table.data, moved, self.table.indptr), shape=(self.shape[0], n_columns))
        spread.sort_indices()
        return self._of(spread)

    def _matched(self, other: FeatureCounts) -> tuple[Matrix, Matrix]:
        """Both tables in one shape, both sparse or both dense."""
        n_classes, n_columns = np.maximum(self.shape, other.shape)
        if n_classes * n_columns > DENSE_CELLS and (sparse.issparse(self.table) or sparse.issparse(other.table)):
            a, b = sparse.csr_array(self.table), sparse.csr_array(other.table)
            shape = (int(n_classes), int(n_columns))
            return _resized(a, shape), _resized(b, shape)
        return pad(self.dense(), n_classes, n_columns), pad(other.dense(), n_classes, n_columns)


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Weight of the rows in which a column is present (above a threshold), and in which it is a gap."""

    present: FeatureCounts
    gaps: FeatureCounts

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> Presence:
        return cls(FeatureCounts.empty(n_classes, n_columns), FeatureCounts.empty(n_classes, n_columns))

    @classmethod
    def observe(
        cls,
        rows: Matrix,
        y: NDArray[np.int32],
        weight: Array | None = None,
        n_classes: int | None = None,
        n_jobs: int | None = 1,
        threshold: float = 0.0,
    ) -> Presence:
        """Count the cells above the threshold, and the gaps, for the classes `y`."""
        held = rows.data if sparse.issparse(rows) else rows
        present, gaps = (held > threshold).astype(np.float64), np.isnan(held).astype(np.float64)
        if sparse.issparse(rows):
            present = sparse.csr_array((present, rows.indices, rows.indptr), shape=rows.shape)
            gaps = sparse.csr_array((gaps, rows.indices, rows.indptr), shape=rows.shape)
        options = (y, weight, n_classes, n_jobs)
        return cls(FeatureCounts.observe(present, *options), FeatureCounts.observe(gaps, *options))

    def __add__(self, other: Presence) -> Presence:
        return Presence(self.present + other.present, self.gaps + other.gaps)

    def __sub__(self, other: Presence) -> Presence:
        return Presence(self.present - other.present, self.gaps - other.gaps)

    def take_classes(self, source: Index) -> Presence:
        return Presence(self.present.take_classes(source), self.gaps.take_classes(source))

    def select(self, columns: Index) -> Presence:
        return Presence(self.present.select(columns), self.gaps.select(columns))


def _resized(table: sparse.csr_array, shape: tuple[int, int]) -> sparse.csr_array:
    if table.shape == shape:
        return table
    starts = np.pad(table.indptr, (0, shape[0] - table.shape[0]), mode="edge")
    return sparse.csr_array((table.data, table.indices, starts), shape=shape)
