"""Pruning by errors: of the training cases, raised to be on the safe side, or of cases that were kept apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError
from likely.stats.upper_errors import confident_errors
from likely.trees.pruning.subtrees import cut_where_cheaper, sizes_and_errors
from likely.trees.tree import Tree

Array = NDArray[np.float64]


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
