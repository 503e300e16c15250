"""A numeric column, sorted once: every cut between two values is looked at."""

from __future__ import annotations

import numba
import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.models.tree import kernels
from likely.models.tree.columns.protocol import Level, Moves, Rule, Splits, StandIns
from likely.models.tree.kernels import HALF, LOWER, move, sizes_of
from likely.models.tree.split_measures import (
    GAIN,
    TIE,
    WITHOUT_LOGARITHMS,
    WORTHLESS,
    by_counts,
    fewest,
    ratio,
    ratios_of_cuts,
    whole_by_counts,
)
from likely.stats.binning import mid_points


class SortedColumn:
    """The known cases of each node in the order of their values, each with the rank of its value."""

    def __init__(self, place: int, numbers: Array) -> None:
        known = np.flatnonzero(~np.isnan(numbers))
        self.complete = len(known) == len(numbers)
        by_value = np.argsort(numbers) if self.complete else known[np.argsort(numbers[known])]
        ordered = numbers[by_value]
        steps = np.empty(len(ordered), dtype=np.int64)
        steps[:1] = 0
        np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
        self.place, self.numbers = place, numbers
        self.values = ordered[np.flatnonzero(np.diff(steps, prepend=-1))]
        packed = steps << HALF | by_value
        # Equal values in the order of their rows, so that nothing depends on how they were sorted.
        self.order: Int64 = np.sort(packed) if len(self.values) < len(ordered) else packed
        self.starts: Int64 = np.array([0, len(ordered)], dtype=np.int64)
        self._places = np.empty(0, dtype=np.int64)

    def judge(self, level: Level, rule: Rule) -> Array:
        cases, scores = level.cases, np.empty(len(level))
        self._places = np.empty(len(level), dtype=np.int64)
        if level.is_whole(rule):
            scan_whole(
                self.order, self.starts, cases.labels, level.counts.shape[1], level.sizes, rule.measure, rule.logs,
                rule.min_cases, scores, self._places,
            )  # fmt: skip
            return scores
        kernels.scan(
            self.order, self.starts, cases.labels, cases.weights, cases.unit, self.complete, level.counts, level.sizes,
            rule.measure, rule.logs, rule.min_cases, scores, self._places,
        )  # fmt: skip
        return scores

    def ratios(self, level: Level, rule: Rule, gains: Array) -> Array:
        first, places = self.starts[:-1], np.maximum(self._places, self.starts[:-1])
        if level.cases.unit:
            return ratios_of_cuts(gains, (places - first).astype(np.float64), np.diff(self.starts).astype(np.float64))
        sums = np.concatenate([[0.0], np.cumsum(level.cases.weights[self.order & LOWER])])
        return ratios_of_cuts(gains, sums[places] - sums[first], sums[self.starts[1:]] - sums[first])

    def split(self, level: Level, rule: Rule, nodes: Int64, branches: Int32) -> Splits:
        kernels.mark(self.order, self.starts, self._places, nodes, branches)
        places = self._places[nodes]
        thresholds = self._between(self.order[places - 1] >> HALF, self.order[places] >> HALF)
        return Splits(np.full(len(nodes), 2, dtype=np.int32), thresholds)

    def stand_in(self, level: Level, branches: Int32, n_branches: Int32, usual: Int32) -> StandIns:
        n = len(level)
        gains, sides, ranks = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
        kernels.agree(self.order, self.starts, branches, level.cases.weights, n_branches, usual, gains, sides, ranks)
        return StandIns(gains, sides[:, 0], sides[:, 1], self._between(ranks[:, 0], ranks[:, 1]))

    def stand_in_maps(
        self, level: Level, branches: Int32, n_branches: Int32, usual: Int32, nodes: Int64
    ) -> Int32 | None:
        return None

    def follow(self, rows: Int32, threshold: float, low: int, high: int, branches: Int32 | None) -> Int32:
        return side_of(self.numbers[rows], threshold, low, high)

    def move(self, moves: Moves) -> None:
        n_nodes = len(moves.starts) - 1
        starts = moves.starts
        if not self.complete:
            sizes = sizes_of(self.order, self.starts, moves.targets, moves.copies, n_nodes)
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        order = np.empty(starts[-1], dtype=np.int64)
        move(self.order, self.starts, moves.targets, moves.copies, starts, order)
        self.order, self.starts = order, starts

    def _between(self, low: Int64, high: Int64) -> Array:
        return mid_points(self.values[low], self.values[high]) if len(self.values) else np.zeros(len(low))


def side_of(numbers: Array, threshold: float, low: int, high: int) -> Int32:
    """`low` for numbers below the threshold, `high` for others, −1 for gaps."""
    return np.where(np.isnan(numbers), -1, np.where(numbers >= threshold, high, low)).astype(np.int32)


# The best cut of a sorted column where every case weighs 1.
#
# The same as `scanning.scan` says for any weights, several times as fast: no calls and no fractions in the inner
# loop.


@numba.njit(nogil=True, cache=True)
def scan_whole(
    order: Int64, starts: Int64, labels: Int32, n_classes: int, sizes: Array, measure: int, logs: Array,
    min_cases: float, scores: Array, places: Int64,
) -> None:  # fmt: skip
    """The best value of the measure in each node, times known / all cases, and where in `order` the cut lies."""
    left, right, least = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64), fewest(min_cases)
    for node in range(len(starts) - 1):
        first, last = starts[node], starts[node + 1]
        scores[node], places[node] = 0.0, -1
        if last - first < 2 or order[first] >> HALF == order[last - 1] >> HALF:
            continue
        for c in range(n_classes):
            left[c], right[c] = 0, 0
        for i in range(first, last):
            right[labels[order[i] & LOWER]] += 1
        if measure in WITHOUT_LOGARITHMS:
            value, place = _by_counts(order, first, last, labels, left, right, measure, least)
        else:
            value, place = _by_entropy(order, first, last, labels, left, right, measure, logs, least)
        scores[node], places[node] = value * (last - first) / sizes[node], place


@numba.njit(nogil=True, cache=True)
def _by_entropy(
    order: Int64, first: int, last: int, labels: Int32, left: Int64, right: Int64, measure: int, logs: Array, least: int
) -> tuple[float, int]:
    """The best cut of one node by information gain or one of its ratios; `right` holds all cases at first."""
    n, n_classes, whole = last - first, len(left), 0.0
    for c in range(n_classes):
        whole += logs[right[c]]
    log_n, best, bar, place, rank = logs[n], 0.0, 0.0, -1, order[first] >> HALF
    for i in range(first, last - least):
        c = labels[order[i] & LOWER]
        left[c] += 1
        right[c] -= 1
        above, n_left = order[i + 1] >> HALF, i + 1 - first
        if above == rank or n_left < least:
            rank = above
            continue
        rank = above
        cells = 0.0
        for c in range(n_classes):
            cells += logs[left[c]] + logs[right[c]]
        sizes = logs[n_left] + logs[n - n_left]
        gain = log_n - whole - sizes + cells
        if gain <= WORTHLESS * n:
            continue
        value = gain / n if measure == GAIN else ratio(measure, gain, log_n, whole, cells, sizes)
        if value >= bar:
            best, place = max(best, value), i + 1
            bar = best * (1.0 - TIE)
    return best, place


@numba.njit(nogil=True, cache=True)
def _by_counts(
    order: Int64, first: int, last: int, labels: Int32, left: Int64, known: Int64, measure: int, least: int
) -> tuple[float, int]:
    """The same by a measure that needs no logarithms."""
    n = last - first
    whole, best, bar, place, rank = whole_by_counts(measure, known, n), 0.0, 0.0, -1, order[first] >> HALF
    for i in range(first, last - least):
        left[labels[order[i] & LOWER]] += 1
        above, n_left = order[i + 1] >> HALF, i + 1 - first
        if above == rank or n_left < least:
            rank = above
            continue
        rank = above
        value = by_counts(measure, left, known, n_left, n, whole)
        if value > 0.0 and value >= bar:
            best, place = max(best, value), i + 1
            bar = best * (1.0 - TIE)
    return best, place
