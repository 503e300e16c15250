"""From one level of nodes to the next: cases are counted in their branches, and partitioned among the open children.

A case whose branch is not known goes, with `missing="weights"`, down all branches with a share of its weight: it is
copied, as C4.5's fractional instances. With surrogates it has been given a branch before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely import parallel
from likely.arrays import Array, Int32, Int64
from likely.models.tree.columns import HALF, LOWER, Cases, Level, Moves
from likely.models.tree.split_measures import TIE
from likely.parallel import Item, Result

MIN_PARALLEL_CASES = 1 << 13
"""Cases below which one thread is quicker than several: a column is done before another thread wakes up."""

NONE = np.empty(0, dtype=np.int64)


class TreeWorkers(parallel.WorkerPool):
    """Threads that stay for a whole tree, but are not woken up for a level that is soon done."""

    def each(self, task: Callable[[Item], Result], items: Sequence[Item], n_cases: int) -> list[Result]:
        """Results of `task` for every item, in the order of the items; each of them looks at so many cases."""
        return [task(item) for item in items] if n_cases < MIN_PARALLEL_CASES else self.do(task, items)


def is_largest(weights: Array, most: Array | float) -> NDArray[np.bool_]:
    """Which weights are the largest, but for rounding: relative, because from 2¹⁴ on n − 1e-12 is n itself."""
    return np.asarray(weights >= np.asarray(most) * (1.0 - TIE))


@dataclass(frozen=True, slots=True, eq=False)
class LevelPartition:
    """The tests of a level: how many branches each node has, its first child, and the branch of each case (−1: gap)."""

    n_branches: Int32
    first_child: Int64
    of_case: Int32

    @classmethod
    def of(cls, n_branches: Int32, of_case: Int32) -> LevelPartition:
        """Children stand in the order of their parents."""
        first_child = np.where(n_branches > 0, np.cumsum(n_branches) - n_branches, -1).astype(np.int64)
        return cls(n_branches, first_child, of_case)

    @property
    def parents(self) -> NDArray[np.intp]:
        """The node above each child."""
        return np.repeat(np.arange(len(self.n_branches)), self.n_branches)

    def child_counts(self, level: Level, workers: TreeWorkers) -> tuple[Array, Array, int]:
        """Class weights of the children by known branches, those of the gaps of each node, and how many gaps."""
        cases = level.cases
        counts, gaps = np.zeros((int(self.n_branches.sum()), level.counts.shape[1])), np.zeros_like(level.counts)

        def count(nodes: slice) -> int:
            starts = level.starts[nodes.start : nodes.stop + 1]
            return count_children(
                level.members, starts, self.of_case, self.first_child[nodes], level.labels, cases.weights, cases.unit,
                counts, gaps[nodes],
            )  # fmt: skip

        return counts, gaps, sum(workers.each(count, level.blocks(), len(level.members)))

    def majority_branches(self, known: Array) -> Int32:
        """The branch of each node that most cases take; the first of equals."""
        majority, inner = np.full(len(self.n_branches), -1, dtype=np.int32), np.flatnonzero(self.n_branches > 0)
        most = np.maximum.reduceat(known, self.first_child[inner])
        children = np.flatnonzero(is_largest(known, np.repeat(most, self.n_branches[inner])))[::-1]
        parents = self.parents[children]
        majority[parents] = children - self.first_child[parents]  # the first of equals is written last
        return majority


@dataclass(frozen=True, slots=True, eq=False)
class NextLevel:
    """Where the cases of a level are in the next one, and the moves that take columns there."""

    cases: Cases
    members: Int64
    labels: Int32
    moves: Moves


def partition_cases(
    level: Level, partition: LevelPartition, open_: NDArray[np.bool_], by_case: bool, workers: TreeWorkers
) -> NextLevel:
    """Every case to its child, if that is open; `by_case` says that there are columns that look cases up."""
    n_nodes = int(open_.sum())
    child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
    in_place, sizes = np.empty(len(level.members), dtype=np.int32), np.zeros(n_nodes, dtype=np.int64)
    blocks, n_members = level.blocks(), len(level.members)

    def divide(nodes: slice) -> None:
        own = level.starts[nodes.start : nodes.stop + 1]
        assign_children(
            level.members, own, partition.of_case, partition.first_child[nodes], child_places, in_place, sizes
        )

    def gather(nodes: slice) -> None:
        gather_members(in_place, level.starts[nodes.start], level.starts[nodes.stop], at, sources)

    for _ in workers.each(divide, blocks, n_members):
        pass
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at, sources = starts.copy(), np.empty(starts[-1], dtype=np.int32)
    for _ in workers.each(gather, blocks, n_members):
        pass
    members = np.take(level.members, sources)
    targets = NONE
    if by_case:
        targets = np.full(len(level.cases.rows), -1, dtype=np.int64)
        targets[level.members] = in_place
    return NextLevel(level.cases, members, np.take(level.labels, sources), Moves(targets, NONE, starts, sources))


def partition_fractional_cases(
    level: Level, partition: LevelPartition, open_: NDArray[np.bool_], shares: Array
) -> NextLevel:
    """The same where gaps go down all branches, each with the share of the known cases there."""
    n_nodes, n_cases = int(open_.sum()), len(level.cases.rows)
    child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
    where = (level.members, level.starts, partition.of_case, partition.first_child)
    n_copies = np.zeros(n_cases, dtype=np.int64)
    more = count_copies(*where, partition.n_branches, child_places, n_copies)
    copies = np.concatenate([[n_cases], n_cases + np.cumsum(n_copies)]).astype(np.int64)
    cases = _with_copies(level.cases, n_copies)
    targets = np.full(n_cases + more, -1, dtype=np.int64)
    assign_targets(*where, child_places, targets)
    spread_fractions(*where, partition.n_branches, child_places, shares, cases.weights, copies, targets)
    sizes = sizes_of(level.members, level.starts, targets, copies, n_nodes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.empty(starts[-1], dtype=np.int64)
    move(level.members, level.starts, targets, copies, starts, members)
    return NextLevel(cases, members, cases.labels[members], Moves(targets, copies, starts, None))


def _with_copies(cases: Cases, n_copies: Int64) -> Cases:
    """Room for copies of cases that go several ways; their weights are filled in later."""
    rows = np.concatenate([cases.rows, np.repeat(cases.rows, n_copies)])
    labels = np.concatenate([cases.labels, np.repeat(cases.labels, n_copies)])
    weights = np.concatenate([cases.weights, np.zeros(n_copies.sum())])
    return Cases(rows, labels, weights, unit=False)


@numba.njit(nogil=True, cache=True)
def count_children(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, labels: Int32, weights: Array, unit: bool,
    counts: Array, gaps: Array,
) -> int:  # fmt: skip
    """Class weights of every child from the cases whose branch is known, and those of every node's gaps.

    `labels` are in the order of `members`.
    """
    n_gaps = 0
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            branch, weight = branches[case], 1.0 if unit else weights[case]
            if branch < 0:
                gaps[node, labels[i]] += weight
                n_gaps += 1
            else:
                counts[first_child[node] + branch, labels[i]] += weight
    return n_gaps


@numba.njit(nogil=True, cache=True)
def assign_children(
    members: Int64,
    starts: Int64,
    branches: Int32,
    first_child: Int64,
    child_places: Int64,
    in_place: Int32,
    sizes: Int64,
) -> None:
    """The node of the next level for each member, −1 where its branch is finished, and how many each node gets."""
    for node in range(len(starts) - 1):
        first = first_child[node]
        for i in range(starts[node], starts[node + 1]):
            child = np.int64(-1) if first < 0 else child_places[first + branches[members[i]]]
            in_place[i] = child
            if child >= 0:
                sizes[child] += 1


@numba.njit(nogil=True, cache=True)
def gather_members(in_place: Int32, first: int, last: int, at: Int64, sources: Int32) -> None:
    """The places that members of the next level had in this one, in their order; `at` is where a node begins."""
    for i in range(first, last):
        node = in_place[i]
        if node >= 0:
            sources[at[node]] = i
            at[node] += 1


@numba.njit(nogil=True, cache=True)
def assign_targets(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, child_places: Int64, targets: Int64
) -> None:
    """The node of the next level to which each case goes, −1 where its branch is finished."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if first_child[node] < 0 or branches[case] < 0:
                targets[case] = -1
            else:
                targets[case] = child_places[first_child[node] + branches[case]]


@numba.njit(nogil=True, cache=True)
def count_copies(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, n_children: Int32, child_places: Int64,
    n_copies: Int64,
) -> int:  # fmt: skip
    """How often a case with a gap has to be copied: it goes to all branches that are not finished."""
    total = 0
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        wanted = -1
        for b in range(n_children[node]):
            if child_places[first_child[node] + b] >= 0:
                wanted += 1
        if wanted <= 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if branches[case] < 0:
                n_copies[case] = wanted
                total += wanted
    return total


@numba.njit(nogil=True, cache=True)
def spread_fractions(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, n_children: Int32, child_places: Int64,
    shares: Array, weights: Array, copies: Int64, targets: Int64,
) -> None:  # fmt: skip
    """Send each case with a gap to all branches, with its share of the weight; `copies` says where copies begin."""
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if branches[case] >= 0:
                continue
            whole, used, copy = weights[case], False, copies[case]
            for b in range(n_children[node]):
                child = first_child[node] + b
                if child_places[child] < 0:
                    continue
                if not used:
                    used = True
                    targets[case], weights[case] = child_places[child], whole * shares[child]
                else:
                    targets[copy], weights[copy] = child_places[child], whole * shares[child]
                    copy += 1


@numba.njit(nogil=True, cache=True)
def sizes_of(order: Int64, starts: Int64, targets: Int64, copies: Int64, n_nodes: int) -> Int64:
    """How many cases of an order each node of the next level gets."""
    found = np.zeros(n_nodes, dtype=np.int64)
    for i in range(starts[0], starts[-1]):
        case = order[i] & LOWER
        if targets[case] >= 0:
            found[targets[case]] += 1
        if len(copies):
            for copy in range(copies[case], copies[case + 1]):
                found[targets[copy]] += 1
    return found


@numba.njit(nogil=True, cache=True)
def move(order: Int64, starts: Int64, targets: Int64, copies: Int64, new_starts: Int64, out: Int64) -> None:
    """The order of the next level: the cases of each node stay in their order, copies beside their originals."""
    at = new_starts.copy()
    for i in range(starts[0], starts[-1]):
        case = order[i] & LOWER
        node = targets[case]
        if node >= 0:
            out[at[node]] = order[i]
            at[node] += 1
        if len(copies):
            rank = order[i] >> HALF
            for copy in range(copies[case], copies[case + 1]):
                node = targets[copy]
                out[at[node]] = rank << HALF | copy
                at[node] += 1
