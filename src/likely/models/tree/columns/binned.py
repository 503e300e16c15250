"""A numeric column in at most 255 bins of about equal size: cuts lie at the edges of bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64
from likely.models.tree.columns import bin_kernels
from likely.models.tree.columns.bin_kernels import both_sides, count_known, edges_by_counts, edges_by_entropy
from likely.models.tree.columns.protocol import Level, Moves, Rule, Sides, Splits, StandIns
from likely.models.tree.columns.sorted import side_of
from likely.models.tree.split_measures import WITHOUT_LOGARITHMS, ratios_of_cuts
from likely.stats.binning import equal_frequency_edges

MOST_BINS = 255
MOST_SAMPLED = 1 << 15
"""Rows from which edges are settled: enough to place a quantile within a fraction of a bin."""


class BinnedColumn:
    """The bin of every row, 255 for a gap."""

    def __init__(self, place: int, numbers: Array, edges: Array) -> None:
        self.place, self.numbers, self.edges = place, numbers, edges
        self.codes: NDArray[np.uint8] = np.empty(len(numbers), dtype=np.uint8)
        bin_kernels.assign(numbers, edges, self.codes)
        self._in_order = self.codes  # those of a level's members, as long as each row is there once
        self._has_gaps = bool((self.codes == bin_kernels.GAP).any())
        self._cuts = np.empty(0, dtype=np.int64)

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) + 1

    def judge(self, level: Level, rule: Rule) -> Array:
        cases, scores = level.cases, np.empty(len(level))
        self._cuts = np.empty(len(level), dtype=np.int64)
        in_order = (self._in_order, level.starts, level.labels, self.n_bins)
        found = (rule.min_cases, scores, self._cuts)
        if not level.is_whole(rule):
            bin_kernels.score_bins(
                self.codes, cases.rows, level.members, level.starts, cases.labels, cases.weights, cases.unit,
                self.n_bins, level.counts.shape[1], level.sizes, rule.measure, rule.logs, *found,
            )  # fmt: skip
        elif rule.measure in WITHOUT_LOGARITHMS:
            edges_by_counts(*in_order, level.counts, rule.measure, *found)
        else:
            edges_by_entropy(*in_order, *self._sides(level, rule), rule.measure, rule.logs, *found)
        return scores

    def _sides(self, level: Level, rule: Rule) -> Sides:
        """Those of the level, but its own for a column with gaps."""
        if level.sides is not None and not self._has_gaps:
            return level.sides
        known = np.zeros_like(level.counts)
        count_known(self._in_order, level.starts, level.labels, known)
        return sides_of(known, rule.logs)

    def ratios(self, level: Level, rule: Rule, gains: Array) -> Array:
        cases, sides = level.cases, np.zeros((len(level), 2))
        bin_kernels.weigh_sides(self.codes, cases.rows, level.members, level.starts, cases.weights, self._cuts, sides)
        return ratios_of_cuts(gains, sides[:, 0], sides.sum(axis=1))

    def split(self, level: Level, rule: Rule, nodes: Int64, branches: Int32) -> Splits:
        bin_kernels.mark_bins(
            self.codes, self._in_order, level.cases.rows, level.members, level.starts, self._cuts, nodes, branches
        )
        return Splits(np.full(len(nodes), 2, dtype=np.int32), self.edges[self._cuts[nodes]])

    def stand_in(self, level: Level, branches: Int32, n_branches: Int32, usual: Int32) -> StandIns:
        n = len(level)
        gains, sides, cuts = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros(n, dtype=np.int64)
        bin_kernels.agree_by_bin(
            self.codes, level.cases.rows, level.members, level.starts, branches, level.cases.weights, self.n_bins,
            n_branches, usual, gains, sides, cuts,
        )  # fmt: skip
        thresholds = self.edges[cuts] if len(self.edges) else np.zeros(n)
        return StandIns(gains, sides[:, 0], sides[:, 1], thresholds)

    def stand_in_maps(
        self, level: Level, branches: Int32, n_branches: Int32, usual: Int32, nodes: Int64
    ) -> Int32 | None:
        return None

    def follow(self, rows: Int32, threshold: float, low: int, high: int, branches: Int32 | None) -> Int32:
        return side_of(self.numbers[rows], threshold, low, high)

    def move(self, moves: Moves) -> None:
        if moves.sources is None:
            self._in_order = self._in_order[:0]
        elif len(self._in_order):
            codes = np.empty(len(moves.sources), dtype=np.uint8)
            bin_kernels.rearrange(self._in_order, moves.sources, codes)
            self._in_order = codes


def sides_of(known: Array, logs: Array) -> Sides:
    """What a cut of so many cases by class says, for every node and every way to cut it."""
    n_nodes, n_classes = known.shape
    n_cases = int(known.sum())
    cells, sizes = np.empty(n_cases + n_nodes * n_classes), np.empty(n_cases + n_nodes)
    both_sides(known, logs, cells, sizes)
    return Sides(known, cells, sizes)


def quantile_edges(numbers: Array, most_bins: int = MOST_BINS) -> Array:
    """Edges between bins: between all values if they are few, else at quantiles, always half way between two values."""
    if len(numbers) > MOST_SAMPLED:
        numbers = numbers[:: -(-len(numbers) // MOST_SAMPLED)]
    return equal_frequency_edges(numbers, most_bins)
