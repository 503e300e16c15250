"""Where to cut a column of numbers into bins, from its histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Index, Int64
from likely.stats.histogram import Histogram, floats_at, places_of, share_out


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """Bins of neighbouring cells: the bin of each cell, and the `edges` of the bins, the outermost two included.

    A bin reaches from its lower edge up to, but not including, its upper one; beyond the outermost edges, numbers
    belong to the outermost bins.
    """

    of_cell: Int64
    edges: Array

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def cuts(self) -> Array:
        """The edges between bins."""
        return self.edges[1:-1]


def cut(seen: Histogram, n_bins: int) -> Binning:
    """At most so many bins of about equal weight over all classes; a frequent number has one of its own.

    >>> seen = Histogram.observe(np.arange(8.0), np.zeros(8, dtype=np.int32))
    >>> cut(seen, 4).edges.tolist()
    [-0.5, 1.5, 3.5, 5.5, 7.5]
    """
    of_cell = np.zeros(len(seen.cells), dtype=np.int64)
    count = share_out(np.asarray(seen.counts.sum(axis=0)), n_bins, of_cell)
    if count == 0:
        return Binning(of_cell, np.array([0.0, 1.0]))
    last = np.flatnonzero(np.diff(of_cell))
    cuts = floats_at(cells_between(seen, last, last + 1) << seen.shift)
    low, high = outer_edges(seen.lows(), seen.highs())
    return Binning(of_cell, np.concatenate([[low], cuts, [high]]))


def cells_between(seen: Histogram, left: Index, right: Index) -> Int64:
    """The cell half way between two occupied ones, at which a cut between them begins the right bin."""
    below = floats_at(((seen.cells[left] + 1) << seen.shift) - 1)
    above = floats_at(seen.cells[right] << seen.shift)
    middle = places_of(0.5 * below + 0.5 * above) >> seen.shift
    return np.asarray(np.clip(middle, seen.cells[left] + 1, seen.cells[right]), dtype=np.int64)


def outer_edges(lows: Array, highs: Array) -> tuple[float, float]:
    """Half a gap beyond the outermost cells: whole numbers from 0 to 7 reach from −½ to 7½."""
    if len(lows) == 1:
        return _beyond(lows[0], -0.5), _beyond(highs[0], 0.5)
    below, above = 0.5 * lows[1] - 0.5 * highs[0], 0.5 * lows[-1] - 0.5 * highs[-2]
    return _beyond(lows[0], -below), _beyond(highs[-1], above)


def _beyond(edge: float, step: float) -> float:
    """The edge moved by a step, by one float at the least, and never out of the floats."""
    largest = float(np.finfo(np.float64).max)
    moved = 2.0 * min(max(0.5 * edge + 0.5 * step, -0.5 * largest), 0.5 * largest)
    side = float(np.copysign(1.0, step))
    return float(moved if side * moved > side * edge else np.clip(np.nextafter(edge, side * np.inf), -largest, largest))


def log_width(low: Array, high: Array) -> Array:
    """Logarithm of the width of bins; halves are subtracted, for the whole may leave the floats."""
    return np.asarray(np.log(np.maximum(0.5 * high - 0.5 * low, np.finfo(np.float64).tiny)) + np.log(2.0))


def log_widths(edges: Array) -> Array:
    """The same for bins side by side."""
    return log_width(edges[:-1], edges[1:])
