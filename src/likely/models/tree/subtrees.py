"""Subtree replacement and subtree raising: a tree without some of its subtrees, or with a branch in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64
from likely.jit import kernel
from likely.models.tree.predict import TreeRows, branches_of, flatten
from likely.models.tree.tree import LEAF, Surrogates, Tree

SLACK = 1e-6
"""A leaf is preferred even if it is worse by less than this share: rounding must not keep a subtree."""

Estimate = Callable[[Array, Array], Array]
"""Errors that leaves are charged with, from their cases and the errors they make."""


def collapse_tree(tree: Tree) -> Tree:
    """A node stays a leaf where its subtree makes no fewer errors on the training cases."""
    return replace_costly_subtrees(tree, tree.errors)


def replace_costly_subtrees(tree: Tree, leaf_costs: Array, split_costs: Array | None = None) -> Tree:
    """Replace, from the leaves up, every subtree that costs no less than a leaf in its place."""
    costs, ends = leaf_costs.copy(), tree.is_leaf.copy()
    own = np.zeros(len(tree)) if split_costs is None else split_costs
    _replace_from_below(tree.first_child, tree.n_children, leaf_costs, own, costs, ends)
    return with_leaves_at(tree, ends)


@kernel(interpretable=True)
def _replace_from_below(
    first_child: Int32, n_children: Int32, leaf_costs: Array, own: Array, costs: Array, ends: Flags
) -> None:
    for node in range(len(costs) - 1, -1, -1):
        if n_children[node] == 0:
            continue
        below = own[node]
        for child in range(first_child[node], first_child[node] + n_children[node]):
            below += costs[child]
        if leaf_costs[node] <= below * (1.0 + SLACK):
            ends[node] = True
        else:
            costs[node] = below


def with_leaves_at(tree: Tree, ends: Flags) -> Tree:
    """The tree in which these nodes are leaves; what was below them is gone."""
    kept = reachable(tree.parent, ends)
    if kept.all() and bool((ends == tree.is_leaf).all()):
        return tree
    return reindexed(tree, np.flatnonzero(kept), ends)


@kernel(interpretable=True)
def reachable(parent: Int32, ends: Flags) -> Flags:
    """The nodes that are left when these are leaves."""
    kept = np.ones(len(parent), dtype=np.bool_)
    for node in range(1, len(parent)):
        kept[node] = kept[parent[node]] and not ends[parent[node]]
    return kept


def reindexed(tree: Tree, order: Index, ends: Flags) -> Tree:
    """The nodes of `order`, which are in level order and have all children of theirs in it unless they end."""
    ends = ends[order]
    column = np.where(ends, LEAF, tree.column[order]).astype(np.int32)
    n_children = np.where(ends, 0, tree.n_children[order]).astype(np.int32)
    first = np.where(ends, 0, 1 + np.cumsum(n_children) - n_children).astype(np.int32)
    values, branches, surrogates = _branches(tree, order, column)
    return replace(
        tree,
        column=column,
        threshold=np.where(ends, 0.0, tree.threshold[order]),
        first_child=first,
        n_children=n_children,
        values=values,
        branches=branches,
        majority_branch=np.where(ends, -1, tree.majority_branch[order]).astype(np.int32),
        counts=tree.counts[order],
        surrogates=surrogates,
    )


def _branches(tree: Tree, order: Index, column: Int32) -> tuple[Int64, Int32, Surrogates]:
    """The branches of values of the nodes that are left, and of their surrogates, without those that are gone."""
    widths = np.array([len(feature.levels or ()) for feature in tree.features], dtype=np.int64)
    pieces: list[Int32] = []
    n = 0

    def keep(start: int, width: int) -> int:
        nonlocal n
        pieces.append(tree.branches[start : start + width])
        n += width
        return n - width

    values = np.full(len(order), -1, dtype=np.int64)
    for place in np.flatnonzero((column >= 0) & (tree.values[order] >= 0)):
        values[place] = keep(tree.values[order[place]], widths[column[place]])
    old = tree.surrogates
    sizes = np.where(column >= 0, np.diff(old.starts)[order], 0)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lines = np.arange(starts[-1]) + np.repeat(old.starts[order] - starts[:-1], sizes)
    surrogate_values = old.values[lines].copy()
    for line in np.flatnonzero(surrogate_values >= 0):
        surrogate_values[line] = keep(surrogate_values[line], widths[old.column[lines[line]]])
    branches = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)
    surrogates = Surrogates(
        starts, old.column[lines], old.threshold[lines], old.low[lines], old.high[lines], surrogate_values
    )
    return values, branches, surrogates


def with_replacements(tree: Tree, replacements: Mapping[int, int], ends: Flags) -> Tree:
    """The tree in which other nodes, with all that is below them, stand in the place of some; others become leaves."""
    order, level = list[int](), [replacement_of(0, replacements)]
    while level:
        order += level
        children = [child for node in level if not ends[node] for child in tree.children(node)]
        level = [replacement_of(child, replacements) for child in children]
    return reindexed(tree, np.array(order, dtype=np.intp), ends)


def replacement_of(node: int, replacements: Mapping[int, int]) -> int:
    """What stands in the place of a node: itself, another, or what stands in the place of that one."""
    while node in replacements:
        node = replacements[node]
    return node


def sizes_and_errors(tree: Tree, counts: Array | None) -> tuple[Array, Array]:
    """Cases in each node, and those that are not of the class that the node stands for."""
    if counts is None:
        return tree.sizes, tree.errors
    sizes = counts.sum(axis=1)
    return sizes, sizes - counts[np.arange(len(tree)), tree.majority]


def raise_subtrees(tree: Tree, rows: TreeRows, labels: Int32, weights: Array | None, estimate: Estimate) -> Tree:
    """Prune by an estimate of errors, where a subtree may become a leaf or its largest branch, whichever is best.

    From the leaves up, on the cases that the tree grew from: a branch that takes the place of its subtree gets all of
    its cases and is then pruned anew. A leaf is preferred to a branch, and a branch to the whole subtree.
    """
    everything = slice(0, rows.n_rows)
    numbers, codes = rows.block(everything)
    own = np.ones(rows.n_rows) if weights is None else weights
    work = _SubtreeRaising(tree, numbers, codes, labels, estimate, tree.is_leaf.copy())
    work.prune(0, _WeightedRows(np.arange(rows.n_rows), own))
    found = with_replacements(tree, work.replacements, work.ends)
    return found.with_counts(
        TreeRows(found, rows.numbers, rows.codes, rows.n_rows, rows.n_jobs).counts(labels, weights)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _WeightedRows:
    """Rows, each with the part of its weight that is here."""

    rows: Index
    weights: Array


@dataclass(slots=True, eq=False)
class _SubtreeRaising:
    """Which nodes have become leaves, and which stand in the place of others; numbers are those of the first tree."""

    tree: Tree
    numbers: Array
    codes: Int32
    labels: Int32
    estimate: Estimate
    ends: Flags
    replacements: dict[int, int] = field(default_factory=dict)

    def prune(self, node: int, share: _WeightedRows) -> float:
        """Prune what is below a node; the errors that it is then charged with."""
        node = replacement_of(node, self.replacements)
        if self.ends[node]:
            return self._errors_as_leaf(share)
        parts = self._parts(node, share)
        below = sum(self.prune(child, part) for child, part in parts)
        as_leaf = self._errors_as_leaf(share)
        largest = int(np.argmax([part.weights.sum() for _, part in parts]))
        branch = parts[largest][0]
        as_branch = self._estimated_errors(branch, share)
        if as_leaf <= min(below, as_branch) * (1.0 + SLACK):
            self.ends[node] = True
            return as_leaf
        if as_branch <= below * (1.0 + SLACK):
            self.replacements[node] = branch
            return self.prune(branch, share)
        return below

    def _estimated_errors(self, node: int, share: _WeightedRows) -> float:
        """What a subtree would be charged with for these cases, as it is now."""
        node = replacement_of(node, self.replacements)
        if self.ends[node]:
            return self._errors_as_leaf(share)
        return sum(self._estimated_errors(child, part) for child, part in self._parts(node, share))

    def _errors_as_leaf(self, share: _WeightedRows) -> float:
        counts = np.bincount(self.labels[share.rows], share.weights, len(self.tree.classes))
        n = counts.sum()
        return float(self.estimate(np.array([n]), np.array([n - counts.max()]))[0])

    def _parts(self, node: int, share: _WeightedRows) -> list[tuple[int, _WeightedRows]]:
        """The cases of each child; a gap is shared out as the tree does it."""
        found = np.empty(len(share.rows), dtype=np.int32)
        by_surrogates = self.tree.missing == "surrogates"
        branches_of(flatten(self.tree), by_surrogates, node, self.numbers, self.codes, share.rows, found)
        children = self.tree.children(node)
        sizes = self.tree.sizes[children.start : children.stop]
        parts = []
        for branch, child in enumerate(children):
            factor = np.where(found < 0, sizes[branch] / sizes.sum(), 1.0)
            here = (found == branch) | (found < 0)
            parts.append((child, _WeightedRows(share.rows[here], (share.weights * factor)[here])))
        return parts
