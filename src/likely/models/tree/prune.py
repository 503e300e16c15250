"""Making a grown tree smaller: what a user may ask for, and each way to prune.

Each way takes a tree and gives another: by errors of the training cases, charged to be on the safe side, or of cases
that were kept apart; by minimum description length; or by cost complexity. None needs the cases that the tree grew
from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import lgamma, log, log2, pi
from typing import Literal, cast, get_args

import numpy as np

from likely.arrays import AnyArray, Array, Flags, Index, Int32
from likely.errors import DataError, SettingsError
from likely.evaluation.folds import shuffled_by_class
from likely.jit import kernel
from likely.measures import confident_errors
from likely.models.tree.data import TrainingData
from likely.models.tree.grow import GrowthPlan, fit_tree
from likely.models.tree.predict import TreeRows
from likely.models.tree.subtrees import (
    raise_subtrees,
    reachable,
    replace_costly_subtrees,
    sizes_and_errors,
    with_leaves_at,
)
from likely.models.tree.tree import Tree
from likely.numerics import is_between
from likely.table import Labelling, Labels, RowsLike, as_table, merge_classes

Method = Literal["pessimistic", "confidence", "reduced_error", "mdl", "cost_complexity"]

METHODS: tuple[str, ...] = get_args(Method)

N_FOLDS = 10

LARGEST = 1e300
"""A larger amount is refused: it would overflow."""

SLACK = 1e-10

ROUNDING = 1e-12
"""Shares of cases below this are rounding."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """A way to prune and its amount: errors to add, a level, a share of the rows, or the price of a leaf."""

    method: Method | None
    amount: object = None

    @classmethod
    def read(cls, given: object) -> Pruning:
        """What the parameter `prune` says, checked."""
        if given is None:
            return cls(None)
        parts = given if isinstance(given, tuple | list) else (given,)
        if not 1 <= len(parts) <= 2 or not isinstance(parts[0], str) or parts[0] not in METHODS:
            raise _unknown_pruning(given)
        found = cls(cast(Method, parts[0]), parts[1] if len(parts) == 2 else None)
        needs_none, needs_one = found.method == "mdl", found.method in ("pessimistic", "confidence", "reduced_error")
        if (needs_none and found.amount is not None) or (needs_one and found.amount is None):
            raise _unknown_pruning(given)
        if found.method in ("pessimistic", "confidence") or (
            found.method == "cost_complexity" and found.amount is not None
        ):
            found.number()
        return found

    def number(self) -> float:
        """The amount where it has to be a number."""
        if not is_between(self.amount, -LARGEST, LARGEST):
            raise SettingsError(f"prune=({self.method!r}, {self.amount!r}): the second entry has to be a number.")
        return float(self.amount)

    def estimate(self) -> Callable[[Array, Array], Array]:
        """Errors that a leaf is charged with, for the ways that charge them."""
        if self.method == "pessimistic":
            return partial(pessimistic_errors, r=self.number())
        if self.method == "confidence":
            return partial(confident_errors, level=self.number())
        raise SettingsError("Branches are raised by 'pessimistic' and 'confidence' pruning only: choose one of these.")

    def apply(self, tree: Tree, counts: Array | None = None) -> Tree:
        """Prune a grown tree; `counts` are class weights of other cases in its nodes."""
        if self.method == "cost_complexity":
            return cost_complexity(tree, self.number(), None if counts is None else weakest_links(tree, counts))
        if self.method == "mdl":
            lengths = leaf_code_lengths(tree.counts if counts is None else counts)
            return replace_costly_subtrees(tree, lengths, split_code_lengths(tree))
        if self.method is None or (self.method == "reduced_error" and counts is None):
            return tree
        sizes, errors = sizes_and_errors(tree, counts)
        charged = errors if self.method == "reduced_error" else self.estimate()(sizes, errors)
        return replace_costly_subtrees(tree, charged)


def grow_and_prune(
    plan: GrowthPlan,
    pruning: Pruning,
    data: TrainingData,
    held_out: TrainingData | None,
    *,
    raising: bool,
    seed: int,
    n_jobs: int | None,
) -> Tree:
    """Grow a tree and prune it; `held_out` are cases to prune by, if some were kept apart."""
    if held_out is None and pruning.method == "reduced_error":
        data, held_out = _hold_out(data, pruning.number(), seed)
    tree = fit_tree(plan, data, n_jobs)
    if pruning.method == "cost_complexity" and pruning.amount is None:
        pruning = Pruning("cost_complexity", best_alpha(plan, tree, data, seed, n_jobs))
    if raising:
        rows = TreeRows.from_columns(tree, data.columns, n_jobs)
        return raise_subtrees(tree, rows, data.labels, data.weights, pruning.estimate())
    counts = None
    if held_out is not None:
        counts = TreeRows.from_columns(tree, held_out.columns, n_jobs).counts(held_out.labels, held_out.weights)
    return pruning.apply(tree, counts)


def best_alpha(plan: GrowthPlan, tree: Tree, data: TrainingData, seed: int, n_jobs: int | None) -> float:
    """The price of a leaf with the fewest errors in cross-validation; of equals the highest, for the smaller tree.

    Prices that are tried lie between those at which the whole tree shrinks: their geometric means.
    """
    steps = weakest_links(tree).alphas
    alphas = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    n_folds = min(N_FOLDS, len(data))
    if n_folds < 2 or len(alphas) < 2:
        return 0.0
    fold, errors = data.folds(n_folds, seed), np.zeros(len(alphas))
    for k in range(n_folds):
        learned, held_out = data.take(np.flatnonzero(fold != k)), data.take(np.flatnonzero(fold == k))
        grown = fit_tree(plan, learned, n_jobs)
        links = weakest_links(grown)
        weights = np.ones(len(held_out)) if held_out.weights is None else held_out.weights
        for place, alpha in enumerate(alphas):
            smaller = cost_complexity(grown, float(alpha), links)
            chosen = TreeRows.from_columns(smaller, held_out.columns, n_jobs).choose(smaller.probabilities(0.0))
            errors[place] += weights[chosen != held_out.labels].sum()
    return float(alphas[np.flatnonzero(errors <= errors.min() * (1.0 + 1e-9))[-1]])


def _hold_out(data: TrainingData, share: float, seed: int) -> tuple[TrainingData, TrainingData]:
    """Rows to grow from, and about the given share of each class to prune by."""
    if not 0.0 < share < 1.0:
        raise SettingsError(f"prune=('reduced_error', {share!r}): the share of rows to prune by lies between 0 and 1.")
    held_out = np.zeros(len(data), dtype=np.bool_)
    by_class = shuffled_by_class(data.labels, np.random.default_rng(seed))
    steps = np.arange(1, len(data) + 1) * share
    held_out[by_class] = np.floor(steps) > np.floor(steps - share)
    if not held_out.any() or held_out.all():
        raise SettingsError(f"{len(data)} rows are too few to keep {share:g} of them apart for pruning.")
    return data.take(np.flatnonzero(~held_out)), data.take(np.flatnonzero(held_out))


def _unknown_pruning(given: object) -> SettingsError:
    return SettingsError(
        f"prune is {given!r}, but it is None, ('pessimistic', r), ('confidence', level), ('reduced_error', share of "
        "rows or (X, y)), 'mdl', 'cost_complexity' or ('cost_complexity', price of a leaf)."
    )


def pessimistic_errors(n: Array, errors: Array, r: float) -> Array:
    """Errors plus r, but never more than there are cases.

    >>> pessimistic_errors(np.array([20.0, 7.0, 8.0, 5.0]), np.array([7.0, 2.0, 2.0, 2.0]), 0.8).tolist()
    [7.8, 2.8, 2.8, 2.8]
    """
    if not r >= 0.0:
        raise SettingsError(f"Pessimistic pruning adds {r!r} errors to a leaf, but it has to be a number from 0 up.")
    return np.minimum(n, errors + r)


# Minimum description length, in bits. Nodes and the classes of leaves are coded as by Mehta, Rissanen and Agrawal
# (MDL-based decision tree pruning, KDD 1995), splits by what has to be said of them:
#
# - Every node takes one bit: leaf or split.
# - The classes of the n cases of a leaf, n_c of class c out of k classes, take their stochastic complexity:
#   Σ_c n_c log₂(n / n_c) + (k − 1)/2 · log₂(n / 2) + log₂(π^(k/2) / Γ(k/2)). The last two terms, which tell the shares
#   of the classes, are never below zero: the formula is for many cases, and would praise leaves with fewer than two.
# - A split takes log₂(number of columns) for its column. A threshold takes log₂(number of cuts of that column) more. A
#   branch for every value takes nothing more; values in groups take log₂(number of branches) for every value.


def description_length(tree: Tree) -> float:
    """Bits that the tree and the classes of its training cases take."""
    return float(leaf_code_lengths(tree.counts)[tree.is_leaf].sum() + split_code_lengths(tree)[~tree.is_leaf].sum())


def leaf_code_lengths(counts: Array) -> Array:
    """Bits of each node as a leaf: one for being a leaf, and the classes of its cases."""
    n, k = counts.sum(axis=1), counts.shape[1]
    logs = np.log2(n[:, None] / np.where(counts > 0.0, counts, 1.0), out=np.zeros_like(counts), where=counts > 0.0)
    labels = (counts * logs).sum(axis=1)
    parameters = (k - 1) / 2.0 * np.log2(np.maximum(n, 2.0) / 2.0) + (k / 2.0 * log(pi) - lgamma(k / 2.0)) / log(2.0)
    return np.asarray(1.0 + labels + np.where(n > 0.0, np.maximum(parameters, 0.0), 0.0))


def split_code_lengths(tree: Tree) -> Array:
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


# Cost complexity, as in CART: the subtree that saves least per leaf goes first.


@dataclass(frozen=True, slots=True, eq=False)
class WeakestLinks:
    """The price per leaf at which each node becomes a leaf (∞ for a leaf), and all alphas at which the tree shrinks."""

    node_alphas: Array
    alphas: Array


def weakest_links(tree: Tree, counts: Array | None = None) -> WeakestLinks:
    """Price every inner node: errors (as a share of all cases) that its subtree saves, per leaf that it has more.

    The cheapest go, prices are computed anew, and so on up to the root; prices never fall. `counts` are class weights
    of other cases in every node; without them the training cases count.
    """
    sizes, errors = sizes_and_errors(tree, counts)
    node_alphas = np.full(len(tree), np.inf)
    steps = _prune_weakest_links(
        errors / max(sizes[0], np.finfo(float).tiny), tree.parent, tree.is_leaf.copy(), node_alphas
    )
    alphas = [0.0]
    for alpha in steps:
        if alpha > alphas[-1] * (1.0 + SLACK) + ROUNDING:
            alphas.append(float(alpha))
    return WeakestLinks(node_alphas, np.array(alphas))


def cost_complexity(tree: Tree, alpha: float, links: WeakestLinks | None = None) -> Tree:
    """The smallest subtree with the least errors + `alpha` · leaves."""
    if not alpha >= 0.0:
        raise SettingsError(f"The price of a leaf is {alpha!r}, but it has to be a number from 0 up.")
    found = weakest_links(tree) if links is None else links
    return with_leaves_at(tree, _ends(tree, found, alpha))


def alpha_by_cases(tree: Tree, counts: Array) -> float:
    """The price of a leaf with the fewest errors on other cases (class weights of theirs in every node).

    Trees that are tried are those to which this one shrinks by its own cases; of equals the smallest is taken.
    """
    links, errors = weakest_links(tree), sizes_and_errors(tree, counts)[1]
    wrong = np.zeros(len(links.alphas))
    for place, alpha in enumerate(links.alphas):
        ends = _ends(tree, links, alpha)
        wrong[place] = errors[reachable(tree.parent, ends) & ends].sum()
    return float(links.alphas[np.flatnonzero(wrong <= wrong.min() * (1.0 + SLACK) + ROUNDING)[-1]])


def _ends(tree: Tree, links: WeakestLinks, alpha: float) -> Flags:
    """Leaves, and nodes that become leaves at this price."""
    return np.asarray(tree.is_leaf | (links.node_alphas <= alpha * (1.0 + SLACK) + ROUNDING))


@kernel(interpretable=True)
def _prune_weakest_links(errors: Array, parent: Int32, ends: Flags, node_alphas: Array) -> Array:
    """Let the weakest nodes become leaves, again and again; the price of each round."""
    n = len(parent)
    n_leaves, below = np.where(ends, 1.0, 0.0), np.where(ends, errors, 0.0)
    for node in range(n - 1, 0, -1):
        n_leaves[parent[node]] += n_leaves[node]
        below[parent[node]] += below[node]
    alive, link_alphas = np.ones(n, dtype=np.bool_), np.full(n, np.inf)
    rounds, n_rounds, alpha = np.empty(n), 0, 0.0
    while not ends[0]:
        least = np.inf
        for node in range(n):
            link_alphas[node] = np.inf
            if node:
                alive[node] = alive[parent[node]] and not ends[parent[node]]
            if alive[node] and not ends[node]:
                link_alphas[node] = (errors[node] - below[node]) / (n_leaves[node] - 1.0)
                least = min(least, link_alphas[node])
        alpha = max(alpha, least)
        for node in range(n):
            if node:
                alive[node] = alive[parent[node]] and not ends[parent[node]]
            if alive[node] and link_alphas[node] <= alpha * (1.0 + SLACK) + ROUNDING:
                node_alphas[node], ends[node] = alpha, True
                fewer, more = n_leaves[node] - 1.0, errors[node] - below[node]
                above = node
                while above >= 0:
                    n_leaves[above] -= fewer
                    below[above] += more
                    above = parent[above]
        rounds[n_rounds] = alpha
        n_rounds += 1
    return rounds[:n_rounds]


# Rows to prune by: what a user may hand over, and what it means.


def table_and_labels(given: object, target: str | None) -> tuple[RowsLike, Labelling]:
    """Rows to prune by: a table and its labels, or a table that has the target among its columns."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    if target is not None and not isinstance(given, str | float | int) and target in as_table(cast(RowsLike, given)):
        return cast(RowsLike, given), target
    raise SettingsError(
        "prune=('reduced_error', …) takes a share of the rows, or a table and its labels, (X, y), or a table that has "
        "the target among its columns."
    )


def places_among(labels: Labels, classes: AnyArray) -> Int32:
    """Where each row's class stands among others, −1 if it does not."""
    merged, own, known = merge_classes(labels.classes, classes)
    place = np.full(len(merged), -1, dtype=np.int32)
    place[known] = np.arange(len(classes), dtype=np.int32)
    return np.asarray(place[own][labels.codes], dtype=np.int32)


def learned_places(places: Int32) -> Index:
    """The rows to prune by that are of a class that the tree knows: others are errors of every node, and no reason."""
    kept = np.flatnonzero(places >= 0)
    if not len(kept):
        raise DataError("No row to prune by is of a class that the tree has learned: give rows with the same labels.")
    return kept
