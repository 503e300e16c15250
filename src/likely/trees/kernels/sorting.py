"""Sorting a few whole numbers inside compiled loops."""

from __future__ import annotations

from typing import Any

import numba
from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)
def in_order(values: NDArray[Any], n: int) -> None:
    """Sort the first n values by Shell's method: few lines, quick to compile."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3
