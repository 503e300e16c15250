"""Inverses of lower triangular matrices. LAPACK's start threads even for 2 × 2, which wait for busy cores."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def inverse_lower(lower: Array) -> Array:
    """The inverse of a lower triangular matrix, by forward substitution.

    >>> inverse_lower(np.array([[2.0, 0.0], [1.0, 4.0]])).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """
    size = lower.shape[0]
    inverse = np.zeros((size, size))
    for i in range(size):
        line = inverse[i]
        for k in range(i):
            factor = lower[i, k]
            if factor != 0.0:
                for j in range(k + 1):
                    line[j] -= factor * inverse[k, j]
        for j in range(i):
            line[j] /= lower[i, i]
        line[i] = 1.0 / lower[i, i]
    return inverse
