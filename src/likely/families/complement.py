"""Words of a document, as columns of counts or as a text, weighed by how rare they are in all other classes.

It is for classes of unequal size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from likely.arrays import Array, Int32, Int64, is_sparse
from likely.families.counts import (
    DenseWeights,
    SparseWeights,
    WeighedCounts,
    Weights,
    lines_of,
    lines_where_seen,
    log_power,
    read_sparse_counts,
)
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Columns, LeftOut, Parameter, Settings
from likely.families.text_family import WeighedWords, WordReader
from likely.jit import kernel
from likely.numerics import log_of
from likely.stats import FeatureCounts, TokenCounts
from likely.stats.feature_counts import csr_arrays
from likely.stats.protocol import less_one

LEAST_PSEUDO = 1e-10
"""A word that no other class knows would weigh infinitely much; this keeps it finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Complement(WeighedCounts):
    """−log P(column | any other class) per occurrence."""

    name: ClassVar[str] = "complement"
    has_density: ClassVar[bool] = False

    @classmethod
    def settle(cls, columns: Columns, seen: FeatureCounts, weights: Array, settings: Settings) -> Complement:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, complement_weights(seen, np.maximum(pseudo, LEAST_PSEUDO)))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: FeatureCounts, rows: LeftOut, settings: Settings) -> BlockScorer:
        """A row is unknown to all classes but its own, which never looked at it."""
        pseudo = np.maximum(settings.smoothing_of(columns[0]).pseudo_counts(columns), LEAST_PSEUDO)
        read, sums = read_sparse_counts(rows.table, columns), seen.column_sums()
        total = sums.sum() + pseudo.sum() - seen.class_sums()
        if is_sparse(seen.table):
            lines = csr_arrays(scipy.sparse.csr_array(seen.table.T.tocsr()))
        else:
            elsewhere = np.ascontiguousarray(sums[:, None] - seen.dense().T)

        def score(block: slice, joint: Array) -> None:
            held = *csr_arrays(read(block)), rows.y[block], rows.weight[block]
            if is_sparse(seen.table):
                _add_complement_sparsely(*held, *lines, sums + pseudo, total, joint)
            else:
                _add_complement(*held, elsewhere, total, pseudo, joint)

        return score

    def parameters(self) -> Iterator[Parameter]:
        for place, line in lines_of(self.weights):
            yield Parameter(self.columns[place], "weight", None, line)


def complement_weights(seen: FeatureCounts, pseudo: Array, *, norm: bool = False) -> Weights:
    """−log of each column's share outside the class; with `norm`, as shares of their sum over the columns."""
    everywhere = seen.column_sums() + pseudo
    log_total = log_of(everywhere.sum() - seen.class_sums())  # −inf where there are no columns
    none = np.zeros(len(log_total))
    if is_sparse(seen.table):
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


def _corrections(counts: scipy.sparse.csr_array, everywhere: Array) -> Array:
    """What the columns that a class has met change in the sum of its logarithms."""
    sums = np.zeros(counts.shape[0])
    for label in range(counts.shape[0]):
        held = slice(counts.indptr[label], counts.indptr[label + 1])
        sums[label] = np.log1p(-counts.data[held] / everywhere[counts.indices[held]]).sum()
    return sums


def _divide(parts: Array, sums: Array) -> Array:
    """Shares of a sum; a single column weighs nothing, and has no share of that."""
    return np.divide(parts, sums, out=np.zeros_like(parts), where=sums != 0.0)


@kernel
def _add_complement(
    starts: Int64, columns: Int32, cells: Array, y: Int32, weight: Array, elsewhere: Array, total: Array, pseudo: Array,
    joint: Array,
) -> None:  # fmt: skip
    """Add −Σ cell · log share outside each class; `elsewhere` (columns × classes) counts outside, all rows included."""
    n_classes = joint.shape[1]
    product, evidence = np.empty(n_classes), np.empty(n_classes)
    for i in range(weight.shape[0]):
        drawn = 0.0
        product[:] = 1.0
        evidence[:] = 0.0
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell <= 0.0:
                continue
            drawn += cell
            line, more = elsewhere[columns[k]], pseudo[columns[k]]
            for c in range(n_classes):
                out = weight[i] * cell if c != y[i] else 0.0
                product[c], logged = log_power(less_one(line[c], out) + more, cell, product[c])
                evidence[c] += logged
        for c in range(n_classes):
            out = weight[i] * drawn if c != y[i] else 0.0
            joint[i, c] += drawn * np.log(total[c] - out) - evidence[c] - np.log(product[c])


@kernel
def _add_complement_sparsely(
    starts: Int64, columns: Int32, cells: Array, y: Int32, weight: Array, line_starts: Int64, line_classes: Int32,
    line_cells: Array, everywhere: Array, total: Array, joint: Array,
) -> None:  # fmt: skip
    """The same from a sparse table (its lines are columns): classes that never met a column share one logarithm."""
    for i in range(weight.shape[0]):
        drawn, shared, own, total_line = 0.0, 0.0, 0.0, joint[i]
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell <= 0.0:
                continue
            drawn += cell
            left = everywhere[columns[k]] - weight[i] * cell
            shared += cell * np.log(left)
            for entry in range(line_starts[columns[k]], line_starts[columns[k] + 1]):
                c = line_classes[entry]
                if c == y[i]:
                    own += cell * np.log((everywhere[columns[k]] - line_cells[entry]) / left)
                else:
                    total_line[c] -= cell * np.log1p(-line_cells[entry] / left)
        for c in range(joint.shape[1]):
            out = weight[i] * drawn if c != y[i] else 0.0
            total_line[c] += drawn * np.log(total[c] - out) - shared
        total_line[y[i]] -= own


@dataclass(frozen=True, slots=True, eq=False)
class TextComplement(WeighedWords):
    """−log P(word | any other class) for every word of a text."""

    name: ClassVar[str] = "text complement"
    has_density: ClassVar[bool] = False

    @classmethod
    def settle(cls, columns: Columns, seen: TokenCounts, weights: Array, settings: Settings) -> TextComplement:
        reader = WordReader.of(seen, settings)
        pseudo = np.maximum(settings.smoothing_of(columns[0]).pseudo_counts(seen.words), LEAST_PSEUDO)
        return cls(columns, reader, complement_weights(reader.weighed(seen.counts), pseudo, norm=settings.normalise))

    def parameters(self) -> Iterator[Parameter]:
        for word, line in self.numbers_by_word():
            yield Parameter(self.columns[0], "weight", word, line)
