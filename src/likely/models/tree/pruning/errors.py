"""Pruning by errors: of the training cases, raised to be on the safe side, or of cases that were kept apart."""

from __future__ import annotations

from math import lgamma, log, log2, pi

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.measures import confident_errors
from likely.models.tree.pruning.subtrees import cut_where_cheaper, sizes_and_errors
from likely.models.tree.tree import Tree


def collapsed(tree: Tree) -> Tree:
    """A node stays a leaf where its subtree makes no fewer errors on the training cases."""
    return cut_where_cheaper(tree, tree.errors)


def pessimistic(tree: Tree, r: float, counts: Array | None = None) -> Tree:
    """Every leaf is charged with `r` errors more than it makes (at most with all of its cases).

    `counts` are class weights of other cases in every node (`Rows.counts`); without them the training cases count.
    """
    return cut_where_cheaper(tree, pessimistic_errors(*sizes_and_errors(tree, counts), r))


def confidence(tree: Tree, level: float, counts: Array | None = None) -> Tree:
    """Every leaf is charged with the upper end of the confidence interval of its error rate, at this level."""
    return cut_where_cheaper(tree, confident_errors(*sizes_and_errors(tree, counts), level))


def reduced_error(tree: Tree, counts: Array) -> Tree:
    """Only errors on cases that were not used for growing count: class weights of theirs in every node."""
    return cut_where_cheaper(tree, sizes_and_errors(tree, counts)[1])


def pessimistic_errors(n: Array, errors: Array, r: float) -> Array:
    """Errors plus r, but never more than there are cases.

    >>> pessimistic_errors(np.array([20.0, 7.0, 8.0, 5.0]), np.array([7.0, 2.0, 2.0, 2.0]), 0.8).tolist()
    [7.8, 2.8, 2.8, 2.8]
    """
    if not r >= 0.0:
        raise SettingsError(f"Pessimistic pruning adds {r!r} errors to a leaf, but it has to be a number from 0 up.")
    return np.minimum(n, errors + r)


# Minimum description length: the tree that is shortest to tell, together with the classes of its cases.
#
# Nodes and the classes of leaves are coded as by Mehta, Rissanen and Agrawal (MDL-based decision tree pruning, KDD
# 1995);
# tests by what has to be said of them, with codes for many branches and for groups, which their binary trees do not
# have.
# All lengths are in bits.
#
# - Every node takes one bit: leaf or test.
# - The classes of the n cases of a leaf, n_c of class c out of k classes, take their stochastic complexity:
#   Σ_c n_c log₂(n / n_c) + (k − 1)/2 · log₂(n / 2) + log₂(π^(k/2) / Γ(k/2)). The last two terms, which tell the
#   shares of
#   the classes, are never taken below zero: the formula is for many cases, and would praise leaves with fewer than
#   two.
# - A test takes log₂(number of columns) for its column. A cut takes log₂(number of cuts of that column) more. A
#   branch
#   for every value takes nothing more; values in groups take log₂(number of branches) for every value.


def mdl(tree: Tree, counts: Array | None = None) -> Tree:
    """The subtree with the shortest description; `counts` are class weights of other cases in every node."""
    return cut_where_cheaper(tree, leaf_lengths(tree.counts if counts is None else counts), lengths_of_tests(tree))


def description_length(tree: Tree) -> float:
    """Bits that the tree and the classes of its training cases take."""
    return float(leaf_lengths(tree.counts)[tree.is_leaf].sum() + lengths_of_tests(tree)[~tree.is_leaf].sum())


def leaf_lengths(counts: Array) -> Array:
    """Bits of each node as a leaf: one for being a leaf, and the classes of its cases."""
    n, k = counts.sum(axis=1), counts.shape[1]
    logs = np.log2(n[:, None] / np.where(counts > 0.0, counts, 1.0), out=np.zeros_like(counts), where=counts > 0.0)
    labels = (counts * logs).sum(axis=1)
    parameters = (k - 1) / 2.0 * np.log2(np.maximum(n, 2.0) / 2.0) + (k / 2.0 * log(pi) - lgamma(k / 2.0)) / log(2.0)
    return np.asarray(1.0 + labels + np.where(n > 0.0, np.maximum(parameters, 0.0), 0.0))


def lengths_of_tests(tree: Tree) -> Array:
    """Bits of each node's test."""
    found, which = np.ones(len(tree)), log2(max(len(tree.features), 1))
    for node in np.flatnonzero(~tree.is_leaf):
        feature = tree.features[tree.column[node]]
        found[node] += which
        if feature.is_numeric:
            found[node] += log2(max(feature.cuts, 1))
            continue
        branches = tree.branch_map(int(node))
        n_values = int((branches >= 0).sum())
        if tree.n_children[node] < n_values:
            found[node] += n_values * log2(tree.n_children[node])
    return found
