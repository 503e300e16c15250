"""A hash that never changes: FNV-1a with 64 bits, folded to 32."""

from __future__ import annotations

import numba
import numpy as np

from likely.text.kernels.interning import Bytes, Ids, Starts

_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@numba.njit(nogil=True, cache=True)
def hash_words(arena: Bytes, starts: Starts, width: int) -> Ids:
    """The column of each word among `width`."""
    columns = np.empty(starts.shape[0] - 1, dtype=np.int32)
    for k in range(columns.shape[0]):
        value = _BASIS
        for i in range(starts[k], starts[k + 1]):
            value = (value ^ np.uint64(arena[i])) * _PRIME
        columns[k] = np.int64((value >> _32) ^ (value & _LOW)) % width
    return columns
