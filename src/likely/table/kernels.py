"""Compiled loops that turn numbers and short strings into codes. Imported only when a column is long."""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt8

# Read-only and of any layout: views of a matrix and of Arrow memory need no copy and no further compilation.
_INTS = types.Array(types.int64, 1, "A", readonly=True)
_FLOATS = types.Array(types.float64, 1, "A", readonly=True)
_SEEN = types.Array(types.uint8, 1, "C")
_TABLE = types.Array(types.int32, 1, "C")
_WORDS = types.Array(types.uint32, 2, "C", readonly=True)

Numbers = Int64 | Array
# Whole numbers are exact in a double below this.
_EXACT = 2.0**53
# FNV-1a, word by word.
_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_FIRST_CELLS = 1024


@numba.njit([types.Tuple((types.boolean, types.float64, types.float64))(_FLOATS)], nogil=True, cache=True)
def whole_bounds(values: Array) -> tuple[bool, float, float]:
    """Whether every known value is a whole number, and the smallest and largest of them (inf, −inf: none)."""
    low = np.inf
    high = -np.inf
    for value in values:
        if value == value:
            if value != np.floor(value) or abs(value) > _EXACT:
                return False, low, high
            low = min(low, value)
            high = max(high, value)
    return True, low, high


@numba.njit([types.void(_INTS, types.int64, _SEEN), types.void(_FLOATS, types.float64, _SEEN)], nogil=True, cache=True)
def mark(values: Numbers, low: float, seen: UInt8) -> None:
    """Set `seen` for each value, counted from `low`."""
    for value in values:
        if value == value:
            seen[int(value - low)] = 1


@numba.njit(
    [types.void(_INTS, types.int64, _TABLE, _TABLE), types.void(_FLOATS, types.float64, _TABLE, _TABLE)],
    nogil=True,
    cache=True,
)
def look_up(values: Numbers, low: float, table: Int32, codes: Int32) -> None:
    """The code of each value, counted from `low`; −1 for a gap."""
    for i in range(values.shape[0]):
        value = values[i]
        codes[i] = table[int(value - low)] if value == value else -1


@numba.njit([types.uint64(_WORDS, types.int64)], nogil=True, cache=True)
def _hashed(words: NDArray[np.uint32], row: int) -> np.uint64:
    value = _BASIS
    for j in range(words.shape[1]):
        value = (value ^ np.uint64(words[row, j])) * _PRIME
    return value ^ (value >> np.uint64(32))


@numba.njit([types.boolean(_WORDS, types.int64, types.int64)], nogil=True, cache=True)
def _alike(words: NDArray[np.uint32], a: int, b: int) -> bool:
    alike = True
    for j in range(words.shape[1]):
        alike &= words[a, j] == words[b, j]
    return alike


@numba.njit([types.Array(types.int64, 1, "C")(_WORDS, _TABLE)], nogil=True, cache=True)
def distinct(words: NDArray[np.uint32], codes: Int32) -> Int64:
    """The first row of each distinct row of words; `codes` gets the place of every row among them."""
    mask = _FIRST_CELLS - 1
    cells = np.full(_FIRST_CELLS, np.int32(-1))
    first = np.empty(_FIRST_CELLS, dtype=np.int64)
    found = 0
    for i in range(words.shape[0]):
        cell = np.int64(_hashed(words, i)) & mask
        while cells[cell] >= 0 and not _alike(words, first[cells[cell]], i):
            cell = (cell + 1) & mask
        if cells[cell] < 0:
            cells[cell] = found
            first[found] = i
            found += 1
            if found * 2 > mask:
                mask = mask * 2 + 1
                cells = np.full(mask + 1, np.int32(-1))
                longer = np.empty(mask + 1, dtype=np.int64)
                longer[:found] = first[:found]
                first = longer
                for code in range(found):
                    place = np.int64(_hashed(words, first[code])) & mask
                    while cells[place] >= 0:
                        place = (place + 1) & mask
                    cells[place] = code
            codes[i] = found - 1
        else:
            codes[i] = cells[cell]
    return first[:found]
