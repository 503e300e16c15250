"""The compiled loop that adds the evidence of many nominal columns at once."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Longs = NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def _line_of(code: int, first: int, width: int, size: int, none: int) -> int:
    """The line of a code: of its level, of codes never counted, or the empty one for codes never heard of."""
    return first + min(code, width) if 0 <= code < size else none


@numba.njit(nogil=True, cache=True)
def add_code_lines(codes: Longs, first: Longs, width: Longs, size: Longs, lines: Array, joint: Array) -> bool:
    """Add the line of each cell's place among the levels of its column; False if a code is negative.

    Column `j` owns the lines from `first[j]` on: one for each of its `width[j]` levels, and one for codes
    below `size[j]` that were never counted. The last line of all is zero. Four columns are taken at a time.
    """
    n_rows, n_columns = codes.shape
    fours = n_columns // 4
    none = lines.shape[0] - 1
    signs = 0
    for i in range(n_rows):
        row, total = codes[i], joint[i]
        for four in range(fours):
            j = 4 * four
            signs |= row[j] | row[j + 1] | row[j + 2] | row[j + 3]
            a = lines[_line_of(row[j], first[j], width[j], size[j], none)]
            b = lines[_line_of(row[j + 1], first[j + 1], width[j + 1], size[j + 1], none)]
            c = lines[_line_of(row[j + 2], first[j + 2], width[j + 2], size[j + 2], none)]
            d = lines[_line_of(row[j + 3], first[j + 3], width[j + 3], size[j + 3], none)]
            for m in range(total.shape[0]):
                total[m] += (a[m] + b[m]) + (c[m] + d[m])
        for j in range(4 * fours, n_columns):
            signs |= row[j]
            a = lines[_line_of(row[j], first[j], width[j], size[j], none)]
            for m in range(total.shape[0]):
                total[m] += a[m]
    return signs >= 0
