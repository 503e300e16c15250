"""Which family suits a column of numbers: the one under which the rows are most likely, each judged without itself.

All that is needed is the histogram of the column. Its cells stand for the numbers in them (for up to 2,048 distinct
numbers they are the numbers), and taking one row out of a class changes counts and moments in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from likely.arrays import Array
from likely.families import FAMILIES
from likely.families.protocol import Competes, Domain, Family, Settings, Smooths
from likely.families.smoothing import Laplace
from likely.stats import Histogram, Statistic
from likely.stats.protocol import less

FEWEST = 3.0
"""Classes with less weight have no spread of their own once a row is gone; they are not asked."""


def likelihoods(column: str, seen: Histogram, settings: Settings) -> dict[str, float]:
    """Mean log density of a row in its class for every family that can hold the column's numbers, in nats.

    Families come in the order of their registration, in which ties are broken.
    """
    few = seen.take_classes(np.flatnonzero(seen.known >= FEWEST))
    cells = few.counts.any(axis=0)
    few = Histogram(few.shift, few.cells[cells], few.counts[:, cells])
    if len(few.cells) < 2:
        return {"gaussian": 0.0}
    rows, values = float(few.counts.sum()), few.middles()
    return {
        name: family.histogram_likelihood(column, few, settings) / rows
        for name, family in FAMILIES.items()
        if issubclass(family, Competes)
        and family.domain.suits(values)
        and (few.shift == 0 or family.domain is not Domain.COUNTS)  # whether a number is whole is not known any more
    }


def best_of(found: dict[str, float]) -> str:
    """The likeliest family; the simplest of equals."""
    return max(found, key=lambda name: found[name])


def leave_one_out_shares(counts: Array, gamma: float) -> float:
    """Σ count · log((count − 1 + γ) / (total − 1 + γ · values)) over classes × values."""
    one = np.minimum(counts, 1.0)
    top = less(counts, one) + gamma
    bottom = less(np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape), one) + gamma * counts.shape[1]
    return float((counts * np.log(top / bottom)).sum())


# How much smoothing suits a column: the γ under which the rows are most likely, each judged without itself.

GAMMAS = tuple(2.0 ** (step / 2) for step in range(-14, 9))
"""From 1/128 to 16; the largest of equals is taken, for it believes least in few rows."""


def chosen_smoothing(
    seen: Iterable[tuple[type[Family], tuple[str, ...], Statistic]], weights: Array, settings: Settings
) -> dict[str, Laplace]:
    """γ of every column whose family adds it to counts; columns that compete share one."""
    found: dict[str, Laplace] = {}
    for family, columns, counted in seen:
        if issubclass(family, Smooths):
            for some, counts in family.smoothed_counts(columns, counted, weights, settings):
                found |= dict.fromkeys(some, Laplace(best_gamma(counts)))
    return found


def best_gamma(counts: Array) -> float:
    """The best γ of a table of classes × values.

    >>> best_gamma(np.array([[50.0, 0.0, 0.0], [0.0, 40.0, 30.0]])), best_gamma(np.array([[9.0, 8.0], [7.0, 8.0]]))
    (0.0078125, 16.0)
    """
    if counts.shape[1] < 2 or not counts.any():
        return 1.0
    told = [leave_one_out_shares(counts, gamma) for gamma in GAMMAS]
    return float(GAMMAS[len(told) - 1 - int(np.argmax(told[::-1]))])
