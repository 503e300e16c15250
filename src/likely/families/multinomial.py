"""Words of a document: each occurrence is drawn from the class's own urn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from likely.families.linear import DenseWeights, Weights, bind_weights, cells_of, weights_where_seen
from likely.families.protocol import Array, Scorer, Settings
from likely.numerics import log_of
from likely.stats import FeatureCounts
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Multinomial:
    """log P(column | class) per occurrence; the shares of all columns of a class sum to one."""

    name: ClassVar[str] = "multinomial"
    statistic: ClassVar[str] = "counts"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    columns: tuple[str, ...]
    weights: Weights

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: FeatureCounts, weights: Array, settings: Settings) -> Multinomial:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, multinomial_weights(seen, pseudo))

    def bind(self, table: Table) -> Scorer:
        return bind_weights(self.weights, table, self.columns)

    def only(self, column: str) -> Multinomial:
        return Multinomial((column,), self.weights.only(self.columns.index(column)))


def multinomial_weights(seen: FeatureCounts, pseudo: Array) -> Weights:
    """log((count + pseudo) / (all counts of the class + all pseudo))."""
    total = seen.class_sums() + pseudo.sum()
    none = np.zeros(len(total))
    if sparse.issparse(seen.table) and (pseudo > 0).all():
        _, column, count = cells_of(seen.table)
        correction = np.log1p(count / pseudo[column])
        return weights_where_seen(seen.table, correction, none, -np.log(total), np.ones(len(total)), np.log(pseudo))
    even = np.full(seen.shape, 1.0 / max(seen.shape[1], 1))
    shares = np.divide(seen.dense() + pseudo, total[:, None], out=even, where=total[:, None] > 0.0)
    return DenseWeights(np.ascontiguousarray(log_of(shares).T), none)
