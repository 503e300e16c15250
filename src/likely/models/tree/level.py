"""The level of nodes that is being grown: its cases, what columns are asked about it, and the way to the next one.

A case whose branch is not known goes, with `missing="weights"`, down all branches with a share of its weight, as C4.5's
fractional instances. With surrogates it has been given a branch before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np

from likely import parallel
from likely.arrays import AnyArray, Array, Flags, Index, Int32, Int64, UInt8
from likely.jit import kernel
from likely.models.tree.split_measures import TIE, ZERO_WEIGHT
from likely.numerics import refuse_many
from likely.parallel import Item, Result

MIN_PARALLEL_CASES = 1 << 13
"""Cases below which one thread is quicker than several: a column is done before another thread wakes up."""

FEW_WORKERS = 4
"""Up to so many threads a column is moved and scored by one of them, in whose cache it is."""

CHUNK_CASES = 1 << 14
"""Cases of a level that a thread counts or moves at once, of a large node or of many small ones."""

HALF = 32
LOWER = (1 << HALF) - 1
"""Two places in one number: one in its upper half, another in its lower half."""

NOWHERE = np.empty(0, dtype=np.int32)


class TreeWorkers(parallel.WorkerPool):
    """Threads for a whole tree, which are not woken up for a level that is soon done."""

    def each(self, task: Callable[[Item], Result], items: Sequence[Item], n_cases: int) -> list[Result]:
        """Results of `task` for every item, in the order of the items; each of them looks at `n_cases` cases."""
        return [task(item) for item in items] if n_cases < MIN_PARALLEL_CASES else self.do(task, items)

    def each_in_two(
        self, before: Callable[[Item], None], task: Callable[[Item], Result], items: Sequence[Item], n_cases: int
    ) -> list[Result]:
        """The same, with something to be done before to every item.

        Many threads take both apart: twenty columns are soon done by sixteen threads if they can be divided.
        """
        n, done = len(items), [Event() for _ in items]

        def both(item: Item) -> Result:
            before(item)
            return task(item)

        def half(k: int) -> list[Result]:
            if k >= n:  # what comes before has begun, for tasks are taken in their order
                done[k - n].wait()
                return [task(items[k - n])]
            try:
                before(items[k])
            finally:
                done[k].set()
            return []

        if self.size <= FEW_WORKERS or n_cases < MIN_PARALLEL_CASES:
            return self.each(both, items, n_cases)
        return [result for found in self.do(half, range(2 * n)) for result in found]


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


class Chunk(NamedTuple):
    """Cases from `first` to `last`, which lie in the nodes from `first_node` up to `last_node`."""

    first: int
    last: int
    first_node: int
    last_node: int


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

    def chunks(self) -> list[Chunk]:
        """Neighbouring cases, cut by their number alone: work for threads."""
        firsts = np.arange(0, self.n_cases, CHUNK_CASES)
        lasts = np.minimum(firsts + CHUNK_CASES, self.n_cases)
        first_nodes = np.searchsorted(self.starts, firsts, side="right") - 1
        last_nodes = np.searchsorted(self.starts, lasts, side="left")
        found = zip(firsts.tolist(), lasts.tolist(), first_nodes.tolist(), last_nodes.tolist(), strict=True)
        return [Chunk(*chunk) for chunk in found]


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


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """The way to the next level: where each of its cases was in this one, and its `starts`.

    `targets` is where each case goes, and `copies` where the next copy of each case of the next level is: node and
    place, or −1. There are no copies where no case has a gap.
    """

    sources: Int32
    starts: Int64
    targets: Int64
    copies: Int64 | None


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
        n_classes, ends = level.counts.shape[1], np.concatenate([[0], np.cumsum(self.n_branches)])
        chunks = level.chunks()

        def count(chunk: Chunk) -> tuple[Array, Array, int]:
            base, end = ends[chunk.first_node], ends[chunk.last_node]
            counts = np.zeros((end - base, n_classes))
            gaps = np.zeros((chunk.last_node - chunk.first_node, n_classes))
            cases = level.starts, self.of_case, self.first_child, level.labels, level.weights
            return counts, gaps, count_children(chunk, *cases, base, counts, gaps)

        counts, gaps, n_gaps = np.zeros((ends[-1], n_classes)), np.zeros_like(level.counts), 0
        for chunk, found in zip(chunks, workers.each(count, chunks, level.n_cases), strict=True):
            counts[ends[chunk.first_node] : ends[chunk.last_node]] += found[0]
            gaps[chunk.first_node : chunk.last_node] += found[1]
            n_gaps += found[2]
        return counts, gaps, n_gaps

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
        opened = np.concatenate([[0], np.cumsum(open_)])  # how many open children come before each child
        ends, chunks = np.concatenate([[0], np.cumsum(self.n_branches)]), level.chunks()
        bounds = [(opened[ends[chunk.first_node]], opened[ends[chunk.last_node]]) for chunk in chunks]
        partition = level.starts, self.of_case, self.first_child, self.n_branches, child_places

        def count(k: int) -> Int64:
            sizes = np.zeros(bounds[k][1] - bounds[k][0], dtype=np.int64)
            count_cases(chunks[k], *partition, bounds[k][0], sizes)
            return sizes

        found, sizes = workers.each(count, range(len(chunks)), level.n_cases), np.zeros(int(opened[-1]), dtype=np.int64)
        begins = []
        for (first, last), more in zip(bounds, found, strict=True):
            begins.append(sizes[first:last].copy())
            sizes[first:last] += more
        starts = np.concatenate([[0], np.cumsum(sizes)])
        refuse_many(int(starts[-1]), "cases in a level of the tree, with those that gaps send to several branches")
        sources, rows, labels = (np.empty(starts[-1], dtype=np.int32) for _ in range(3))
        targets = np.empty(level.n_cases, dtype=np.int64)

        def move(k: int) -> None:
            first, last = bounds[k]
            at = starts[first:last] + begins[k]
            old = level.rows, level.labels
            distribute(chunks[k], *partition, first, at, *old, sources, rows, labels, targets)

        workers.each(move, range(len(chunks)), level.n_cases)
        weights = None if level.weights is None else level.weights[sources]
        if shares is not None:
            parts = np.where(self.of_case[sources] < 0, np.repeat(shares[open_], sizes), 1.0)
            weights = parts if weights is None else weights * parts
        counts = counts[open_]
        copies = None
        if shares is not None:
            targets[:], copies = -1, np.empty(len(sources), dtype=np.int64)
            link_copies(
                sources, np.repeat(np.arange(len(sizes)), sizes) << HALF | np.arange(len(sources)), targets, copies
            )
        moves = Moves(sources, starts, targets, copies)
        return Level(rows, labels, weights, starts, counts, counts.sum(axis=1), used[open_]), moves


@kernel(interpretable=True)
def count_children(
    chunk: Chunk, starts: Int64, branches: Int32, first_child: Int64,
    labels: Int32, weights: Array | None, base: int, counts: Array, gaps: Array,
) -> int:  # fmt: skip
    """Class weights of every child from the cases whose branch is known, and those of every node's gaps.

    Of the cases of a chunk; `counts` begins with the child `base`, `gaps` with the first node.
    """
    n_gaps = 0
    for node in range(chunk.first_node, chunk.last_node):
        if first_child[node] < 0:
            continue
        for i in range(max(starts[node], chunk.first), min(starts[node + 1], chunk.last)):
            weight = 1.0 if weights is None else weights[i]
            if branches[i] < 0:
                gaps[node - chunk.first_node, labels[i]] += weight
                n_gaps += 1
            else:
                counts[first_child[node] - base + branches[i], labels[i]] += weight
    return n_gaps


@kernel(interpretable=True)
def count_cases(
    chunk: Chunk, starts: Int64, branches: Int32, first_child: Int64,
    n_children: Int32, child_places: Int64, base: int, sizes: Int64,
) -> None:  # fmt: skip
    """How many of some cases come to each open child, from the open child `base` on; a gap comes to all of a node."""
    for node in range(chunk.first_node, chunk.last_node):
        if first_child[node] < 0:
            continue
        for i in range(max(starts[node], chunk.first), min(starts[node + 1], chunk.last)):
            low, high = first_child[node], first_child[node] + n_children[node]
            if branches[i] >= 0:
                low += branches[i]
                high = low + 1
            for child in range(low, high):
                if child_places[child] >= 0:
                    sizes[child_places[child] - base] += 1


@kernel(interpretable=True)
def distribute(
    chunk: Chunk, starts: Int64, branches: Int32, first_child: Int64,
    n_children: Int32, child_places: Int64, base: int, at: Int64, old_rows: Int32, old_labels: Int32, sources: Int32,
    rows: Int32, labels: Int32, targets: Int64,
) -> None:  # fmt: skip
    """Write every case behind those that its open child has had so far, one with a gap behind those of each of them.

    `at` is where the next case of each open child belongs, from the open child `base` on; `targets` gets the child and
    the place of each case, −1 where its child is not open.
    """
    for node in range(chunk.first_node, chunk.last_node):
        begin, end = max(starts[node], chunk.first), min(starts[node + 1], chunk.last)
        targets[begin:end] = -1
        if first_child[node] < 0:
            continue
        for i in range(begin, end):
            low, high = first_child[node], first_child[node] + n_children[node]
            if branches[i] >= 0:
                low += branches[i]
                high = low + 1
            for child in range(low, high):
                place = child_places[child]
                if place >= 0:
                    to = at[place - base]
                    sources[to], rows[to], labels[to] = i, old_rows[i], old_labels[i]
                    targets[i] = place << HALF | to
                    at[place - base] = to + 1


@kernel(interpretable=True)
def link_copies(sources: Int32, places: Int64, targets: Int64, copies: Int64) -> None:
    """Lead from every case to its first copy, and from copy to copy."""
    for k in range(len(sources) - 1, -1, -1):
        copies[k] = targets[sources[k]]
        targets[sources[k]] = places[k]


@kernel(interpretable=True)
def rearrange(codes: AnyArray, sources: Int32, out: AnyArray) -> None:
    """Codes in another order: several times as fast as by NumPy, which widens the places first."""
    for i in range(len(sources)):
        out[i] = codes[np.uint32(sources[i])]
