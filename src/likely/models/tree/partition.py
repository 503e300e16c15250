"""Who grows a tree: threads that stay, but are not woken up for a level that is soon done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely import parallel
from likely.arrays import Array, Int32, Int64
from likely.models.tree import kernels
from likely.models.tree.columns.protocol import Cases, Level, Moves
from likely.models.tree.split_measures import TIE
from likely.parallel import Item, Result

WORTH_THREADS = 1 << 13
"""Cases below which one thread is quicker than several: a column is done before another thread wakes up."""


class TreeWorkers(parallel.WorkerPool):
    """A crew that knows how much there is to do."""

    def each(self, task: Callable[[Item], Result], items: Sequence[Item], n_cases: int) -> list[Result]:
        """Results of `task` for every item, in the order of the items; each of them looks at so many cases."""
        return [task(item) for item in items] if n_cases < WORTH_THREADS else self.do(task, items)


# Cases on their way to the next level: into the branches of the tests, and from there into nodes that stay open.
#
# A case whose branch is not known goes, with `missing="weights"`, down all branches with a share of its weight: it is
# copied. With stand-ins it has been given a branch before.

NONE = np.empty(0, dtype=np.int64)


def is_most(weights: Array, most: Array | float) -> NDArray[np.bool_]:
    """Which weights are the largest, but for rounding: relative, because from 2¹⁴ on n − 1e-12 is n itself."""
    return np.asarray(weights >= np.asarray(most) * (1.0 - TIE))


@dataclass(frozen=True, slots=True, eq=False)
class Branching:
    """The tests of a level: how many branches each node has, its first child, and the branch of each case (−1: gap)."""

    n_branches: Int32
    first_child: Int64
    of_case: Int32

    @classmethod
    def of(cls, n_branches: Int32, of_case: Int32) -> Branching:
        """Children stand in the order of their parents."""
        first_child = np.where(n_branches > 0, np.cumsum(n_branches) - n_branches, -1).astype(np.int64)
        return cls(n_branches, first_child, of_case)

    @property
    def parents(self) -> NDArray[np.intp]:
        """The node above each child."""
        return np.repeat(np.arange(len(self.n_branches)), self.n_branches)

    def weigh(self, level: Level, crew: TreeWorkers) -> tuple[Array, Array, int]:
        """Class weights of the children by known branches, those of the gaps of each node, and how many gaps."""
        cases = level.cases
        counts, gaps = np.zeros((int(self.n_branches.sum()), level.counts.shape[1])), np.zeros_like(level.counts)

        def count(nodes: slice) -> int:
            starts = level.starts[nodes.start : nodes.stop + 1]
            return kernels.count(
                level.members, starts, self.of_case, self.first_child[nodes], level.labels, cases.weights, cases.unit,
                counts, gaps[nodes],
            )  # fmt: skip

        return counts, gaps, sum(crew.each(count, level.blocks(), len(level.members)))

    def usual(self, known: Array) -> Int32:
        """The branch of each node that most cases take; the first of equals."""
        usual, inner = np.full(len(self.n_branches), -1, dtype=np.int32), np.flatnonzero(self.n_branches > 0)
        most = np.maximum.reduceat(known, self.first_child[inner])
        children = np.flatnonzero(is_most(known, np.repeat(most, self.n_branches[inner])))[::-1]
        parents = self.parents[children]
        usual[parents] = children - self.first_child[parents]  # the first of equals is written last
        return usual


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Where the cases of a level are in the next one, and the moves that take columns there."""

    cases: Cases
    members: Int64
    labels: Int32
    moves: Moves


def pass_on(level: Level, ways: Branching, open_: NDArray[np.bool_], by_case: bool, crew: TreeWorkers) -> Passage:
    """Every case to its child, if that is open; `by_case` says that there are columns that look cases up."""
    n_nodes = int(open_.sum())
    child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
    in_place, sizes = np.empty(len(level.members), dtype=np.int32), np.zeros(n_nodes, dtype=np.int64)
    blocks, n_members = level.blocks(), len(level.members)

    def divide(nodes: slice) -> None:
        own = level.starts[nodes.start : nodes.stop + 1]
        kernels.divide(level.members, own, ways.of_case, ways.first_child[nodes], child_places, in_place, sizes)

    def gather(nodes: slice) -> None:
        kernels.gather(in_place, level.starts[nodes.start], level.starts[nodes.stop], at, sources)

    for _ in crew.each(divide, blocks, n_members):
        pass
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at, sources = starts.copy(), np.empty(starts[-1], dtype=np.int32)
    for _ in crew.each(gather, blocks, n_members):
        pass
    members = np.take(level.members, sources)
    targets = NONE
    if by_case:
        targets = np.full(len(level.cases.rows), -1, dtype=np.int64)
        targets[level.members] = in_place
    return Passage(level.cases, members, np.take(level.labels, sources), Moves(targets, NONE, starts, sources))


def share_out(level: Level, ways: Branching, open_: NDArray[np.bool_], shares: Array) -> Passage:
    """The same where gaps go down all branches, each with the share of the known cases there."""
    n_nodes, n_cases = int(open_.sum()), len(level.cases.rows)
    child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
    where = (level.members, level.starts, ways.of_case, ways.first_child)
    n_copies = np.zeros(n_cases, dtype=np.int64)
    more = kernels.count_copies(*where, ways.n_branches, child_places, n_copies)
    copies = np.concatenate([[n_cases], n_cases + np.cumsum(n_copies)]).astype(np.int64)
    cases = _with_copies(level.cases, n_copies)
    targets = np.full(n_cases + more, -1, dtype=np.int64)
    kernels.place(*where, child_places, targets)
    kernels.spread(*where, ways.n_branches, child_places, shares, cases.weights, copies, targets)
    sizes = kernels.sizes_of(level.members, level.starts, targets, copies, n_nodes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.empty(starts[-1], dtype=np.int64)
    kernels.move(level.members, level.starts, targets, copies, starts, members)
    return Passage(cases, members, cases.labels[members], Moves(targets, copies, starts, None))


def _with_copies(cases: Cases, n_copies: Int64) -> Cases:
    """Room for copies of cases that go several ways; their weights are filled in later."""
    rows = np.concatenate([cases.rows, np.repeat(cases.rows, n_copies)])
    labels = np.concatenate([cases.labels, np.repeat(cases.labels, n_copies)])
    weights = np.concatenate([cases.weights, np.zeros(n_copies.sum())])
    return Cases(rows, labels, weights, unit=False)
