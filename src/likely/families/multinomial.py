"""Words of a document, as columns of counts or as a text: each occurrence is drawn from the class's own urn."""

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
    leave_own_out,
    lines_of,
    lines_where_seen,
    log_power,
    own_counts,
    read_counts,
    read_sparse_counts,
)
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty, Columns, LeftOut, MostScored, Parameter, Settings
from likely.families.smoothing import Laplace, log_bias, log_share, trigamma
from likely.families.text_family import WeighedWords, WordReader
from likely.jit import kernel
from likely.stats import FeatureCounts, TokenCounts
from likely.stats.feature_counts import csr_arrays, rows_of
from likely.stats.protocol import Matrix, less_one
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Multinomial(WeighedCounts):
    """log P(column | class) per occurrence; the shares of all columns of a class sum to one."""

    name: ClassVar[str] = "multinomial"
    has_density: ClassVar[bool] = True

    @classmethod
    def settle(cls, columns: Columns, seen: FeatureCounts, weights: Array, settings: Settings) -> Multinomial:
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(columns)
        return cls(columns, multinomial_weights(seen, pseudo))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: FeatureCounts, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Only the row's own class knows less without it."""
        pseudo, total = settings.smoothing_of(columns[0]).pseudo_counts(columns), seen.class_sums()

        def own(block: slice, held: scipy.sparse.csr_array) -> Array:
            y, out = rows.y[block], np.empty(held.shape[0])
            counts = own_counts(seen.table, held, y)
            _own_multinomial(*csr_arrays(held), rows.weight[block], counts, total[y], pseudo, out)
            return out

        return leave_own_out(
            read_sparse_counts(rows.table, columns), multinomial_weights(seen, pseudo).add, rows.y, own
        )

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: FeatureCounts, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        a, read = seen.dense() + settings.smoothing_of(columns[0]).pseudo_counts(columns), read_counts(table, columns)

        def spread(block: slice, shift: Array, variance: Array) -> None:
            rows = read(block)
            add_counts(a, rows if is_sparse(rows) else np.nan_to_num(rows), shift, variance)

        return spread

    def parameters(self) -> Iterator[Parameter]:
        for place, line in lines_of(self.weights):
            yield Parameter(self.columns[place], "probability", None, np.exp(line))


def multinomial_weights(seen: FeatureCounts, pseudo: Array) -> Weights:
    """log((count + pseudo) / (all counts of the class + all pseudo))."""
    total = seen.class_sums() + pseudo.sum()
    none = np.zeros(len(total))
    if is_sparse(seen.table) and (pseudo > 0).all():
        lines = lines_where_seen(seen.table, lambda _, column, count: np.log1p(count / pseudo[column]))
        return SparseWeights(lines, none, -np.log(total), np.ones(len(total)), np.log(pseudo))
    log_shares = log_share(seen.dense() + pseudo, total[:, None], seen.shape[1])
    return DenseWeights(np.ascontiguousarray(log_shares.T), none)


@kernel
def _own_multinomial(
    starts: Int64, columns: Int32, cells: Array, weight: Array, counts: Array, total: Array, pseudo: Array, out: Array
) -> None:
    """Σ cell · log share of each row in its own class; `counts` belong to the cells, `total` to the rows."""
    all_pseudo = pseudo.sum()
    for i in range(weight.shape[0]):
        drawn, evidence, product = 0.0, 0.0, 1.0
        for k in range(starts[i], starts[i + 1]):
            drawn += cells[k]
        left = less_one(total[i], weight[i] * drawn) + all_pseudo
        if left <= 0.0:
            out[i] = -drawn * np.log(pseudo.shape[0])
            continue
        for k in range(starts[i], starts[i + 1]):
            if cells[k] > 0.0:
                share = (less_one(counts[k], weight[i] * cells[k]) + pseudo[columns[k]]) / left
                product, logged = log_power(share, cells[k], product)
                evidence += logged
        out[i] = evidence + np.log(product)


def add_counts(a: Array, rows: Matrix, shift: Array, variance: Array) -> None:
    """Shares of competing columns (classes × columns): Σ count · log share."""
    total = a.sum(axis=1)
    drawn = np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    squares = rows.multiply(rows) if is_sparse(rows) else rows**2
    shift += rows @ log_bias(a).T - drawn * log_bias(total)
    variance += np.maximum(squares @ trigamma(a).T - drawn**2 * trigamma(total), 0.0)


# The words of texts. A word that only the text itself holds was never seen without it.

NOTHING_LEFT = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class TextMultinomial(WeighedWords):
    """log P(word | class) for every word of a text."""

    name: ClassVar[str] = "text multinomial"
    has_density: ClassVar[bool] = True

    @classmethod
    def settle(cls, columns: Columns, seen: TokenCounts, weights: Array, settings: Settings) -> TextMultinomial:
        reader = WordReader.of(seen, settings)
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(seen.words)
        return cls(columns, reader, multinomial_weights(reader.weighed(seen.counts), pseudo))

    @classmethod
    def leave_most_out(
        cls, columns: Columns, seen: TokenCounts, rows: LeftOut, settings: Settings
    ) -> MostScored | None:
        smoothing, reader = settings.smoothing_of(columns[0]), WordReader.of(seen, settings)
        even = isinstance(smoothing, Laplace) and smoothing.gamma > 0.0
        if not even or reader.factor is not None or is_sparse(seen.counts.table):
            return None
        held, counts = reader.rows(rows.table, columns[0]), np.ascontiguousarray(seen.counts.dense().T)
        gamma, holders, totals = smoothing.pseudo_rows, seen.documents.column_sums(), seen.counts.class_sums()
        logs = np.log(counts + gamma)

        def score(block: slice, joint: Array) -> Int64:
            own = rows.y[block], rows.weight[block]
            _add_words_without(*csr_arrays(rows_of(held, block)), *own, counts, logs, holders, totals, gamma, joint)
            return NOTHING_LEFT

        return score

    def parameters(self) -> Iterator[Parameter]:
        for word, line in self.numbers_by_word():
            yield Parameter(self.columns[0], "probability", word, np.exp(line))


@kernel
def _add_words_without(
    starts: Int64, words: Int32, cells: Array, y: Int32, weight: Array, counts: Array, logs: Array, holders: Array,
    totals: Array, gamma: float, joint: Array,
) -> None:  # fmt: skip
    """Add Σ cell · log((count + γ) / (all counts + γ · words)) for each text, as if it had not been counted.

    The text takes its tokens from its own class; and words that no other text holds leave the vocabulary, which
    all classes share.
    """
    for i in range(joint.shape[0]):
        c, w = y[i], weight[i]
        known, spoken, vocabulary = 0.0, 0.0, float(counts.shape[0])
        for k in range(starts[i], starts[i + 1]):
            word, cell = words[k], cells[k]
            spoken += cell
            if less_one(holders[word], w) == 0.0:
                vocabulary -= 1.0
                continue
            known += cell
            for m in range(joint.shape[1]):
                joint[i, m] += cell * logs[word, m]
            joint[i, c] += cell * (np.log(less_one(counts[word, c], w * cell) + gamma) - logs[word, c])
        if known > 0.0:
            for m in range(joint.shape[1]):
                total = less_one(totals[m], w * spoken) if m == c else totals[m]
                joint[i, m] -= known * np.log(total + gamma * vocabulary)
