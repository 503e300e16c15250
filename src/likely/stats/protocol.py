"""What every statistic can do, and the two ways its rows (one per class) are moved about."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index
from likely.errors import NotMergeable

Matrix = Any
"""A dense array, or a SciPy `csr_array` (which has no types to check against)."""

NOISE = 1e-9
"""What rounding may leave, relative to what was there, when as much is taken out as came in."""

NEVER_SEEN = "More would leave than ever came in: these rows were not learned, or not with these classes and weights."


class Statistic(Protocol):
    """Sufficient statistics of some columns, one row per class; a value that is never changed.

    `a + b` describes the rows of both, `a - b` those of `a` without those of `b`. Either side may know
    fewer classes: what it does not know, it has not seen.
    """

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def take_classes(self, source: Index) -> Self:
        """Row `k` becomes what row `source[k]` was; −1 stands for a class without rows."""
        ...

    def select(self, columns: Index) -> Self:
        """The same for some of the columns."""
        ...


def take_rows(table: NDArray[Any], source: Index) -> Array:
    """Rows of a table by number; −1 gives a row of zeros."""
    taken = np.zeros((len(source), *table.shape[1:]))
    known = source >= 0
    taken[known] = table[source[known]]
    return taken


def pad(table: Array, *shape: int) -> Array:
    """The table with zeros at the end of each axis that is too short."""
    missing = [(0, max(size - old, 0)) for size, old in zip(shape, table.shape, strict=True)]
    return np.pad(table, missing) if any(after for _, after in missing) else table


def leave(before: Array, out: Array) -> Array:
    """`before − out` for counts: nothing below zero, and an exact zero where only rounding is left."""
    left = before - out
    noise = NOISE * before
    if (left < -noise).any():
        raise NotMergeable(NEVER_SEEN)
    return np.where(left > noise, left, 0.0)
