"""Growing a tree from the root down, all nodes of a level at once, columns side by side.

At every node each column offers its best test, and the column whose test has the best value wins; of equals the first.
The value is the measure among the cases in which the column is known, times their share of all cases. A node stays a
leaf if its cases are of one class, if no test tells anything, or if no test leaves enough cases in two branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.threads import side_by_side
from likely.trees.columns import Cases, Level, Moves, Rule, SearchColumn, Splits
from likely.trees.kernels import moving
from likely.trees.kernels.measuring import GAIN, NOTHING, TIE
from likely.trees.nodes import NodeList
from likely.trees.restraint import restrained
from likely.trees.surrogates import Substitutes, find_substitutes
from likely.trees.tree import Feature, Missing, Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]
Places = NDArray[np.intp]

WORTH_THREADS = 1 << 13
"""Cases of a level below which one thread is quicker than several: a column is done before another thread wakes up."""

NO_COPIES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where growing ends, and how gaps are treated."""

    max_depth: int | None = None
    missing: Missing = "weights"
    reuse_nominal: bool = False


@dataclass(slots=True, eq=False)
class Growth:
    """A tree that is being grown."""

    classes: NDArray[Any]
    features: tuple[Feature, ...]
    columns: Sequence[SearchColumn]
    rule: Rule
    limits: Limits
    n_jobs: int | None
    nodes: NodeList = field(init=False)
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
        if not self._is_open(counts, 0)[0]:
            level, ids = self._nothing(level), ids[:0]
        while len(level):
            level, ids = self._next(level, ids)
            self.depth += 1
        return self.nodes.tree(self.classes, self.features, self.limits.missing)

    def _next(self, level: Level, ids: Order) -> tuple[Level, Order]:
        jobs = self.n_jobs if len(level.members) >= WORTH_THREADS else 1
        winners = self._winners(level, jobs)
        branches = np.full(len(level.cases.rows), -1, dtype=np.int32)
        n_branches = np.zeros(len(level), dtype=np.int32)
        tests: list[tuple[SearchColumn, Order, Splits]] = []
        for position in np.unique(winners[winners >= 0]):
            chosen = np.flatnonzero(winners == position)
            column = self.columns[position]
            found = column.split(level, self.rule, chosen, branches)
            n_branches[chosen] = found.n_branches
            tests.append((column, chosen, found))
        if not tests:
            return self._nothing(level), ids[:0]
        first_child = np.where(n_branches > 0, np.cumsum(n_branches) - n_branches, -1).astype(np.int64)
        counts, usual, substitutes, shares = self._share_out(level, winners, branches, n_branches, first_child, jobs)
        kids = self.nodes.add(ids, tests, first_child, n_branches, usual, counts, substitutes)
        open_ = self._is_open(counts, self.depth + 1)
        new_used = self._used(level, tests, n_branches)
        return self._move(level, branches, n_branches, first_child, counts, shares, open_, new_used, jobs), kids[open_]

    def _winners(self, level: Level, jobs: int | None) -> Places:
        """The place of the column that each node tests, −1 for none."""
        best, winners = np.zeros(len(level)), np.full(len(level), -1)
        judged: Iterable[Array]
        if self.rule.restrained and self.columns:
            judged = self._restrained(level, jobs)
        else:
            judged = side_by_side(lambda column: column.judge(level, self.rule), self.columns, jobs)
        for position, scores in enumerate(judged):
            better = scores > best * (1.0 + TIE)
            best[better], winners[better] = scores[better], position
        return winners

    def _restrained(self, level: Level, jobs: int | None) -> Array:
        by_gain = replace(self.rule, measure=GAIN)

        def both(column: SearchColumn) -> tuple[Array, Array]:
            gains = column.judge(level, by_gain)
            return gains, column.ratios(level, self.rule, gains)

        judged = list(side_by_side(both, self.columns, jobs))
        return restrained(np.array([gains for gains, _ in judged]), np.array([ratios for _, ratios in judged]))

    def _share_out(
        self, level: Level, winners: Places, branches: Ints, n_branches: Ints, first_child: Order, jobs: int | None
    ) -> tuple[Array, Ints, Substitutes | None, Array]:
        """Class weights of the children, the usual branch of each node, stand-ins, and each child's share of gaps."""
        cases, n_children = level.cases, int(n_branches.sum())
        counts, gaps = np.zeros((n_children, len(self.classes))), np.zeros_like(level.counts)
        counted = (level.members, level.starts, branches, first_child, level.labels, cases.weights, cases.unit)
        n_gaps = moving.count(*counted, counts, gaps)
        known = counts.sum(axis=1)
        parents = np.repeat(np.arange(len(level)), n_branches)
        shares = known / np.bincount(parents, known, len(level))[parents]
        usual = _first_largest(known, first_child, n_branches)
        if self.limits.missing == "weights":
            if n_gaps:
                counts += gaps[parents] * shares[:, None]
            return counts, usual, None, shares
        found = find_substitutes(self.columns, level, winners, branches, n_branches, usual, jobs)
        if n_gaps:
            found.send(self.columns, level, branches, n_branches, usual)
            counts[:] = 0.0
            moving.count(*counted, counts, gaps)
        return counts, usual, found, shares

    def _move(
        self, level: Level, branches: Ints, n_branches: Ints, first_child: Order, counts: Array, shares: Array,
        open_: NDArray[np.bool_], used: NDArray[np.uint8], jobs: int | None,
    ) -> Level:  # fmt: skip
        """The open children as a level, and every case in its new node."""
        n_nodes = int(open_.sum())
        if not n_nodes:
            return self._nothing(level)
        child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
        cases, copies, n_cases = level.cases, NO_COPIES, len(level.cases.rows)
        ways = (level.members, level.starts, branches, first_child)
        targets = np.full(n_cases, -1, dtype=np.int64)
        moving.place(*ways, child_places, targets)
        n_copies = np.zeros(n_cases, dtype=np.int64)
        has_gaps = self.limits.missing == "weights" and bool((branches[level.members] < 0).any())
        if has_gaps:
            more = moving.count_copies(*ways, n_branches, child_places, n_copies)
            copies = np.concatenate([[n_cases], n_cases + np.cumsum(n_copies)]).astype(np.int64)
            cases = _with_copies(cases, n_copies)
            targets = np.concatenate([targets, np.full(more, -1, dtype=np.int64)])
            moving.spread(*ways, n_branches, child_places, shares, cases.weights, copies, targets)
        sizes = moving.sizes_of(level.members, level.starts, targets, copies, n_nodes)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        members = np.empty(starts[-1], dtype=np.int64)
        moving.move(level.members, level.starts, targets, copies, starts, members)
        moves = Moves(targets, copies, starts, targets[level.members].astype(np.int32), level.starts)
        for _ in side_by_side(lambda column: column.move(moves), self.columns, jobs):
            pass
        labels = cases.labels[members]
        return Level(cases, members, starts, counts[open_], counts[open_].sum(axis=1), used[open_], labels)

    def _used(
        self, level: Level, tests: list[tuple[SearchColumn, Order, Splits]], n_branches: Ints
    ) -> NDArray[np.uint8]:
        """Nominal columns that may not be tested any more below each child."""
        used = level.used.copy()
        for column, chosen, found in tests:
            if found.maps is not None and not self.limits.reuse_nominal:
                used[chosen, column.place] = 1
        return np.repeat(used, n_branches, axis=0)

    def _is_open(self, counts: Array, depth: int) -> NDArray[np.bool_]:
        """Whether a node may be split: not too deep, enough cases, and of more than one class."""
        sizes = counts.sum(axis=1)
        mixed = sizes - counts.max(axis=1) > NOTHING
        if self.limits.max_depth is not None and depth >= self.limits.max_depth:
            return np.zeros(len(counts), dtype=np.bool_)
        return np.asarray(mixed & (sizes >= 2.0 * self.rule.min_cases - NOTHING))

    def _nothing(self, level: Level) -> Level:
        none = np.empty(0, dtype=np.int64)
        starts, rest = (
            np.zeros(1, dtype=np.int64),
            (level.counts[:0], level.sizes[:0], level.used[:0], level.labels[:0]),
        )
        return Level(level.cases, none, starts, *rest)


def _first_largest(known: Array, first_child: Order, n_branches: Ints) -> Ints:
    """The branch of each node that most cases take; the first of equals."""
    usual, inner = np.full(len(n_branches), -1, dtype=np.int32), np.flatnonzero(n_branches > 0)
    parents = np.repeat(np.arange(len(n_branches)), n_branches)
    most = np.maximum.reduceat(known, first_child[inner])
    children = np.flatnonzero(known > np.repeat(most, n_branches[inner]) - NOTHING)[::-1]
    usual[parents[children]] = children - first_child[parents[children]]  # the first of equals is written last
    return usual


def _with_copies(cases: Cases, n_copies: Order) -> Cases:
    """Room for copies of cases that go several ways; their weights are filled in later."""
    rows = np.concatenate([cases.rows, np.repeat(cases.rows, n_copies)])
    labels = np.concatenate([cases.labels, np.repeat(cases.labels, n_copies)])
    weights = np.concatenate([cases.weights, np.zeros(n_copies.sum())])
    return Cases(rows, labels, weights, unit=False)
