"""Growing a tree from the root down, all nodes of a level at once, columns side by side.

At every node each column offers its best split, and the column whose split has the best value wins; of equals the
first. The value is the measure among the cases in which the column is known, times their share of all cases. A node
stays a leaf if its cases are of one class, if no split tells anything, or if none leaves enough cases in two branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from likely.arrays import AnyArray, Array, Flags, Index, Int32, Int64, UInt8
from likely.errors import SettingsError, say_kind
from likely.measures import measure_named
from likely.models.tree.data import TrainingData, quantile_edges
from likely.models.tree.level import (
    Level,
    LevelPartition,
    Moves,
    SplitCriterion,
    Splits,
    SurrogateSplit,
    TreeWorkers,
)
from likely.models.tree.nominal_column import EVERY, GROUPS, ONE, NominalColumn
from likely.models.tree.numeric_column import BinnedColumn, SortedColumn
from likely.models.tree.split_measures import (
    GAIN,
    IDS,
    WITHOUT_LOGARITHMS,
    ZERO_WEIGHT,
    above_average_ratios,
    choose_columns,
    logarithms,
)
from likely.models.tree.subtrees import collapse_tree
from likely.models.tree.tree import LEAF, Feature, Missing, Surrogates, Tree
from likely.numerics import refuse_many

MOST_GROUPED = 256
"""Values of a column that are merged greedily; every step looks at all pairs."""

MOST_LOGARITHMS = 1 << 24
"""Above, logarithms are computed when they are needed."""


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """How a tree is grown; what each setting means stands at `TreeClassifier`."""

    measure: str = "gain_ratio"
    min_cases: float = 2.0
    max_depth: int | None = None
    missing: Missing = "weights"
    subsets: bool = False
    binary: bool = False
    binned: bool = False
    collapse: bool = True
    restrained: bool = False

    def criterion(self, n_rows: int) -> SplitCriterion:
        """The plan as the search for tests needs it."""
        measure_named(self.measure)
        if self.subsets and self.binary:
            raise SettingsError("subsets merges values and binary takes one against the rest: choose one of them.")
        if self.restrained and self.measure != "gain_ratio":
            raise SettingsError(f"restrained=True is for measure='gain_ratio'; {self.measure!r} has no use for it.")
        mode = GROUPS if self.subsets else ONE if self.binary else EVERY
        measure = IDS[self.measure]
        logs = None if measure in WITHOUT_LOGARITHMS else logarithms(min(n_rows, MOST_LOGARITHMS))
        return SplitCriterion(measure, logs, float(self.min_cases), mode, self.restrained)

    def leave_open(self, counts: Array, depth: int) -> Flags:
        """Which nodes may be split: not too deep, enough cases, and of more than one class."""
        if self.max_depth is not None and depth >= self.max_depth:
            return np.zeros(len(counts), dtype=np.bool_)
        sizes = counts.sum(axis=1)
        mixed = sizes - counts.max(axis=1) > ZERO_WEIGHT
        return np.asarray(mixed & (sizes >= 2.0 * self.min_cases - ZERO_WEIGHT))

    def used_below(self, used: UInt8, splits: Sequence[NodeSplits], partition: LevelPartition) -> UInt8:
        """Nominal columns that may not be tested any more below each child."""
        used = used.copy()
        for place, chosen, found in splits:
            if found.maps is not None and not (self.subsets or self.binary):
                used[chosen, place] = 1
        return np.repeat(used, partition.n_branches, axis=0)


def fit_tree(plan: GrowthPlan, data: TrainingData, n_jobs: int | None = None) -> Tree:
    """Grow a tree."""
    criterion, weights = plan.criterion(len(data)), data.weights
    refuse_many_groups(plan, data.features)
    if weights is not None and bool((weights == 1.0).all()):
        weights = None
    if weights is None and len(data) > MOST_LOGARITHMS:  # whole numbers of cases are looked up
        weights = np.ones(len(data))

    def prepare(place: int) -> tuple[Feature, SearchColumn]:
        feature, column = data.features[place], data.columns[place]
        if feature.levels is not None:
            return feature, NominalColumn(place, column.astype(np.int32, copy=False), len(feature.levels))
        numbers = column.astype(np.float64, copy=False)
        known = BinnedColumn(place, numbers, quantile_edges(numbers)) if plan.binned else SortedColumn(place, numbers)
        return replace(feature, cuts=known.n_cuts), known

    workers = TreeWorkers(n_jobs)
    prepared = workers.each(prepare, range(len(data.features)), len(data))
    features, columns = tuple(feature for feature, _ in prepared), [column for _, column in prepared]
    tree = TreeGrower(data.classes, features, columns, criterion, plan, workers).grow(data.labels, weights)
    return collapse_tree(tree) if plan.collapse else tree


def refuse_many_groups(plan: GrowthPlan, features: Sequence[Feature]) -> None:
    """Merging looks at all pairs of values again and again: there is a limit to that."""
    for feature in features:
        if plan.subsets and feature.levels is not None and len(feature.levels) > MOST_GROUPED:
            raise SettingsError(
                f"Column {feature.name!r} has {len(feature.levels):,} values, and subsets=True merges at most "
                f"{MOST_GROUPED}: join rare values first, or leave it out (",
                say_kind(feature.name, "ignored"),
                ").",
            )


MAX_SURROGATES = 5

SearchColumn = SortedColumn | BinnedColumn | NominalColumn
"""A column that is searched for tests; what each method does is said at `NominalColumn`."""

NODE = np.dtype(
    [
        ("column", np.int32),
        ("threshold", np.float64),
        ("first_child", np.int32),
        ("n_children", np.int32),
        ("values", np.int64),
        ("majority_branch", np.int32),
    ]
)


@dataclass(slots=True, eq=False)
class TreeGrower:
    """A tree that is being grown."""

    classes: AnyArray
    features: tuple[Feature, ...]
    columns: Sequence[SearchColumn]
    criterion: SplitCriterion
    plan: GrowthPlan
    workers: TreeWorkers
    nodes: NodeList = field(init=False)
    moves: Moves | None = None
    depth: int = 0

    def grow(self, labels: Int32, weights: Array | None) -> Tree:
        """Level by level, until nothing is left to split; weights are None where all are 1."""
        counts = np.bincount(labels, weights, len(self.classes)).astype(np.float64)[None, :]
        self.nodes = NodeList(counts)
        rows, starts = np.arange(len(labels), dtype=np.int32), np.array([0, len(labels)])
        used = np.zeros((1, len(self.features)), dtype=np.uint8)
        level: Level | None = Level(rows, labels, weights, starts, counts, counts.sum(axis=1), used)
        if not self.plan.leave_open(counts, 0)[0]:
            level = None
        ids = np.array([0])
        while level is not None:
            level, ids = self._next(level, ids)
            self.depth += 1
        return self.nodes.tree(self.classes, self.features, self.plan.missing)

    def _next(self, level: Level, ids: Int64) -> tuple[Level | None, Int64]:
        """Split the nodes of a level; the nodes of the next one that may be split, if there are any."""
        winners = self._winners(level)
        branches, n_branches = np.full(level.n_cases, -1, dtype=np.int32), np.zeros(len(level), dtype=np.int32)

        def split(position: int) -> NodeSplits:
            column, chosen = self.columns[position], np.flatnonzero(winners == position)
            return column.place, chosen, column.split(level, self.criterion, chosen, branches)

        splits = self.workers.each(split, np.unique(winners[winners >= 0]).tolist(), level.n_cases)
        if not splits:
            return None, ids
        for _, chosen, found in splits:
            n_branches[chosen] = found.n_branches
        partition = LevelPartition.of(n_branches, branches)
        counts, majority, surrogates, shares = self._count_children(level, winners, partition)
        kids = self.nodes.add(ids, splits, partition, majority, counts, surrogates)
        open_ = self.plan.leave_open(counts, self.depth + 1)
        if not open_.any():
            return None, ids
        used = self.plan.used_below(level.used, splits, partition)
        following, self.moves = partition.next_level(level, open_, counts, used, shares, self.workers)
        return following, kids[open_]

    def _winners(self, level: Level) -> Index:
        """The place of the column that each node splits, −1 for none."""

        def move(column: SearchColumn) -> None:
            if self.moves is not None:
                column.move(self.moves)

        def judge(column: SearchColumn) -> tuple[Array, Array]:
            return score_column(column, level, self.criterion)

        found = self.workers.each_in_two(move, judge, self.columns, level.n_cases)
        return best_columns(found, len(level), self.criterion)

    def _count_children(
        self, level: Level, winners: Index, partition: LevelPartition
    ) -> tuple[Array, Int32, list[SurrogateSplit], Array | None]:
        """Class weights of the children, majority branches, surrogates, and each child's share of gaps, if any."""
        counts, gaps, n_gaps = partition.child_counts(level, self.workers)
        known = counts.sum(axis=1)
        majority = partition.majority_branches(known)
        if self.plan.missing == "weights":
            if not n_gaps:
                return counts, majority, [], None
            shares = partition.shares(known)
            return counts + gaps[partition.parents] * shares[:, None], majority, [], shares
        found = find_surrogates(self.columns, level, winners, partition, majority, self.workers)
        if n_gaps:
            follow_surrogates(found, self.columns, level, partition, majority)
            counts, _, _ = partition.child_counts(level, self.workers)
        return counts, majority, found, None


NodeSplits = tuple[int, Int64, Splits]
"""The place of a feature, the nodes of a level that test it, and their tests."""


def score_column(column: SearchColumn, level: Level, criterion: SplitCriterion) -> tuple[Array, Array]:
    """The values of a column's best splits; with a restrained gain ratio, of those with most gain, and their gains."""
    if not criterion.restrained:
        scores = column.score_splits(level, criterion)
        return scores, scores
    gains = column.score_splits(level, replace(criterion, measure=GAIN))
    return column.ratios(level, criterion, gains), gains


def best_columns(found: Sequence[tuple[Array, Array]], n_nodes: int, criterion: SplitCriterion) -> Index:
    """The column with the best value in each node, the first of equals; −1 where none tells anything."""
    winners = np.full(n_nodes, -1)
    if found:
        values = np.array([scores for scores, _ in found])
        if criterion.restrained:
            values = above_average_ratios(np.array([gains for _, gains in found]), values)
        choose_columns(values, winners)
    return winners


class NodeList:
    """Arrays of nodes that grow; nodes of a level stand side by side, in the order of their parents."""

    def __init__(self, root: Array) -> None:
        self.n = 0
        self.counts: list[Array] = []
        self.levels: list[AnyArray] = []
        self.branches: list[Int32] = []
        self.n_branches = 0
        self.surrogates: list[tuple[int, int, float, int, int, int]] = []
        self._grow(root)

    def add(
        self,
        ids: Int64,
        splits: Sequence[NodeSplits],
        partition: LevelPartition,
        majority: Int32,
        counts: Array,
        surrogates: Sequence[SurrogateSplit] = (),
    ) -> Int64:
        """Write the splits of a level into its nodes and put its children behind all nodes; their numbers."""
        level = self.levels[-1]
        at = ids - (self.n - len(level))
        for place, chosen, found in splits:
            level["column"][at[chosen]] = place
            if found.thresholds is not None:
                level["threshold"][at[chosen]] = found.thresholds
            if found.maps is not None:
                level["values"][at[chosen]] = self._keep(found.maps)
        inner = partition.n_branches > 0
        level["first_child"][at[inner]] = partition.first_child[inner] + self.n
        level["n_children"][at[inner]] = partition.n_branches[inner]
        level["majority_branch"][at[inner]] = majority[inner]
        for test in surrogates:
            start = int(self._keep(test.branches[None, :])[0]) if len(test.branches) else -1
            self.surrogates.append((int(ids[test.node]), test.column, test.threshold, test.low, test.high, start))
        return self._grow(counts)

    def tree(self, classes: AnyArray, features: tuple[Feature, ...], missing: Missing) -> Tree:
        """All nodes as one immutable tree."""
        nodes = np.concatenate(self.levels)
        branches = np.concatenate(self.branches) if self.branches else np.empty(0, dtype=np.int32)
        column, threshold, first_child, n_children, values, majority_branch = (
            np.ascontiguousarray(nodes[name]) for name in NODE.names or ()
        )
        return Tree(
            classes, features, missing, column, threshold, first_child, n_children, values, branches, majority_branch,
            np.concatenate(self.counts), self._surrogates(),
        )  # fmt: skip

    def _grow(self, counts: Array) -> Int64:
        level = np.zeros(len(counts), dtype=NODE)
        level["column"], level["values"], level["majority_branch"] = LEAF, -1, -1
        self.levels.append(level)
        self.counts.append(counts)
        self.n += len(counts)
        refuse_many(self.n, "nodes in the tree")
        return np.arange(self.n - len(counts), self.n)

    def _keep(self, maps: Int32) -> Int64:
        """Put the branches of values behind those that are there; where each line begins."""
        starts = self.n_branches + np.arange(len(maps)) * maps.shape[1]
        self.branches.append(maps.ravel())
        self.n_branches += maps.size
        return np.asarray(starts)

    def _surrogates(self) -> Surrogates:
        if not self.surrogates:
            return Surrogates.none(self.n)
        lines = sorted(self.surrogates, key=lambda line: line[0])
        node, column, threshold, low, high, values = zip(*lines, strict=True)
        starts = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=self.n))]).astype(np.int64)
        as_ints = [np.array(cells, dtype=np.int32) for cells in (column, low, high)]
        return Surrogates(starts, as_ints[0], np.array(threshold), as_ints[1], as_ints[2], np.array(values, np.int64))


# Surrogates take the place of a split whose column is not known, as in CART. A surrogate sends the cases that are known
# to both columns to the branches of the split that it stands for; it is good if it sends more of them right than the
# rule "follow the branch that most cases take" would. Up to five are kept, best first; where none of them knows its
# column, the case follows most cases.


def find_surrogates(
    columns: Sequence[SearchColumn],
    level: Level,
    winners: Index,
    chosen: LevelPartition,
    majority: Int32,
    workers: TreeWorkers,
) -> list[SurrogateSplit]:
    """The best surrogates of every node that has a split, best first; never on the column of the split itself."""
    found = workers.each(lambda column: column.score_surrogates(level, chosen, majority), columns, level.n_cases)
    gains = np.column_stack([one.gains for one in found])
    inner = np.flatnonzero(winners >= 0)
    gains[inner, winners[inner]] = 0.0
    best = {int(node): _best(gains[node]) for node in inner}
    maps: list[dict[int, Int32]] = []
    for position, column in enumerate(columns):
        nodes = np.array([node for node, places in best.items() if position in places], dtype=np.int64)
        lines = column.surrogate_value_branches(level, chosen, majority, nodes)
        maps.append(dict(zip(nodes.tolist(), lines, strict=True)))
    return [
        SurrogateSplit(node, position, columns[position].place, *found[position].at(node), maps[position][node])
        for node, places in best.items()
        for position in places
    ]


def _best(gains: Array) -> list[int]:
    """Up to five columns that tell most, the first of equals first."""
    # Ten digits are compared, so that rounding decides nothing.
    places = np.argsort(-np.round(gains / max(gains.max(), ZERO_WEIGHT), 10), kind="stable")[:MAX_SURROGATES]
    return [int(place) for place in places if gains[place] > ZERO_WEIGHT]


def follow_surrogates(
    surrogates: Sequence[SurrogateSplit],
    columns: Sequence[SearchColumn],
    level: Level,
    chosen: LevelPartition,
    majority: Int32,
) -> None:
    """Give a branch to every case whose own column is a gap."""
    by_node: dict[int, list[SurrogateSplit]] = {}
    for split in surrogates:
        by_node.setdefault(split.node, []).append(split)
    branches = chosen.of_case
    for node in np.flatnonzero(chosen.n_branches > 0):
        first, last = level.starts[node], level.starts[node + 1]
        open_ = first + np.flatnonzero(branches[first:last] < 0)
        for split in by_node.get(int(node), []):
            if not len(open_):
                break
            found = columns[split.position].follow_surrogate(level, open_, split)
            branches[open_] = found
            open_ = open_[found < 0]
        branches[open_] = majority[node]
