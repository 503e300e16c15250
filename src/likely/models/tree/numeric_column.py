"""A numeric column: sorted once, so that every cut between two values is looked at, or in at most 255 bins.

Both count from the left to the right and judge every cut on the way. The text is compiled for whole numbers, where
every case weighs 1, and for fractions (see `split_measures`).
"""

from __future__ import annotations

import numpy as np

from likely.arrays import AnyArray, Array, Int32, Int64, UInt8, UInt64
from likely.jit import kernel
from likely.models.tree.data import GAP_BIN, bin_numbers
from likely.models.tree.level import (
    HALF,
    LOWER,
    Level,
    LevelPartition,
    Moves,
    SplitCriterion,
    Splits,
    SurrogateScores,
    SurrogateSplit,
    rearrange,
)
from likely.models.tree.split_measures import (
    TIE,
    ZERO_WEIGHT,
    binary_split_value,
    gain_ratios_of_cuts,
    largest,
    parent_term,
    xlogx,
)
from likely.stats.binning import mid_points
from likely.text.bytes import lowest

FEW_CASES = 1024
"""With more of them nearly all bins are in use, and marking costs more than it saves."""

ONE = np.uint64(1)


class NumericColumn:
    """What sorted and binned columns have in common: a test compares a number with a threshold."""

    def __init__(self, place: int, numbers: Array) -> None:
        self.place, self.numbers = place, numbers
        self._cuts, self._sides = np.empty(0, dtype=np.int64), np.empty((0, 2))

    def ratios(self, level: Level, criterion: SplitCriterion, gains: Array) -> Array:
        return gain_ratios_of_cuts(gains, self._sides[:, 0], self._sides[:, 1])

    def surrogate_value_branches(self, level: Level, chosen: LevelPartition, majority: Int32, nodes: Int64) -> Int32:
        return np.empty((len(nodes), 0), dtype=np.int32)

    def follow_surrogate(self, level: Level, cases: Int64, split: SurrogateSplit) -> Int32:
        numbers = self.numbers[level.rows[cases]]
        above = np.where(numbers >= split.threshold, split.high, split.low)
        return np.where(np.isnan(numbers), -1, above).astype(np.int32)


class SortedColumn(NumericColumn):
    """The known cases of each node in the order of their values.

    `order` has the rank of the value in the upper half of each number, and the place of the case among those of the
    level in the lower half: one array is read from front to back, and only the class of a case is looked up.
    """

    def __init__(self, place: int, numbers: Array) -> None:
        super().__init__(place, numbers)
        known = np.flatnonzero(~np.isnan(numbers))
        self.complete = len(known) == len(numbers)
        by_value = np.argsort(numbers) if self.complete else known[np.argsort(numbers[known])]
        ordered = numbers[by_value]
        steps = np.empty(len(ordered), dtype=np.int64)
        steps[:1] = 0
        np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
        self.values = ordered[np.flatnonzero(np.diff(steps, prepend=-1))]
        packed = steps << HALF | by_value
        # Equal values in the order of their rows, so that nothing depends on how they were sorted.
        self.order: Int64 = np.sort(packed) if len(self.values) < len(ordered) else packed
        self.starts: Int64 = np.array([0, len(ordered)], dtype=np.int64)

    @property
    def n_cuts(self) -> int:
        """In how many ways the column can be cut."""
        return max(len(self.values) - 1, 0)

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        scores, self._sides = np.empty(len(level)), np.zeros((len(level), 2))
        self._cuts = np.empty(len(level), dtype=np.int64)
        score_thresholds(
            self.order, self.starts, level.labels, level.weights, level.tally(3, level.counts.shape[1]), level.sizes,
            criterion.measure, criterion.logs, criterion.least(level.weights), scores, self._sides, self._cuts,
        )  # fmt: skip
        return scores

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        branch_by_place(self.order, self.starts, self._cuts, nodes, branches)
        places = self._cuts[nodes]
        thresholds = self._between(self.order[places - 1] >> HALF, self.order[places] >> HALF)
        return Splits(np.full(len(nodes), 2, dtype=np.int32), thresholds)

    def score_surrogates(self, level: Level, chosen: LevelPartition, majority: Int32) -> SurrogateScores:
        gains, sides, ranks = surrogate_cuts(self.order, self.starts, level, chosen, majority)
        return SurrogateScores(gains, sides[:, 0], sides[:, 1], self._between(ranks[:, 0], ranks[:, 1]))

    def move(self, moves: Moves) -> None:
        targets, copies = moves.targets, moves.copies
        starts = moves.starts
        if not self.complete:
            sizes = np.zeros(len(starts) - 1, dtype=np.int64)
            move_order(self.order, targets, copies, sizes, self.order[:0])
            starts = np.concatenate([[0], np.cumsum(sizes)])
        order = np.empty(starts[-1], dtype=np.int64)
        move_order(self.order, targets, copies, starts[:-1].copy(), order)
        self.order, self.starts = order, starts

    def _between(self, low: Int64, high: Int64) -> Array:
        return mid_points(self.values[low], self.values[high]) if len(self.values) else np.zeros(len(low))


class BinnedColumn(NumericColumn):
    """The bin of each case of a level, 255 for a gap: thresholds are edges of bins."""

    def __init__(self, place: int, numbers: Array, edges: Array) -> None:
        super().__init__(place, numbers)
        self.edges, self.codes = edges, bin_numbers(numbers, edges)

    @property
    def n_cuts(self) -> int:
        """In how many ways the column can be cut."""
        return len(self.edges)

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        scores, self._sides = np.empty(len(level)), np.zeros((len(level), 2))
        self._cuts, n_classes = np.empty(len(level), dtype=np.int64), level.counts.shape[1]
        score_edges(
            self.codes, level.starts, level.labels, level.weights, level.tally(GAP_BIN + 1, n_classes),
            level.tally(3, n_classes), level.counts, level.sizes, criterion.measure, criterion.logs,
            criterion.least(level.weights), scores, self._sides, self._cuts,
        )  # fmt: skip
        return scores

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        branch_by_bin(self.codes, level.starts, self._cuts, nodes, branches)
        return Splits(np.full(len(nodes), 2, dtype=np.int32), self.edges[self._cuts[nodes]])

    def score_surrogates(self, level: Level, chosen: LevelPartition, majority: Int32) -> SurrogateScores:
        order, starts = np.empty(level.n_cases, dtype=np.int64), np.zeros(len(level) + 1, dtype=np.int64)
        sort_bins(self.codes, level.starts, order, starts)
        gains, sides, ranks = surrogate_cuts(order, starts, level, chosen, majority)
        thresholds = self.edges[ranks[:, 0]] if len(self.edges) else np.zeros(len(level))
        return SurrogateScores(gains, sides[:, 0], sides[:, 1], thresholds)

    def move(self, moves: Moves) -> None:
        codes = np.empty(len(moves.sources), dtype=np.uint8)
        rearrange(self.codes, moves.sources, codes)
        self.codes = codes


def surrogate_cuts(
    order: Int64, starts: Int64, level: Level, chosen: LevelPartition, majority: Int32
) -> tuple[Array, Int32, Int64]:
    """The best surrogate of each node: its gain, the branches below and above the cut, and the ranks around it."""
    n = len(level)
    gains, sides, ranks = np.zeros(n), np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
    score_surrogate_cuts(order, starts, chosen.of_case, level.weights, chosen.n_branches, majority, gains, sides, ranks)
    return gains, sides, ranks


@kernel(interpretable=True)
def score_thresholds(
    order: Int64, starts: Int64, labels: Int32, weights: Array | None, tally: AnyArray, sizes: Array, measure: int,
    logs: Array | None, least: float, scores: Array, sides: Array, places: Int64,
) -> None:  # fmt: skip
    """The best value of the measure in each node, times known / all weight, and where in `order` the cut lies.

    `sides` gets the weight below the cut and that of all known cases. A cut lies between two different values with at
    least `least` on either side; of equals the last wins.
    """
    left, right, known = tally[0], tally[1], tally[2]
    for node in range(len(starts) - 1):
        first, last = starts[node], starts[node + 1]
        scores[node], places[node] = 0.0, -1
        if last - first < 2 or order[first] >> HALF == order[last - 1] >> HALF:
            continue
        tally[:] = 0
        for i in range(first, last):
            case = order[i] & LOWER
            known[labels[case]] += 1 if weights is None else weights[case]
        n = known[0] - known[0]
        for c in range(len(known)):
            right[c] = known[c]
            n += known[c]
        log_n, whole = xlogx(n, logs), parent_term(measure, known, n, logs)
        n_left, n_right, best, bar, place, rank = n - n, n, 0.0, 0.0, -1, order[first] >> HALF
        for i in range(first, last - 1):
            case = order[i] & LOWER
            c, weight = labels[case], 1 if weights is None else weights[case]
            left[c] += weight
            right[c] -= weight
            n_left += weight
            n_right -= weight
            above = order[i + 1] >> HALF
            if above == rank or n_left < least:
                rank = above
                continue
            rank = above
            if n_right < least:
                break
            value = binary_split_value(measure, left, n_left, right, n_right, known, n, log_n, whole, logs)
            if value > 0.0 and value >= bar:
                best, place, sides[node, 0] = max(best, value), i + 1, n_left
                bar = best * (1.0 - TIE)
        scores[node], sides[node, 1], places[node] = best * n / sizes[node], n, place


@kernel(inline="always")
def count_bins(
    codes: UInt8, labels: Int32, weights: Array | None, first: int, last: int, table: AnyArray, marks: UInt64,
    bins: UInt8,
) -> int:  # fmt: skip
    """Count cases by bin and class, and list the bins that hold any, that of gaps included; how many they are.

    Few cases mark their bins, so that the empty ones cost nothing.
    """
    n_held = 0
    if last - first > FEW_CASES:
        for i in range(first, last):
            table[codes[i], np.uint32(labels[i])] += 1 if weights is None else weights[i]
        for k in range(GAP_BIN + 1):
            for c in range(table.shape[1]):
                if table[k, c]:
                    bins[n_held] = k
                    n_held += 1
                    break
        return n_held
    for i in range(first, last):
        code = codes[i]
        table[code, np.uint32(labels[i])] += 1 if weights is None else weights[i]
        marks[code >> 6] |= ONE << np.uint64(code & 63)
    for word in range(4):
        rest = marks[word]
        marks[word] = 0
        while rest:
            bins[n_held] = 64 * word + lowest(rest)
            n_held += 1
            rest &= rest - ONE
    return n_held


@kernel(interpretable=True)
def score_edges(
    codes: UInt8, starts: Int64, labels: Int32, weights: Array | None, table: AnyArray, tally: AnyArray, counts: Array,
    sizes: Array, measure: int, logs: Array | None, least: float, scores: Array, sides: Array, edges: Int64,
) -> None:  # fmt: skip
    """The same between bins, and the last bin below the cut; only bins that hold a case are looked at.

    `counts` are all cases of each node by class; `table` is empty before and after.
    """
    left, right, known = tally[0], tally[1], tally[2]
    marks, bins = np.zeros(4, dtype=np.uint64), np.empty(GAP_BIN + 1, dtype=np.uint8)
    for node in range(len(starts) - 1):
        n_held = count_bins(codes, labels, weights, starts[node], starts[node + 1], table, marks, bins)
        n = left[0] - left[0]
        for c in range(len(known)):
            left[c], known[c] = 0, counts[node, c] - table[GAP_BIN, c]
            n += known[c]
            table[GAP_BIN, c] = 0
        log_n, whole = xlogx(n, logs), parent_term(measure, known, n, logs) if n > ZERO_WEIGHT else 0.0
        n_left, best, bar, edge = n - n, 0.0, 0.0, -1
        for j in range(n_held):
            for c in range(len(known)):
                weight = table[bins[j], c]
                table[bins[j], c] = 0
                left[c] += weight
                n_left += weight
                right[c] = known[c] - left[c]
            n_right = n - n_left
            if n_left < least or n_right < least:
                continue
            value = binary_split_value(measure, left, n_left, right, n_right, known, n, log_n, whole, logs)
            if value > 0.0 and value >= bar:
                best, edge, sides[node, 0] = max(best, value), bins[j], n_left
                bar = best * (1.0 - TIE)
        scores[node], sides[node, 1], edges[node] = best * n / sizes[node], n, edge


@kernel(interpretable=True)
def branch_by_place(order: Int64, starts: Int64, places: Int64, nodes: Int64, branches: Int32) -> None:
    """Cases before the cut go to branch 0, those after it to branch 1; gaps stay as they are."""
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            branches[order[i] & LOWER] = 0 if i < places[node] else 1


@kernel(interpretable=True)
def branch_by_bin(codes: UInt8, starts: Int64, edges: Int64, nodes: Int64, branches: Int32) -> None:
    """Cases at or below the last bin of the left side go to branch 0, others to branch 1; gaps stay as they are."""
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            branches[i] = -1 if codes[i] == GAP_BIN else 0 if codes[i] <= edges[node] else 1


@kernel(interpretable=True)
def sort_bins(codes: UInt8, starts: Int64, order: Int64, new_starts: Int64) -> None:
    """The order that a sorted column has, with bins for ranks."""
    heads, at = np.empty(GAP_BIN + 1, dtype=np.int64), 0
    for node in range(len(starts) - 1):
        heads[:] = 0
        for i in range(starts[node], starts[node + 1]):
            heads[codes[i]] += 1
        for k in range(GAP_BIN):
            n = heads[k]
            heads[k] = at
            at += n
        new_starts[node + 1] = at
        for i in range(starts[node], starts[node + 1]):
            if codes[i] != GAP_BIN:
                order[heads[codes[i]]] = np.int64(codes[i]) << HALF | i
                heads[codes[i]] += 1


@kernel(interpretable=True)
def score_surrogate_cuts(
    order: Int64, starts: Int64, branches: Int32, weights: Array | None, n_branches: Int32, majority: Int32,
    gains: Array, sides: Int32, ranks: Int64,
) -> None:  # fmt: skip
    """The cut that best tells the branch of another test, and how much more weight it sends right than `majority`.

    Only cases that are known to both count. `sides` are the branches below and above the cut, `ranks` the values
    around it.
    """
    for node in range(len(starts) - 1):
        if n_branches[node] == 0:
            continue
        known, left = np.zeros(n_branches[node]), np.zeros(n_branches[node])
        right = np.empty(n_branches[node])
        for i in range(starts[node], starts[node + 1]):
            case = order[i] & LOWER
            if branches[case] >= 0:
                known[branches[case]] += 1.0 if weights is None else weights[case]
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
                    sides[node, 0], sides[node, 1] = low, high
                    ranks[node, 0], ranks[node, 1] = before, rank
            left[branches[case]] += 1.0 if weights is None else weights[case]
            before = rank
        gains[node] = best


@kernel(interpretable=True)
def move_order(order: Int64, targets: Int64, copies: Int64 | None, at: Int64, out: Int64) -> None:
    """The order of the next level: the cases of each node stay in their order, copies included.

    `at` is where the next case of each node belongs; without room in `out`, cases are only counted.
    """
    for i in range(len(order)):
        rank, target = order[i] >> HALF, targets[order[i] & LOWER]
        while target >= 0:
            node, place = target >> HALF, target & LOWER
            if len(out):
                out[at[node]] = rank << HALF | place
            at[node] += 1
            target = -1 if copies is None else copies[place]
