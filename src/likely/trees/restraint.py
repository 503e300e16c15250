"""Gain ratio with C4.5's two restraints, which keep it from cutting off a few cases at the edge, again and again.

A number is cut where the information gain is largest, and only then is the ratio taken. And only columns whose gain
is at least the average of those that tell something are compared by their ratio.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.measuring import TIE

Array = NDArray[np.float64]


def ratios_of_cuts(gains: Array, left: Array, known: Array) -> Array:
    """Gain over entropy of the cut, from the weights below it and of all known cases; 0 where nothing is gained."""
    share = np.divide(left, known, out=np.full_like(known, 0.5), where=(gains > 0.0) & (known > 0.0))
    entropy = -(share * np.log2(share) + (1.0 - share) * np.log2(1.0 - share))
    return np.asarray(np.where(gains > 0.0, gains / entropy, 0.0))


def restrained(gains: Array, ratios: Array) -> Array:
    """Ratios (columns × nodes), but 0 for columns that gain less than the average of those that gain anything."""
    average = gains.sum(axis=0) / np.maximum((gains > 0.0).sum(axis=0), 1)
    return np.asarray(np.where(gains >= average * (1.0 - TIE), ratios, 0.0))
