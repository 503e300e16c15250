"""The level of nodes that is being grown: its cases, what columns are asked about it, and the way to the next one.

A case whose branch is not known goes, with `missing="weights"`, down all branches with a share of its weight, as C4.5's
fractional instances. With surrogates it has been given a branch before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from likely import parallel
from likely.arrays import AnyArray, Array, Flags, Index, Int32, Int64, UInt8
from likely.jit import kernel
from likely.models.tree.split_measures import TIE, ZERO_WEIGHT
from likely.numerics import refuse_many
from likely.parallel import Item, Result

MIN_PARALLEL_CASES = 1 << 13
"""Cases below which one thread is quicker than several: a column is done before another thread wakes up."""

MOST_BLOCKS = 2

HALF = 32
LOWER = (1 << HALF) - 1
"""Two places in one number: one in its upper half, another in its lower half."""

NOWHERE = np.empty(0, dtype=np.int32)


class TreeWorkers(parallel.WorkerPool):
    """Threads for a whole tree, which are not woken up for a level that is soon done."""

    def each(self, task: Callable[[Item], Result], items: Sequence[Item], n_cases: int) -> list[Result]:
        """Results of `task` for every item, in the order of the items; each of them looks at `n_cases` cases."""
        return [task(item) for item in items] if n_cases < MIN_PARALLEL_CASES else self.do(task, items)


@dataclass(frozen=True, slots=True, eq=False)
class SplitCriterion:
    """How splits are judged: the number of the measure, its table of logarithms, and how small a branch may be.

    `logs` is None for a measure without logarithms. `restrained` is for gain ratio: cuts by gain, columns with at least
    average gain.
    """

    measure: int
    logs: Array | None
    min_cases: float
    mode: int
    restrained: bool = False

    def least(self, weights: Array | None) -> float:
        """What either side of a cut has to weigh: a whole number if every case weighs 1."""
        if weights is None:
            return max(int(np.ceil(self.min_cases - TIE)), 1)
        return max(self.min_cases - ZERO_WEIGHT, ZERO_WEIGHT)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Nodes that may still be split, and their cases, node after node: those of one lie between two `starts`.

    A case is a row, or after a gap a part of one; `weights` is None where every case weighs 1. `sizes` are what the
    nodes weigh, `counts` the same by class; `used` says which columns were used up above a node.
    """

    rows: Int32
    labels: Int32
    weights: Array | None
    starts: Int64
    counts: Array
    sizes: Array
    used: UInt8

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_cases(self) -> int:
        """How many cases there are in all nodes."""
        return len(self.rows)

    def tally(self, *shape: int) -> AnyArray:
        """Zeros to count cases in: whole numbers where every case weighs 1."""
        return np.zeros(shape, dtype=np.int64 if self.weights is None else np.float64)

    def blocks(self) -> list[slice]:
        """Neighbouring nodes with about as many cases as other blocks have: work for threads."""
        wanted = np.linspace(0, self.starts[-1], MOST_BLOCKS + 1)
        ends = np.unique(np.searchsorted(self.starts, wanted)).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Tests on one column in some nodes: thresholds, or the branch of every value; and how many branches there are."""

    n_branches: Int32
    thresholds: Array | None = None
    maps: Int32 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateScores:
    """How well a column tells the branch of another test, node by node, in weight; `low` and `high` for numbers."""

    gains: Array
    low: Int32 | None = None
    high: Int32 | None = None
    thresholds: Array | None = None

    def at(self, node: int) -> tuple[float, int, int]:
        """Threshold, branch below it and branch from it up, for numbers."""
        if self.thresholds is None or self.low is None or self.high is None:
            return 0.0, -1, -1
        return float(self.thresholds[node]), int(self.low[node]), int(self.high[node])


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateSplit:
    """A surrogate for the split of one node of a level; `branches` are those of the values of a nominal column."""

    node: int
    position: int
    column: int
    threshold: float
    low: int
    high: int
    branches: Int32


@dataclass(frozen=True, eq=False)
class Moves:
    """The way to the next level: where each of its cases was in this one, and its `starts`."""

    sources: Int32
    starts: Int64
    n_before: int
    has_copies: bool

    @cached_property
    def targets(self) -> tuple[Int64, Int64 | None]:
        """Where each case goes, and where the next copy of each case of the next level is: node and place, or −1."""
        targets, copies = np.full(self.n_before, -1), np.empty(len(self.sources) if self.has_copies else 0, np.int64)
        nodes = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        places = nodes << HALF | np.arange(len(self.sources))
        if not self.has_copies:
            targets[self.sources] = places
            return targets, None
        link_copies(self.sources, places, targets, copies)
        return targets, copies


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
    def parents(self) -> Index:
        """The node above each child."""
        return np.repeat(np.arange(len(self.n_branches)), self.n_branches)

    def child_counts(self, level: Level, workers: TreeWorkers) -> tuple[Array, Array, int]:
        """Class weights of the children by known branches, those of the gaps of each node, and how many gaps."""
        counts, gaps = np.zeros((int(self.n_branches.sum()), level.counts.shape[1])), np.zeros_like(level.counts)

        def count(nodes: slice) -> int:
            starts = level.starts[nodes.start : nodes.stop + 1]
            first = self.first_child[nodes]
            return count_children(starts, self.of_case, first, level.labels, level.weights, counts, gaps[nodes])

        return counts, gaps, sum(workers.each(count, level.blocks(), level.n_cases))

    def majority_branches(self, known: Array) -> Int32:
        """The branch of each node that most cases take; the first of equals."""
        majority, inner = np.full(len(self.n_branches), -1, dtype=np.int32), np.flatnonzero(self.n_branches > 0)
        most = np.repeat(np.maximum.reduceat(known, self.first_child[inner]), self.n_branches[inner])
        # Relative, because from 2¹⁴ on n − 1e-12 is n itself.
        children = np.flatnonzero(known >= most * (1.0 - TIE))[::-1]
        parents = self.parents[children]
        majority[parents] = children - self.first_child[parents]  # the first of equals is written last
        return majority

    def shares(self, known: Array) -> Array:
        """The part of its parent's known weight that each child has."""
        return np.asarray(known / np.bincount(self.parents, known, len(self.n_branches))[self.parents])

    def next_level(
        self, level: Level, open_: Flags, counts: Array, used: UInt8, shares: Array | None, workers: TreeWorkers
    ) -> tuple[Level, Moves]:
        """Every case to its child, if that is open; with `shares`, one with a gap to all children that are.

        `counts` and `used` are those of all children.
        """
        child_places = np.where(open_, np.cumsum(open_) - 1, -1)

        def divide(at: Int64, sources: Int32) -> None:
            def work(nodes: slice) -> None:
                starts = level.starts[nodes.start : nodes.stop + 1]
                some = self.first_child[nodes], self.n_branches[nodes]
                distribute(starts, self.of_case, *some, child_places, at, sources)

            workers.each(work, level.blocks(), level.n_cases)

        sizes = np.zeros(int(open_.sum()), dtype=np.int64)
        divide(sizes, NOWHERE)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        refuse_many(int(starts[-1]), "cases in a level of the tree, with those that gaps send to several branches")
        sources = np.empty(starts[-1], dtype=np.int32)
        divide(starts[:-1].copy(), sources)
        weights = None if level.weights is None else level.weights[sources]
        if shares is not None:
            parts = np.where(self.of_case[sources] < 0, np.repeat(shares[open_], sizes), 1.0)
            weights = parts if weights is None else weights * parts
        counts = counts[open_]
        cases = np.take(level.rows, sources), np.take(level.labels, sources), weights
        moves = Moves(sources, starts, level.n_cases, shares is not None)
        return Level(*cases, starts, counts, counts.sum(axis=1), used[open_]), moves


@kernel
def count_children(
    starts: Int64, branches: Int32, first_child: Int64, labels: Int32, weights: Array | None, counts: Array, gaps: Array
) -> int:
    """Class weights of every child from the cases whose branch is known, and those of every node's gaps."""
    n_gaps = 0
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            weight = 1.0 if weights is None else weights[i]
            if branches[i] < 0:
                gaps[node, labels[i]] += weight
                n_gaps += 1
            else:
                counts[first_child[node] + branches[i], labels[i]] += weight
    return n_gaps


@kernel
def distribute(
    starts: Int64, branches: Int32, first_child: Int64, n_children: Int32, child_places: Int64, at: Int64,
    sources: Int32,
) -> None:  # fmt: skip
    """Write every case behind those that its open child has had so far, one with a gap behind those of each of them.

    `at` is where the next case of each node of the next level belongs; without room in `sources`, cases are counted.
    """
    for node in range(len(starts) - 1):
        first = first_child[node]
        if first < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            low, high = first, first + n_children[node]
            if branches[i] >= 0:
                low = first + branches[i]
                high = low + 1
            for child in range(low, high):
                place = child_places[child]
                if place >= 0:
                    if len(sources):
                        sources[at[place]] = i
                    at[place] += 1


@kernel
def link_copies(sources: Int32, places: Int64, targets: Int64, copies: Int64) -> None:
    """Lead from every case to its first copy, and from copy to copy."""
    for k in range(len(sources) - 1, -1, -1):
        copies[k] = targets[sources[k]]
        targets[sources[k]] = places[k]


@kernel
def rearrange(codes: AnyArray, sources: Int32, out: AnyArray) -> None:
    """Codes in another order: several times as fast as by NumPy, which widens the places first."""
    for i in range(len(sources)):
        out[i] = codes[np.uint32(sources[i])]
