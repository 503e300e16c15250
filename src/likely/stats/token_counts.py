"""How often each word of a text column came with each class, and in how many documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array, ColumnLike, Flags, Index, Int32
from likely.errors import NotMergeable
from likely.measures import information_gains
from likely.numerics import together
from likely.stats.feature_counts import FeatureCounts, against_rest
from likely.stats.protocol import (
    NEVER_SEEN,
    Difference,
    as_counted,
    difference_of_shares,
    leave,
    matched,
    require,
    require_counts,
    share_of,
    take_rows,
)
from likely.text.class_counts import class_counts_of
from likely.text.documents import each_block
from likely.text.token_stream import read_stream
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """Per class and word the weight of the tokens and of the documents that hold it; per class that of all texts.

    The tokenizer says how a text becomes tokens; counts under another tokenizer mean something else. Words are in
    alphabetical order, and a word without weight is not kept.

    >>> seen = TokenCounts.observe(["to be or not to be", "be"], np.array([0, 1], dtype=np.int32))
    >>> seen.words.to_list(), seen.counts.dense().tolist(), seen.texts.tolist()
    (['be', 'not', 'or', 'to'], [[2.0, 1.0, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0]], [1.0, 1.0])
    """

    stored_as: ClassVar[str] = "token counts"
    by_column: ClassVar[bool] = True

    tokenizer: Tokenizer
    words: Words
    counts: FeatureCounts
    documents: FeatureCounts
    texts: Array

    @classmethod
    def empty(cls, tokenizer: Tokenizer | None = None, n_classes: int = 0) -> TokenCounts:
        none = FeatureCounts.empty(n_classes)
        return cls(tokenizer or Tokenizer(), Words.of([]), none, none, np.zeros(n_classes))

    @classmethod
    def observe(
        cls,
        texts: ColumnLike,
        y: Int32,
        weight: Array | None = None,
        n_classes: int | None = None,
        tokenizer: Tokenizer | None = None,
        known: Flags | None = None,
        n_jobs: int | None = None,
    ) -> TokenCounts:
        """Count texts for the classes `y`; `known` tells which of them are there at all."""
        weight, n_classes = as_counted(y, weight, n_classes)
        tokenizer = tokenizer or Tokenizer()
        stream = read_stream(each_block(texts, "strict"), tokenizer, n_jobs).in_order(n_jobs)
        seen = class_counts_of(stream, y, n_classes, weight, n_jobs)
        held = weight if known is None else np.where(known, weight, 0.0)
        of_class = np.bincount(y, weights=held, minlength=n_classes).astype(np.float64)
        return cls._kept(tokenizer, seen.words, FeatureCounts(seen.counts), FeatureCounts(seen.documents), of_class)

    @classmethod
    def _kept(
        cls, tokenizer: Tokenizer, words: Words, counts: FeatureCounts, documents: FeatureCounts, texts: Array
    ) -> TokenCounts:
        """Without the words that have no weight left."""
        there = np.flatnonzero(documents.column_sums() > 0.0)
        if len(there) == len(words):
            return cls(tokenizer, words, counts, documents, texts)
        return cls(tokenizer, words.take(there), counts.select(there), documents.select(there), texts)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.texts), 1

    @property
    def known_weights(self) -> Array:
        return self.texts[:, None]

    def value_blocks(self) -> Iterator[tuple[Sequence[Hashable], Array, Array]]:
        """Words, and the weight of the texts that hold each."""
        start = 0
        for held in self.documents.dense_blocks():
            stop = start + held.shape[1]
            words = self.words if stop - start == len(self.words) else self.words.take(np.arange(start, stop))
            yield words.to_list(), held, self.texts
            start = stop

    def information(self, weights: Array) -> Array:
        """That of the most telling word."""
        best = float(self.information_by_word().max(initial=0.0))
        return np.array([best * share_of(self.texts.sum(), weights)])

    def information_by_word(self) -> Array:
        """Mutual information of the class and of "the text holds this word", in bits."""
        bits = [information_gains(against_rest(held, self.texts)) for held in self.documents.dense_blocks()]
        return np.concatenate(bits) if bits else np.zeros(0)

    def difference(self, mine: int, other: TokenCounts, theirs: int) -> Difference | None:
        a, b = (seen.counts.take_classes(np.array([row])).dense()[0] for seen, row in ((self, mine), (other, theirs)))
        return difference_of_shares(self.words.to_list(), a, other.words.to_list(), b)

    def validate(self) -> None:
        require_counts(self.texts, len(self.texts))
        fair = self.counts.shape == self.documents.shape == (len(self.texts), len(self.words))
        require(fair, "Counts of words do not fit the words.")
        self.counts.validate()
        self.documents.validate()

    def __add__(self, other: TokenCounts) -> TokenCounts:
        self._refuse_other_tokenizer(other)
        texts = together(*matched(self.texts, other.texts))
        if self.words == other.words:
            return TokenCounts(
                self.tokenizer, self.words, self.counts + other.counts, self.documents + other.documents, texts
            )
        both, found = self.words.union(other.words)
        order = both.order()
        place = np.empty(len(both), dtype=np.intp)
        place[order] = np.arange(len(both))
        mine, theirs = place[: len(self.words)], place[found]
        counts = self.counts.place_columns(mine, len(both)) + other.counts.place_columns(theirs, len(both))
        documents = self.documents.place_columns(mine, len(both)) + other.documents.place_columns(theirs, len(both))
        return TokenCounts(self.tokenizer, both.take(order), counts, documents, texts)

    def __sub__(self, other: TokenCounts) -> TokenCounts:
        self._refuse_other_tokenizer(other)
        places = self.words.find(other.words).astype(np.intp)
        if (places < 0).any():
            raise NotMergeable(NEVER_SEEN)
        n_words, texts = len(self.words), leave(*matched(self.texts, other.texts))
        counts = self.counts - other.counts.place_columns(places, n_words)
        documents = self.documents - other.documents.place_columns(places, n_words)
        return self._kept(self.tokenizer, self.words, counts, documents, texts)

    def take_classes(self, source: Index) -> TokenCounts:
        counts, documents = self.counts.take_classes(source), self.documents.take_classes(source)
        return TokenCounts(self.tokenizer, self.words, counts, documents, take_rows(self.texts, source))

    def select(self, columns: Index) -> TokenCounts:
        """Itself: it describes one column."""
        return self

    def _refuse_other_tokenizer(self, other: TokenCounts) -> None:
        if self.tokenizer != other.tokenizer and len(self.words) and len(other.words):
            raise NotMergeable("The texts were cut into words in two different ways, so their counts do not add up.")
