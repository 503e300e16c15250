"""Evidence that is a weighted sum of counts: what the families for count matrices share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Index
from likely.families.kernels import add_dense_lines, add_sparse_lines, add_sparse_lines_sparsely, add_unseen
from likely.families.leave_one_out import counts_of_own
from likely.families.protocol import BlockScorer, LeftOut
from likely.stats.feature_counts import csr_arrays, rows_of
from likely.stats.protocol import Matrix
from likely.table import Table
from likely.table.table import Numbers, counts_of


@dataclass(frozen=True, slots=True, eq=False)
class DenseWeights:
    """One line per column, one weight per class in it; `bias` goes to every row."""

    lines: Array
    bias: Array

    def add(self, rows: Matrix, joint: Array) -> None:
        if self.bias.any():
            joint += self.bias
        if sparse.issparse(rows):
            add_sparse_lines(*csr_arrays(_within_reach(rows)), self.lines, joint)
            return
        with np.errstate(invalid="ignore", over="ignore"):
            evidence = rows @ self.lines
        if not np.isfinite(evidence).all():
            add_dense_lines(_within_reach(rows), self.lines, joint)
        else:
            joint += evidence

    def only(self, column: int) -> DenseWeights:
        return DenseWeights(self.lines[[column]], np.zeros_like(self.bias))


@dataclass(frozen=True, slots=True, eq=False)
class SparseWeights:
    """Weights that are `per_class[c] + scale[c] · per_column[j]` wherever a class never met a column.

    `lines` (columns × classes) holds what must be added where it did. With fifty thousand classes or a
    million words a full table of weights would not fit.
    """

    lines: sparse.csr_array
    bias: Array
    per_class: Array
    scale: Array
    per_column: Array

    def add(self, rows: Matrix, joint: Array) -> None:
        held = _within_reach(sparse.csr_array(rows))
        if np.isnan(held.data).any():
            held = sparse.csr_array((np.nan_to_num(held.data), held.indices, held.indptr), shape=held.shape)
        total, shift = np.asarray(held.sum(axis=1), dtype=np.float64).ravel(), held @ self.per_column
        add_unseen(total, shift, self.bias, self.per_class, self.scale, joint)
        add_sparse_lines_sparsely(*csr_arrays(held), *csr_arrays(self.lines), joint)

    def only(self, column: int) -> DenseWeights:
        line = self.lines[[column]].toarray() + self.per_class + self.scale * self.per_column[column]
        return DenseWeights(line, np.zeros_like(self.bias))


Weights = DenseWeights | SparseWeights


def _within_reach(rows: Matrix) -> Matrix:
    """The rows, those with a cell beyond `FAR` divided by a power of two: there is no doubt about them anyway."""
    is_sparse = sparse.issparse(rows)
    if not (np.abs(rows.data if is_sparse else rows) > FAR).any():
        return rows
    if is_sparse:
        which = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        peak = np.zeros(rows.shape[0])
        np.maximum.at(peak, which, np.nan_to_num(np.abs(rows.data)))
    else:
        peak = np.nanmax(np.abs(rows), axis=1, initial=0.0)
    steps = np.minimum(np.frexp(FAR)[1] - np.frexp(peak)[1], 0)
    if not is_sparse:
        return np.ldexp(rows, steps[:, None])
    return sparse.csr_array((np.ldexp(rows.data, steps[which]), rows.indices, rows.indptr), shape=rows.shape)


FAR = np.float64(1e290)
"""Counts up to this, times a logarithm and over all columns, are still floats."""

PIECE = 1 << 20
"""Cells of a sparse table that are worked on at a time."""


def lines_where_seen(
    counts: sparse.csr_array, correct: Callable[[NDArray[np.int32], Index, Array], Array]
) -> sparse.csr_array:
    """Lines (columns × classes) with `correct(classes, columns, counts)` for the cells that are not zero.

    It is asked for a piece of them at a time: arrays as large as the table that come and go would take
    more room than the table itself.
    """
    lines = sparse.csr_array(counts.T.tocsr())
    cuts = np.searchsorted(lines.indptr, np.arange(PIECE, lines.nnz, PIECE))
    for first, last in pairwise(np.unique([0, *cuts, lines.shape[0]]).tolist()):
        held = slice(lines.indptr[first], lines.indptr[last])
        columns = np.repeat(np.arange(first, last), np.diff(lines.indptr[first : last + 1]))
        lines.data[held] = correct(lines.indices[held], columns, lines.data[held])
    return lines


def leave_own_out(
    weights: Weights, columns: tuple[str, ...], left: LeftOut, own: Callable[[slice, Matrix], Array]
) -> BlockScorer:
    """The same, but for each row's own class what `own` says about a block of sparse rows."""
    source = counts_of(left.table, columns)

    def score(block: slice, joint: Array) -> None:
        rows = sparse_rows(source, block)
        evidence = np.zeros_like(joint)
        weights.add(rows, evidence)
        evidence[np.arange(len(joint)), left.y[block]] = own(block, rows)
        joint += evidence

    return score


def sparse_rows(source: Numbers | sparse.csr_array, block: slice) -> sparse.csr_array:
    """A block of counts as sparse rows without gaps."""
    dense = isinstance(source, Numbers)
    rows = sparse.csr_array(np.nan_to_num(source.rows(block))) if dense else rows_of(source, block)
    if np.isnan(rows.data).any():
        rows = sparse.csr_array((np.nan_to_num(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    return rows


def own_counts(counts: Matrix, rows: sparse.csr_array, y: NDArray[np.int32]) -> Array:
    """For every cell of the rows the count of its column in the row's own class."""
    if not sparse.issparse(counts):
        return np.asarray(counts[np.repeat(y, np.diff(rows.indptr)), rows.indices], dtype=np.float64)
    found = np.empty(rows.nnz)
    starts, columns, _ = csr_arrays(rows)
    counts_of_own(starts, columns, y, *csr_arrays(sparse.csr_array(counts).sorted_indices()), found)
    return found


def bind_weights(weights: Weights, table: Table, columns: tuple[str, ...]) -> BlockScorer:
    """Read count columns of a table and weigh them, block by block."""
    source = counts_of(table, columns)

    def score(block: slice, joint: Array) -> None:
        rows = source.rows(block) if isinstance(source, Numbers) else rows_of(source, block)
        weights.add(rows, joint)

    return score
