"""How often a number fell into each cell of a fine grid, in each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import NotMergeable
from likely.limits import together
from likely.stats.kernels.counts import count_codes
from likely.stats.kernels.histogram import MAGNITUDE, code_cells, occupied_cells
from likely.stats.protocol import NEVER_SEEN, Array, Index, leave, pad, take_rows

Longs = NDArray[np.int64]

MOST_CELLS = 2048
"""Distinct numbers that are told apart; beyond, the grid becomes coarser by one bit, again and again."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Weight of each cell in each class; cells ascend, and those without weight are not kept.

    The grid is made of floats that agree in all but the last `shift` bits. It is as fine as `MOST_CELLS` allows, so it
    follows from the numbers alone, however they were cut into parts; a few distinct numbers are counted one by one.

    >>> seen = Histogram.observe(np.array([2.5, 2.5, 7.0, np.nan]), np.array([0, 1, 1, 1], dtype=np.int32))
    >>> seen.lows().tolist(), seen.counts.tolist()
    ([2.5, 7.0], [[1.0, 0.0], [1.0, 1.0]])
    """

    shift: int
    cells: Longs
    counts: Array

    @classmethod
    def empty(cls, n_classes: int = 0) -> Histogram:
        return cls(0, np.zeros(0, dtype=np.int64), np.zeros((n_classes, 0)))

    @classmethod
    def observe(
        cls, column: Array, y: NDArray[np.int32], weight: Array | None = None, n_classes: int | None = None
    ) -> Histogram:
        """Count the numbers of a column (NaN for a gap) for the classes `y`."""
        if n_classes is None:
            n_classes = int(y.max(initial=-1)) + 1
        if weight is None:
            weight = np.ones(len(column))
        bits = np.ascontiguousarray(column, dtype=np.float64).view(np.int64)
        shift, cells = occupied_cells(bits, weight, MOST_CELLS)
        if shift < 0:
            raise ValueError("an infinite number has no cell")
        cells.sort()
        codes, counts = np.empty(len(bits), dtype=np.int32), np.zeros((n_classes, len(cells)))
        code_cells(bits, shift, cells, codes)
        count_codes(codes, y, weight, counts)
        return cls(shift, cells, counts)

    @property
    def known(self) -> Array:
        """Weight of each class's rows in which the number is known."""
        return np.asarray(self.counts.sum(axis=1))

    def lows(self) -> Array:
        """The least float of each cell."""
        return floats_at(self.cells << self.shift)

    def highs(self) -> Array:
        """The largest float of each cell."""
        return floats_at(((self.cells + 1) << self.shift) - 1)

    def codes(self, column: Array) -> NDArray[np.int32]:
        """The place of each number's cell, −1 where there is none."""
        bits = np.ascontiguousarray(column, dtype=np.float64).view(np.int64)
        codes = np.empty(len(bits), dtype=np.int32)
        code_cells(bits, self.shift, self.cells, codes)
        return codes

    def __add__(self, other: Histogram) -> Histogram:
        shift = max(self.shift, other.shift)
        while True:
            a, b = self._coarser(shift), other._coarser(shift)
            cells = np.union1d(a.cells, b.cells)
            if len(cells) <= MOST_CELLS:
                break
            shift += 1
        mine, theirs = np.zeros((2, max(len(a.counts), len(b.counts)), len(cells)))
        mine[: len(a.counts), np.searchsorted(cells, a.cells)] = a.counts
        theirs[: len(b.counts), np.searchsorted(cells, b.cells)] = b.counts
        return Histogram(shift, cells, together(mine, theirs))

    def __sub__(self, other: Histogram) -> Histogram:
        """Exact in the counts; the grid stays as coarse as it was, for what was rounded cannot be sharpened."""
        if other.shift > self.shift or not np.isin((b := other._coarser(self.shift)).cells, self.cells).all():
            raise NotMergeable(NEVER_SEEN)
        out = np.zeros((max(len(self.counts), len(b.counts)), len(self.cells)))
        out[: len(b.counts), np.searchsorted(self.cells, b.cells)] = b.counts
        counts = leave(pad(self.counts, *out.shape), out)
        kept = counts.any(axis=0)
        return Histogram(self.shift, self.cells[kept], counts[:, kept])

    def _coarser(self, shift: int) -> Histogram:
        """The same counts on a grid of larger cells."""
        if shift == self.shift:
            return self
        cells, places = np.unique(self.cells >> (shift - self.shift), return_index=True)
        counts = np.add.reduceat(self.counts, places, axis=1) if len(cells) else self.counts
        return Histogram(shift, cells, counts)

    def take_classes(self, source: Index) -> Histogram:
        return Histogram(self.shift, self.cells, take_rows(self.counts, source))

    def select(self, columns: Index) -> Histogram:
        """Itself: it describes one column."""
        return self


def floats_at(places: Longs) -> Array:
    """The floats at some places in the order of all floats, infinite ones replaced by the largest that are not."""
    bits = np.where(places >= 0, places, -places | ~MAGNITUDE)
    largest = np.finfo(np.float64).max
    return np.clip(bits.astype(np.int64).view(np.float64), -largest, largest)


def places_of(values: Array) -> Longs:
    """The places of floats in the order of all floats."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & MAGNITUDE))
