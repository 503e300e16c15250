"""What a user may ask of pruning: `None`, a name, or a name and an amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.evaluation.folds import shuffled_by_class
from likely.measures import confident_errors
from likely.models.tree.data import TrainingData
from likely.models.tree.fit import Plan, fit_tree
from likely.models.tree.predict import Rows
from likely.models.tree.pruning.cost_complexity import cost_complexity, weakest_links
from likely.models.tree.pruning.errors import confidence, mdl, pessimistic, pessimistic_errors, reduced_error
from likely.models.tree.pruning.subtrees import raised
from likely.models.tree.tree import Tree
from likely.numerics import is_between

Way = Literal["pessimistic", "confidence", "reduced_error", "mdl", "cost_complexity"]
WAYS: tuple[str, ...] = get_args(Way)

N_FOLDS = 10

LARGEST = 1e300
"""An amount beyond this is none, and would overflow."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to prune and its amount: errors to add, a level, a share of the rows, or the price of a leaf."""

    way: Way | None
    amount: Any = None

    @classmethod
    def read(cls, given: Any) -> Choice:
        """What the parameter `prune` says, checked."""
        if given is None:
            return cls(None)
        parts = given if isinstance(given, tuple | list) else (given,)
        if not 1 <= len(parts) <= 2 or not isinstance(parts[0], str) or parts[0] not in WAYS:
            raise _strange(given)
        found = cls(cast(Way, parts[0]), parts[1] if len(parts) == 2 else None)
        needs_none, needs_one = found.way == "mdl", found.way in ("pessimistic", "confidence", "reduced_error")
        if (needs_none and found.amount is not None) or (needs_one and found.amount is None):
            raise _strange(given)
        if found.way in ("pessimistic", "confidence") or (found.way == "cost_complexity" and found.amount is not None):
            found.number()
        return found

    def number(self) -> float:
        """The amount where it has to be a number."""
        if not is_between(self.amount, -LARGEST, LARGEST):
            raise SettingsError(f"prune=({self.way!r}, {self.amount!r}): the second entry has to be a number.")
        return float(self.amount)

    def estimate(self) -> Callable[[Array, Array], Array]:
        """Errors that a leaf is charged with, for the ways that charge them."""
        if self.way == "pessimistic":
            return partial(pessimistic_errors, r=self.number())
        if self.way == "confidence":
            return partial(confident_errors, level=self.number())
        raise SettingsError("Branches are raised by 'pessimistic' and 'confidence' pruning only: choose one of these.")

    def cut(self, tree: Tree, counts: Array | None = None) -> Tree:
        """Prune a grown tree; `counts` are class weights of other cases in its nodes."""
        if self.way == "pessimistic":
            return pessimistic(tree, self.number(), counts)
        if self.way == "confidence":
            return confidence(tree, self.number(), counts)
        if self.way == "mdl":
            return mdl(tree, counts)
        if self.way == "cost_complexity":
            return cost_complexity(tree, self.number(), None if counts is None else weakest_links(tree, counts))
        if self.way == "reduced_error" and counts is not None:
            return reduced_error(tree, counts)
        return tree


def grow_and_prune(
    plan: Plan,
    choice: Choice,
    stock: TrainingData,
    apart: TrainingData | None,
    *,
    raising: bool,
    seed: int,
    n_jobs: int | None,
) -> Tree:
    """Grow a tree and prune it; `apart` are cases to prune by, if they were kept apart."""
    if apart is None and choice.way == "reduced_error":
        stock, apart = _split(stock, choice.number(), seed)
    tree = fit_tree(plan, stock, n_jobs)
    if choice.way == "cost_complexity" and choice.amount is None:
        choice = Choice("cost_complexity", cheapest_price(plan, tree, stock, seed, n_jobs))
    if raising:
        rows = Rows.stocked(tree, stock.columns, n_jobs)
        return raised(tree, rows, stock.labels, stock.weights, choice.estimate())
    counts = None
    if apart is not None:
        counts = Rows.stocked(tree, apart.columns, n_jobs).counts(apart.labels, apart.weights)
    return choice.cut(tree, counts)


def cheapest_price(plan: Plan, tree: Tree, stock: TrainingData, seed: int, n_jobs: int | None) -> float:
    """The price of a leaf with the fewest errors in cross-validation; of equals the highest, for the smaller tree.

    Prices that are tried lie between those at which the whole tree shrinks: their geometric means.
    """
    steps = weakest_links(tree).alphas
    prices = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    n_folds = min(N_FOLDS, len(stock))
    if n_folds < 2 or len(prices) < 2:
        return 0.0
    fold, errors = stock.folds(n_folds, seed), np.zeros(len(prices))
    for k in range(n_folds):
        learned, held_out = stock.take(np.flatnonzero(fold != k)), stock.take(np.flatnonzero(fold == k))
        grown = fit_tree(plan, learned, n_jobs)
        links = weakest_links(grown)
        weights = np.ones(len(held_out)) if held_out.weights is None else held_out.weights
        for place, price in enumerate(prices):
            smaller = cost_complexity(grown, float(price), links)
            chosen = Rows.stocked(smaller, held_out.columns, n_jobs).choose(smaller.probabilities(0.0))
            errors[place] += weights[chosen != held_out.labels].sum()
    return float(prices[np.flatnonzero(errors <= errors.min() * (1.0 + 1e-9))[-1]])


def _split(stock: TrainingData, share: float, seed: int) -> tuple[TrainingData, TrainingData]:
    """Rows to grow from, and about the given share of each class to prune by."""
    if not 0.0 < share < 1.0:
        raise SettingsError(f"prune=('reduced_error', {share!r}): the share of rows to prune by lies between 0 and 1.")
    apart = np.zeros(len(stock), dtype=np.bool_)
    by_class = shuffled_by_class(stock.labels, np.random.default_rng(seed))
    steps = np.arange(1, len(stock) + 1) * share
    apart[by_class] = np.floor(steps) > np.floor(steps - share)
    if not apart.any() or apart.all():
        raise SettingsError(f"{len(stock)} rows are too few to keep {share:g} of them apart for pruning.")
    return stock.take(np.flatnonzero(~apart)), stock.take(np.flatnonzero(apart))


def _strange(given: Any) -> SettingsError:
    return SettingsError(
        f"prune is {given!r}, but it is None, ('pessimistic', r), ('confidence', level), ('reduced_error', share of "
        "rows or (X, y)), 'mdl', 'cost_complexity' or ('cost_complexity', price of a leaf)."
    )
