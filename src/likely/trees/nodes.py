"""Nodes as they are grown, level after level, and the tree that they make."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.trees.columns import SearchColumn, Splits
from likely.trees.surrogates import Substitutes
from likely.trees.tree import LEAF, Feature, Missing, Surrogates, Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]


class NodeList:
    """Arrays of nodes that grow; nodes of a level stand side by side, in the order of their parents."""

    def __init__(self, root: Array) -> None:
        self.n = 1
        self.counts = [root]
        self.column: list[Ints] = [_leaves(1)]
        self.threshold: list[Array] = [np.zeros(1)]
        self.first_child: list[Ints] = [np.zeros(1, dtype=np.int32)]
        self.n_children: list[Ints] = [np.zeros(1, dtype=np.int32)]
        self.values: list[Order] = [_nowhere(1)]
        self.usual: list[Ints] = [_leaves(1)]
        self.branches: list[Ints] = []
        self.n_branches = 0
        self.stand_ins: list[tuple[int, int, float, int, int, int]] = []
        self._first = [0]

    def __len__(self) -> int:
        return self.n

    def add(
        self, ids: Order, tests: list[tuple[SearchColumn, Order, Splits]], first_child: Order, n_branches: Ints,
        usual: Ints, counts: Array, substitutes: Substitutes | None,
    ) -> Order:  # fmt: skip
        """Write the tests of a level into its nodes and put its children behind all nodes; their numbers."""
        at = ids - self._first[-1]
        for column, chosen, found in tests:
            self.column[-1][at[chosen]] = column.place
            if found.thresholds is not None:
                self.threshold[-1][at[chosen]] = found.thresholds
            if found.maps is not None:
                self.values[-1][at[chosen]] = self._keep(found.maps)
        inner = n_branches > 0
        self.first_child[-1][at[inner]] = first_child[inner] + self.n
        self.n_children[-1][at[inner]] = n_branches[inner]
        self.usual[-1][at[inner]] = usual[inner]
        if substitutes is not None:
            for test in substitutes.tests:
                start = -1 if test.branches is None else int(self._keep(test.branches[None, :])[0])
                node = int(ids[test.node])
                self.stand_ins.append((node, test.column, test.threshold, test.low, test.high, start))
        return self._grow(counts)

    def tree(self, classes: NDArray[Any], features: tuple[Feature, ...], missing: Missing) -> Tree:
        """All nodes as one immutable tree."""
        branches = np.concatenate(self.branches) if self.branches else np.empty(0, dtype=np.int32)
        return Tree(
            classes, features, missing, np.concatenate(self.column), np.concatenate(self.threshold),
            np.concatenate(self.first_child), np.concatenate(self.n_children), np.concatenate(self.values), branches,
            np.concatenate(self.usual), np.concatenate(self.counts), self._surrogates(),
        )  # fmt: skip

    def _grow(self, counts: Array) -> Order:
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
        self.usual.append(_leaves(n))
        return kids

    def _keep(self, maps: Ints) -> Order:
        """Put the branches of values behind those that are there; where each line begins."""
        starts = self.n_branches + np.arange(len(maps)) * maps.shape[1]
        self.branches.append(maps.ravel())
        self.n_branches += maps.size
        return np.asarray(starts)

    def _surrogates(self) -> Surrogates:
        if not self.stand_ins:
            return Surrogates.none(self.n)
        lines = sorted(self.stand_ins, key=lambda line: line[0])
        node, column, threshold, low, high, values = zip(*lines, strict=True)
        starts = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=self.n))]).astype(np.int64)
        as_ints = [np.array(cells, dtype=np.int32) for cells in (column, low, high)]
        return Surrogates(starts, as_ints[0], np.array(threshold), as_ints[1], as_ints[2], np.array(values, np.int64))


def _leaves(n: int) -> Ints:
    return np.full(n, LEAF, dtype=np.int32)


def _nowhere(n: int) -> Order:
    return np.full(n, -1, dtype=np.int64)
