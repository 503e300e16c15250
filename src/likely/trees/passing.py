"""Cases on their way to the next level: into the branches of the tests, and from there into nodes that stay open.

A case whose branch is not known goes, with `missing="weights"`, down all branches with a share of its weight: it is
copied. With stand-ins it has been given a branch before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.trees.columns import Cases, Level, Moves
from likely.trees.crew import Crew
from likely.trees.kernels import moving
from likely.trees.kernels.measuring import TIE

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

NONE = np.empty(0, dtype=np.int64)


def is_most(weights: Array, most: Array | float) -> NDArray[np.bool_]:
    """Which weights are the largest, but for rounding: relative, because from 2¹⁴ on n − 1e-12 is n itself."""
    return np.asarray(weights >= np.asarray(most) * (1.0 - TIE))


@dataclass(frozen=True, slots=True, eq=False)
class Branching:
    """The tests of a level: how many branches each node has, its first child, and the branch of each case (−1: gap)."""

    n_branches: Ints
    first_child: Order
    of_case: Ints

    @classmethod
    def of(cls, n_branches: Ints, of_case: Ints) -> Branching:
        """Children stand in the order of their parents."""
        first_child = np.where(n_branches > 0, np.cumsum(n_branches) - n_branches, -1).astype(np.int64)
        return cls(n_branches, first_child, of_case)

    @property
    def parents(self) -> NDArray[np.intp]:
        """The node above each child."""
        return np.repeat(np.arange(len(self.n_branches)), self.n_branches)

    def weigh(self, level: Level, crew: Crew) -> tuple[Array, Array, int]:
        """Class weights of the children by known branches, those of the gaps of each node, and how many gaps."""
        cases = level.cases
        counts, gaps = np.zeros((int(self.n_branches.sum()), level.counts.shape[1])), np.zeros_like(level.counts)

        def count(nodes: slice) -> int:
            starts = level.starts[nodes.start : nodes.stop + 1]
            return moving.count(
                level.members, starts, self.of_case, self.first_child[nodes], level.labels, cases.weights, cases.unit,
                counts, gaps[nodes],
            )  # fmt: skip

        return counts, gaps, sum(crew.each(count, level.blocks(), len(level.members)))

    def usual(self, known: Array) -> Ints:
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
    members: Order
    labels: Ints
    moves: Moves


def pass_on(level: Level, ways: Branching, open_: NDArray[np.bool_], by_case: bool, crew: Crew) -> Passage:
    """Every case to its child, if that is open; `by_case` says that there are columns that look cases up."""
    n_nodes = int(open_.sum())
    child_places = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int64)
    in_place, sizes = np.empty(len(level.members), dtype=np.int32), np.zeros(n_nodes, dtype=np.int64)
    blocks, n_members = level.blocks(), len(level.members)

    def divide(nodes: slice) -> None:
        own = level.starts[nodes.start : nodes.stop + 1]
        moving.divide(level.members, own, ways.of_case, ways.first_child[nodes], child_places, in_place, sizes)

    def gather(nodes: slice) -> None:
        moving.gather(in_place, level.starts[nodes.start], level.starts[nodes.stop], at, sources)

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
    more = moving.count_copies(*where, ways.n_branches, child_places, n_copies)
    copies = np.concatenate([[n_cases], n_cases + np.cumsum(n_copies)]).astype(np.int64)
    cases = _with_copies(level.cases, n_copies)
    targets = np.full(n_cases + more, -1, dtype=np.int64)
    moving.place(*where, child_places, targets)
    moving.spread(*where, ways.n_branches, child_places, shares, cases.weights, copies, targets)
    sizes = moving.sizes_of(level.members, level.starts, targets, copies, n_nodes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.empty(starts[-1], dtype=np.int64)
    moving.move(level.members, level.starts, targets, copies, starts, members)
    return Passage(cases, members, cases.labels[members], Moves(targets, copies, starts, None))


def _with_copies(cases: Cases, n_copies: Order) -> Cases:
    """Room for copies of cases that go several ways; their weights are filled in later."""
    rows = np.concatenate([cases.rows, np.repeat(cases.rows, n_copies)])
    labels = np.concatenate([cases.labels, np.repeat(cases.labels, n_copies)])
    weights = np.concatenate([cases.weights, np.zeros(n_copies.sum())])
    return Cases(rows, labels, weights, unit=False)
