"""Cost-complexity pruning, as in CART: the subtree that saves least per leaf goes first."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError
from likely.trees.pruning.subtrees import without
from likely.trees.tree import Tree

Array = NDArray[np.float64]

SLACK = 1e-10
NOTHING = 1e-12
"""Shares of cases below this are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Weakest:
    """The price per leaf at which each node becomes a leaf (∞ for a leaf), and all prices at which the tree shrinks."""

    gives_in: Array
    alphas: Array


def weakest_links(tree: Tree) -> Weakest:
    """Price every inner node: errors (as a share of all cases) that its subtree saves, per leaf that it has more.

    The cheapest go, prices are computed anew, and so on up to the root; prices never fall.
    """
    total = max(tree.sizes[0], np.finfo(float).tiny)
    gives_in = np.full(len(tree), np.inf)
    steps = _give_in(tree.errors / total, tree.parent, tree.is_leaf.copy(), gives_in)
    prices = [0.0]
    for price in steps:
        if price > prices[-1] * (1.0 + SLACK) + NOTHING:
            prices.append(float(price))
    return Weakest(gives_in, np.array(prices))


def cost_complexity(tree: Tree, alpha: float, links: Weakest | None = None) -> Tree:
    """The smallest subtree with the least errors + `alpha` · leaves."""
    if not alpha >= 0.0:
        raise SettingsError(f"The price of a leaf is {alpha!r}, but it has to be a number from 0 up.")
    found = weakest_links(tree) if links is None else links
    return without(tree, tree.is_leaf | (found.gives_in <= alpha * (1.0 + SLACK) + NOTHING))


@numba.njit(nogil=True, cache=True)
def _give_in(errors: Array, parent: NDArray[np.int32], ends: NDArray[np.bool_], gives_in: Array) -> Array:
    """Let the weakest nodes become leaves, again and again; the price of each round."""
    n = len(parent)
    n_leaves, below = np.where(ends, 1.0, 0.0), np.where(ends, errors, 0.0)
    for node in range(n - 1, 0, -1):
        n_leaves[parent[node]] += n_leaves[node]
        below[parent[node]] += below[node]
    alive, prices = np.ones(n, dtype=np.bool_), np.full(n, np.inf)
    rounds, n_rounds, alpha = np.empty(n), 0, 0.0
    while not ends[0]:
        least = np.inf
        for node in range(n):
            prices[node] = np.inf
            if node:
                alive[node] = alive[parent[node]] and not ends[parent[node]]
            if alive[node] and not ends[node]:
                prices[node] = (errors[node] - below[node]) / (n_leaves[node] - 1.0)
                least = min(least, prices[node])
        alpha = max(alpha, least)
        for node in range(n):
            if node:
                alive[node] = alive[parent[node]] and not ends[parent[node]]
            if alive[node] and prices[node] <= alpha * (1.0 + SLACK) + NOTHING:
                gives_in[node], ends[node] = alpha, True
                fewer, more = n_leaves[node] - 1.0, errors[node] - below[node]
                above = node
                while above >= 0:
                    n_leaves[above] -= fewer
                    below[above] += more
                    above = parent[above]
        rounds[n_rounds] = alpha
        n_rounds += 1
    return rounds[:n_rounds]
