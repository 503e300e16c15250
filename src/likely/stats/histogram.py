"""How often a number fell into each cell of a fine grid, in each class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64, read_only
from likely.errors import NotMergeable
from likely.jit import kernel
from likely.numerics import together
from likely.stats.kernels import count_codes
from likely.stats.moments import Moments
from likely.stats.protocol import NEVER_SEEN, Difference, as_counted, leave, matched, require, require_counts, take_rows

MOST_CELLS = 2048
"""Distinct numbers that are told apart; beyond, the grid becomes coarser by one bit, again and again."""

COARSEST = 63
FARTHEST = 0x7FEF_FFFF_FFFF_FFFF
"""A grid drops at most so many bits, and the largest float has that place in the order of all floats."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Weight of each cell in each class; cells ascend, and those without weight are not kept.

    The grid is made of floats that agree in all but the last `shift` bits. It is as fine as `MOST_CELLS` allows, so it
    follows from the numbers alone, however they were cut into parts; a few distinct numbers are counted one by one.

    >>> seen = Histogram.observe(np.array([2.5, 2.5, 7.0, np.nan]), np.array([0, 1, 1, 1], dtype=np.int32))
    >>> seen.lows().tolist(), seen.counts.tolist()
    ([2.5, 7.0], [[1.0, 0.0], [1.0, 1.0]])
    """

    stored_as: ClassVar[str] = "histogram"
    by_column: ClassVar[bool] = True

    shift: int
    cells: Int64
    counts: Array

    @classmethod
    def empty(cls, n_classes: int = 0) -> Histogram:
        return cls(0, np.zeros(0, dtype=np.int64), np.zeros((n_classes, 0)))

    @classmethod
    def observe(cls, column: Array, y: Int32, weight: Array | None = None, n_classes: int | None = None) -> Histogram:
        """Count the numbers of a column (NaN for a gap) for the classes `y`."""
        weight, n_classes = as_counted(y, weight, n_classes)
        bits = read_only(np.ascontiguousarray(column, dtype=np.float64).view(np.int64))
        shift, cells = occupied_cells(bits, weight, MOST_CELLS)
        if shift < 0:
            raise ValueError("an infinite number has no cell")
        cells.sort()
        grid = cls(shift, cells, np.zeros((n_classes, len(cells))))
        count_codes(read_only(grid.codes(column)), y, weight, grid.counts)
        return grid

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.counts), 1

    @property
    def known_weights(self) -> Array:
        return self.known[:, None]

    def class_value_table(self, column: int) -> Array:
        """Classes × intervals."""
        return equal_intervals(self.counts)

    def resolutions(self, column: int) -> Iterator[Array]:
        """Classes × intervals, from few intervals to every cell."""
        yield from (equal_intervals(self.counts, n) for n in FINER_INTERVALS)
        yield self.counts

    def difference(self, mine: int, other: Histogram, theirs: int) -> Difference | None:
        """The number up to which the share within the class has changed most."""
        ends = np.union1d(self.highs(), other.highs())
        if not len(ends):
            return None
        a, b = self._shares_up_to(ends, mine), other._shares_up_to(ends, theirs)
        place = int(np.abs(a - b).argmax())
        if abs(a[place] - b[place]) > 1e-9:
            return "share", f"≤ {ends[place]:.6g}", f"{a[place]:.4f}", f"{b[place]:.4f}"
        known = self.known[mine], other.known[theirs]
        return None if np.isclose(*known, rtol=1e-9, atol=0.0) else ("known", "", f"{known[0]:.6g}", f"{known[1]:.6g}")

    def _shares_up_to(self, ends: Array, row: int) -> Array:
        counts = self.counts[row]
        running = np.append(0.0, np.cumsum(counts)) / max(float(counts.sum()), 1e-300)
        return np.asarray(running[np.searchsorted(self.highs(), ends, side="right")])

    def validate(self) -> None:
        shift, cells = self.shift, self.cells
        ascending = cells.ndim == 1 and 0 <= shift <= COARSEST and (cells[1:] > cells[:-1]).all()
        require(ascending, "The cells of a histogram are not in order.")
        fair = not len(cells) or (cells[0] >= -FARTHEST >> shift and cells[-1] <= FARTHEST >> shift)
        require(fair, "A histogram holds cells beyond all numbers.")
        require_counts(self.counts, len(self.counts), len(cells))
        fair = len(cells) <= MOST_CELLS and bool(self.counts.any(axis=0).all())
        require(fair, "A histogram has cells in which nothing was counted, or too many.")

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

    def middles(self) -> Array:
        """A number that stands for those of each cell."""
        return 0.5 * self.lows() + 0.5 * self.highs()

    def moments(self) -> Moments:
        """Weight, mean and squares of each class, as if all numbers of a cell stood in its middle."""
        n_classes = len(self.counts)
        of_cells = np.repeat(np.arange(n_classes, dtype=np.int32), len(self.cells))
        rows = np.tile(self.middles(), n_classes)[:, None]
        return Moments.observe(rows, of_cells, np.ascontiguousarray(self.counts).ravel(), n_classes)

    def codes(self, column: Array) -> Int32:
        """The place of each number's cell, −1 where there is none."""
        bits = read_only(np.ascontiguousarray(column, dtype=np.float64).view(np.int64))
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
        return Histogram(shift, cells, together(*matched(a._on(cells), b._on(cells))))

    def __sub__(self, other: Histogram) -> Histogram:
        """Exact in the counts; the grid stays as coarse as it was, for what was rounded cannot be sharpened."""
        if other.shift > self.shift or not np.isin((b := other._coarser(self.shift)).cells, self.cells).all():
            raise NotMergeable(NEVER_SEEN)
        counts = leave(*matched(self.counts, b._on(self.cells)))
        kept = counts.any(axis=0)
        return Histogram(self.shift, self.cells[kept], counts[:, kept])

    def _on(self, cells: Int64) -> Array:
        """The counts among more cells of the same grid."""
        counts = np.zeros((len(self.counts), len(cells)))
        counts[:, np.searchsorted(cells, self.cells)] = self.counts
        return counts

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


N_INTERVALS = 10
"""A column of numbers is cut into so many intervals where it has to have a table of values."""


FINER_INTERVALS = (N_INTERVALS, 30, 100)
"""Where several resolutions are tried."""


def equal_intervals(fine: Array, n: int = N_INTERVALS) -> Array:
    """Neighbouring values taken together, so that each group has about the same weight in all."""
    weight = fine.sum(axis=0)
    total = float(weight.sum())
    if fine.shape[1] <= n or total <= 0.0:
        return fine
    middle = (np.cumsum(weight) - 0.5 * weight) / total
    place = np.minimum((middle * n).astype(np.intp), n - 1)
    return np.stack([np.bincount(place, line, n) for line in fine])


def floats_at(places: Int64) -> Array:
    """The floats at some places in the order of all floats; beyond the largest that is finite, this one."""
    near = np.clip(places, -FARTHEST, FARTHEST)
    return np.where(near >= 0, near, -near | ~MAGNITUDE).astype(np.int64).view(np.float64)


def places_of(values: Array) -> Int64:
    """The places of floats in the order of all floats."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & MAGNITUDE))


# Which cells of the grid of floats a column occupies, and which cell each of its numbers lies in.
#
# Floats in their order are whole numbers in theirs: the bits of a float from zero up, taken as an integer; for one
# below
# zero the negative of its bits without the sign. A grid is made by dropping the last bits of that integer.

SLOT_BITS = 13
"""A table of 8192 places, of which at most a half is taken."""

MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)
INFINITE = np.int64(0x7FF0_0000_0000_0000)
SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)


@kernel
def in_order(bits: int) -> int:
    """The place of a float among all floats, from its bits; both zeros have the place 0."""
    return bits if bits >= 0 else -int(bits & MAGNITUDE)


@kernel
def _place_of(cell: int, slots: Int64, taken: Flags) -> int:
    mask = len(slots) - 1
    place = np.int64((np.uint64(np.int64(cell)) * SPREAD) >> np.uint64(64 - SLOT_BITS))
    while taken[place] and slots[place] != cell:
        place = (place + 1) & mask
    return int(place)


@kernel(interpretable=True)
def occupied_cells(bits: Int64, weight: Array, most: int) -> tuple[int, Int64]:
    """The finest grid on which the numbers take no more than `most` cells, and these, in no order.

    NaN and what weighs nothing takes no cell. Bits that are dropped: −1 if a number is infinite.
    """
    slots, taken = np.zeros(1 << SLOT_BITS, dtype=np.int64), np.zeros(1 << SLOT_BITS, dtype=np.bool_)
    cells = np.empty(most + 1, dtype=np.int64)
    n_cells, shift = 0, 0
    for i in range(bits.shape[0]):
        size = bits[i] & MAGNITUDE
        if size > INFINITE:
            continue
        if size == INFINITE:
            return -1, cells[:0]
        if weight[i] == 0.0:
            continue
        cell = in_order(bits[i]) >> shift
        place = _place_of(cell, slots, taken)
        if taken[place]:
            continue
        slots[place], taken[place], cells[n_cells] = cell, True, cell
        n_cells += 1
        while n_cells > most:
            shift += 1
            before, n_cells = n_cells, 0
            taken[:] = False
            for k in range(before):
                cell = cells[k] >> 1
                place = _place_of(cell, slots, taken)
                if not taken[place]:
                    slots[place], taken[place], cells[n_cells] = cell, True, cell
                    n_cells += 1
    return shift, cells[:n_cells].copy()


@kernel(interpretable=True)
def code_cells(bits: Int64, shift: int, cells: Int64, codes: Int32) -> None:
    """The place of each number's cell among `cells`, which ascend; −1 for a gap and for a cell that is not there."""
    slots, taken = np.zeros(1 << SLOT_BITS, dtype=np.int64), np.zeros(1 << SLOT_BITS, dtype=np.bool_)
    code_at = np.empty(1 << SLOT_BITS, dtype=np.int32)
    for k in range(cells.shape[0]):
        place = _place_of(cells[k], slots, taken)
        slots[place], taken[place], code_at[place] = cells[k], True, k
    for i in range(bits.shape[0]):
        codes[i] = -1
        if bits[i] & MAGNITUDE < INFINITE:
            place = _place_of(in_order(bits[i]) >> shift, slots, taken)
            if taken[place]:
                codes[i] = code_at[place]


@kernel
def _close_up(sizes: Array, first: int | np.intp, count: int) -> None:
    """Move what follows a place that was given up one place forward."""
    for k in range(first, count):
        sizes[k] = sizes[k + 1]


@kernel(interpretable=True)
def share_out(mass: Array, n_bins: int, bins: Int64) -> int:
    """Put neighbouring cells into at most `n_bins` bins of about equal mass; how many there are.

    A cell with an equal share of its own stands alone. A bin that is cut in two by such a cell may be one too many:
    then the lightest bin joins its lighter neighbour.
    """
    n_cells = mass.shape[0]
    total, rest, n_heavy = 0.0, 0.0, 0
    for k in range(n_cells):
        total += mass[k]
    for k in range(n_cells):
        if mass[k] * n_bins >= total:
            n_heavy += 1
        else:
            rest += mass[k]
    share = rest / max(n_bins - n_heavy, 1)
    sizes = np.zeros(n_cells)  # no more bins than cells, whatever the masses are
    count, last, before = 0, -1, 0.0
    for k in range(n_cells):
        if mass[k] * n_bins >= total:
            count, last = count + 1, -1
        else:
            index = int((before + 0.5 * mass[k]) / share) if share > 0.0 else 0
            before += mass[k]
            if index != last:
                count, last = count + 1, index
        bins[k] = count - 1
        sizes[count - 1] += mass[k]
    while count > n_bins:
        small = np.argmin(sizes[:count])
        left = small > 0 and (small == count - 1 or sizes[small - 1] <= sizes[small + 1])
        joined = small - 1 if left else small
        sizes[joined] += sizes[joined + 1]
        count -= 1
        _close_up(sizes, joined + 1, count)
        for k in range(n_cells):
            if bins[k] > joined:
                bins[k] -= 1
    return count
