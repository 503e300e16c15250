"""An open-addressing table of distinct byte strings.

A string is known by its *key*: up to eight bytes are the key themselves, a longer string has a 64-bit hash and its
bytes are always compared. A cell is two words: the key, and `length << 32 | number + 1` (0: free). The strings
themselves lie end to end in an arena; number `k` owns the bytes from `starts[k]` to `starts[k + 1]`.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32, Int64, UInt8, UInt64

SHORT = 8
"""A string of so many bytes fits into its key."""

# Odd numbers with well spread bits (the golden ratio's, and MurmurHash3's second finaliser).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MURMUR = np.uint64(0xC4CEB9FE1A85EC53)
_32 = np.uint64(32)
_29 = np.uint64(29)
_LOW = np.uint64(0xFFFFFFFF)
_FREE = np.uint64(0)


@numba.njit(nogil=True, cache=True)
def stir(hashed: np.uint64, word: np.uint64) -> np.uint64:
    """The hash of a string that goes on for eight more bytes."""
    mixed = (hashed ^ word) * _GOLDEN
    return mixed ^ (mixed >> _29)


@numba.njit(nogil=True, cache=True)
def first_slot(key: np.uint64, seed: np.uint64, mask: int) -> int:
    """Where the search for a key begins. The seed keeps texts from being written to collide."""
    mixed = (key ^ seed) * _GOLDEN
    mixed = (mixed ^ (mixed >> _32)) * _MURMUR
    return int(mixed >> _29) & mask


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def seek(
    cells: UInt64,
    arena: UInt8,
    starts: Int64,
    key: np.uint64,
    data: UInt8,
    start: int,
    length: int,
    seed: np.uint64,
) -> tuple[int, int]:
    """Number of the string `data[start:start + length]`, or −1, and the slot where it is or should be."""
    mask = cells.shape[0] // 2 - 1
    slot = first_slot(key, seed, mask)
    while True:
        meta = cells[2 * slot + 1]
        if meta == _FREE:
            return -1, slot
        if cells[2 * slot] == key and np.int64(meta >> _32) == length:
            number = int(meta & _LOW) - 1
            same = True
            if length > SHORT:
                origin = starts[number]
                for i in range(length):
                    if arena[origin + i] != data[start + i]:
                        same = False
                        break
            if same:
                return number, slot
        slot = (slot + 1) & mask


@numba.njit(nogil=True, cache=True)
def occupy(cells: UInt64, slot: int, key: np.uint64, length: int, number: int) -> None:
    """Fill a free cell."""
    cells[2 * slot] = key
    cells[2 * slot + 1] = (np.uint64(length) << _32) | np.uint64(number + 1)


@numba.njit(nogil=True, cache=True)
def move(cells: UInt64, wide: UInt64, seed: np.uint64) -> None:
    """Put what one table holds into another, empty one."""
    mask = wide.shape[0] // 2 - 1
    for old in range(cells.shape[0] // 2):
        if cells[2 * old + 1] != _FREE:
            slot = first_slot(cells[2 * old], seed, mask)
            while wide[2 * slot + 1] != _FREE:
                slot = (slot + 1) & mask
            wide[2 * slot] = cells[2 * old]
            wide[2 * slot + 1] = cells[2 * old + 1]


def roomier(cells: UInt64, seed: np.uint64) -> UInt64:
    """The same table with twice as many cells. NumPy's own memory comes in large pages, which saves many misses."""
    wide = np.zeros(2 * len(cells), dtype=np.uint64)
    move(cells, wide, seed)
    return wide


@numba.njit(nogil=True, cache=True)
def index_words(arena: UInt8, starts: Int64, seed: np.uint64) -> UInt64:
    """A table of strings that are known to be distinct."""
    n_words = starts.shape[0] - 1
    capacity = 16
    while capacity < 2 * n_words:
        capacity *= 2
    cells = np.zeros(2 * capacity, dtype=np.uint64)
    for number in range(n_words):
        length = starts[number + 1] - starts[number]
        key = key_of(arena, starts[number], starts[number + 1])
        slot = first_slot(key, seed, capacity - 1)
        while cells[2 * slot + 1] != _FREE:
            slot = (slot + 1) & (capacity - 1)
        occupy(cells, slot, key, length, number)
    return cells


@numba.njit(nogil=True, cache=True)
def find_words(
    cells: UInt64,
    arena: UInt8,
    starts: Int64,
    seed: np.uint64,
    other: UInt8,
    other_starts: Int64,
    found: Int32,
) -> int:
    """Number of each other string in the table, −1 for a stranger; returns how many strangers there are."""
    strangers = 0
    for i in range(other_starts.shape[0] - 1):
        begin, length = other_starts[i], other_starts[i + 1] - other_starts[i]
        key = key_of(other, begin, begin + length)
        number, _ = seek(cells, arena, starts, key, other, begin, length, seed)
        found[i] = number
        strangers += number < 0
    return strangers


# Words in an arena: their first bytes as numbers, chosen ones end to end, n-grams written out.

_8 = np.uint64(8)


@numba.njit(nogil=True, cache=True)
def prefixes(arena: UInt8, starts: Int64, words: Int64, depth: int) -> NDArray[np.uint64]:
    """Eight bytes of each word from `depth` on, as a number that sorts as they do; zeros behind its end."""
    out = np.empty(words.shape[0], dtype=np.uint64)
    for k in range(words.shape[0]):
        begin, stop = starts[words[k]] + depth, starts[words[k] + 1]
        prefix = np.uint64(0)
        for i in range(begin, begin + 8):
            prefix <<= _8
            if i < stop:
                prefix |= np.uint64(arena[i])
        out[k] = prefix
    return out


@numba.njit(nogil=True, cache=True)
def copy_words(arena: UInt8, starts: Int64, words: Int64) -> tuple[UInt8, Int64]:
    """Arena and starts of the chosen words."""
    new_starts = np.zeros(words.shape[0] + 1, dtype=np.int64)
    for k in range(words.shape[0]):
        new_starts[k + 1] = new_starts[k] + starts[words[k] + 1] - starts[words[k]]
    copied = np.empty(new_starts[words.shape[0]], dtype=np.uint8)
    for k in range(words.shape[0]):
        begin = starts[words[k]]
        for i in range(new_starts[k], new_starts[k + 1]):
            copied[i] = arena[begin + i - new_starts[k]]
    return copied, new_starts


@numba.njit(nogil=True, cache=True)
def spell_grams(arena: UInt8, starts: Int64, parents: Int32, lasts: Int32, gap: UInt8) -> tuple[UInt8, Int64]:
    """The words, and behind them each n-gram: its beginning (an n-gram or a word), the gap, its last word."""
    n_words, n_grams = starts.shape[0] - 1, parents.shape[0]
    new_starts = np.empty(n_words + n_grams + 1, dtype=np.int64)
    new_starts[: n_words + 1] = starts
    for k in range(n_grams):
        parent, last = parents[k], lasts[k]
        length = new_starts[parent + 1] - new_starts[parent] + len(gap) + starts[last + 1] - starts[last]
        new_starts[n_words + k + 1] = new_starts[n_words + k] + length
    spelled = np.empty(new_starts[n_words + n_grams], dtype=np.uint8)
    spelled[: starts[n_words]] = arena[: starts[n_words]]
    for k in range(n_grams):
        at = new_starts[n_words + k]
        for i in range(new_starts[parents[k]], new_starts[parents[k] + 1]):
            spelled[at] = spelled[i]
            at += 1
        for i in range(len(gap)):
            spelled[at] = gap[i]
            at += 1
        for i in range(starts[lasts[k]], starts[lasts[k] + 1]):
            spelled[at] = arena[i]
            at += 1
    return spelled, new_starts
