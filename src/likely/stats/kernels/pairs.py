"""How often two values came together in a class, for all pairs of columns."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def count_pairs(
    codes: Ints, y: Ints, weight: Array, column: int, sizes: Longs, singles: Longs, pairs: Longs, counts: Array
) -> None:
    """Count one column alone and with all columns behind it; a code below zero is a gap and counts nowhere.

    Value `v` of column `j` has the cell `singles[j] + v` of its class, `v` with `w` of column `k` the cell
    `pairs[j, k] + v · sizes[k] + w`.
    """
    n_columns = codes.shape[1]
    for i in range(codes.shape[0]):
        row, line, w = codes[i], counts[y[i]], weight[i]
        value = row[column]
        if value < 0:
            continue
        line[singles[column] + value] += w
        for k in range(column + 1, n_columns):
            if row[k] >= 0:
                line[pairs[column, k] + value * sizes[k] + row[k]] += w
