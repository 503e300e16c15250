"""Words of a document: each occurrence is drawn from the class's own urn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from likely.arrays import Array
from likely.families.leave_one_out import own_multinomial
from likely.families.linear import (
    DenseWeights,
    SparseWeights,
    Weights,
    bind_weights,
    leave_own_out,
    lines_where_seen,
    own_counts,
)
from likely.families.protocol import BlockScorer, LeftOut, Reads, Settings
from likely.numerics import log_of
from likely.stats import FeatureCounts
from likely.stats.feature_counts import csr_arrays
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Multinomial:
    """log P(column | class) per occurrence; the shares of all columns of a class sum to one."""

    name: ClassVar[str] = "multinomial"
    statistic: ClassVar[str] = "counts"
    reads: ClassVar[Reads] = "numeric"

    columns: tuple[str, ...]
    weights: Weights

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: FeatureCounts, weights: Array, settings: Settings) -> Multinomial:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, multinomial_weights(seen, pseudo))

    @classmethod
    def leave_one_out(
        cls, columns: tuple[str, ...], seen: FeatureCounts, rows: LeftOut, settings: Settings
    ) -> BlockScorer:
        """Only the row's own class knows less without it."""
        pseudo, total = settings.smoothing_of(columns[0]).pseudo_counts(columns), seen.class_sums()

        def own(block: slice, held: sparse.csr_array) -> Array:
            y, out = rows.y[block], np.empty(held.shape[0])
            counts = own_counts(seen.table, held, y)
            own_multinomial(*csr_arrays(held), rows.weight[block], counts, total[y], pseudo, out)
            return out

        return leave_own_out(multinomial_weights(seen, pseudo), columns, rows, own)

    def bind(self, table: Table) -> BlockScorer:
        return bind_weights(self.weights, table, self.columns)

    def only(self, column: str) -> Multinomial:
        return self.at(self.columns.index(column))

    def at(self, place: int) -> Multinomial:
        """The same of one column by its place: to find a name among a million takes its time."""
        return Multinomial((self.columns[place],), self.weights.only(place))


def multinomial_weights(seen: FeatureCounts, pseudo: Array) -> Weights:
    """log((count + pseudo) / (all counts of the class + all pseudo))."""
    total = seen.class_sums() + pseudo.sum()
    none = np.zeros(len(total))
    if sparse.issparse(seen.table) and (pseudo > 0).all():
        lines = lines_where_seen(seen.table, lambda _, column, count: np.log1p(count / pseudo[column]))
        return SparseWeights(lines, none, -np.log(total), np.ones(len(total)), np.log(pseudo))
    even = np.full(seen.shape, 1.0 / max(seen.shape[1], 1))
    shares = np.divide(seen.dense() + pseudo, total[:, None], out=even, where=total[:, None] > 0.0)
    return DenseWeights(np.ascontiguousarray(log_of(shares).T), none)
