"""Beliefs about a text column: the families of counts, over words that are found when a text is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Int32, Int64
from likely.families.bernoulli import PresenceTable, PresenceWeights, presence_shares
from likely.families.complement import LEAST_PSEUDO, complement_weights
from likely.families.kernels import add_lines_of_tokens
from likely.families.leave_one_out import less_one
from likely.families.linear import DenseWeights, Weights
from likely.families.multinomial import multinomial_weights
from likely.families.multivariate import MostScored
from likely.families.protocol import BlockScorer, LeftOut, Reads, Settings
from likely.families.smoothing import Laplace
from likely.stats import FeatureCounts, Presence, TokenCounts
from likely.stats.feature_counts import csr_arrays, rows_of
from likely.table import Table
from likely.text.class_counts import count_rows
from likely.text.token_stream import Tokens, find_tokens
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words


class Token(NamedTuple):
    """One word of a text: what it weighs there, and what it adds to the log joint of each class."""

    word: str
    weight: float
    evidence: Array


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Finds the known words of texts; `factor` weighs them (None: each counts as it is)."""

    recipe: Tokenizer
    words: Words
    factor: Array | None

    @classmethod
    def of(cls, seen: TokenCounts, settings: Settings) -> Reader:
        return cls(seen.recipe, seen.words, inverse_frequency(seen) if settings.weighting == "tf-idf" else None)

    def rows(self, table: Table, column: str) -> sparse.csr_array:
        """Documents × known words; a gap is an empty document."""
        counted = count_rows(table.strings(column), self.recipe, words=self.words).to_csr()
        cells = counted.data.astype(np.float64)
        if self.factor is not None:
            cells *= self.factor[counted.indices]
        return sparse.csr_array((cells, counted.indices, counted.indptr), shape=counted.shape)

    def found(self, table: Table, column: str) -> Tokens:
        """The known words of each document as they follow one another."""
        return find_tokens(table.strings(column), self.recipe, self.words)

    def weighed(self, counts: FeatureCounts) -> FeatureCounts:
        """Counts as `rows` would weigh them."""
        if self.factor is None:
            return counts
        return FeatureCounts(counts.table * self.factor[None, :])


def inverse_frequency(seen: TokenCounts) -> Array:
    """log((1 + texts) / (1 + texts with the word)) + 1: rare words weigh more. It follows from the counts alone."""
    return np.asarray(np.log((1.0 + seen.texts.sum()) / (1.0 + seen.documents.column_sums())) + 1.0)


def _pseudo(columns: tuple[str, ...], seen: TokenCounts, settings: Settings) -> Array:
    return settings.smoothing_of(columns[0]).pseudo_counts(seen.words)


@dataclass(frozen=True, slots=True, eq=False)
class WeighedWords:
    """A weight per word and class: the evidence of a text is their sum over its words."""

    columns: tuple[str, ...]
    reader: Reader
    weights: Weights

    def bind(self, table: Table) -> BlockScorer:
        if isinstance(self.weights, DenseWeights):
            return self._token_by_token(table, self.weights)
        rows = self.reader.rows(table, self.columns[0])

        def score(block: slice, joint: Array) -> None:
            self.weights.add(rows_of(rows, block), joint)

        return score

    def _token_by_token(self, table: Table, weights: DenseWeights) -> BlockScorer:
        """A sum over words asks for no counts: they would cost more than the sum."""
        found = self.reader.found(table, self.columns[0])
        factor = self.reader.factor
        lines = weights.lines if factor is None else weights.lines * factor[:, None]

        def score(block: slice, joint: Array) -> None:
            if weights.bias.any():
                joint += weights.bias
            add_lines_of_tokens(found.words, found.starts[block], found.stops[block], lines, joint)

        return score

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what each adds."""
        rows = self.reader.rows(table, self.columns[0])
        return _tokens(rows, self.reader.words, lambda place: self.weights.only(place).lines[0])


@dataclass(frozen=True, slots=True, eq=False)
class TextMultinomial(WeighedWords):
    """log P(word | class) for every word of a text."""

    name: ClassVar[str] = "text multinomial"
    statistic: ClassVar[str] = "tokens"
    reads: ClassVar[Reads] = "text"

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: TokenCounts, weights: Array, settings: Settings) -> TextMultinomial:
        reader = Reader.of(seen, settings)
        return cls(columns, reader, multinomial_weights(reader.weighed(seen.counts), _pseudo(columns, seen, settings)))

    @classmethod
    def leave_most_out(
        cls, columns: tuple[str, ...], seen: TokenCounts, rows: LeftOut, settings: Settings
    ) -> MostScored | None:
        smoothing, reader = settings.smoothing_of(columns[0]), Reader.of(seen, settings)
        even = isinstance(smoothing, Laplace) and smoothing.gamma > 0.0
        if not even or reader.factor is not None or sparse.issparse(seen.counts.table):
            return None
        return leave_texts_out(seen, reader.rows(rows.table, columns[0]), rows, smoothing.pseudo_rows)

    def only(self, column: str) -> TextMultinomial:
        return self


@dataclass(frozen=True, slots=True, eq=False)
class TextComplement(WeighedWords):
    """−log P(word | any other class) for every word of a text."""

    name: ClassVar[str] = "text complement"
    statistic: ClassVar[str] = "tokens"
    reads: ClassVar[Reads] = "text"

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: TokenCounts, weights: Array, settings: Settings) -> TextComplement:
        reader = Reader.of(seen, settings)
        pseudo = np.maximum(_pseudo(columns, seen, settings), LEAST_PSEUDO)
        return cls(columns, reader, complement_weights(reader.weighed(seen.counts), pseudo, norm=settings.normalise))

    def only(self, column: str) -> TextComplement:
        return self


@dataclass(frozen=True, slots=True, eq=False)
class TextBernoulli:
    """Each known word is in the text or not; absence speaks, too. A text without a known word says nothing."""

    name: ClassVar[str] = "text bernoulli"
    statistic: ClassVar[str] = "tokens"
    reads: ClassVar[Reads] = "text"

    columns: tuple[str, ...]
    reader: Reader
    shares: PresenceTable | PresenceWeights

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: TokenCounts, weights: Array, settings: Settings) -> TextBernoulli:
        yes, no = settings.smoothing_of(columns[0]).pseudo_counts((True, False))
        size = len(seen.words)
        presence = Presence(seen.documents, FeatureCounts.empty(*seen.documents.shape))
        shares = presence_shares(presence, seen.texts, np.full(size, yes), np.full(size, no))
        return cls(columns, Reader(seen.recipe, seen.words, None), shares)

    def bind(self, table: Table) -> BlockScorer:
        rows = self.reader.rows(table, self.columns[0])
        speaks = np.diff(rows.indptr) > 0

        def score(block: slice, joint: Array) -> None:
            evidence = np.zeros_like(joint)
            self.shares.add(rows_of(rows, block), 0.0, evidence)
            joint += np.where(speaks[block, None], evidence, 0.0)

        return score

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what the presence of each adds; absences are left out."""
        rows = self.reader.rows(table, self.columns[0])
        return _tokens(rows, self.reader.words, lambda place: self.shares.only(place).present[0])

    def only(self, column: str) -> TextBernoulli:
        return self


def _tokens(rows: sparse.csr_array, words: Words, line_of: Callable[[int], Array]) -> list[list[Token]]:
    """The words of each row, with cell × line as their evidence."""
    found = []
    for row in range(rows.shape[0]):
        held = slice(rows.indptr[row], rows.indptr[row + 1])
        places: NDArray[np.int32] = rows.indices[held]
        spelled, cells = words.take(places).to_list(), rows.data[held].tolist()
        triples = zip(spelled, cells, places.tolist(), strict=True)
        found.append([Token(word, cell, cell * line_of(place)) for word, cell, place in triples])
    return found


TEXT_FAMILIES: dict[str, type[TextMultinomial] | type[TextComplement] | type[TextBernoulli]] = {
    "multinomial": TextMultinomial,
    "complement": TextComplement,
    "bernoulli": TextBernoulli,
}
"""What families of counts are called for text columns, too."""


# Leave-one-out for the words of texts: a word that only the text itself holds was never seen without it.

NOTHING_LEFT = np.empty(0, dtype=np.int64)


def leave_texts_out(seen: TokenCounts, held: sparse.csr_array, rows: LeftOut, gamma: float) -> MostScored:
    """log P(word | class) without each text, γ being added to every count.

    The text takes its tokens from its own class; and words that no other text holds leave the vocabulary, which
    all classes share.
    """
    counts = np.ascontiguousarray(seen.counts.dense().T)
    logs, holders, totals = np.log(counts + gamma), seen.documents.column_sums(), seen.counts.class_sums()

    def score(block: slice, joint: Array) -> NDArray[np.int64]:
        own = rows.y[block], rows.weight[block]
        add_words_without(*csr_arrays(rows_of(held, block)), *own, counts, logs, holders, totals, gamma, joint)
        return NOTHING_LEFT

    return score


@numba.njit(nogil=True, cache=True)
def add_words_without(
    starts: Int64,
    words: Int32,
    cells: Array,
    y: Int32,
    weight: Array,
    counts: Array,
    logs: Array,
    holders: Array,
    totals: Array,
    gamma: float,
    joint: Array,
) -> None:
    """Add Σ cell · log((count + γ) / (all counts + γ · words)) for each text, as if it had not been counted."""
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
