"""Numbers in intervals: cut where a one-column tree cuts them, at equal widths, or into parts of equal size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from likely.trees.cases import Stock
from likely.trees.columns.sorted import mid_points
from likely.trees.planting import Plan
from likely.trees.pruning.choice import Choice, grow_and_prune
from likely.trees.tree import Feature
from likely.trees.wording import number

Array = NDArray[np.float64]
Ints = NDArray[np.int32]


def tree_edges(
    numbers: Array, labels: Ints, n_classes: int, weights: Array | None, plan: Plan, choice: Choice, seed: int = 0
) -> Array:
    """The thresholds of a tree that knows this column only, in order: the tree, flattened."""
    stock = Stock((Feature("x"),), (numbers,), np.arange(n_classes), labels, weights)
    tree = grow_and_prune(plan, choice, stock, None, raising=False, seed=seed, n_jobs=1)
    return np.unique(tree.threshold[~tree.is_leaf])


def width_edges(numbers: Array, n_bins: int) -> Array:
    """Edges that cut the range of the known numbers into so many equal parts."""
    known = numbers[~np.isnan(numbers)]
    if not len(known) or known.min() == known.max():
        return np.empty(0)
    # Of halves, so that the range of numbers near to the largest there are is still a number.
    return np.unique(2.0 * np.linspace(0.5 * known.min(), 0.5 * known.max(), n_bins + 1)[1:-1])


def frequency_edges(numbers: Array, weights: Array, n_bins: int) -> Array:
    """Edges that cut the known numbers into so many parts of about equal weight, or fewer; equal ones stay together."""
    order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
    ordered, below = numbers[order], np.cumsum(weights[order])
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last place of every value but the largest
    if not len(ends):
        return np.empty(0)
    if len(ends) >= n_bins:
        wanted = np.arange(1, n_bins) * (below[-1] / n_bins)
        ends = ends[np.unique(np.clip(np.searchsorted(below[ends], wanted), 0, len(ends) - 1))]
    return mid_points(ordered[ends], ordered[ends + 1])


def interval_of(numbers: Array, edges: Array) -> Array:
    """The place of each number's interval, NaN for a gap; an edge belongs to the interval above it."""
    places = np.searchsorted(edges, numbers, side="right").astype(np.float64)
    places[np.isnan(numbers)] = np.nan
    return places


def interval_names(edges: Array) -> list[str]:
    """Intervals as a reader writes them.

    >>> interval_names(np.array([2.45, 4.75]))
    ['< 2.45', '[2.45, 4.75)', '≥ 4.75']
    """
    if not len(edges):
        return ["all"]
    said = [number(edge) for edge in edges]
    if len(set(said)) < len(said):  # ten digits do not tell them apart
        said = [repr(float(edge)) for edge in edges]
    between = [f"[{low}, {high})" for low, high in pairwise(said)]
    return [f"< {said[0]}", *between, f"≥ {said[-1]}"]
