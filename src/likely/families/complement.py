"""Words of a document, weighed by how rare they are in all other classes: for classes of unequal size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from likely.arrays import Array
from likely.families.leave_one_out import add_complement, add_complement_sparsely
from likely.families.linear import DenseWeights, SparseWeights, Weights, bind_weights, lines_where_seen, sparse_rows
from likely.families.protocol import BlockScorer, LeftOut, Reads, Settings
from likely.stats import FeatureCounts
from likely.stats.feature_counts import csr_arrays
from likely.table import Table
from likely.table.table import counts_of

LEAST_PSEUDO = 1e-10
"""A word that no other class knows would weigh infinitely much; this keeps it finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """−log P(column | any other class) per occurrence."""

    name: ClassVar[str] = "complement"
    statistic: ClassVar[str] = "counts"
    reads: ClassVar[Reads] = "numeric"

    columns: tuple[str, ...]
    weights: Weights

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: FeatureCounts, weights: Array, settings: Settings) -> Complement:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, complement_weights(seen, np.maximum(pseudo, LEAST_PSEUDO)))

    @classmethod
    def leave_one_out(
        cls, columns: tuple[str, ...], seen: FeatureCounts, rows: LeftOut, settings: Settings
    ) -> BlockScorer:
        """A row is unknown to all classes but its own, which never looked at it."""
        pseudo = np.maximum(settings.smoothing_of(columns[0]).pseudo_counts(columns), LEAST_PSEUDO)
        source, sums = counts_of(rows.table, columns), seen.column_sums()
        total = sums.sum() + pseudo.sum() - seen.class_sums()
        if sparse.issparse(seen.table):
            lines = csr_arrays(sparse.csr_array(seen.table.T.tocsr()))
        else:
            elsewhere = np.ascontiguousarray(sums[:, None] - seen.dense().T)

        def score(block: slice, joint: Array) -> None:
            held = *csr_arrays(sparse_rows(source, block)), rows.y[block], rows.weight[block]
            if sparse.issparse(seen.table):
                add_complement_sparsely(*held, *lines, sums + pseudo, total, joint)
            else:
                add_complement(*held, elsewhere, total, pseudo, joint)

        return score

    def bind(self, table: Table) -> BlockScorer:
        return bind_weights(self.weights, table, self.columns)

    def only(self, column: str) -> Complement:
        return self.at(self.columns.index(column))

    def at(self, place: int) -> Complement:
        """The same of one column by its place."""
        return Complement((self.columns[place],), self.weights.only(place))


def complement_weights(seen: FeatureCounts, pseudo: Array, *, norm: bool = False) -> Weights:
    """−log of each column's share outside the class; with `norm`, as shares of their sum over the columns."""
    everywhere = seen.column_sums() + pseudo
    log_total = np.log(everywhere.sum() - seen.class_sums())
    none = np.zeros(len(log_total))
    if sparse.issparse(seen.table):
        per_column, scale = np.log(everywhere), -np.ones(len(log_total))
        if norm:
            sums = per_column.sum() - len(per_column) * log_total + _corrections(seen.table, everywhere)
            scale = _divide(none + 1.0, sums)
        lines = lines_where_seen(
            seen.table, lambda label, column, count: scale[label] * np.log1p(-count / everywhere[column])
        )
        return SparseWeights(lines, none, -log_total * scale, scale, per_column)
    logged = np.log(everywhere - seen.dense()) - log_total[:, None]
    lines = _divide(logged, logged.sum(axis=1, keepdims=True)) if norm else -logged
    return DenseWeights(np.ascontiguousarray(lines.T), none)


def _corrections(counts: sparse.csr_array, everywhere: Array) -> Array:
    """What the columns that a class has met change in the sum of its logarithms."""
    sums = np.zeros(counts.shape[0])
    for label in range(counts.shape[0]):
        held = slice(counts.indptr[label], counts.indptr[label + 1])
        sums[label] = np.log1p(-counts.data[held] / everywhere[counts.indices[held]]).sum()
    return sums


def _divide(parts: Array, sums: Array) -> Array:
    """Shares of a sum; a single column weighs nothing, and has no share of that."""
    return np.divide(parts, sums, out=np.zeros_like(parts), where=sums != 0.0)
