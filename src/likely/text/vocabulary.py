"""A vocabulary: distinct words as bytes, found by a compiled table, spelled as Python strings only when asked for."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32, Int64, UInt64
from likely.text.kernels.interning import copy_words, find_words, index_words, prefixes, roomier
from likely.text.kernels.words import unpack

if TYPE_CHECKING:
    import pyarrow as pa

_PREFIX = 8
_MOST_ROUNDS = 32


@cache
def process_seed() -> np.uint64:
    """Chosen once per process: nobody can write texts whose words all collide. No result depends on it."""
    return np.uint64(secrets.randbits(64))


class Words:
    """Distinct words in a fixed order; word `k` is the bytes from `starts[k]` to `starts[k + 1]` of `arena`.

    >>> words = Words.of(["pho", "bun", "cha"])
    >>> words.find(Words.of(["cha", "xoi"])).tolist()
    [2, -1]
    >>> words.take(words.order()).to_list()
    ['bun', 'cha', 'pho']
    """

    def __init__(self, arena: NDArray[np.uint8], starts: NDArray[np.int64], cells: UInt64 | None = None) -> None:
        self.arena = arena
        self.starts = starts
        self._cells = cells

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """From Python strings, which must differ from one another."""
        spelled = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.cumsum([0, *map(len, spelled)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(spelled), dtype=np.uint8).copy(), ends)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.arena, other.arena)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        # The table belongs to the seed of this process.
        return {"arena": self.arena, "starts": self.starts, "_cells": None}

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.take(np.arange(min(len(self), 5))).to_list()))
        return f"<{len(self)} words: {shown}{', …' if len(self) > 5 else ''}>"

    def to_list(self) -> list[str]:
        """The words as Python strings."""
        data = self.arena.tobytes()
        places = pairwise(self.starts.tolist())
        if data.isascii():
            text = data.decode("ascii")
            return [text[start:stop] for start, stop in places]
        return [data[start:stop].decode("utf-8", "surrogatepass") for start, stop in places]

    def to_arrow(self) -> pa.Array:
        """The words as an Arrow column, without a copy."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.arena)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def find(self, other: Words) -> Int32:
        """Where each of the other words is here; −1 for a stranger."""
        if self._cells is None:
            self._cells = index_words(self.arena, self.starts, process_seed())
        found = np.empty(len(other), dtype=np.int32)
        find_words(self._cells, self.arena, self.starts, process_seed(), other.arena, other.starts, found)
        return found

    def take(self, numbers: NDArray[np.integer[Any]]) -> Words:
        """Some words, in the order asked for."""
        chosen = np.asarray(numbers, dtype=np.int64)
        return Words(*copy_words(self.arena, self.starts, chosen))

    def union(self, other: Words) -> tuple[Words, Int32]:
        """These words, then the other's strangers; and where each of the other words is among them."""
        found = self.find(other)
        strangers = np.flatnonzero(found < 0)
        found[strangers] = len(self) + np.arange(len(strangers), dtype=np.int32)
        more = other.take(strangers)
        starts = np.concatenate([self.starts, self.starts[-1] + more.starts[1:]])
        return Words(np.concatenate([self.arena, more.arena]), starts), found

    def order(self) -> NDArray[np.int64]:
        """The numbers of the words in alphabetical order: by bytes, which is by code points.

        Eight bytes at a time are compared as one number; a further round only looks at words that are still equal.
        """
        order = np.argsort(prefixes(self.arena, self.starts, np.arange(len(self)), 0))
        tied = np.arange(len(self))
        groups = prefixes(self.arena, self.starts, order, 0)
        for depth in range(_PREFIX, _PREFIX * _MOST_ROUNDS, _PREFIX):
            same = groups[1:] == groups[:-1]
            open_ = np.zeros(len(groups), dtype=np.bool_)
            open_[1:] |= same
            open_[:-1] |= same
            if not open_.any():
                return order
            labels = np.cumsum(np.concatenate([[True], ~same]))[open_]
            tied = tied[open_]
            keys = prefixes(self.arena, self.starts, order[tied], depth)
            inner = np.lexsort((keys, labels))
            order[tied] = order[tied][inner]
            # Equal so far: same group before, same eight bytes now.
            change = np.concatenate([[True], (np.diff(labels) != 0) | (np.diff(keys[inner]) != 0)])
            groups = np.cumsum(change)
        # Very long common beginnings, or words that differ by NULs at their ends: Python compares the whole bytes.
        data = self.arena.tobytes()
        for first, last in _runs(groups):
            chosen = order[tied[first:last]].tolist()
            chosen.sort(key=lambda word: data[self.starts[word] : self.starts[word + 1]])
            order[tied[first:last]] = chosen
        return order


def _runs(groups: NDArray[Any]) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]])).tolist()
    for first, last in pairwise(edges):
        if last - first > 1:
            yield first, last


# A growing table of distinct words, which one thread at a time fills from blocks of documents.

_FIRST_CELLS = 1 << 12
_FIRST_WORDS = _FIRST_CELLS // 4 * 3
"""Three cells in four may be taken."""
_FIRST_ROOM = 1 << 12


class Lexicon:
    """Cells and packed words as the kernels know them, and room for more of each."""

    def __init__(self) -> None:
        self.n_words = 0
        self.cells: UInt64 = np.zeros(2 * _FIRST_CELLS, dtype=np.uint64)
        self.packed: UInt64 = np.empty(_FIRST_ROOM, dtype=np.uint64)
        self.starts: Int64 = np.zeros(_FIRST_WORDS + 1, dtype=np.int64)
        self.sizes: Int32 = np.empty(_FIRST_WORDS, dtype=np.int32)

    def add_words(self) -> None:
        """Room for twice as many words."""
        self.cells = roomier(self.cells, process_seed())
        self.sizes = np.concatenate([self.sizes, np.empty_like(self.sizes)])
        self.starts = np.concatenate([self.starts, np.empty(len(self.starts) - 1, dtype=np.int64)])

    def add_bytes(self) -> None:
        """Room for twice as many bytes."""
        self.packed = np.concatenate([self.packed, np.empty_like(self.packed)])

    def to_words(self) -> Words:
        """The words so far, with the table that finds them."""
        return Words(*unpack(self.packed, self.starts, self.sizes, self.n_words), self.cells)
