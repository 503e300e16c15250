"""Rows that were all learned, each to be judged without itself: what closed forms of leave-one-out share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.stats.protocol import NOISE
from likely.table import Table


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that were all learned, each to be judged as if it had not been.

    `y` and `weight` are the class and the weight of each row, `classes` the weight of each class with all rows.
    """

    table: Table
    y: Int32
    weight: Array
    classes: Array

    @cached_property
    def one_weight(self) -> float | None:
        """The weight of a row if all have the same."""
        first = float(self.weight[0]) if len(self.weight) else 1.0
        return first if bool((self.weight == first).all()) else None

    @cached_property
    def by_class(self) -> tuple[Int64, Int64]:
        """Numbers of the rows class by class, and where each class begins among them."""
        order = np.argsort(self.y, kind="stable").astype(np.int64)
        return order, np.searchsorted(self.y[order], np.arange(len(self.classes) + 1)).astype(np.int64)


def less(before: Array, out: Array) -> Array:
    """What is left of counts, an exact zero where only rounding is."""
    left = before - out
    return np.where(left > NOISE * before, left, 0.0)


@numba.njit(nogil=True, cache=True)
def less_one(before: float, out: float) -> float:
    """The same for one number."""
    left = before - out
    return left if left > NOISE * before else 0.0
