"""Cost-complexity pruning, as in CART: the subtree that saves least per leaf goes first."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SettingsError
from likely.models.tree.pruning.subtrees import reached, sizes_and_errors, without
from likely.models.tree.tree import Tree

SLACK = 1e-10
NOTHING = 1e-12
"""Shares of cases below this are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Weakest:
    """The price per leaf at which each node becomes a leaf (∞ for a leaf), and all prices at which the tree shrinks."""

    gives_in: Array
    alphas: Array


def weakest_links(tree: Tree, counts: Array | None = None) -> Weakest:
    """Price every inner node: errors (as a share of all cases) that its subtree saves, per leaf that it has more.

    The cheapest go, prices are computed anew, and so on up to the root; prices never fall. `counts` are class weights
    of other cases in every node; without them the training cases count.
    """
    sizes, errors = sizes_and_errors(tree, counts)
    gives_in = np.full(len(tree), np.inf)
    steps = _give_in(errors / max(sizes[0], np.finfo(float).tiny), tree.parent, tree.is_leaf.copy(), gives_in)
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
    return without(tree, _ends(tree, found, alpha))


def price_by_cases(tree: Tree, counts: Array) -> float:
    """The price of a leaf with the fewest errors on other cases (class weights of theirs in every node).

    Trees that are tried are those to which this one shrinks by its own cases; of equals the smallest is taken.
    """
    links, errors = weakest_links(tree), sizes_and_errors(tree, counts)[1]
    wrong = np.array([_leaf_errors(tree.parent, _ends(tree, links, price), errors) for price in links.alphas])
    return float(links.alphas[np.flatnonzero(wrong <= wrong.min() * (1.0 + SLACK) + NOTHING)[-1]])


def _ends(tree: Tree, links: Weakest, alpha: float) -> NDArray[np.bool_]:
    """Leaves, and nodes that become leaves at this price."""
    return np.asarray(tree.is_leaf | (links.gives_in <= alpha * (1.0 + SLACK) + NOTHING))


def _leaf_errors(parent: NDArray[np.int32], ends: NDArray[np.bool_], errors: Array) -> float:
    return float(errors[reached(parent, ends) & ends].sum())


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
