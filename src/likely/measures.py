"""How much a column tells about the class, from a table of counts: one row per class, one column per value.

All measures take counts (or weights, or shares) and need no rows. Values without weight change nothing. Each comes as
a function of one table and of many at once (the last two axes are classes × values), and by name in `MEASURES`. None
is below zero, and all are zero where the column tells nothing.

Where a column has gaps, the table holds the cases in which it is known; `total` is the weight of all cases, and the
measure is then multiplied by known weight / total weight: a column tells something only where it is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from likely.arrays import Array
from likely.errors import DataError, SettingsError, did_you_mean, listed

ROUNDING = 1e-12
"""Bits, shares: a measure this near to zero is zero, and its ratio to something small is no news either."""


class Measure(Protocol):
    """A measure: called with one table, or by `many` with many at once (the last two axes are classes × values)."""

    __name__: str
    many: Callable[[Array], Array]

    def __call__(self, table: ArrayLike, *, total: float | None = None) -> float: ...


MEASURES: dict[str, Measure] = {}
"""All measures by name."""


def _measure(many: Callable[[Array], Array]) -> Measure:
    """The measure of one table, from the function of many of which it has name and docstring."""

    def measure(table: ArrayLike, *, total: float | None = None) -> float:
        counts = checked(table)
        value, known = float(many(counts)), float(counts.sum())
        if total is None or known == 0.0:
            return value
        if not (np.isfinite(total) and total >= known * (1.0 - ROUNDING)):
            raise DataError(f"The weight of all cases is {total!r}, but {known:g} are known: give at least that.")
        return value * min(known / total, 1.0)

    measure.__name__ = measure.__qualname__ = many.__name__
    measure.__doc__ = many.__doc__
    vars(measure)["many"] = many
    MEASURES[many.__name__] = cast(Measure, measure)
    return MEASURES[many.__name__]


def rate_correct(table: ArrayLike) -> float:
    """Share of cases that are classified rightly if every value stands for its most frequent class.

    Sex (male, female), age (below 40, above) and blood pressure (low, normal, high) of twelve patients, drugs A and B:

    >>> rate_correct([[3, 3], [3, 3]]), rate_correct([[4, 2], [2, 4]]), rate_correct([[0, 3, 3], [3, 3, 0]])
    (0.5, 0.6666666666666666, 0.75)
    """
    return float(_shares(checked(table)).max(axis=-2, initial=0.0).sum())


@_measure
def misclassification(tables: Array) -> Array:
    """Error reduction: the rate correct with the column, less the rate correct without it.

    >>> misclassification([[0, 3, 3], [3, 3, 0]])
    0.25
    """
    shares = _shares(tables)
    without = shares.sum(axis=-1).max(axis=-1, initial=0.0)
    return _settled(shares.max(axis=-2, initial=0.0).sum(axis=-1) - without)


@_measure
def information_gain(tables: Array) -> Array:
    """H(class) − H(class | value) in bits: the mutual information of class and column.

    Blood pressure (low, normal, high) and drug (A, B) of twelve patients:

    >>> information_gain([[0, 3, 3], [3, 3, 0]])
    0.5
    """
    return _entropies(tables).gain


information_gains = information_gain.many

PRIOR_ROWS = 4.0 ** np.arange(-2, 9)
"""Rows by which the class shares of a value may be drawn towards those of all rows; the best of these counts."""


def held_out_information(table: ArrayLike, row_weights: ArrayLike = 1.0) -> float:
    """Mutual information of class and column as rows would show it that were not counted, in bits.

    Every row is judged without itself, its class given its value by (count + α · share of the class) / (all + α), and
    its gain over the class shares alone is averaged; α is the best of some. A value that occurs once tells nothing so,
    however many such values there are. `row_weights` is what a row of each class weighs on average.

    >>> held_out_information(np.eye(2).repeat(50, axis=1)), round(information_gain(np.eye(2).repeat(50, axis=1)), 9)
    (0.0, 1.0)
    >>> held_out_information([[50, 0], [0, 50]])
    1.0
    """
    counts = checked(table)
    totals, total = counts.sum(axis=1), float(counts.sum())
    c, v = np.nonzero(counts)
    seen, one = counts[c, v], np.broadcast_to(np.asarray(row_weights, dtype=np.float64), totals.shape)[c]
    share = (np.maximum(totals[c] - one, 0.0) + 0.5 * one) / (total - one + 0.5 * one * len(totals))
    own, rest = np.maximum(seen - one, 0.0), np.maximum(counts.sum(axis=0)[v] - one, 0.0)
    best = 0.0
    for rows in PRIOR_ROWS if total > 0.0 else ():
        drawn = rows * one
        ratio = (own + drawn * share) / ((rest + drawn) * share)
        best = max(best, float(seen @ np.log2(ratio)) / total)
    return min(best, entropy(totals / total)) if best > ROUNDING else 0.0


@_measure
def gain_ratio(tables: Array) -> Array:
    """Information gain over the entropy of the column: columns with many values lose their advantage.

    >>> gain_ratio([[0, 3, 3], [3, 3, 0]])
    0.3333333333333333
    """
    found = _entropies(tables)
    return _ratio(found.gain, found.of_value)


@_measure
def symmetric_gain_ratio_1(tables: Array) -> Array:
    """Information gain over the entropy of column and class together.

    >>> symmetric_gain_ratio_1([[0, 3, 3], [3, 3, 0]])
    0.25
    """
    found = _entropies(tables)
    return _ratio(found.gain, found.of_both)


@_measure
def symmetric_gain_ratio_2(tables: Array) -> Array:
    """Information gain over the sum of the entropies of column and class.

    >>> symmetric_gain_ratio_2([[0, 3, 3], [3, 3, 0]])
    0.2
    """
    found = _entropies(tables)
    return _ratio(found.gain, found.of_value + found.of_class)


@_measure
def chi2(tables: Array) -> Array:
    """χ² over the number of cases: how far class and column are from being independent.

    >>> chi2([[0, 3, 3], [3, 3, 0]])
    0.5
    """
    shares = _shares(tables)
    apart = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    return _settled(np.divide((shares - apart) ** 2, apart, out=np.zeros_like(apart), where=apart > 0.0).sum((-2, -1)))


@_measure
def gini(tables: Array) -> Array:
    """Gini gain: how much less probable it becomes that two cases of one value have different classes.

    >>> gini([[0, 3, 3], [3, 3, 0]])
    0.25
    """
    shares = _shares(tables)
    of_value = shares.sum(axis=-2)
    within = np.divide((shares**2).sum(-2), of_value, out=np.zeros_like(of_value), where=of_value > 0.0).sum(-1)
    return _settled(within - (shares.sum(axis=-1) ** 2).sum(axis=-1))


ELSEWHERE = {"entropy": "information_gain", "log_loss": "information_gain", "squared_error": "gini"}
"""Measures under scikit-learn's names."""


def measure_named(name: object) -> Measure:
    """The measure of that name, or an error that lists them."""
    if not isinstance(name, str) or name not in MEASURES:
        here = ELSEWHERE.get(str(name))
        hint = did_you_mean(str(name), list(MEASURES)) if here is None else f" Did you mean {here!r}?"
        raise SettingsError(f"There is no measure {name!r}; there are {listed(list(MEASURES))}.{hint}")
    return MEASURES[name]


def checked(table: ArrayLike) -> Array:
    """A class × value table of weights, or an error that says what is wrong with it."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2:
        raise DataError(f"A class × value table has two dimensions, not {counts.ndim}: one row per class.")
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise DataError("A class × value table holds counts: finite, and none below zero.")
    return counts


def entropy(shares: ArrayLike) -> float:
    """−Σ p log₂ p in bits; an alternative that never happens adds nothing.

    >>> entropy([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16])
    1.875
    """
    return float(entropies(np.ravel(shares)))


def entropies(shares: ArrayLike) -> Array:
    """The same for many distributions at once, along the last axis."""
    p = np.asarray(shares, dtype=np.float64)
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0.0)
    # 0.0 − …: a certain thing has entropy 0, not −0.
    return np.asarray(0.0 - (p * logs).sum(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class _Entropies:
    """Entropies in bits, and the gain that follows from them."""

    of_class: Array
    of_value: Array
    of_both: Array

    @property
    def gain(self) -> Array:
        return _settled(self.of_class + self.of_value - self.of_both)


def _entropies(tables: Array) -> _Entropies:
    shares = _shares(tables)
    both = entropies(shares.reshape(*shares.shape[:-2], -1))
    return _Entropies(entropies(shares.sum(axis=-1)), entropies(shares.sum(axis=-2)), both)


def _shares(tables: Array) -> Array:
    total = tables.sum(axis=(-2, -1))[..., None, None]
    return np.asarray(np.divide(tables, total, out=np.zeros_like(tables), where=total > 0.0))


def _settled(values: Array) -> Array:
    """Rounding may leave a hair above or below zero."""
    return np.asarray(np.where(values > ROUNDING, values, 0.0))


def _ratio(gain: Array, entropy: Array) -> Array:
    return np.asarray(np.divide(gain, entropy, out=np.zeros_like(gain), where=gain > 0.0))


# How far a share may be off by chance.

LEAST = 1e-300
"""Stands for no cases: what is divided by it stays finite."""


def wilson_interval(hits: ArrayLike, n: ArrayLike, level: float) -> tuple[Array, Array]:
    """Both ends of Wilson's interval of a share, two-sided at confidence `level`, where `hits` of n were seen (n > 0).

    >>> [round(float(end), 4) for end in wilson_interval(5, 10, 0.95)]
    [0.2366, 0.7634]
    """
    seen, total = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = NormalDist().inv_cdf(0.5 + 0.5 * level)
    half = z * np.sqrt(np.maximum(seen * (1.0 - seen / total), 0.0) + z * z / 4.0)
    middle, below = seen + z * z / 2.0, total + z * z
    return (
        np.asarray(np.where(seen > 0.0, (middle - half) / below, 0.0)),
        np.asarray(np.where(seen < total, (middle + half) / below, 1.0)),
    )


def confident_errors(n: Array, errors: Array, level: float) -> Array:
    """Cases times the upper limit of the error rate, two-sided at confidence `level`: what a leaf is charged with.

    With β = (1 − level) / 2: n (1 − β^(1/n)) if there is no error; n times Wilson's upper limit from one error on; and
    linear between the two for less than one.
    """
    if not 0.0 < level < 1.0:
        raise SettingsError(f"The confidence level is {level!r}, but it lies between 0 and 1.")
    some = np.maximum(n, LEAST)
    none = some * -np.expm1(np.log((1.0 - level) / 2.0) / some)
    one_or_more = some * wilson_interval(np.minimum(np.maximum(errors, 1.0), some), some, level)[1]
    between = none + errors * (one_or_more - none)
    return np.asarray(np.where(n <= 0.0, 0.0, np.minimum(n, np.where(errors >= 1.0, one_or_more, between))))
