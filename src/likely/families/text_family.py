"""Words of a text column, found when a text is read: what the families of counts share where they judge texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import scipy

from likely.arrays import Array, Int32, Int64
from likely.families.counts import DenseWeights, Weights, lines_of
from likely.families.outcomes import BlockScorer
from likely.families.protocol import SQL, Columns, CountTable, Domain, Reads, Settings, SQLNode, Token
from likely.jit import kernel
from likely.stats import FeatureCounts, TokenCounts
from likely.stats.feature_counts import rows_of, with_cells
from likely.table import Table
from likely.text.class_counts import count_rows
from likely.text.token_stream import find_tokens
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

MOST_WRITTEN = 1 << 22
"""Words × classes that are written out for others."""


@dataclass(frozen=True, slots=True, eq=False)
class WordReader:
    """Finds the known words of texts; `factor` weighs them (None: each counts as it is)."""

    tokenizer: Tokenizer
    words: Words
    factor: Array | None

    @classmethod
    def of(cls, seen: TokenCounts, settings: Settings) -> WordReader:
        return cls(seen.tokenizer, seen.words, inverse_frequency(seen) if settings.weighting == "tf-idf" else None)

    def rows(self, table: Table, column: str) -> scipy.sparse.csr_array:
        """Documents × known words; a gap is an empty document."""
        counted = count_rows(table.strings(column), self.tokenizer, words=self.words).to_csr()
        cells = counted.data.astype(np.float64)
        return with_cells(counted, cells if self.factor is None else cells * self.factor[counted.indices])

    def described(self) -> dict[str, object]:
        """How a text becomes known words."""
        return {"tokenizer": self.tokenizer, "words": self.words.to_list()}

    def weighed(self, counts: FeatureCounts) -> FeatureCounts:
        """Counts as `rows` would weigh them."""
        if self.factor is None:
            return counts
        return FeatureCounts(counts.table * self.factor[None, :])


def inverse_frequency(seen: TokenCounts) -> Array:
    """log((1 + texts) / (1 + texts with the word)) + 1: rare words weigh more. It follows from the counts alone."""
    return np.asarray(np.log((1.0 + seen.texts.sum()) / (1.0 + seen.documents.column_sums())) + 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class TextFamily(ABC):
    """A family of the words of one text column."""

    statistic: ClassVar[str] = "tokens"
    reads: ClassVar[Reads] = "text"
    domain: ClassVar[Domain] = Domain.ANY

    columns: Columns
    reader: WordReader

    @abstractmethod
    def line(self, place: int) -> Array:
        """What an occurrence of a word adds to the log joint of each class."""

    def only(self, column: str) -> Self:
        return self

    @classmethod
    def smoothed_counts(
        cls, columns: Columns, seen: TokenCounts, weights: Array, settings: Settings
    ) -> list[CountTable]:
        return [(columns, seen.counts.dense())]

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what each adds; what absent words say is left out."""
        rows, found = self.reader.rows(table, self.columns[0]), []
        for start, stop in pairwise(rows.indptr):
            places = rows.indices[start:stop]
            spelled, cells = self.reader.words.take(places).to_list(), rows.data[start:stop].tolist()
            triples = zip(spelled, cells, places.tolist(), strict=True)
            found.append([Token(word, cell, cell * self.line(place)) for word, cell, place in triples])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class WeighedWords(TextFamily):
    """A weight per word and class: the evidence of a text is their sum over its words."""

    weights: Weights

    def line(self, place: int) -> Array:
        return np.asarray(self.weights.only(place).lines[0])

    def bind(self, table: Table) -> BlockScorer:
        if isinstance(self.weights, DenseWeights):
            return self._token_by_token(table, self.weights)
        rows = self.reader.rows(table, self.columns[0])
        return lambda block, joint: self.weights.add(rows_of(rows, block), joint)

    def sql_terms(self, sql: SQL, place: int) -> list[SQLNode]:
        words, factor = self.reader.words.to_list(), self.reader.factor
        if not words:
            return []
        lines = np.array([line for _, line in lines_of(self.weights)])
        lines = lines if factor is None else lines * factor[:, None]
        found = sql.words(self.columns[0], self.reader.tokenizer, words, lines)[place]
        return [sql.number(float(self.weights.bias[place])), sql.known_or(found, sql.number(0.0))]

    def _token_by_token(self, table: Table, weights: DenseWeights) -> BlockScorer:
        """A sum over words asks for no counts: they would cost more than the sum."""
        reader, factor = self.reader, self.reader.factor
        found = find_tokens(table.strings(self.columns[0]), reader.tokenizer, reader.words)
        lines = weights.lines if factor is None else weights.lines * factor[:, None]

        def score(block: slice, joint: Array) -> None:
            add_lines_of_tokens(found.words, found.starts[block], found.stops[block], lines, joint)

        return score

    def described(self) -> Mapping[str, object] | None:
        """A line of weights for each word; None where these are too many to be written out."""
        n_words = len(self.reader.words)
        if n_words * len(self.weights.bias) > MOST_WRITTEN:
            return None
        lines = np.array([line for _, line in lines_of(self.weights)]).reshape(n_words, len(self.weights.bias))
        factor = self.reader.factor
        return {**self.reader.described(), "is": "words", "bias": self.weights.bias,
                "lines": lines if factor is None else lines * factor[:, None]}  # fmt: skip

    def numbers_by_word(self) -> Iterator[tuple[str, Array]]:
        """Every word and its weights."""
        words: Sequence[str] = self.reader.words.to_list()
        for place, line in lines_of(self.weights):
            yield words[place], line


@kernel(interpretable=True)
def add_lines_of_tokens(words: Int32, starts: Int64, stops: Int64, lines: Array, joint: Array) -> None:
    """Add the line of each word of each row, four of them at a time."""
    for i in range(joint.shape[0]):
        held = words[starts[i] : stops[i]]
        total = joint[i]
        fours = len(held) // 4
        for four in range(fours):
            k = 4 * four
            line_a, line_b = lines[held[k]], lines[held[k + 1]]
            line_c, line_d = lines[held[k + 2]], lines[held[k + 3]]
            for m in range(total.shape[0]):
                total[m] += (line_a[m] + line_b[m]) + (line_c[m] + line_d[m])
        for k in range(4 * fours, len(held)):
            line = lines[held[k]]
            for m in range(total.shape[0]):
                total[m] += line[m]
