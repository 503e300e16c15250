"""A numeric column in at most 255 bins of about equal size: thresholds are edges of bins."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt8
from likely.models.tree.columns import GAP, LOWER, Level, Moves, Rule, Sides, Splits, StandIns
from likely.models.tree.sorted_column import mid_points, side_of
from likely.models.tree.split_measures import (
    NOTHING,
    TIE,
    WITHOUT_LOGARITHMS,
    largest,
    ratios_of_cuts,
    total_of,
    value_of_two,
    whole_of,
    xlogx,
)
from likely.models.tree.unit_weights import both_sides, count_known, edges_by_counts, edges_by_entropy

MOST_BINS = 255

MOST_SAMPLED = 1 << 15
"""Rows from which edges are settled: enough to place a quantile within a fraction of a bin."""


class BinnedColumn:
    """The bin of every row, 255 for a gap."""

    def __init__(self, place: int, numbers: Array, edges: Array) -> None:
        self.place, self.numbers, self.edges = place, numbers, edges
        self.codes: NDArray[np.uint8] = np.empty(len(numbers), dtype=np.uint8)
        assign(numbers, edges, self.codes)
        self._in_order = self.codes  # those of a level's members, as long as each row is there once
        self._has_gaps = bool((self.codes == GAP).any())
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
            score_bins(
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
        weigh_sides(self.codes, cases.rows, level.members, level.starts, cases.weights, self._cuts, sides)
        return ratios_of_cuts(gains, sides[:, 0], sides.sum(axis=1))

    def split(self, level: Level, rule: Rule, nodes: Int64, branches: Int32) -> Splits:
        mark_bins(
            self.codes, self._in_order, level.cases.rows, level.members, level.starts, self._cuts, nodes, branches
        )
        return Splits(np.full(len(nodes), 2, dtype=np.int32), self.edges[self._cuts[nodes]])

    def stand_in(self, level: Level, branches: Int32, n_branches: Int32, usual: Int32) -> StandIns:
        n = len(level)
        gains, sides, cuts = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros(n, dtype=np.int64)
        agree_by_bin(
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
            rearrange(self._in_order, moves.sources, codes)
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
    ordered = np.sort(numbers[~np.isnan(numbers)])
    if not len(ordered):
        return np.empty(0)
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last place of every value but the largest
    if len(ends) >= most_bins:
        wanted = np.arange(1, most_bins) * (len(ordered) / most_bins) - 1.0
        ends = ends[np.unique(np.clip(np.searchsorted(ends, wanted), 0, len(ends) - 1))]
    return mid_points(ordered[ends], ordered[ends + 1])


@numba.njit(nogil=True, cache=True)
def assign(numbers: Array, edges: Array, out: UInt8) -> None:
    """The bin of every number: how many edges are not above it; a gap is 255.

    Eight steps for every number, without a branch that the processor would have to guess.
    """
    padded = np.full(256, np.inf)
    padded[: len(edges)] = edges
    for i in range(len(numbers)):
        x, at = numbers[i], 0
        at += 128 * (padded[at + 127] <= x)
        at += 64 * (padded[at + 63] <= x)
        at += 32 * (padded[at + 31] <= x)
        at += 16 * (padded[at + 15] <= x)
        at += 8 * (padded[at + 7] <= x)
        at += 4 * (padded[at + 3] <= x)
        at += 2 * (padded[at + 1] <= x)
        at += 1 * (padded[at] <= x)
        out[i] = GAP if np.isnan(x) else at


@numba.njit(nogil=True, cache=True)
def rearrange(codes: UInt8, sources: Int32, out: UInt8) -> None:
    """Codes in another order: several times as fast as by NumPy, which widens the places first."""
    for i in range(len(sources)):
        out[i] = codes[np.uint32(sources[i])]


@numba.njit(nogil=True, cache=True)
def best_edge(table: Array, size: float, measure: int, logs: Array, min_cases: float) -> tuple[float, int]:
    """The measure of the best cut of a bin × class table, times known / all weight, and the last bin below it."""
    n_bins, n_classes = table.shape
    known, left, right = np.zeros(n_classes), np.zeros(n_classes), np.empty(n_classes)
    for k in range(n_bins):
        for c in range(n_classes):
            known[c] += table[k, c]
    n = total_of(known)
    if n <= NOTHING:
        return 0.0, -1
    log_n, whole, least = xlogx(n, logs), whole_of(measure, known, n, logs), min_cases - NOTHING
    n_left, best, edge = 0.0, 0.0, -1
    for k in range(n_bins - 1):
        here = 0.0
        for c in range(n_classes):
            left[c] += table[k, c]
            here += table[k, c]
        n_left += here
        if here <= NOTHING or n_left < least:
            continue  # an empty bin: the same cut as the edge before
        n_right = n - n_left
        if n_right < least or n_right <= NOTHING:
            break
        value = value_of_two(measure, left, n_left, right, known, n, log_n, whole, logs)
        if value > 0.0 and value >= best * (1.0 - TIE):
            best, edge = max(best, value), k
    return best * n / size, edge


@numba.njit(nogil=True, cache=True)
def score_bins(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, labels: Int32, weights: Array, unit: bool, n_bins: int,
    n_classes: int, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Int64,
) -> None:  # fmt: skip
    """The best edge of each node; the cases of a node are counted and its table judged at once."""
    table = np.empty((GAP + 1, n_classes))
    for node in range(len(starts) - 1):
        table[:n_bins] = 0.0
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if unit:
                table[codes[case], labels[case]] += 1.0
            else:
                table[codes[rows[case]], labels[case]] += weights[case]
        scores[node], edges[node] = best_edge(table[:n_bins], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def score_tables(
    tables: Array, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Int64
) -> None:
    """The same from node × bin × class tables that were counted elsewhere."""
    for node in range(len(tables)):
        scores[node], edges[node] = best_edge(tables[node], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def weigh_sides(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, weights: Array, edges: Int64, sides: Array
) -> None:
    """The weight of the known cases of each node on either side of its cut."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            code = codes[rows[case]]
            if code != GAP:
                sides[node, 0 if code <= edges[node] else 1] += weights[case]


@numba.njit(nogil=True, cache=True)
def mark_bins(
    codes: UInt8,
    in_order: UInt8,
    rows: Int32,
    members: Int64,
    starts: Int64,
    edges: Int64,
    nodes: Int64,
    branches: Int32,
) -> None:
    """Cases at or below the last bin of the left side go to branch 0, others to branch 1; gaps stay as they are.

    `in_order` are the codes in the order of `members`, if there are any.
    """
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            code = in_order[i] if len(in_order) else codes[rows[case]]
            branches[case] = -1 if code == GAP else 0 if code <= edges[node] else 1


@numba.njit(nogil=True, cache=True)
def branches_by_bin(
    codes: UInt8, rows: Int32, members: Int64, first: int, last: int, branches: Int32, weights: Array, table: Array,
    known: Array,
) -> None:  # fmt: skip
    """Weights of cases by bin and branch, and by branch, where both are known."""
    table[:] = 0.0
    known[:] = 0.0
    for i in range(first, last):
        case = members[i] & LOWER
        code = codes[rows[case]]
        if code != GAP and branches[case] >= 0:
            table[code, branches[case]] += weights[case]
            known[branches[case]] += weights[case]


@numba.njit(nogil=True, cache=True)
def agree_by_bin(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, branches: Int32, weights: Array, n_bins: int,
    n_branches: Int32, usual: Int32, gains: Array, sides: Int32, edges: Int64,
) -> None:  # fmt: skip
    """The edge that best tells the branch of another test, and how much more weight it sends right than `usual`."""
    for node in range(len(starts) - 1):
        gains[node] = 0.0
        if n_branches[node] == 0:
            continue
        table, known = np.empty((n_bins, n_branches[node])), np.empty(n_branches[node])
        branches_by_bin(codes, rows, members, starts[node], starts[node + 1], branches, weights, table, known)
        left, right, best = np.zeros(n_branches[node]), np.empty(n_branches[node]), 0.0
        followed = known[usual[node]]
        for k in range(n_bins - 1):
            if total_of(table[k]) <= NOTHING:
                continue
            for b in range(len(known)):
                left[b] += table[k, b]
                right[b] = known[b] - left[b]
            low, high = largest(left), largest(right)
            gain = left[low] + known[high] - left[high] - followed
            if gain > NOTHING and gain >= best - NOTHING:
                best = max(best, gain)
                sides[node, 0], sides[node, 1], edges[node] = low, high, k
        gains[node] = best
