"""A numeric column, sorted once: every cut between two values is looked at.

`order` holds, node after node, the known cases of a column in the order of their values: the rank of the value in the
upper half of each number, the case in the lower half. So one array is read from front to back, and only the class of a
case is looked up.
"""

from __future__ import annotations

import numba
import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.models.tree.columns import HALF, LOWER, Level, Moves, SplitCriterion, Splits, SurrogateScores
from likely.models.tree.partition import move, sizes_of
from likely.models.tree.split_measures import (
    TIE,
    ZERO_WEIGHT,
    binary_split_value,
    gain_ratios_of_cuts,
    largest,
    parent_term,
    total_of,
    xlogx,
)
from likely.models.tree.unit_weights import best_unit_thresholds
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

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        cases, scores = level.cases, np.empty(len(level))
        self._places = np.empty(len(level), dtype=np.int64)
        if level.has_unit_weights(criterion):
            best_unit_thresholds(
                self.order, self.starts, cases.labels, level.counts.shape[1], level.sizes, criterion.measure,
                criterion.logs, criterion.min_cases, scores, self._places,
            )  # fmt: skip
            return scores
        best_thresholds(
            self.order, self.starts, cases.labels, cases.weights, cases.unit, self.complete, level.counts, level.sizes,
            criterion.measure, criterion.logs, criterion.min_cases, scores, self._places,
        )  # fmt: skip
        return scores

    def ratios(self, level: Level, criterion: SplitCriterion, gains: Array) -> Array:
        first, places = self.starts[:-1], np.maximum(self._places, self.starts[:-1])
        if level.cases.unit:
            return gain_ratios_of_cuts(
                gains, (places - first).astype(np.float64), np.diff(self.starts).astype(np.float64)
            )
        sums = np.concatenate([[0.0], np.cumsum(level.cases.weights[self.order & LOWER])])
        return gain_ratios_of_cuts(gains, sums[places] - sums[first], sums[self.starts[1:]] - sums[first])

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        assign_branches(self.order, self.starts, self._places, nodes, branches)
        places = self._places[nodes]
        thresholds = self._between(self.order[places - 1] >> HALF, self.order[places] >> HALF)
        return Splits(np.full(len(nodes), 2, dtype=np.int32), thresholds)

    def score_surrogates(self, level: Level, branches: Int32, n_branches: Int32, majority: Int32) -> SurrogateScores:
        n = len(level)
        gains, low_high, ranks = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
        best_surrogate_threshold(
            self.order, self.starts, branches, level.cases.weights, n_branches, majority, gains, low_high, ranks
        )
        return SurrogateScores(gains, low_high[:, 0], low_high[:, 1], self._between(ranks[:, 0], ranks[:, 1]))

    def surrogate_value_branches(
        self, level: Level, branches: Int32, n_branches: Int32, majority: Int32, nodes: Int64
    ) -> Int32 | None:
        return None

    def follow_surrogate(self, rows: Int32, threshold: float, low: int, high: int, branches: Int32 | None) -> Int32:
        return branches_by_threshold(self.numbers[rows], threshold, low, high)

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


def branches_by_threshold(numbers: Array, threshold: float, low: int, high: int) -> Int32:
    """`low` for numbers below the threshold, `high` for others, −1 for gaps."""
    return np.where(np.isnan(numbers), -1, np.where(numbers >= threshold, high, low)).astype(np.int32)


@numba.njit(nogil=True, cache=True)
def best_thresholds(
    order: Int64,
    starts: Int64,
    labels: Int32,
    weights: Array,
    unit: bool,
    complete: bool,
    totals: Array,
    sizes: Array,
    measure: int,
    logs: Array,
    min_cases: float,
    scores: Array,
    places: Int64,
) -> None:
    """The best value of the measure in each node, times known / all weight, and where in `order` the cut lies.

    A cut lies between two different values with at least `min_cases` on either side; of equals the last wins.
    `unit` says that every case weighs 1, `complete` that the column has no gaps.
    """
    n_classes = totals.shape[1]
    known, left, right = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    least = min_cases - ZERO_WEIGHT
    for node in range(len(starts) - 1):
        first, last = starts[node], starts[node + 1]
        scores[node], places[node] = 0.0, -1
        if last - first < 2 or order[first] >> HALF == order[last - 1] >> HALF:
            continue
        if complete:
            known[:] = totals[node]
        else:
            known[:] = 0.0
            for i in range(first, last):
                case = order[i] & LOWER
                known[labels[case]] += 1.0 if unit else weights[case]
        n = total_of(known)
        log_n, whole = xlogx(n, logs), parent_term(measure, known, n, logs)
        left[:] = 0.0
        n_left, best, place = 0.0, 0.0, -1
        for i in range(first, last - 1):
            case = order[i] & LOWER
            weight = 1.0 if unit else weights[case]
            left[labels[case]] += weight
            n_left += weight
            if order[i] >> HALF == order[i + 1] >> HALF or n_left < least:
                continue
            if n - n_left < least:
                break
            value = binary_split_value(measure, left, n_left, right, known, n, log_n, whole, logs)
            if value > 0.0 and value >= best * (1.0 - TIE):
                best, place = max(best, value), i + 1
        scores[node], places[node] = best * n / sizes[node], place


@numba.njit(nogil=True, cache=True)
def assign_branches(order: Int64, starts: Int64, places: Int64, nodes: Int64, branches: Int32) -> None:
    """Cases before the cut go to branch 0, those after it to branch 1; gaps stay as they are."""
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            branches[order[i] & LOWER] = 0 if i < places[node] else 1


@numba.njit(nogil=True, cache=True)
def best_surrogate_threshold(
    order: Int64,
    starts: Int64,
    branches: Int32,
    weights: Array,
    n_branches: Int32,
    majority: Int32,
    gains: Array,
    low_high: Int32,
    ranks: Int64,
) -> None:
    """The cut that best tells the branch of another test, and how much more weight it sends right than `majority`.

    Only cases that are known to both count. `low_high` are the branches below and above the cut, `ranks` the values
    around it.
    """
    for node in range(len(starts) - 1):
        gains[node] = 0.0
        if n_branches[node] == 0:
            continue
        known, left = np.zeros(n_branches[node]), np.zeros(n_branches[node])
        right = np.empty(n_branches[node])
        for i in range(starts[node], starts[node + 1]):
            case = order[i] & LOWER
            if branches[case] >= 0:
                known[branches[case]] += weights[case]
        followed, best, before = known[majority[node]], 0.0, -1
        for i in range(starts[node], starts[node + 1]):
            case, rank = order[i] & LOWER, order[i] >> HALF
            if branches[case] < 0:
                continue
            if before >= 0 and rank != before:
                for b in range(len(known)):
                    right[b] = known[b] - left[b]
                low, high = largest(left), largest(right)
                gain = left[low] + known[high] - left[high] - followed
                if gain > ZERO_WEIGHT and gain >= best - ZERO_WEIGHT:
                    best = max(best, gain)
                    low_high[node, 0], low_high[node, 1] = low, high
                    ranks[node, 0], ranks[node, 1] = before, rank
            left[branches[case]] += weights[case]
            before = rank
        gains[node] = best
