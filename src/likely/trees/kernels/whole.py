"""Measures of a cut where every case weighs 1, for the innermost loops: whole numbers, and no calls from them.

`measuring` says the same for any weights and any number of branches.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.measuring import CHI2, GINI, MISCLASSIFICATION, RATIO, SYMMETRIC_1, TIE, WORTHLESS

Order = NDArray[np.int64]

WITHOUT_LOGARITHMS = (MISCLASSIFICATION, GINI, CHI2)


@numba.njit(nogil=True, cache=True)
def fewest(min_cases: float) -> int:
    """How many whole cases a branch needs."""
    return max(int(np.ceil(min_cases - TIE)), 1)


@numba.njit(nogil=True, cache=True)
def ratio(measure: int, gain: float, log_n: float, whole: float, cells: float, sizes: float) -> float:
    """The measures that divide a gain by entropies; all of them times the number of cases."""
    if measure == RATIO:
        return gain / (log_n - sizes)
    return gain / (log_n - (cells if measure == SYMMETRIC_1 else sizes + whole - log_n))


@numba.njit(nogil=True, cache=True)
def whole_by_counts(measure: int, known: Order, n: int) -> float:
    """What Gini's measure and the misclassification rate need to know of the classes of all cases."""
    found = 0.0
    for c in range(len(known)):
        found = found + known[c] * known[c] / n if measure == GINI else max(found, float(known[c]))
    return found


@numba.njit(nogil=True, cache=True)
def by_counts(measure: int, left: Order, known: Order, n_left: int, n: int, whole: float) -> float:
    """The measures that need no logarithms."""
    n_right, low, high = n - n_left, 0.0, 0.0
    for c in range(len(left)):
        below, above = left[c], known[c] - left[c]
        if measure == MISCLASSIFICATION:
            low, high = max(low, float(below)), max(high, float(above))
        elif measure == GINI:
            low += below * below
            high += above * above
        elif known[c] > 0:
            low += below * below / known[c]
            high += above * above / known[c]
    if measure == MISCLASSIFICATION:
        value = (low + high - whole) / n
    elif measure == GINI:
        value = (low / n_left + high / n_right - whole) / n
    else:
        value = low / n_left + high / n_right - 1.0
    return value if value > WORTHLESS else 0.0
