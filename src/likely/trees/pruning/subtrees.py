"""A tree without some of its subtrees, or with its nodes arranged anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.tree import LEAF, Surrogates, Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

SLACK = 1e-6
"""A leaf is also preferred where it is worse by less than this part: rounding must not keep a subtree."""


def cut_where_cheaper(tree: Tree, leaf_costs: Array, test_costs: Array | None = None) -> Tree:
    """Replace, from the leaves up, every subtree that costs no less than a leaf in its place."""
    costs, ends = leaf_costs.copy(), tree.is_leaf.copy()
    own = np.zeros(len(tree)) if test_costs is None else test_costs
    _cut(tree.first_child, tree.n_children, leaf_costs, own, costs, ends)
    return without(tree, ends)


@numba.njit(nogil=True, cache=True)
def _cut(
    first_child: Ints, n_children: Ints, leaf_costs: Array, own: Array, costs: Array, ends: NDArray[np.bool_]
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
def reached(parent: Ints, ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
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


def _branches(tree: Tree, order: NDArray[np.intp], column: Ints) -> tuple[NDArray[np.int64], Ints, Surrogates]:
    """The branches of values of the nodes that are left, and of their stand-ins, without those that are gone."""
    widths = np.array([len(feature.levels or ()) for feature in tree.features], dtype=np.int64)
    pieces: list[Ints] = []
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
