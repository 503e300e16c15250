"""Subtree replacement and subtree raising: a tree without some of its subtrees, or with a branch in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32
from likely.models.tree.predict import Rows, branches_of, flat_of
from likely.models.tree.tree import LEAF, Surrogates, Tree

SLACK = 1e-6
"""A leaf is also preferred where it is worse by less than this part: rounding must not keep a subtree."""

Estimate = Callable[[Array, Array], Array]
"""Errors that leaves with so many cases and so many errors are charged with."""


def collapsed(tree: Tree) -> Tree:
    """A node stays a leaf where its subtree makes no fewer errors on the training cases."""
    return cut_where_cheaper(tree, tree.errors)


def cut_where_cheaper(tree: Tree, leaf_costs: Array, test_costs: Array | None = None) -> Tree:
    """Replace, from the leaves up, every subtree that costs no less than a leaf in its place."""
    costs, ends = leaf_costs.copy(), tree.is_leaf.copy()
    own = np.zeros(len(tree)) if test_costs is None else test_costs
    _cut(tree.first_child, tree.n_children, leaf_costs, own, costs, ends)
    return without(tree, ends)


@numba.njit(nogil=True, cache=True)
def _cut(
    first_child: Int32, n_children: Int32, leaf_costs: Array, own: Array, costs: Array, ends: NDArray[np.bool_]
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


def without(tree: Tree, ends: NDArray[np.bool_]) -> Tree:
    """The tree in which these nodes are leaves; what was below them is gone."""
    kept = reached(tree.parent, ends)
    if kept.all() and bool((ends == tree.is_leaf).all()):
        return tree
    return arranged(tree, np.flatnonzero(kept), ends)


@numba.njit(nogil=True, cache=True)
def reached(parent: Int32, ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that are left when these are leaves."""
    kept = np.ones(len(parent), dtype=np.bool_)
    for node in range(1, len(parent)):
        kept[node] = kept[parent[node]] and not ends[parent[node]]
    return kept


def arranged(tree: Tree, order: NDArray[np.intp], ends: NDArray[np.bool_]) -> Tree:
    """The nodes of `order`, which are in level order and have all children of theirs in it unless they end."""
    new = np.full(len(tree), -1, dtype=np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    ends = ends[order]
    column = np.where(ends, LEAF, tree.column[order]).astype(np.int32)
    first = np.where(ends, 0, new[tree.first_child[order]]).astype(np.int32)
    n_children = np.where(ends, 0, tree.n_children[order]).astype(np.int32)
    values, branches, stand_ins = _branches(tree, order, column)
    return replace(
        tree,
        column=column,
        threshold=np.where(ends, 0.0, tree.threshold[order]),
        first_child=first,
        n_children=n_children,
        values=values,
        branches=branches,
        usual=np.where(ends, -1, tree.usual[order]).astype(np.int32),
        counts=tree.counts[order],
        surrogates=stand_ins,
    )


def _branches(tree: Tree, order: NDArray[np.intp], column: Int32) -> tuple[NDArray[np.int64], Int32, Surrogates]:
    """The branches of values of the nodes that are left, and of their stand-ins, without those that are gone."""
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
    stand_in_values = old.values[lines].copy()
    for line in np.flatnonzero(stand_in_values >= 0):
        stand_in_values[line] = keep(stand_in_values[line], widths[old.column[lines[line]]])
    branches = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)
    stand_ins = Surrogates(
        starts, old.column[lines], old.threshold[lines], old.low[lines], old.high[lines], stand_in_values
    )
    return values, branches, stand_ins


def replaced(tree: Tree, instead: Mapping[int, int], ends: NDArray[np.bool_]) -> Tree:
    """The tree in which other nodes, with all that is below them, stand in the place of some; others become leaves."""

    def stands(node: int) -> int:
        while node in instead:
            node = instead[node]
        return node

    order, level = [], [stands(0)]
    children: list[list[int]] = []
    while level:
        order += level
        below = [[] if ends[node] else [stands(child) for child in tree.children(node)] for node in level]
        children += below
        level = [child for kids in below for child in kids]
    first, at = np.zeros(len(tree), dtype=np.int32), 1
    for node, kids in zip(order, children, strict=True):
        first[node] = at
        at += len(kids)
    found = arranged(tree, np.array(order, dtype=np.intp), ends)
    starts = np.where(found.is_leaf, 0, first[order]).astype(np.int32)
    return replace(found, first_child=starts)


def sizes_and_errors(tree: Tree, counts: Array | None) -> tuple[Array, Array]:
    """Cases in each node, and those that are not of the class that the node stands for."""
    if counts is None:
        return tree.sizes, tree.errors
    sizes = counts.sum(axis=1)
    return sizes, sizes - counts[np.arange(len(tree)), tree.majority]


def raised(tree: Tree, rows: Rows, labels: Int32, weights: Array | None, estimate: Estimate) -> Tree:
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
    codes: Int32
    labels: Int32
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
