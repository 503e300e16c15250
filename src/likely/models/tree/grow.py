"""Growing a tree from the root down, all nodes of a level at once, columns side by side.

At every node each column offers its best split, and the column whose split has the best value wins; of equals the
first. The value is the measure among the cases in which the column is known, times their share of all cases. A node
stays a leaf if its cases are of one class, if no split tells anything, or if none leaves enough cases in two branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index, Int32, Int64
from likely.models.tree.binned_column import BinnedColumn, entropy_tables_of
from likely.models.tree.columns import Cases, Level, Moves, SearchColumn, SplitCriterion, Splits
from likely.models.tree.partition import LevelPartition, TreeWorkers, partition_cases, partition_fractional_cases
from likely.models.tree.sorted_column import SortedColumn
from likely.models.tree.split_measures import (
    GAIN,
    WITHOUT_LOGARITHMS,
    ZERO_WEIGHT,
    above_average_ratios,
    choose_columns,
)
from likely.models.tree.surrogates import LevelSurrogates, find_surrogates
from likely.models.tree.tree import LEAF, Feature, Missing, Surrogates, Tree

NO_SHARES = np.empty(0)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where growing ends, and how gaps are treated."""

    min_cases: float = 2.0
    max_depth: int | None = None
    missing: Missing = "weights"
    reuse_nominal: bool = False

    def leave_open(self, counts: Array, depth: int) -> NDArray[np.bool_]:
        """Which nodes may be split: not too deep, enough cases, and of more than one class."""
        sizes = counts.sum(axis=1)
        mixed = sizes - counts.max(axis=1) > ZERO_WEIGHT
        if self.max_depth is not None and depth >= self.max_depth:
            return np.zeros(len(counts), dtype=np.bool_)
        return np.asarray(mixed & (sizes >= 2.0 * self.min_cases - ZERO_WEIGHT))


@dataclass(slots=True, eq=False)
class TreeGrower:
    """A tree that is being grown."""

    classes: NDArray[Any]
    features: tuple[Feature, ...]
    columns: Sequence[SearchColumn]
    criterion: SplitCriterion
    limits: Limits
    workers: TreeWorkers
    nodes: NodeList = field(init=False)
    moves: Moves | None = None
    depth: int = 0

    def grow(self, cases: Cases) -> Tree:
        """Level by level, until nothing is left to split."""
        n_classes = len(self.classes)
        counts = np.asarray(np.bincount(cases.labels, cases.weights, n_classes)[None, :], dtype=np.float64)
        self.nodes = NodeList(counts)
        used = np.zeros((1, len(self.features)), dtype=np.uint8)
        members = np.arange(len(cases.rows), dtype=np.int64)
        starts = np.array([0, len(members)])
        level = Level(cases, members, starts, counts, counts.sum(axis=1), used, cases.labels)
        ids = np.array([0])
        if not self.limits.leave_open(counts, 0)[0]:
            level, ids = self._nothing(level), ids[:0]
        while len(level):
            level, ids = self._next(level, ids)
            self.depth += 1
        return self.nodes.tree(self.classes, self.features, self.limits.missing)

    def _next(self, level: Level, ids: Int64) -> tuple[Level, Int64]:
        n_cases, winners = len(level.members), self._winners(level)
        branches = np.full(len(level.cases.rows), -1, dtype=np.int32)
        n_branches = np.zeros(len(level), dtype=np.int32)

        def split(position: int) -> tuple[SearchColumn, Int64, Splits]:
            column, chosen = self.columns[position], np.flatnonzero(winners == position)
            return column, chosen, column.split(level, self.criterion, chosen, branches)

        splits = list(self.workers.each(split, np.unique(winners[winners >= 0]).tolist(), n_cases))
        if not splits:
            return self._nothing(level), ids[:0]
        for _, chosen, found in splits:
            n_branches[chosen] = found.n_branches
        partition = LevelPartition.of(n_branches, branches)
        counts, majority, surrogates, shares = self._count_children(level, winners, partition)
        kids = self.nodes.add(ids, splits, partition.first_child, n_branches, majority, counts, surrogates)
        open_ = self.limits.leave_open(counts, self.depth + 1)
        if not open_.any():
            return self._nothing(level), ids[:0]
        by_case = any(isinstance(column, SortedColumn) for column in self.columns)
        next_level = (
            partition_fractional_cases(level, partition, open_, shares)
            if len(shares)
            else partition_cases(level, partition, open_, by_case, self.workers)
        )
        self.moves = next_level.moves
        used, counts = self._used(level, splits, n_branches)[open_], counts[open_]
        rest = (counts, counts.sum(axis=1), used, next_level.labels)
        return Level(next_level.cases, next_level.members, next_level.moves.starts, *rest), kids[open_]

    def _winners(self, level: Level) -> Index:
        """The place of the column that each node splits, −1 for none."""
        scores: Iterable[Array]
        level = self._with_entropy_tables(level)
        if self.criterion.restrained and self.columns:
            scores = self._restrained(level)
        else:
            scores = self.workers.each(
                lambda column: self._moved(column).score_splits(level, self.criterion), self.columns, len(level.members)
            )
        return best_columns(scores, len(level))

    def _moved(self, column: SearchColumn) -> SearchColumn:
        """A column on the level that is grown: it goes there when it is asked, while it is at hand anyway."""
        if self.moves is not None:
            column.move(self.moves)
        return column

    def _restrained(self, level: Level) -> Array:
        by_gain = replace(self.criterion, measure=GAIN)

        def both(column: SearchColumn) -> tuple[Array, Array]:
            gains = self._moved(column).score_splits(level, by_gain)
            return gains, column.ratios(level, self.criterion, gains)

        scores = list(self.workers.each(both, self.columns, len(level.members)))
        return above_average_ratios(
            np.array([gains for gains, _ in scores]), np.array([ratios for _, ratios in scores])
        )

    def _with_entropy_tables(self, level: Level) -> Level:
        """What columns in bins need to know of the nodes, made once for all of them."""
        if not level.has_unit_weights(self.criterion) or self.criterion.measure in WITHOUT_LOGARITHMS:
            return level
        if not any(isinstance(column, BinnedColumn) for column in self.columns):
            return level
        return replace(level, entropy_tables=entropy_tables_of(level.counts, self.criterion.logs))

    def _count_children(
        self, level: Level, winners: Index, partition: LevelPartition
    ) -> tuple[Array, Int32, LevelSurrogates | None, Array]:
        """Class weights of the children, majority branches, surrogates, and each child's share of gaps, if any."""
        counts, gaps, n_gaps = partition.child_counts(level, self.workers)
        known, parents = counts.sum(axis=1), partition.parents
        majority = partition.majority_branches(known)
        if self.limits.missing == "weights":
            if not n_gaps:
                return counts, majority, None, NO_SHARES
            shares = known / np.bincount(parents, known, len(level))[parents]
            return counts + gaps[parents] * shares[:, None], majority, None, shares
        found = find_surrogates(
            self.columns, level, winners, partition.of_case, partition.n_branches, majority, self.workers
        )
        if n_gaps:
            found.assign_branches(self.columns, level, partition.of_case, partition.n_branches, majority)
            counts, _, _ = partition.child_counts(level, self.workers)
        return counts, majority, found, NO_SHARES

    def _used(
        self, level: Level, splits: list[tuple[SearchColumn, Int64, Splits]], n_branches: Int32
    ) -> NDArray[np.uint8]:
        """Nominal columns that may not be tested any more below each child."""
        used = level.used.copy()
        for column, chosen, found in splits:
            if found.maps is not None and not self.limits.reuse_nominal:
                used[chosen, column.place] = 1
        return np.repeat(used, n_branches, axis=0)

    def _nothing(self, level: Level) -> Level:
        none = np.empty(0, dtype=np.int64)
        rest = (level.counts[:0], level.sizes[:0], level.used[:0], level.labels[:0])
        return Level(level.cases, none, np.zeros(1, dtype=np.int64), *rest)


def best_columns(scores: Iterable[Array], n_nodes: int) -> Index:
    """The column with the best value in each node, the first of equals; −1 where none tells anything."""
    winners, values = np.full(n_nodes, -1), list(scores)
    if values:
        choose_columns(np.array(values), winners)
    return winners


class NodeList:
    """Arrays of nodes that grow; nodes of a level stand side by side, in the order of their parents."""

    def __init__(self, root: Array) -> None:
        self.n = 1
        self.counts = [root]
        self.column: list[Int32] = [_leaves(1)]
        self.threshold: list[Array] = [np.zeros(1)]
        self.first_child: list[Int32] = [np.zeros(1, dtype=np.int32)]
        self.n_children: list[Int32] = [np.zeros(1, dtype=np.int32)]
        self.values: list[Int64] = [_nowhere(1)]
        self.majority_branch: list[Int32] = [_leaves(1)]
        self.branches: list[Int32] = []
        self.n_branches = 0
        self.surrogates: list[tuple[int, int, float, int, int, int]] = []
        self._first = [0]

    def __len__(self) -> int:
        return self.n

    def add(
        self, ids: Int64, splits: list[tuple[SearchColumn, Int64, Splits]], first_child: Int64, n_branches: Int32,
        majority: Int32, counts: Array, surrogates: LevelSurrogates | None,
    ) -> Int64:  # fmt: skip
        """Write the splits of a level into its nodes and put its children behind all nodes; their numbers."""
        at = ids - self._first[-1]
        for column, chosen, found in splits:
            self.column[-1][at[chosen]] = column.place
            if found.thresholds is not None:
                self.threshold[-1][at[chosen]] = found.thresholds
            if found.maps is not None:
                self.values[-1][at[chosen]] = self._keep(found.maps)
        inner = n_branches > 0
        self.first_child[-1][at[inner]] = first_child[inner] + self.n
        self.n_children[-1][at[inner]] = n_branches[inner]
        self.majority_branch[-1][at[inner]] = majority[inner]
        if surrogates is not None:
            for test in surrogates.splits:
                start = -1 if test.branches is None else int(self._keep(test.branches[None, :])[0])
                node = int(ids[test.node])
                self.surrogates.append((node, test.column, test.threshold, test.low, test.high, start))
        return self._grow(counts)

    def tree(self, classes: NDArray[Any], features: tuple[Feature, ...], missing: Missing) -> Tree:
        """All nodes as one immutable tree."""
        branches = np.concatenate(self.branches) if self.branches else np.empty(0, dtype=np.int32)
        return Tree(
            classes, features, missing, np.concatenate(self.column), np.concatenate(self.threshold),
            np.concatenate(self.first_child), np.concatenate(self.n_children), np.concatenate(self.values), branches,
            np.concatenate(self.majority_branch), np.concatenate(self.counts), self._surrogates(),
        )  # fmt: skip

    def _grow(self, counts: Array) -> Int64:
        n = len(counts)
        kids = np.arange(self.n, self.n + n)
        self._first.append(self.n)
        self.n += n
        self.counts.append(counts)
        self.column.append(_leaves(n))
        self.threshold.append(np.zeros(n))
        self.first_child.append(np.zeros(n, dtype=np.int32))
        self.n_children.append(np.zeros(n, dtype=np.int32))
        self.values.append(_nowhere(n))
        self.majority_branch.append(_leaves(n))
        return kids

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


def _leaves(n: int) -> Int32:
    return np.full(n, LEAF, dtype=np.int32)


def _nowhere(n: int) -> Int64:
    return np.full(n, -1, dtype=np.int64)
