"""A stream of numbered tokens: what a scan leaves of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.text.words import Words

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The tokens of one block: numbers in a table, where each document ends among them, and which table it is."""

    ids: Numbers
    ends: NDArray[np.int64]
    table: int


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The tokens of all documents; `maps[table][id]` is a token's word, −1 if it has been left out."""

    words: Words
    parts: Sequence[Part]
    maps: Sequence[Numbers]

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return sum(len(part.ends) for part in self.parts)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, those left out included."""
        return sum(len(part.ids) for part in self.parts)

    def renamed(self, words: Words, new: Numbers) -> Stream:
        """The same tokens under other words: word `k` becomes `new[k]`, or is left out if that is −1."""
        with_none = np.append(new, np.int32(-1)).astype(np.int32)
        return Stream(words, self.parts, [with_none[old] for old in self.maps])

    def in_order(self) -> Stream:
        """With the words in alphabetical order."""
        order = self.words.order()
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return self.renamed(self.words.take(order), rank)

    def without_unused(self) -> Stream:
        """Without words that no token has."""
        used = np.zeros(len(self.words) + 1, dtype=np.bool_)
        for part in self.parts:
            used[self.maps[part.table][part.ids]] = True
        kept = np.flatnonzero(used[:-1])
        new = np.full(len(self.words), -1, dtype=np.int32)
        new[kept] = np.arange(len(kept), dtype=np.int32)
        return self.renamed(self.words.take(kept), new)
