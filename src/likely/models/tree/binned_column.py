"""A numeric column in at most 255 bins of about equal size: thresholds are edges of bins."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt8
from likely.models.tree.columns import GAP, LOWER, EntropyTables, Level, Moves, SplitCriterion, Splits, SurrogateScores
from likely.models.tree.sorted_column import branches_by_threshold
from likely.models.tree.split_measures import (
    TIE,
    WITHOUT_LOGARITHMS,
    ZERO_WEIGHT,
    binary_split_value,
    gain_ratios_of_cuts,
    largest,
    parent_term,
    total_of,
    xlogx,
)
from likely.models.tree.unit_weights import (
    count_known,
    fill_entropy_tables,
    unit_edges_by_counts,
    unit_edges_by_entropy,
)
from likely.stats.binning import equal_frequency_edges

MOST_BINS = 255

MOST_SAMPLED = 1 << 15
"""Rows from which edges are settled: enough to place a quantile within a fraction of a bin."""


class BinnedColumn:
    """The bin of every row, 255 for a gap."""

    def __init__(self, place: int, numbers: Array, edges: Array) -> None:
        self.place, self.numbers, self.edges = place, numbers, edges
        self.codes: NDArray[np.uint8] = np.empty(len(numbers), dtype=np.uint8)
        bin_numbers(numbers, edges, self.codes)
        self._in_order = self.codes  # those of a level's members, as long as each row is there once
        self._has_gaps = bool((self.codes == GAP).any())
        self._cuts = np.empty(0, dtype=np.int64)

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) + 1

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        cases, scores = level.cases, np.empty(len(level))
        self._cuts = np.empty(len(level), dtype=np.int64)
        in_order = (self._in_order, level.starts, level.labels, self.n_bins)
        found = (criterion.min_cases, scores, self._cuts)
        if not level.has_unit_weights(criterion):
            score_bins(
                self.codes, cases.rows, level.members, level.starts, cases.labels, cases.weights, cases.unit,
                self.n_bins, level.counts.shape[1], level.sizes, criterion.measure, criterion.logs, *found,
            )  # fmt: skip
        elif criterion.measure in WITHOUT_LOGARITHMS:
            unit_edges_by_counts(*in_order, level.counts, criterion.measure, *found)
        else:
            unit_edges_by_entropy(
                *in_order, *self._entropy_tables(level, criterion), criterion.measure, criterion.logs, *found
            )
        return scores

    def _entropy_tables(self, level: Level, criterion: SplitCriterion) -> EntropyTables:
        """Those of the level, but its own for a column with gaps."""
        if level.entropy_tables is not None and not self._has_gaps:
            return level.entropy_tables
        known = np.zeros_like(level.counts)
        count_known(self._in_order, level.starts, level.labels, known)
        return entropy_tables_of(known, criterion.logs)

    def ratios(self, level: Level, criterion: SplitCriterion, gains: Array) -> Array:
        cases, sides = level.cases, np.zeros((len(level), 2))
        branch_weights(self.codes, cases.rows, level.members, level.starts, cases.weights, self._cuts, sides)
        return gain_ratios_of_cuts(gains, sides[:, 0], sides.sum(axis=1))

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        assign_branches_by_bin(
            self.codes, self._in_order, level.cases.rows, level.members, level.starts, self._cuts, nodes, branches
        )
        return Splits(np.full(len(nodes), 2, dtype=np.int32), self.edges[self._cuts[nodes]])

    def score_surrogates(self, level: Level, branches: Int32, n_branches: Int32, majority: Int32) -> SurrogateScores:
        n = len(level)
        gains, low_high, cuts = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros(n, dtype=np.int64)
        best_surrogate_edge(
            self.codes, level.cases.rows, level.members, level.starts, branches, level.cases.weights, self.n_bins,
            n_branches, majority, gains, low_high, cuts,
        )  # fmt: skip
        thresholds = self.edges[cuts] if len(self.edges) else np.zeros(n)
        return SurrogateScores(gains, low_high[:, 0], low_high[:, 1], thresholds)

    def surrogate_value_branches(
        self, level: Level, branches: Int32, n_branches: Int32, majority: Int32, nodes: Int64
    ) -> Int32 | None:
        return None

    def follow_surrogate(self, rows: Int32, threshold: float, low: int, high: int, branches: Int32 | None) -> Int32:
        return branches_by_threshold(self.numbers[rows], threshold, low, high)

    def move(self, moves: Moves) -> None:
        if moves.sources is None:
            self._in_order = self._in_order[:0]
        elif len(self._in_order):
            codes = np.empty(len(moves.sources), dtype=np.uint8)
            rearrange(self._in_order, moves.sources, codes)
            self._in_order = codes


def entropy_tables_of(known: Array, logs: Array) -> EntropyTables:
    """What a cut of so many cases by class says, for every node and every way to cut it."""
    n_nodes, n_classes = known.shape
    n_cases = int(known.sum())
    cells, sizes = np.empty(n_cases + n_nodes * n_classes), np.empty(n_cases + n_nodes)
    fill_entropy_tables(known, logs, cells, sizes)
    return EntropyTables(known, cells, sizes)


def quantile_edges(numbers: Array, most_bins: int = MOST_BINS) -> Array:
    """Edges between bins: between all values if they are few, else at quantiles, always half way between two values."""
    if len(numbers) > MOST_SAMPLED:
        numbers = numbers[:: -(-len(numbers) // MOST_SAMPLED)]
    return equal_frequency_edges(numbers, most_bins)


@numba.njit(nogil=True, cache=True)
def bin_numbers(numbers: Array, edges: Array, out: UInt8) -> None:
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
    if n <= ZERO_WEIGHT:
        return 0.0, -1
    log_n, whole, least = xlogx(n, logs), parent_term(measure, known, n, logs), min_cases - ZERO_WEIGHT
    n_left, best, edge = 0.0, 0.0, -1
    for k in range(n_bins - 1):
        here = 0.0
        for c in range(n_classes):
            left[c] += table[k, c]
            here += table[k, c]
        n_left += here
        if here <= ZERO_WEIGHT or n_left < least:
            continue  # an empty bin: the same cut as the edge before
        n_right = n - n_left
        if n_right < least or n_right <= ZERO_WEIGHT:
            break
        value = binary_split_value(measure, left, n_left, right, known, n, log_n, whole, logs)
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
def score_bin_tables(
    tables: Array, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Int64
) -> None:
    """The same from node × bin × class tables that were counted elsewhere."""
    for node in range(len(tables)):
        scores[node], edges[node] = best_edge(tables[node], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def branch_weights(
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
def assign_branches_by_bin(
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
def best_surrogate_edge(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, branches: Int32, weights: Array, n_bins: int,
    n_branches: Int32, majority: Int32, gains: Array, low_high: Int32, edges: Int64,
) -> None:  # fmt: skip
    """The edge that best tells the branch of another test, and how much more weight it sends right than `majority`."""
    for node in range(len(starts) - 1):
        gains[node] = 0.0
        if n_branches[node] == 0:
            continue
        table, known = np.empty((n_bins, n_branches[node])), np.empty(n_branches[node])
        branches_by_bin(codes, rows, members, starts[node], starts[node + 1], branches, weights, table, known)
        left, right, best = np.zeros(n_branches[node]), np.empty(n_branches[node]), 0.0
        followed = known[majority[node]]
        for k in range(n_bins - 1):
            if total_of(table[k]) <= ZERO_WEIGHT:
                continue
            for b in range(len(known)):
                left[b] += table[k, b]
                right[b] = known[b] - left[b]
            low, high = largest(left), largest(right)
            gain = left[low] + known[high] - left[high] - followed
            if gain > ZERO_WEIGHT and gain >= best - ZERO_WEIGHT:
                best = max(best, gain)
                low_high[node, 0], low_high[node, 1], edges[node] = low, high, k
        gains[node] = best
