"""Bins of numbers of about equal weight: where to cut, and where a cut lies between two values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64
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
    return float(moved if side * moved > side * edge else np.nextafter(edge, side * largest))


def log_width(low: Array, high: Array) -> Array:
    """Logarithm of the width of bins; halves are subtracted, for the whole may leave the floats."""
    return np.asarray(np.log(np.maximum(0.5 * high - 0.5 * low, np.finfo(np.float64).tiny)) + np.log(2.0))


def log_widths(edges: Array) -> Array:
    """The same for bins side by side."""
    return log_width(edges[:-1], edges[1:])


# Bins of weighted atoms, values or cells of a histogram, in ascending order.

MIN_BIN_SHARE = 0.1
"""A bin has at least this part of an equal share of the weight."""


def equal_frequency_bins(mass: Array, n_bins: int) -> Index:
    """The bin of each atom: atoms of an equal share or more alone, the others in runs of about equal weight.

    Unlike `cut`, a run between two heavy atoms never joins another, so there may be up to 2 · n_bins + 1 bins.
    """
    n_bins, total = max(n_bins, 1), float(mass.sum())
    if len(mass) <= 1:
        return np.zeros(len(mass), dtype=np.intp)
    heavy = mass >= total / n_bins
    rest = float(mass[~heavy].sum())
    share = rest / max(n_bins - int(heavy.sum()), 1)
    bins = np.empty(len(mass), dtype=np.intp)
    last = -1
    for start, stop in _runs(heavy):
        if heavy[start]:
            bins[start:stop] = last + 1 + np.arange(stop - start)
        else:
            run = mass[start:stop]
            within = max(round(float(run.sum()) / share), 1) if share > 0.0 else 1
            middle = (np.cumsum(run) - 0.5 * run) / run.sum()
            bins[start:stop] = last + 1 + _renumbered((middle * within).astype(np.intp))
        last = int(bins[stop - 1])
    return _without_small_bins(bins, mass, MIN_BIN_SHARE * total / n_bins)


def cuts_between(lows: Array, highs: Array, bins: Index) -> Array:
    """Half way between the highest float of each bin's last atom and the lowest of the next bin's first one."""
    ends = np.flatnonzero(np.diff(bins))
    low, high = highs[ends], lows[ends + 1]
    with np.errstate(over="ignore"):
        cuts = low + 0.5 * (high - low)
    return np.asarray(np.where(cuts < high, cuts, low))  # neighbouring floats have nothing between them


def _runs(heavy: Flags) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(heavy.astype(np.int8))) + 1
    return list(pairwise([0, *edges.tolist(), len(heavy)]))


def _renumbered(bins: Index) -> Index:
    """The same ascending bins, numbered from 0 without holes."""
    return np.concatenate([[0], np.cumsum(np.diff(bins) > 0)]).astype(np.intp)


def _without_small_bins(bins: Index, mass: Array, least: float) -> Index:
    """Join a bin below the least weight to its lighter neighbour, from the left to the right."""
    sizes = np.bincount(bins, weights=mass).tolist()
    owner = list(range(len(sizes)))
    kept: list[int] = []
    for k, size in enumerate(sizes):
        if size < least and kept and (k + 1 == len(sizes) or sizes[kept[-1]] <= sizes[k + 1]):
            # No other joins the same bin, so its size need not grow: the next one is no lighter than it, and kept.
            owner[k] = kept[-1]
        elif size < least and k + 1 < len(sizes):
            sizes[k + 1] += size
            owner[k] = -1  # goes with the next one
        else:
            kept.append(k)
    for k in range(len(owner) - 2, -1, -1):
        if owner[k] == -1:
            owner[k] = owner[k + 1]
    return _renumbered(np.array(owner, dtype=np.intp)[bins])


# Edges between plain numbers, and the interval of a number.


def equal_frequency_edges(numbers: Array, n_bins: int, weights: Array | None = None) -> Array:
    """Edges that cut the known numbers into at most so many intervals of about equal weight; equal ones stay together.

    >>> equal_frequency_edges(np.array([1.0, 2.0, 2.0, 3.0, np.nan]), 2).tolist()
    [2.5]
    """
    known = ~np.isnan(numbers)
    if weights is None:  # to sort numbers is faster than to sort their places
        ordered = np.sort(numbers[known])
        below = np.arange(1.0, len(ordered) + 1.0)
    else:
        order = np.argsort(numbers, kind="stable")[: int(known.sum())]
        ordered, below = numbers[order], np.cumsum(weights[order])
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last place of every value but the largest
    if len(ends) >= n_bins:
        wanted = np.arange(1, n_bins) * (below[-1] / n_bins)
        ends = ends[np.unique(np.clip(np.searchsorted(below[ends], wanted), 0, len(ends) - 1))]
    return mid_points(ordered[ends], ordered[ends + 1])


def mid_points(low: Array, high: Array) -> Array:
    """Half way between two numbers; the upper one where no number lies between them."""
    with np.errstate(over="ignore"):
        middle = 0.5 * (low + high)
    middle = np.where(np.isfinite(middle), middle, 0.5 * low + 0.5 * high)
    return np.asarray(np.where(middle > low, middle, high))


def interval_of(numbers: Array, edges: Array) -> Int32:
    """The interval of each number between inner edges, −1 for a gap; an edge belongs to the interval above it."""
    found = np.searchsorted(edges, numbers, side="right").astype(np.int32)
    return np.where(np.isnan(numbers), np.int32(-1), found)
