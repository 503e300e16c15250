"""How much a column tells about the class, from a table of counts: one row per class, one column per value.

All measures take counts (or weights, or shares) and need no rows. Values without weight change nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likely.errors import DataError
from likely.information import entropies

Array = NDArray[np.float64]


def information_gain(table: ArrayLike) -> float:
    """H(class) − H(class | value) in bits: the mutual information of class and column.

    Blood pressure (low, normal, high) and drug (A, B) of twelve patients:

    >>> information_gain([[0, 3, 3], [3, 3, 0]])
    0.5
    """
    return float(information_gains(checked(table)))


def information_gains(tables: Array) -> Array:
    """The same for many tables at once: the last two axes are classes × values."""
    total = tables.sum(axis=(-2, -1))
    shares = np.divide(tables, total[..., None, None], out=np.zeros_like(tables), where=total[..., None, None] > 0.0)
    of_class, of_value = entropies(shares.sum(axis=-1)), entropies(shares.sum(axis=-2))
    both = entropies(shares.reshape(*shares.shape[:-2], -1))
    # Rounding may leave a hair below zero, which no gain can be.
    return np.maximum(of_class + of_value - both, 0.0)


def checked(table: ArrayLike) -> Array:
    """A class × value table of weights, or an error that says what is wrong with it."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2:
        raise DataError(f"A class × value table has two dimensions, not {counts.ndim}: one row per class.")
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise DataError("A class × value table holds counts: finite, and none below zero.")
    return counts
