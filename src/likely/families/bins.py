"""One share per bin and class: numbers whose distribution has no name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likely.families.categorical import log_shares
from likely.families.kernels import add_rows_of_table
from likely.families.left_out import less
from likely.families.left_out_bins import STRANGE, OwnBins
from likely.families.protocol import Array, LeftOut, Reads, Scorer, Settings
from likely.numbers import Numbers
from likely.stats import Histogram
from likely.stats.cutting import Binning, cut, log_widths
from likely.stats.protocol import leave
from likely.table import Table

GAP, FIRST = 0, 1
"""Lines of the table: that of a gap, then those of the bins."""


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """log density of each bin in each class: its share over its width. Line 0 is the log share of a gap.

    All classes have the same bins, so the widths cancel when classes are compared, and what remains are shares; with
    them, the log joint can be compared with that of other families. A number beyond the outermost edges
    has the density of the outermost bin.
    """

    name: ClassVar[str] = "bins"
    statistic: ClassVar[str] = "histogram"
    reads: ClassVar[Reads] = "numeric"

    columns: tuple[str, ...]
    edges: Array
    table: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Histogram, weights: Array, settings: Settings) -> Bins:
        return Bins.between(cut(seen, settings.bins), columns, seen, weights, settings)

    @staticmethod
    def between(
        binning: Binning, columns: tuple[str, ...], seen: Histogram, weights: Array, settings: Settings
    ) -> Bins:
        """The shares of bins that were cut somehow."""
        counts = np.zeros((len(weights), len(binning)))
        for place in range(len(binning)):
            counts[:, place] = seen.counts[:, binning.of_cell == place].sum(axis=1)
        gaps = gaps_of(seen, weights, settings)
        keys = range(len(binning) + (gaps is not None))
        pseudo = settings.smoothing_of(columns[0]).pseudo_counts(keys)
        log_share = log_shares(counts if gaps is None else np.column_stack([counts, gaps]), pseudo)
        table = np.zeros((FIRST + len(binning), len(weights)))
        table[FIRST:] = log_share[: len(binning)] - log_widths(binning.edges)[:, None]
        if gaps is not None:
            table[GAP] = log_share[-1]
        return Bins(columns, binning.edges, table)

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: Histogram, rows: LeftOut, settings: Settings) -> Scorer:
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

    def bind(self, table: Table) -> Scorer:
        numbers = Numbers.of(table, self.columns)
        lines = np.arange(len(self.table))

        def score(block: slice, joint: Array) -> None:
            numbers.refuse_infinite(block)
            codes = self.places(numbers.rows(block)[:, 0])
            add_rows_of_table(codes, lines, self.table, joint)

        return score

    def places(self, cells: Array) -> NDArray[np.int32]:
        """The bin of each number, −1 for a gap."""
        found = np.searchsorted(self.edges[1:-1], cells, side="right").astype(np.int32)
        return np.where(np.isnan(cells), np.int32(-1), found)

    def shares(self) -> Array:
        """P(bin | class) as bins × classes; with gaps as values, theirs is what lacks to one."""
        return np.asarray(np.exp(self.table[FIRST:] + log_widths(self.edges)[:, None]))

    def only(self, column: str) -> Bins:
        return self


def gaps_of(seen: Histogram, weights: Array, settings: Settings) -> Array | None:
    """The weight of the gaps in each class, where they are to count as values and there are any."""
    if settings.missing != "value":
        return None
    gaps = less(weights, seen.known)
    return leave(weights, np.minimum(seen.known, weights)) if gaps.any() else None
