"""A numeric column, sorted once: every cut between two values is looked at."""

from __future__ import annotations

import numpy as np

from likely.trees.columns.protocol import Array, Ints, Level, Moves, Order, Rule, Splits, StandIns
from likely.trees.kernels import scanning
from likely.trees.kernels.moving import move, sizes_of
from likely.trees.kernels.scanning import HALF, LOWER
from likely.trees.kernels.whole_cuts import scan_whole
from likely.trees.restraint import ratios_of_cuts


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
        self.order: Order = np.sort(packed) if len(self.values) < len(ordered) else packed
        self.starts: Order = np.array([0, len(ordered)], dtype=np.int64)
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
        scanning.scan(
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

    def split(self, level: Level, rule: Rule, nodes: Order, branches: Ints) -> Splits:
        scanning.mark(self.order, self.starts, self._places, nodes, branches)
        places = self._places[nodes]
        thresholds = self._between(self.order[places - 1] >> HALF, self.order[places] >> HALF)
        return Splits(np.full(len(nodes), 2, dtype=np.int32), thresholds)

    def stand_in(self, level: Level, branches: Ints, n_branches: Ints, usual: Ints) -> StandIns:
        n = len(level)
        gains, sides, ranks = np.empty(n), np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
        scanning.agree(self.order, self.starts, branches, level.cases.weights, n_branches, usual, gains, sides, ranks)
        return StandIns(gains, sides[:, 0], sides[:, 1], self._between(ranks[:, 0], ranks[:, 1]))

    def stand_in_maps(self, level: Level, branches: Ints, n_branches: Ints, usual: Ints, nodes: Order) -> Ints | None:
        return None

    def follow(self, rows: Ints, threshold: float, low: int, high: int, branches: Ints | None) -> Ints:
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

    def _between(self, low: Order, high: Order) -> Array:
        return mid_points(self.values[low], self.values[high]) if len(self.values) else np.zeros(len(low))


def mid_points(low: Array, high: Array) -> Array:
    """Half way between two numbers; the upper one where no number lies between them."""
    with np.errstate(over="ignore"):
        middle = 0.5 * (low + high)
    middle = np.where(np.isfinite(middle), middle, 0.5 * low + 0.5 * high)
    return np.asarray(np.where(middle > low, middle, high))


def side_of(numbers: Array, threshold: float, low: int, high: int) -> Ints:
    """`low` for numbers below the threshold, `high` for others, −1 for gaps."""
    return np.where(np.isnan(numbers), -1, np.where(numbers >= threshold, high, low)).astype(np.int32)
