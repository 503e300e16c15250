"""One share per bin and class: numbers whose distribution has no name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64
from likely.families.categorical import add_lines, add_rows_of_table, log_shares
from likely.families.export import SQL, BinShares, SQLNode
from likely.families.on_device import IntervalTerm
from likely.families.outcomes import BlockScorer, Outcomes, normalised
from likely.families.protocol import Certainty, Columns, CountTable, Domain, LeftOut, Parameter, Reads, Settings
from likely.families.smoothing import log_share
from likely.jit import kernel
from likely.stats.binning import Binning, cells_between, cut, interval_of, log_width, log_widths, outer_edges
from likely.stats.histogram import Histogram, floats_at, share_out
from likely.stats.protocol import leave, less, less_one
from likely.table import Table, as_table
from likely.table.table import Numbers

GAP, FIRST = 0, 1
"""Lines of the table: that of a gap, then those of the bins."""


@dataclass(frozen=True, slots=True, eq=False)
class BinnedDensity(ABC):
    """log density of each bin in each class: its share over its width. Line 0 is the log share of a gap.

    All classes have the same bins, so the widths cancel when classes are compared, and what remains are shares; with
    them, the log joint can be compared with that of other families. A number beyond the outermost edges
    has the density of the outermost bin. Where the bins are cut is what families of them differ in.
    """

    statistic: ClassVar[str] = "histogram"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.REAL
    has_density: ClassVar[bool] = True

    columns: Columns
    edges: Array
    table: Array

    @classmethod
    @abstractmethod
    def cut(cls, seen: Histogram, settings: Settings) -> Binning:
        """Where the bins lie, from the histogram of all classes."""

    @classmethod
    def settle(cls, columns: Columns, seen: Histogram, weights: Array, settings: Settings) -> Self:
        binning = cls.cut(seen, settings)
        counts, n_bins = _counts(binning, seen, weights, settings), len(binning)
        log_share = log_shares(counts, settings.smoothing_of(columns[0]).pseudo_counts(range(counts.shape[1])))
        table = np.zeros((FIRST + n_bins, len(weights)))
        table[FIRST:] = log_share[:n_bins] - log_widths(binning.edges)[:, None]
        if len(log_share) > n_bins:
            table[GAP] = log_share[-1]
        return cls(columns, binning.edges, table)

    def bind(self, table: Table) -> BlockScorer:
        numbers = Numbers.of(table, self.columns)
        lines = np.arange(len(self.table))

        def score(block: slice, joint: Array) -> None:
            numbers.refuse_infinite(block)
            codes = self.places(numbers.rows(block)[:, 0])
            add_rows_of_table(codes, lines, self.table, joint)

        return score

    def places(self, cells: Array) -> Int32:
        """The bin of each number, −1 for a gap."""
        return interval_of(cells, self.edges[1:-1])

    def shares(self) -> Array:
        """P(bin | class) as bins × classes; with gaps as values, theirs is what lacks to one."""
        return np.asarray(np.exp(self.table[FIRST:] + log_widths(self.edges)[:, None]))

    def only(self, column: str) -> Self:
        return self

    @classmethod
    def smoothed_counts(cls, columns: Columns, seen: Histogram, weights: Array, settings: Settings) -> list[CountTable]:
        return [(columns, bin_counts(cls.cut(seen, settings), seen))]

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: Histogram, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, binning = cls.settle(columns, seen, weights, settings), cls.cut(seen, settings)
        counts = _counts(binning, seen, weights, settings)
        a = (counts + settings.smoothing_of(columns[0]).pseudo_counts(range(counts.shape[1]))).T
        places = belief.places(table.numbers(columns[0])).astype(np.intp)
        places = np.where(places < 0, len(binning) if len(a) > len(binning) else -1, places)
        return lambda block, *out: add_lines(a, places[block], *out)

    def parameters(self) -> Iterator[Parameter]:
        (name,), shares = self.columns, self.shares()
        digits = 10 if len({f"{edge:.10g}" for edge in self.edges.tolist()}) == len(self.edges) else 17
        for place, (low, high) in enumerate(pairwise(self.edges.tolist())):
            yield Parameter(name, "probability", f"{low:.{digits}g} to {high:.{digits}g}", shares[place])
        if self.table[GAP].any():
            yield Parameter(name, "probability of a gap", None, np.exp(self.table[GAP]))

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        code = sql.interval(self.columns[0], self.edges[1:-1], FIRST, GAP, at_most=False)
        yield sql.number_at(self.table[:, place].tolist(), code)

    def device_terms(self) -> list[IntervalTerm]:
        return [IntervalTerm(self.columns, self.edges[1:-1], self.table[FIRST:], self.table[GAP])]

    def bayes_inputs(self) -> list[BinShares] | None:
        """None where a gap speaks."""
        said = self.table[GAP].any()
        return None if said else [BinShares(self.columns[0], self.edges[1:-1], self.shares())]

    def outcomes(self, column: str, points: int) -> Outcomes:
        """Both ends of every bin, with half of its share each: so the values reach as far as the bins do."""
        ends = np.column_stack([self.edges[:-1], np.nextafter(self.edges[1:], -np.inf)])
        shares = np.repeat(self.shares(), 2, axis=0)
        density = np.repeat(np.exp(self.table[FIRST:]), 2, axis=0)
        return Outcomes(ends.ravel(), normalised(shares), density, self.edges)


class Bins(BinnedDensity):
    """Bins of about equal weight, at most so many as the user says."""

    __slots__ = ()

    name: ClassVar[str] = "bins"

    @classmethod
    def cut(cls, seen: Histogram, settings: Settings) -> Binning:
        return cut(seen, settings.bins)

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Histogram, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Without a row its cell is lighter, so the bins may be others: they are cut anew for every cell."""
        cells, belief = rows.table.numbers(columns[0]), cls.settle(columns, seen, rows.classes, settings)
        own = OwnBins(seen, rows, settings, columns[0], gaps_of(seen, rows.classes, settings))
        codes = seen.codes(cells)
        # A row without weight may lie where no other does: it is judged as any new one.
        strange = (codes < 0) & ~np.isnan(cells)
        codes[strange] = STRANGE

        said, of_own, places = own.lines(codes)

        def score(block: slice, joint: Array) -> None:
            y, here = rows.y[block], np.arange(block.stop - block.start)
            lines = said[places[block]]
            lines[here, y] = of_own[places[block], y]
            joint += lines
            joint[strange[block]] += belief.table[FIRST + belief.places(cells[block][strange[block]])]

        return score

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        """The cells stand for their rows, one of weight 1 in each."""
        n_cells = len(seen.cells)
        cells = as_table({column: seen.lows()})
        rows = LeftOut(cells, np.zeros(n_cells, dtype=np.int32), np.ones(n_cells), np.asarray(seen.known))
        _, own, places = OwnBins(seen, rows, settings, column, None).lines(np.arange(n_cells, dtype=np.int32))
        return float((seen.counts.T * np.maximum(own[places], -1e100)).sum())


def bin_counts(binning: Binning, seen: Histogram) -> Array:
    """Classes × bins."""
    counts = np.zeros((len(seen.counts), len(binning)))
    for place in range(len(binning)):
        counts[:, place] = seen.counts[:, binning.of_cell == place].sum(axis=1)
    return counts


def _counts(binning: Binning, seen: Histogram, weights: Array, settings: Settings) -> Array:
    """The same, with the gaps behind the bins where they count as values."""
    counts, gaps = bin_counts(binning, seen), gaps_of(seen, weights, settings)
    return counts if gaps is None else np.column_stack([counts, gaps])


def gaps_of(seen: Histogram, weights: Array, settings: Settings) -> Array | None:
    """The weight of the gaps in each class, where they are to count as values and there are any."""
    if settings.missing != "value":
        return None
    gaps = less(weights, seen.known)
    return leave(weights, np.minimum(seen.known, weights)) if gaps.any() else None


# Bins without a row: for the cell that it lies in, what every class says once the row is taken out.

STRANGE = -2
"""The code of a number whose cell holds nothing; −1 is a gap."""


class OwnBins:
    """The histogram of all rows, from which each row can be taken out: what is said depends on cell, class, weight.

    Without a row its cell is lighter, or gone, and all bins may lie elsewhere: they are cut anew for each.
    """

    def __init__(self, seen: Histogram, rows: LeftOut, settings: Settings, column: str, gaps: Array | None) -> None:
        self.seen, self.rows, self.gaps = seen, rows, gaps
        self.n_bins, self.smoothing = settings.bins, settings.smoothing_of(column)
        self.known, self.mass = seen.known, np.asarray(seen.counts.sum(axis=0))
        self.below = np.concatenate([np.zeros((len(rows.classes), 1)), np.cumsum(seen.counts, axis=1)], axis=1)

    def lines(self, codes: Int32) -> tuple[Array, Array, Index]:
        """What all classes say (pairs × classes), and what each says of a row of its own; the pair of each row."""
        pairs, places = np.unique(np.column_stack([codes, self.rows.weight]), axis=0, return_inverse=True)
        cells, weights = pairs[:, 0].astype(np.int64), np.ascontiguousarray(pairs[:, 1])
        said, own = np.zeros((2, len(pairs), len(self.known)))
        known = np.flatnonzero(cells >= 0)
        if len(known):
            said[known], own[known] = self._of_cells(cells[known], weights[known])
        for gap in np.flatnonzero(cells == -1):
            said[gap], own[gap] = self._of_gap(float(weights[gap]))
        return said, own, places.ravel()

    def _of_gap(self, weight: float) -> tuple[Array, Array]:
        nothing = np.zeros_like(self.known)
        if self.gaps is None or less(self.gaps.sum(keepdims=True), np.array([weight]))[0] == 0.0:
            return nothing, nothing
        count = max(share_out(self.mass, self.n_bins, np.zeros(len(self.mass), dtype=np.int64)), 1)
        pseudo = self.smoothing.pseudo_counts(range(count + 1))
        total = self.known + self.gaps
        said = log_share(self.gaps + pseudo[-1], total + pseudo.sum(), len(pseudo))
        left, rest = less(self.gaps, nothing + weight), less(total, nothing + weight)
        return said, log_share(left + pseudo[-1], rest + pseudo.sum(), len(pseudo))

    def _of_cells(self, cells: Int64, weights: Array) -> tuple[Array, Array]:
        first, last, place, count = np.zeros((4, len(cells)), dtype=np.int64)
        gone = np.zeros(len(cells), dtype=np.bool_)
        _own_bins(self.mass, cells, weights, self.n_bins, self._falls_right(), first, last, place, count, gone)
        counts = less(self.below[:, last + 1], self.below[:, first]).T
        inside = gone & (first < cells) & (cells < last)
        # The cell is gone, and its row with it.
        counts[inside] = less(counts[inside], self.seen.counts[:, cells[inside]].T)
        counts[count == 0] = 0.0  # the row was all that the column has: one bin is left, with nothing in it
        total = self.known if self.gaps is None else self.known + self.gaps
        more = np.maximum(count, 1) + (self.gaps is not None)
        pseudo, all_pseudo = np.empty((2, len(cells), 1))
        for size in np.unique(more):
            here, smoothed = more == size, self.smoothing.pseudo_counts(range(size))
            pseudo[here, 0], all_pseudo[here] = smoothed[place[here]], smoothed.sum()
        sizes = more[:, None].astype(np.float64)
        said = log_share(counts + pseudo, total[None] + all_pseudo, sizes)
        left = np.where(gone[:, None], counts, less(counts, weights[:, None]))
        own = log_share(left + pseudo, less(total[None], weights[:, None]) + all_pseudo, sizes)
        width = self._log_widths(cells, first, last, gone)[:, None]
        return said - width, own - width

    def _falls_right(self) -> Flags:
        """Whether a cell that lost its only row lies on the right side of a cut between its neighbours."""
        n = len(self.mass)
        right = np.zeros(n, dtype=np.bool_)
        inner = np.arange(1, n - 1)
        if len(inner):
            right[inner] = self.seen.cells[inner] >= cells_between(self.seen, inner - 1, inner + 1)
        return right

    def _log_widths(self, cells: Int64, first: Int64, last: Int64, gone: Flags) -> Array:
        """Widths of the bins between `first` and `last`, with the cells that are gone taken out of the list."""
        n, shift, lows, highs = len(self.mass), self.seen.shift, self.seen.lows(), self.seen.highs()
        every = np.arange(n)
        before = first - 1 - (gone & (cells == first - 1))
        after = last + 1 + (gone & (cells == last + 1))
        low = floats_at(cells_between(self.seen, np.maximum(before, 0), first) << shift)
        high = floats_at(cells_between(self.seen, last, np.minimum(after, n - 1)) << shift)
        ends = {-1: outer_edges(lows, highs)}
        for cell in {0, 1, n - 2, n - 1} & set(cells[gone].tolist()):
            rest = every != cell
            ends[cell] = outer_edges(lows[rest], highs[rest]) if rest.any() else (0.0, 1.0)
        own = [ends.get(cell if out else -1, ends[-1]) for cell, out in zip(cells.tolist(), gone.tolist(), strict=True)]
        outer = np.array(own).reshape(-1, 2)
        return log_width(np.where(before < 0, outer[:, 0], low), np.where(after >= n, outer[:, 1], high))


@kernel
def _own_bins(
    mass: Array, cells: Int64, weights: Array, n_bins: int, falls_right: Flags,
    first: Int64, last: Int64, place: Int64, count: Int64, gone: Flags,
) -> None:  # fmt: skip
    """For each cell, once a weight has left it: the first and last cell of its bin, which bin that is, of how many."""
    n = mass.shape[0]
    lighter, bins = np.empty(n), np.empty(n, dtype=np.int64)
    for pair in range(cells.shape[0]):
        cell = cells[pair]
        left = less_one(mass[cell], weights[pair])
        gone[pair] = left == 0.0
        skip = 1 if gone[pair] else 0
        size = n - skip
        for k in range(size):
            lighter[k] = mass[k] if k < cell else mass[k + skip]
        if not gone[pair]:
            lighter[cell] = left
        count[pair] = share_out(lighter[:size], n_bins, bins[:size])
        if size == 0:
            continue
        at = cell
        if gone[pair] and (cell == size or (cell > 0 and not falls_right[cell])):
            at = cell - 1
        own = bins[at]
        low, high = at, at
        while low > 0 and bins[low - 1] == own:
            low -= 1
        while high < size - 1 and bins[high + 1] == own:
            high += 1
        place[pair] = own
        first[pair] = low + (skip if low >= cell else 0)
        last[pair] = high + (skip if high >= cell else 0)
