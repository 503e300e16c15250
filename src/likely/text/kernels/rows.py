"""From numbered tokens to the rows of a sparse matrix."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.text.kernels.bits import lowest
from likely.text.kernels.interning import Ids, Starts

Bits = NDArray[np.uint64]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@numba.njit(nogil=True, cache=True)
def count_tokens(
    ids: Ids, ends: Starts, column_of: Ids, line: Ids, bits: Bits, groups: Bits, clans: Bits
) -> tuple[Ids, Ids, Starts]:
    """Columns in rising order, counts, and the end of each row. A token without a column (−1) counts nowhere.

    `line` (one count per column) and the three levels of bits (a bit for each column, for each 64 and for each 4,096
    of them) come and leave as zeros: reading the bits in order sorts a row without comparing anything.
    """
    columns = np.empty(ids.shape[0], dtype=np.int32)
    counts = np.empty(ids.shape[0], dtype=np.int32)
    row_ends = np.empty(ends.shape[0], dtype=np.int64)
    n = 0
    start = 0
    for row in range(ends.shape[0]):
        low = clans.shape[0]
        high = -1
        for k in range(start, ends[row]):
            if ids[k] < 0:
                continue
            column = int(column_of[ids[k]])
            if column < 0:
                continue
            line[column] += 1
            bits[column >> 6] |= _ONE << np.uint64(column & 63)
            groups[column >> 12] |= _ONE << np.uint64(column >> 6 & 63)
            clan = column >> 18
            clans[clan] |= _ONE << np.uint64(column >> 12 & 63)
            low = min(low, clan)
            high = max(high, clan)
        for clan in range(low, high + 1):
            while clans[clan] != _ZERO:
                group = clan << 6 | lowest(clans[clan])
                clans[clan] &= clans[clan] - _ONE
                while groups[group] != _ZERO:
                    word = group << 6 | lowest(groups[group])
                    groups[group] &= groups[group] - _ONE
                    rest = bits[word]
                    bits[word] = _ZERO
                    while rest != _ZERO:
                        column = word << 6 | lowest(rest)
                        rest &= rest - _ONE
                        columns[n] = column
                        counts[n] = line[column]
                        line[column] = 0
                        n += 1
        start = ends[row]
        row_ends[row] = n
    return columns[:n], counts[:n], row_ends


@numba.njit(nogil=True, cache=True)
def keep_columns(
    columns: Ids, counts: NDArray[np.int64], starts: Starts, new_column: Ids
) -> tuple[Ids, NDArray[np.int64], Starts]:
    """The matrix without the columns whose new number is −1; the others must keep their order."""
    kept = np.empty(columns.shape[0], dtype=np.int32)
    kept_counts = np.empty(columns.shape[0], dtype=np.int64)
    new_starts = np.zeros(starts.shape[0], dtype=np.int64)
    n = 0
    for row in range(starts.shape[0] - 1):
        for k in range(starts[row], starts[row + 1]):
            column = new_column[columns[k]]
            if column >= 0:
                kept[n] = column
                kept_counts[n] = counts[k]
                n += 1
        new_starts[row + 1] = n
    return kept[:n].copy(), kept_counts[:n].copy(), new_starts
