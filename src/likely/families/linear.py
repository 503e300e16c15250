"""Evidence that is a weighted sum of counts: what the families for count matrices share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from likely.families.kernels import add_dense_lines, add_sparse_lines, add_sparse_lines_sparsely
from likely.families.protocol import Array, Scorer
from likely.numbers import Numbers, counts_of
from likely.stats.protocol import Index, Matrix
from likely.stats.sums import csr_arrays
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class DenseWeights:
    """One line per column, one weight per class in it; `bias` goes to every row."""

    lines: Array
    bias: Array

    def add(self, rows: Matrix, joint: Array) -> None:
        joint += self.bias
        if sparse.issparse(rows):
            add_sparse_lines(*csr_arrays(rows), self.lines, joint)
            return
        with np.errstate(invalid="ignore"):
            evidence = rows @ self.lines
        if np.isnan(evidence).any():
            add_dense_lines(rows, self.lines, joint)
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
        held = sparse.csr_array(rows)
        if np.isnan(held.data).any():
            held = sparse.csr_array((np.nan_to_num(held.data), held.indices, held.indptr), shape=held.shape)
        total = np.asarray(held.sum(axis=1)).reshape(-1, 1)
        joint += self.bias + total * self.per_class + (held @ self.per_column)[:, None] * self.scale
        add_sparse_lines_sparsely(*csr_arrays(held), *csr_arrays(self.lines), joint)

    def only(self, column: int) -> DenseWeights:
        line = self.lines[[column]].toarray() + self.per_class + self.scale * self.per_column[column]
        return DenseWeights(line, np.zeros_like(self.bias))


Weights = DenseWeights | SparseWeights


def weights_where_seen(
    counts: sparse.csr_array, correction: Array, bias: Array, per_class: Array, scale: Array, per_column: Array
) -> SparseWeights:
    """Sparse weights from corrections that belong to the cells of `counts` (classes × columns)."""
    by_class = sparse.csr_array((correction, counts.indices, counts.indptr), shape=counts.shape)
    return SparseWeights(sparse.csr_array(by_class.T.tocsr()), bias, per_class, scale, per_column)


def cells_of(counts: sparse.csr_array) -> tuple[Index, Index, Array]:
    """Class, column and count of every cell that is not zero."""
    classes = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return classes, counts.indices.astype(np.intp), counts.data


def bind_weights(weights: Weights, table: Table, columns: tuple[str, ...]) -> Scorer:
    """Read count columns of a table and weigh them, block by block."""
    source = counts_of(table, columns)

    def score(block: slice, joint: Array) -> None:
        rows = source.rows(block) if isinstance(source, Numbers) else source[block]
        weights.add(rows, joint)

    return score
