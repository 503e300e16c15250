"""Replacing a subtree by its largest branch: the test at its top goes, and all of its cases go down that branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.descending import branches_of
from likely.trees.pruning.subtrees import SLACK, replaced
from likely.trees.reading import Rows, flat_of
from likely.trees.tree import Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

Estimate = Callable[[Array, Array], Array]
"""Errors that leaves with so many cases and so many errors are charged with."""


def raised(tree: Tree, rows: Rows, labels: Ints, weights: Array | None, estimate: Estimate) -> Tree:
    """Prune by an estimate of errors, where a subtree may become a leaf or its largest branch, whichever is best.

    From the leaves up, on the cases that the tree grew from: a branch that takes the place of its subtree gets all of
    its cases and is then pruned anew. A leaf is preferred to a branch, and a branch to the whole subtree.
    """
    everything = slice(0, rows.n_rows)
    numbers, codes = rows.block(everything)
    own = np.ones(rows.n_rows) if weights is None else weights
    work = _Raising(tree, numbers, codes, labels, estimate, tree.is_leaf.copy())
    work.settle(0, _Share(np.arange(rows.n_rows), own))
    found = replaced(tree, work.instead, work.ends)
    return found.with_counts(Rows(found, rows.numbers, rows.codes, rows.n_rows, rows.n_jobs).counts(labels, weights))


@dataclass(frozen=True, slots=True, eq=False)
class _Share:
    """Rows, each with the part of its weight that is here."""

    rows: NDArray[np.intp]
    weights: Array


@dataclass(slots=True, eq=False)
class _Raising:
    """Which nodes have become leaves, and which stand in the place of others; numbers are those of the first tree."""

    tree: Tree
    numbers: Array
    codes: Ints
    labels: Ints
    estimate: Estimate
    ends: NDArray[np.bool_]
    instead: dict[int, int] = field(default_factory=dict)

    def settle(self, node: int, share: _Share) -> float:
        """Prune what is below a node; the errors that it is then charged with."""
        node = self._stands(node)
        if self.ends[node]:
            return self._as_leaf(share)
        parts = self._parts(node, share)
        below = sum(self.settle(child, part) for child, part in parts)
        as_leaf = self._as_leaf(share)
        largest = int(np.argmax([part.weights.sum() for _, part in parts]))
        branch = parts[largest][0]
        as_branch = self._charged(branch, share)
        if as_leaf <= min(below, as_branch) * (1.0 + SLACK):
            self.ends[node] = True
            return as_leaf
        if as_branch <= below * (1.0 + SLACK):
            self.instead[node] = branch
            return self.settle(branch, share)
        return below

    def _charged(self, node: int, share: _Share) -> float:
        """What a subtree would be charged with for these cases, as it is now."""
        node = self._stands(node)
        if self.ends[node]:
            return self._as_leaf(share)
        return sum(self._charged(child, part) for child, part in self._parts(node, share))

    def _stands(self, node: int) -> int:
        while node in self.instead:
            node = self.instead[node]
        return node

    def _as_leaf(self, share: _Share) -> float:
        counts = np.bincount(self.labels[share.rows], share.weights, len(self.tree.classes))
        n = counts.sum()
        return float(self.estimate(np.array([n]), np.array([n - counts.max()]))[0])

    def _parts(self, node: int, share: _Share) -> list[tuple[int, _Share]]:
        """The cases of each child; a gap is shared out as the tree does it."""
        found = np.empty(len(share.rows), dtype=np.int32)
        stand_ins = self.tree.missing == "surrogates"
        branches_of(flat_of(self.tree), stand_ins, node, self.numbers, self.codes, share.rows, found)
        children = self.tree.children(node)
        sizes = self.tree.sizes[children.start : children.stop]
        parts = []
        for branch, child in enumerate(children):
            factor = np.where(found < 0, sizes[branch] / sizes.sum(), 1.0)
            here = (found == branch) | (found < 0)
            parts.append((child, _Share(share.rows[here], (share.weights * factor)[here])))
        return parts
