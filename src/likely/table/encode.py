"""Numbers and fixed-width strings as codes into their sorted distinct values."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from likely.arrays import AnyArray, Flags, Int32
from likely.table.levels import plain

# Below this many rows sorting is quicker than loading the compiled loops.
FEW_ROWS = 20_000
# A lookup table may have this many cells in any case, and this many per row at most.
SMALL_RANGE = 1 << 16
CELLS_PER_ROW = 4

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
    low, high = int(wide.min()), int(wide.max())
    if high - low >= _widest(len(values)):
        return encode_words(wide, values.dtype)
    return _by_lookup(wide, low, high - low + 1, values.dtype)


def _encode_floats(values: AnyArray) -> tuple[AnyArray, Int32]:
    from likely.table import kernels

    wide = values.astype(np.float64, copy=False)
    whole, low, high = kernels.whole_bounds(wide)
    if not whole or not low <= high or high - low >= _widest(len(values)):
        # Adding zero makes one zero of −0.0 and 0.0.
        return _around_gaps(wide, lambda known: encode_words(known + 0.0, values.dtype))
    return _by_lookup(wide, low, int(high - low) + 1, values.dtype)


def encode_words(values: AnyArray, dtype: np.dtype[np.generic] | None = None) -> tuple[AnyArray, Int32]:
    """The same by hashing, for values of whole 32-bit words that are equal only bit by bit."""
    from likely.table import kernels

    if len(values) <= FEW_ROWS:
        return _by_sorting(values)
    words = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    codes = np.empty(len(values), dtype=np.int32)
    levels = values[kernels.distinct(words, codes)]
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


def _by_lookup(wide: AnyArray, low: float, cells: int, dtype: np.dtype[np.generic]) -> tuple[AnyArray, Int32]:
    from likely.table import kernels

    seen = np.zeros(cells, dtype=np.uint8)
    kernels.mark(wide, low, seen)
    table = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    codes = np.empty(len(wide), dtype=np.int32)
    kernels.look_up(wide, low, table, codes)
    return (np.flatnonzero(seen) + wide.dtype.type(low)).astype(dtype), codes


def _by_sorting(values: AnyArray) -> tuple[AnyArray, Int32]:
    levels, places = np.unique(values, return_inverse=True)
    return levels, places.astype(np.int32).reshape(-1)
