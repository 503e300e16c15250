"""A vocabulary: distinct words as bytes, found by a compiled table, spelled as Python strings only when asked for.

A word is known by its *key*: up to eight bytes are the key themselves, a longer word has a 64-bit hash and its bytes
are always compared. A cell of the table is two numbers: the key, and `length << 32 | number + 1` (0: free).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Int32, Int64, UInt8, UInt64, read_only
from likely.jit import kernel
from likely.numerics import refuse_many
from likely.parallel import run

if TYPE_CHECKING:
    import pyarrow as pa


@cache
def process_seed() -> np.uint64:
    """Chosen once per process: nobody can write texts whose words all collide. No result depends on it."""
    return np.uint64(secrets.randbits(64))


FEW_WORDS = 1 << 16
"""So many are spelled before Arrow is even imported, which spells more of them faster."""


FEW_PLACES = 1 << 8
"""So few words are taken out of many without Arrow."""

MANY_WORDS = 1 << 15
"""More are sorted by several threads, those of one first letter each."""

TAKEN_WORDS = 1 << 13
"""So many are taken at a time, by one thread."""


class Words:
    """Distinct words in a fixed order; word `k` is the bytes from `starts[k]` to `starts[k + 1]` of `arena`.

    >>> words = Words.of(["pho", "bun", "cha"])
    >>> words.find(Words.of(["cha", "xoi"])).tolist()
    [2, -1]
    >>> words.take(words.order()).to_list()
    ['bun', 'cha', 'pho']
    """

    def __init__(self, arena: UInt8, starts: Int64, cells: UInt64 | None = None) -> None:
        refuse_many(len(starts) - 1, "words")
        self.arena, self.starts = read_only(arena), read_only(starts)
        self._cells = cells

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """From Python strings, which must differ from one another."""
        spelled = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.cumsum([0, *map(len, spelled)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(spelled), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.arena, other.arena)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        # The table belongs to the seed of this process.
        return {"arena": self.arena, "starts": self.starts, "_cells": None}

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.take(np.arange(min(len(self), 5))).to_list()))
        return f"<{len(self)} words: {shown}{', …' if len(self) > 5 else ''}>"

    def to_list(self) -> list[str]:
        """The words as Python strings."""
        if len(self) < FEW_WORDS:
            spelled, starts = self.arena.tobytes(), self.starts.tolist()
            return [spelled[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(starts)]
        try:
            names: list[str] = self.to_arrow().to_pylist()
        except UnicodeDecodeError:  # a lone surrogate is no UTF-8
            return [word.decode("utf-8", "surrogatepass") for word in self._to_binary().to_pylist()]
        return names

    def to_arrow(self) -> pa.Array:
        """The words as an Arrow column, without a copy."""
        import pyarrow as pa

        return self._to_binary().view(pa.large_string())

    def _to_binary(self) -> pa.Array:
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.arena)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def find(self, other: Words) -> Int32:
        """Where each of the other words is here; −1 for a stranger."""
        if self._cells is None:
            self._cells = index_words(self.arena, self.starts, process_seed())
        found: Int32 = find_words(self._cells, self.arena, self.starts, process_seed(), other.arena, other.starts)
        return found

    def take(self, numbers: AnyArray, n_jobs: int | None = 1) -> Words:
        """Some words, in the order asked for."""
        if not len(numbers):
            return Words.of([])
        if len(numbers) < FEW_PLACES and np.min(numbers) >= 0:
            letters, starts = np.ascontiguousarray(self.arena).data, self.starts
            spelled = [letters[starts[k] : starts[k + 1]] for k in numbers]
            return Words(
                np.frombuffer(b"".join(spelled), dtype=np.uint8), np.cumsum([0, *map(len, spelled)], dtype=np.int64)
            )
        import pyarrow as pa

        words, blocks = self._to_binary(), range(0, len(numbers), TAKEN_WORDS)
        taken = run(lambda first: words.take(pa.array(numbers[first : first + TAKEN_WORDS])), blocks, n_jobs)
        _, starts, arena = pa.concat_arrays(taken).buffers()
        places = np.frombuffer(starts, dtype=np.int64)[: len(numbers) + 1]
        return Words(np.frombuffer(arena or b"", dtype=np.uint8)[: places[-1]], places)

    def union(self, other: Words) -> tuple[Words, Int32]:
        """These words, then the other's strangers; and where each of the other words is among them."""
        found = self.find(other)
        strangers = np.flatnonzero(found < 0)
        refuse_many(len(self) + len(strangers), "words")
        found[strangers] = len(self) + np.arange(len(strangers), dtype=np.int32)
        more = other.take(strangers)
        starts = np.concatenate([self.starts, self.starts[-1] + more.starts[1:]])
        return Words(np.concatenate([self.arena, more.arena]), starts), found

    def order(self, n_jobs: int | None = None) -> Int64:
        """The numbers of the words in alphabetical order: by bytes, which is by code points."""
        words, prefix, first = self._to_binary(), prefixes(self.arena, self.starts), np.zeros(len(self), dtype=np.uint8)
        is_empty = self.starts[1:] == self.starts[:-1]
        first[~is_empty] = self.arena[self.starts[:-1][~is_empty]]
        by_first = np.argsort(first, kind="stable")
        ends = np.flatnonzero(np.diff(first[by_first], append=-1)) + 1 if len(self) > MANY_WORDS else [len(self)]

        def sort(bounds: tuple[int, int]) -> Int64:
            own = by_first[slice(*bounds)]
            own = own[np.argsort(prefix[own])]
            alike = np.diff(prefix[own]) == 0
            tied = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
            if len(tied):  # these stay together, so that their own order is all that is missing
                own[tied] = own[tied][_sorted_by_bytes(words.take(own[tied]))]
            return np.asarray(own, dtype=np.int64)

        return np.concatenate(run(sort, list(pairwise([0, *ends])), n_jobs))


def _sorted_by_bytes(words: pa.Array) -> Int64:
    import pyarrow.compute as pc

    order: Int64 = pc.array_sort_indices(words).to_numpy()
    return order


@kernel(interpretable=True)
def prefixes(arena: UInt8, starts: Int64) -> UInt64:
    """The first eight bytes of each word as a number, with zeros behind a shorter one: in the order of the words."""
    out = np.zeros(starts.shape[0] - 1, dtype=np.uint64)
    for k in range(len(out)):
        for i in range(SHORT):
            at = starts[k] + i
            byte = np.uint64(arena[at]) if at < starts[k + 1] else _FREE
            out[k] = out[k] << np.uint64(8) | byte
    return out


# The table of words, in compiled code.

SHORT = 8
"""A word of so many bytes fits into its key."""

# Odd numbers with well spread bits (the golden ratio's, and MurmurHash3's second finaliser).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MURMUR = np.uint64(0xC4CEB9FE1A85EC53)
_32 = np.uint64(32)
_29 = np.uint64(29)
_LOW = np.uint64(0xFFFFFFFF)
_FREE = np.uint64(0)


@kernel
def stir(hashed: np.uint64, word: np.uint64) -> np.uint64:
    """The hash of a string that goes on for eight more bytes."""
    mixed = (hashed ^ word) * _GOLDEN
    return mixed ^ (mixed >> _29)


@kernel
def first_slot(key: np.uint64, seed: np.uint64, mask: int) -> int:
    """Where the search for a key begins. The seed keeps texts from being written to collide."""
    mixed = (key ^ seed) * _GOLDEN
    mixed = (mixed ^ (mixed >> _32)) * _MURMUR
    return int(mixed >> _29) & mask


@kernel
def _free_slot(cells: UInt64, key: np.uint64, seed: np.uint64) -> int:
    mask = cells.shape[0] // 2 - 1
    slot = first_slot(key, seed, mask)
    while cells[2 * slot + 1] != _FREE:
        slot = (slot + 1) & mask
    return slot


@kernel
def key_of(data: UInt8, start: int, stop: int) -> np.uint64:
    """The key of `data[start:stop]`."""
    hashed = _FREE
    word = _FREE
    for i in range(start, stop):
        place = (i - start) & 7
        if place == 0:
            hashed = stir(hashed, word)
            word = _FREE
        word |= np.uint64(data[i]) << np.uint64(8 * place)
    return word if stop - start <= SHORT else stir(hashed, word)


@kernel
def occupy(cells: UInt64, slot: int, key: np.uint64, length: int, number: int) -> None:
    """Fill a free cell."""
    cells[2 * slot] = key
    cells[2 * slot + 1] = (np.uint64(length) << _32) | np.uint64(number + 1)


@kernel(interpretable=True)
def _move(cells: UInt64, wide: UInt64, seed: np.uint64) -> None:
    """Put what one table holds into another, empty one."""
    for old in range(cells.shape[0] // 2):
        if cells[2 * old + 1] != _FREE:
            slot = _free_slot(wide, cells[2 * old], seed)
            wide[2 * slot] = cells[2 * old]
            wide[2 * slot + 1] = cells[2 * old + 1]


def roomier(cells: UInt64) -> UInt64:
    """The same table with twice as many cells. NumPy's own memory comes in large pages, which saves many misses."""
    wide = np.zeros(2 * len(cells), dtype=np.uint64)
    _move(cells, wide, process_seed())
    return wide


@kernel(interpretable=True)
def index_words(arena: UInt8, starts: Int64, seed: np.uint64) -> UInt64:
    """A table of words that are known to be distinct."""
    n_words = starts.shape[0] - 1
    capacity = 16
    while capacity < 2 * n_words:
        capacity *= 2
    cells = np.zeros(2 * capacity, dtype=np.uint64)
    for number in range(n_words):
        key = key_of(arena, starts[number], starts[number + 1])
        occupy(cells, _free_slot(cells, key, seed), key, starts[number + 1] - starts[number], number)
    return cells


@kernel
def same_bytes(a: UInt8, a_start: int, b: UInt8, b_start: int, length: int) -> bool:
    """Whether so many bytes are the same in both."""
    for i in range(length):  # noqa: SIM110 - compiled code has no generators
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@kernel(interpretable=True)
def find_words(cells: UInt64, arena: UInt8, starts: Int64, seed: np.uint64, other: UInt8, other_starts: Int64) -> Int32:
    """Number of each other word in the table, −1 for a stranger."""
    found = np.full(other_starts.shape[0] - 1, -1, dtype=np.int32)
    mask = cells.shape[0] // 2 - 1
    for i in range(found.shape[0]):
        begin, length = other_starts[i], other_starts[i + 1] - other_starts[i]
        key = key_of(other, begin, begin + length)
        slot = first_slot(key, seed, mask)
        while cells[2 * slot + 1] != _FREE:
            meta = cells[2 * slot + 1]
            number = int(meta & _LOW) - 1
            alike = cells[2 * slot] == key and np.int64(meta >> _32) == length
            if alike and (length <= SHORT or same_bytes(arena, starts[number], other, begin, length)):
                found[i] = number
                break
            slot = (slot + 1) & mask
    return found
