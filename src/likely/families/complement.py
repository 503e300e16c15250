"""Words of a document, weighed by how rare they are in all other classes: for classes of unequal size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from likely.families.linear import DenseWeights, Weights, bind_weights, cells_of, weights_where_seen
from likely.families.protocol import Array, Scorer, Settings
from likely.stats import FeatureCounts
from likely.table import Table

LEAST_PSEUDO = 1e-10
"""A word that no other class knows would weigh infinitely much; this keeps it finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """−log P(column | any other class) per occurrence."""

    name: ClassVar[str] = "complement"
    statistic: ClassVar[str] = "counts"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    columns: tuple[str, ...]
    weights: Weights

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: FeatureCounts, weights: Array, settings: Settings) -> Complement:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, complement_weights(seen, np.maximum(pseudo, LEAST_PSEUDO)))

    def bind(self, table: Table) -> Scorer:
        return bind_weights(self.weights, table, self.columns)

    def only(self, column: str) -> Complement:
        return Complement((column,), self.weights.only(self.columns.index(column)))


def complement_weights(seen: FeatureCounts, pseudo: Array, *, norm: bool = False) -> Weights:
    """−log of each column's share outside the class; with `norm`, as shares of their sum over the columns."""
    everywhere = seen.column_sums() + pseudo
    log_total = np.log(everywhere.sum() - seen.class_sums())
    none = np.zeros(len(log_total))
    if sparse.issparse(seen.table):
        label, column, count = cells_of(seen.table)
        per_column, correction = np.log(everywhere), np.log1p(-count / everywhere[column])
        by_class = np.bincount(label, correction, len(log_total))
        sums = per_column.sum() - len(per_column) * log_total + by_class
        scale = 1.0 / sums if norm else -np.ones(len(log_total))
        corrections = correction * scale[label]
        return weights_where_seen(seen.table, corrections, none, -log_total * scale, scale, per_column)
    logged = np.log(everywhere - seen.dense()) - log_total[:, None]
    lines = logged / logged.sum(axis=1, keepdims=True) if norm else -logged
    return DenseWeights(np.ascontiguousarray(lines.T), none)
