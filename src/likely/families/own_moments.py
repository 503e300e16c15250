"""The moments of each row's class without that row: by subtraction, and counted anew where that loses digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likely.families.left_out_bells import count_others, moments_without
from likely.families.protocol import Array, LeftOut
from likely.stats import Moments
from likely.stats.protocol import Index

ORDINARY = 400
"""Columns within 2^±400 have squares within the floats; others are divided by a power of two, which loses nothing."""


class OwnMoments:
    """Moments of all rows, from which each row can be taken out; `column` gives all cells of a column."""

    def __init__(self, seen: Moments, rows: LeftOut, column: Callable[[int], Array]) -> None:
        self.seen, self.rows, self._column = seen, rows, column
        largest = np.maximum(np.abs(seen.mean), seen.root).max(axis=0, initial=0.0)
        exponent = np.frexp(largest)[1]
        self._shift = np.where(np.abs(exponent) > ORDINARY, -exponent, 0)

    def scaled(self, part: Array, places: Index) -> Array:
        """Cells of the columns `places` in the units of the moments."""
        shift = self._shift[places]
        return np.ldexp(part, shift) if shift.any() else part

    def all(self, places: Index) -> tuple[Array, Array, Array]:
        """Weight, mean and centred squares of the columns `places` with all rows (classes × columns)."""
        seen, shift = self.seen.select(places), self._shift[places]
        moments = seen.n, np.ldexp(seen.mean, shift), np.ldexp(seen.root, shift) ** 2
        n, mean, squares = map(np.ascontiguousarray, moments)
        return n, mean, squares

    def without(self, numbers: Index, part: Array, places: Index) -> Array:
        """The same for the class of each of the rows `numbers`, without that row (3 × rows × columns)."""
        y, weight = self.rows.y[numbers], self.rows.weight[numbers]
        left, lost = np.zeros((3, *part.shape)), np.zeros(part.shape, dtype=np.bool_)
        moments_without(self.scaled(part, places), y, weight, *self.all(places), left, lost)
        for column in np.flatnonzero(lost.any(axis=0)):
            cells = np.ldexp(self._column(int(places[column])), self._shift[places[column]])
            wanted, again = lost[:, column].copy(), left[:, :, column].copy()
            count_others(cells, self.rows.weight, self.rows.y, *self.rows.by_class, numbers, wanted, again)
            left[:, :, column] = again
        return left
