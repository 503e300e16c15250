"""Numbers and fixed-width strings as codes into their sorted distinct values."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array, Flags, Int32, Int64, UInt8
from likely.jit import kernel
from likely.parallel import Result, row_blocks, run, within_pool
from likely.table.levels import plain

# Below this many rows sorting is quicker than loading the compiled loops.
FEW_ROWS = 20_000
# A lookup table may have this many cells in any case, and this many per row at most.
SMALL_RANGE = 1 << 16
CELLS_PER_ROW = 4
# Labels are soon read: fewer rows are not worth a task.
BLOCK_ROWS = 1 << 17

_INT64_MAX = np.iinfo(np.int64).max


def encode_numbers(values: AnyArray) -> tuple[AnyArray, Int32]:
    """Sorted distinct values (of the array's own dtype) and the place of each row's value; −1 for NaN."""
    if values.dtype.kind == "b":
        return _encode_booleans(values)
    if len(values) <= FEW_ROWS:
        return _around_gaps(values, _by_sorting)
    if values.dtype.kind == "f":
        return _encode_floats(values)
    if values.dtype == np.uint64 and values.max() > _INT64_MAX:
        return encode_words(values)
    return _encode_integers(values)


def python_levels(values: AnyArray) -> tuple[Hashable, ...]:
    """Distinct numbers as Python values; whole floats become int."""
    if values.dtype.kind == "f":
        return tuple(map(plain, values.astype(np.float64).tolist()))
    return tuple(values.tolist())


def _encode_booleans(values: Flags) -> tuple[Flags, Int32]:
    ones = int(np.count_nonzero(values))
    if ones in (0, len(values)):
        return values[:1].copy(), np.zeros(len(values), dtype=np.int32)
    return np.array([False, True]), values.astype(np.int32)


def _encode_integers(values: AnyArray) -> tuple[AnyArray, Int32]:
    wide = values.astype(np.int64, copy=False)
    for looked in (wide[:BLOCK_ROWS], wide):  # the first rows have all labels, as a rule
        low, high = _bounds(looked)
        if high - low >= _widest(len(values)):
            return encode_words(wide, values.dtype)
        found = _by_lookup(wide, low, high - low + 1, values.dtype)
        if found is not None:
            break
    assert found is not None
    return found


def _encode_floats(values: AnyArray) -> tuple[AnyArray, Int32]:
    wide = values.astype(np.float64, copy=False)
    whole, low, high = whole_bounds(wide)
    if not whole or not low <= high or high - low >= _widest(len(values)):
        # Adding zero makes one zero of −0.0 and 0.0.
        return _around_gaps(wide, lambda known: encode_words(known + 0.0, values.dtype))
    found = _by_lookup(wide, low, int(high - low) + 1, values.dtype)
    assert found is not None
    return found


def encode_words(values: AnyArray, dtype: np.dtype[np.generic] | None = None) -> tuple[AnyArray, Int32]:
    """The same by hashing, for values of whole 32-bit words that are equal only bit by bit."""
    if len(values) <= FEW_ROWS:
        return _by_sorting(values)
    words = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    codes = np.empty(len(values), dtype=np.int32)
    levels = values[distinct(words, codes)]
    order = np.argsort(levels)
    table = np.empty(len(levels), dtype=np.int32)
    table[order] = np.arange(len(levels), dtype=np.int32)
    return levels[order].astype(dtype or values.dtype), table[codes]


def _around_gaps(values: AnyArray, encode: Callable[[AnyArray], tuple[AnyArray, Int32]]) -> tuple[AnyArray, Int32]:
    """What `encode` makes of the cells that are known; −1 for the others."""
    known = ~np.isnan(values) if values.dtype.kind == "f" else np.True_
    if known.all():
        return encode(values)
    levels, places = encode(values[known])
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[known] = places
    return levels, codes


def _widest(n_rows: int) -> int:
    return max(SMALL_RANGE, CELLS_PER_ROW * n_rows)


def _bounds(wide: Int64) -> tuple[int, int]:
    """The smallest and the largest number."""
    found = _each_block(lambda block: (int(wide[block].min()), int(wide[block].max())), len(wide))
    return min(low for low, _ in found), max(high for _, high in found)


def _each_block(task: Callable[[slice], Result], n_rows: int) -> list[Result]:
    return run(task, row_blocks(n_rows, 1, fewest=BLOCK_ROWS), 1 if within_pool() else None)


def _by_lookup(wide: AnyArray, low: float, cells: int, dtype: np.dtype[np.generic]) -> tuple[AnyArray, Int32] | None:
    """By a table of so many cells from `low` on; None if a value has no cell there."""
    seen = np.zeros(cells, dtype=np.uint8)
    if not all(_each_block(lambda block: mark(wide[block], low, seen), len(wide))):
        return None
    table = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    codes = np.empty(len(wide), dtype=np.int32)
    _each_block(lambda block: look_up(wide[block], low, table, codes[block]), len(wide))
    return (np.flatnonzero(seen) + wide.dtype.type(low)).astype(dtype), codes


def _by_sorting(values: AnyArray) -> tuple[AnyArray, Int32]:
    levels, places = np.unique(values, return_inverse=True)
    return levels, places.astype(np.int32).reshape(-1)


# Loops over columns.

# Read-only and of any layout: views of a matrix and of Arrow memory need no copy and no further compilation.
_INTS, _FLOATS = (f'Array({number}, 1, "A", readonly=True)' for number in ("int64", "float64"))
_NUMBERS = ((_INTS, "int64"), (_FLOATS, "float64"))
_WORDS = 'Array(uint32, 2, "C", readonly=True)'

_EXACT = 2.0**53
"""Whole numbers are exact in a double below this."""
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""FNV-1a, word by word."""
_FIRST_CELLS = 1024


@kernel(interpretable=True, signature_or_function=f"Tuple((boolean, float64, float64))({_FLOATS})")
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


@kernel(interpretable=True, signature_or_function=[f"boolean({cells}, {low}, uint8[::1])" for cells, low in _NUMBERS])
def mark(values: Int64 | Array, low: float, seen: UInt8) -> bool:
    """Set `seen` for each value, counted from `low`; False if some value has no place there."""
    for value in values:
        if value == value:
            place = int(value - low)
            if not 0 <= place < len(seen):
                return False
            if not seen[place]:  # a line of memory that is only read is not fought for
                seen[place] = 1
    return True


@kernel(
    interpretable=True,
    signature_or_function=[f"void({cells}, {low}, int32[::1], int32[::1])" for cells, low in _NUMBERS],
)
def look_up(values: Int64 | Array, low: float, table: Int32, codes: Int32) -> None:
    """The code of each value, counted from `low`; −1 for a gap."""
    for i in range(values.shape[0]):
        value = values[i]
        codes[i] = table[int(value - low)] if value == value else -1


@kernel(signature_or_function=f"uint64({_WORDS}, int64)")
def _hashed(words: NDArray[np.uint32], row: int) -> np.uint64:
    value = _BASIS
    for j in range(words.shape[1]):
        value = (value ^ np.uint64(words[row, j])) * _PRIME
    return value ^ (value >> np.uint64(32))


@kernel(signature_or_function=f"boolean({_WORDS}, int64, int64)")
def _alike(words: NDArray[np.uint32], a: int, b: int) -> bool:
    alike = True
    for j in range(words.shape[1]):
        alike &= words[a, j] == words[b, j]
    return alike


@kernel(interpretable=True, signature_or_function=f"int64[::1]({_WORDS}, int32[::1])")
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
                for code in range(found):
                    longer[code] = first[code]
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
