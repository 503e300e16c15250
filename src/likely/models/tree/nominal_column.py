"""A nominal column: splits come from value × class tables."""

from __future__ import annotations

from typing import cast

import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.jit import kernel
from likely.models.tree.level import (
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
    branch_term,
    largest,
    parent_term,
    split_value,
    xlogx,
)

EVERY, ONE, GROUPS = range(3)
"""A branch for every value, one value against the rest, or a branch for each group of values."""

NO_MAPS = np.empty((0, 0), dtype=np.int32)
NO_WEIGHTS = np.empty(0)
"""Every case weighs 1."""

START, NOBODY = cast("int", np.int64(0)), cast("int", np.int64(-1))
"""A plain 0 or −1 would be a type of its own: what is called with it would be compiled again."""


class NominalColumn:
    """The code of the value of each case of a level, −1 for a gap.

    With a branch for every value the column is tested once on a path.
    """

    def __init__(self, place: int, codes: Int32, n_values: int) -> None:
        self.place, self.codes, self.n_values = place, codes, n_values

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        """The value of the best test in each node; 0 where there is none."""
        nodes, scores = np.flatnonzero(level.used[:, self.place] == 0), np.zeros(len(level))
        scores[nodes] = self._search(level, criterion, nodes, NO_MAPS, np.empty(0, dtype=np.int32)) / level.sizes[nodes]
        return scores

    def ratios(self, level: Level, criterion: SplitCriterion, gains: Array) -> Array:
        """The gain ratio of tests that were just judged by information gain, times known / all weight like `gains`."""
        return self.score_splits(level, criterion)

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        """The best tests of some nodes, just judged; `branches` gets the branch of each of their cases."""
        maps, n_branches = np.empty((len(nodes), self.n_values), dtype=np.int32), np.empty(len(nodes), dtype=np.int32)
        self._search(level, criterion, nodes, maps, n_branches)
        branch_by_value(self.codes, level.starts, nodes, maps, branches)
        return Splits(n_branches, maps=maps)

    def score_surrogates(self, level: Level, chosen: LevelPartition, majority: Int32) -> SurrogateScores:
        """How well this column tells the branches of the tests that were chosen."""
        nodes, gains = np.flatnonzero(chosen.n_branches > 0), np.zeros(len(level))
        gains[nodes] = self._search_surrogates(level, chosen, majority, nodes, NO_MAPS)
        return SurrogateScores(gains)

    def surrogate_value_branches(self, level: Level, chosen: LevelPartition, majority: Int32, nodes: Int64) -> Int32:
        """The branch of every value in these nodes."""
        maps = np.empty((len(nodes), self.n_values), dtype=np.int32)
        self._search_surrogates(level, chosen, majority, nodes, maps)
        return maps

    def follow_surrogate(self, level: Level, cases: Int64, split: SurrogateSplit) -> Int32:
        """The branch that a surrogate on this column gives to some cases, −1 where it cannot tell."""
        return np.append(split.branches, np.int32(-1))[self.codes[cases]]

    def move(self, moves: Moves) -> None:
        """Go on to the next level."""
        codes = np.empty(len(moves.sources), dtype=np.int32)
        rearrange(self.codes, moves.sources, codes)
        self.codes = codes

    def _search(self, level: Level, criterion: SplitCriterion, nodes: Int64, maps: Int32, n_branches: Int32) -> Array:
        values = np.empty(len(nodes))
        weights = NO_WEIGHTS if level.weights is None else level.weights
        search_values(
            self.codes, level.starts, level.labels, weights, self.n_values, level.counts.shape[1], nodes,
            criterion.mode, criterion.measure, criterion.logs, criterion.min_cases, values, maps, n_branches,
        )  # fmt: skip
        return values

    def _search_surrogates(
        self, level: Level, chosen: LevelPartition, majority: Int32, nodes: Int64, maps: Int32
    ) -> Array:
        gains = np.empty(len(nodes))
        search_surrogate_values(
            self.codes, level.starts, chosen.of_case, level.weights, self.n_values, chosen.n_branches, majority, nodes,
            gains, maps,
        )  # fmt: skip
        return gains


# The parts of a measure, called from many places here: put into each of them they would be compiled as often.


@kernel(forceinline=True)
def _xlogx(x: float, logs: Array | None) -> float:
    return xlogx(x, logs)


@kernel(forceinline=True)
def _branch_term(measure: int, counts: Array, size: float, totals: Array, logs: Array | None) -> float:
    return branch_term(measure, counts, size, totals, logs)


@kernel(forceinline=True)
def _split_value(
    measure: int, n: float, log_n: float, whole: float, cells: float, sizes: float, logs: Array | None
) -> float:
    return split_value(measure, n, log_n, whole, cells, sizes, logs)


@kernel
def sort_values(values: Int32, n: int) -> None:
    """Sort the first n values by Shell's method: few lines, quick to compile."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@kernel
def table_sums(table: Array, by_class: Array, by_value: Array) -> float:
    """Sums of the columns and lines of a value × class table, and of all of it."""
    total = 0.0
    by_class[:] = 0.0
    for k in range(table.shape[0]):
        by_value[k] = 0.0
        for c in range(table.shape[1]):
            by_class[c] += table[k, c]
            by_value[k] += table[k, c]
        total += by_value[k]
    return total


@kernel
def tabulate(
    codes: Int32, labels: Int32, weights: Array, first: int, last: int, place: Int32, values: Int32, table: Array
) -> int:
    """The table of one node: only values that occur get a line, in their order; returns how many.

    `place` is −1 everywhere before and after.
    """
    n, alike = START, len(weights) == 0
    for i in range(first, last):
        code = codes[i]
        if code >= 0 and place[code] < 0:
            place[code] = 0
            values[n] = code
            n += 1
    sort_values(values, n)
    for k in range(n):
        place[values[k]] = k
        table[k] = 0.0
    for i in range(first, last):
        if codes[i] >= 0:
            table[place[codes[i]], labels[i]] += 1.0 if alike else weights[i]
    for k in range(n):
        place[values[k]] = -1
    return n


@kernel
def best_grouping(
    mode: int, table: Array, measure: int, logs: Array | None, min_cases: float, groups: Int32
) -> tuple[float, float]:
    """The measure of the best test on these values, and the known weight; `groups` gets the branch of each line."""
    n_values = len(table)
    known, sizes = np.empty(table.shape[1]), np.empty(n_values)
    n = table_sums(table, known, sizes)
    if n_values < 2 or n <= ZERO_WEIGHT:
        return 0.0, n
    log_n, whole = _xlogx(n, logs), parent_term(measure, known, n, logs)
    if mode == ONE:
        return one_vs_rest(table, sizes, known, measure, n, log_n, whole, logs, min_cases, groups), n
    alone, cells, of_sizes = np.empty(n_values), 0.0, 0.0
    for k in range(n_values):
        groups[k] = k
        alone[k] = _branch_term(measure, table[k], sizes[k], known, logs)
        cells += alone[k]
        of_sizes += _xlogx(sizes[k], logs)
    value = _split_value(measure, n, log_n, whole, cells, of_sizes, logs)
    if mode == GROUPS:
        value = merge_groups(table.copy(), sizes, known, alone, measure, n, log_n, whole, cells, of_sizes, logs, groups)
    n_large = 0
    for k in range(n_values):  # sizes are those of groups now, each kept under the first of its values
        n_large += groups[k] == k and sizes[k] >= min_cases - ZERO_WEIGHT
    return (value if n_large >= 2 else 0.0), n


@kernel
def one_vs_rest(
    table: Array, sizes: Array, known: Array, measure: int, n: float, log_n: float, whole: float, logs: Array | None,
    min_cases: float, groups: Int32,
) -> float:  # fmt: skip
    """The value that tells most when it stands against all others; of equals the first."""
    n_values, least, best, winner = len(table), min_cases - ZERO_WEIGHT, 0.0, -1
    rest = np.empty(table.shape[1])
    for k in range(n_values):
        if sizes[k] < least or n - sizes[k] < least:
            continue
        for c in range(len(rest)):
            rest[c] = known[c] - table[k, c]
        value = binary_split_value(measure, table[k], sizes[k], rest, n - sizes[k], known, n, log_n, whole, logs)
        if value > best * (1.0 + TIE):
            best, winner = value, k
    for k in range(n_values):
        groups[k] = 0 if k == winner else 1
    return best


@kernel
def merge_groups(
    table: Array, sizes: Array, known: Array, alone: Array, measure: int, n: float, log_n: float, whole: float,
    cells: float, of_sizes: float, logs: Array | None, groups: Int32,
) -> float:  # fmt: skip
    """Join the two groups that give the best measure, as long as it does not fall and two are left.

    By what `cells` and `of_sizes` change if two groups are joined is the same until one of the two is.
    """
    n_values, current = len(table), _split_value(measure, n, log_n, whole, cells, of_sizes, logs)
    by_cells, by_sizes = np.empty((n_values, n_values)), np.empty((n_values, n_values))
    for a in range(n_values):
        merge_changes(table, sizes, known, alone, measure, logs, groups, a, by_cells, by_sizes)
    for _ in range(n_values - 2):
        best, left, right = -1.0, NOBODY, NOBODY
        for a in range(n_values):
            if groups[a] != a:
                continue
            for b in range(a + 1, n_values):
                if groups[b] != b:
                    continue
                value = _split_value(measure, n, log_n, whole, cells + by_cells[a, b], of_sizes + by_sizes[a, b], logs)
                if best < 0.0 or value > best * (1.0 + TIE):
                    best, left, right = value, a, b
        if best < current * (1.0 - TIE):
            break
        current, cells, of_sizes = best, cells + by_cells[left, right], of_sizes + by_sizes[left, right]
        merge_pair(table, sizes, groups, left, right)
        alone[left] = _branch_term(measure, table[left], sizes[left], known, logs)
        merge_changes(table, sizes, known, alone, measure, logs, groups, left, by_cells, by_sizes)
    return current


@kernel
def merge_changes(
    table: Array, sizes: Array, known: Array, alone: Array, measure: int, logs: Array | None, groups: Int32, one: int,
    by_cells: Array, by_sizes: Array,
) -> None:  # fmt: skip
    """By what the sums of a measure change if one group is joined with any other."""
    both, of_one = np.empty(table.shape[1]), _xlogx(sizes[one], logs)
    for other in range(len(table)):
        if other == one or groups[other] != other:
            continue
        for c in range(table.shape[1]):
            both[c] = table[one, c] + table[other, c]
        size, a, b = sizes[one] + sizes[other], min(one, other), max(one, other)
        by_cells[a, b] = _branch_term(measure, both, size, known, logs) - alone[one] - alone[other]
        by_sizes[a, b] = _xlogx(size, logs) - of_one - _xlogx(sizes[other], logs)


@kernel
def merge_pair(table: Array, sizes: Array, groups: Int32, left: int, right: int) -> None:
    """Put one group to another, under the name of that one."""
    for c in range(table.shape[1]):
        table[left, c] += table[right, c]
    sizes[left] += sizes[right]
    for k in range(len(table)):
        groups[k] = left if groups[k] == right else groups[k]


@kernel
def number_branches(mode: int, n: int, values: Int32, groups: Int32, numbers: Int32, branches: Int32) -> int:
    """The branch of every value (−1: it leads nowhere), from the groups of n values that occur; how many there are.

    Groups are named by one of their values: they are numbered in the order of their first values.
    """
    if mode == ONE:
        branches[:] = 1
        for line in range(n):
            branches[values[line]] = groups[line]
        return 2
    branches[:] = -1
    numbers[:n] = -1
    found = 0
    for line in range(n):
        if numbers[groups[line]] < 0:
            numbers[groups[line]] = found
            found += 1
        branches[values[line]] = numbers[groups[line]]
    return found


@kernel(interpretable=True)
def search_values(
    codes: Int32, starts: Int64, labels: Int32, weights: Array, n_values: int, n_classes: int, nodes: Int64,
    mode: int, measure: int, logs: Array | None, min_cases: float, found: Array, maps: Int32, n_branches: Int32,
) -> None:  # fmt: skip
    """The best measure of some nodes, times the known weight; `maps` gets the branch of every value, if it has room."""
    place, values = np.full(n_values, -1, dtype=np.int32), np.empty(n_values, dtype=np.int32)
    table, groups = np.empty((n_values, n_classes)), np.empty(n_values, dtype=np.int32)
    numbers = np.empty(n_values, dtype=np.int32)
    for k, node in enumerate(nodes):
        n = tabulate(codes, labels, weights, starts[node], starts[node + 1], place, values, table)
        value, known = best_grouping(mode, table[:n], measure, logs, min_cases, groups)
        found[k] = value * known
        if len(maps):
            n_branches[k] = number_branches(mode, n, values, groups, numbers, maps[k])


@kernel(interpretable=True)
def branch_by_value(codes: Int32, starts: Int64, nodes: Int64, maps: Int32, branches: Int32) -> None:
    """The branch of every case in the nodes that test this column, −1 where its value leads nowhere."""
    for k, node in enumerate(nodes):
        for i in range(starts[node], starts[node + 1]):
            branches[i] = maps[k, codes[i]] if codes[i] >= 0 else -1


@kernel(interpretable=True)
def search_surrogate_values(
    codes: Int32, starts: Int64, branches: Int32, weights: Array | None, n_values: int, n_branches: Int32,
    majority: Int32, nodes: Int64, gains: Array, maps: Int32,
) -> None:  # fmt: skip
    """Each value stands for the branch that most of its cases take; how much more weight goes right than by `majority`.

    `maps` gets the branch of every value in each of the nodes, if it has room for them.
    """
    most = 1
    for node in nodes:
        most = max(most, n_branches[node])
    table = np.empty((n_values, most))
    for k, node in enumerate(nodes):
        table[:] = 0.0
        followed, right = 0.0, 0.0
        for i in range(starts[node], starts[node + 1]):
            if codes[i] >= 0 and branches[i] >= 0:
                weight = 1.0 if weights is None else weights[i]
                table[codes[i], branches[i]] += weight
                followed += weight if branches[i] == majority[node] else 0.0
        for code in range(n_values):
            best = largest(table[code, : n_branches[node]])
            right += table[code, best]
            if len(maps):
                maps[k, code] = best if table[code, best] > ZERO_WEIGHT else -1
        gains[k] = right - followed if right - followed > ZERO_WEIGHT else 0.0
