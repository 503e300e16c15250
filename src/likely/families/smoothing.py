"""Pseudo-counts: what is believed of values before any row has been seen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

import numpy as np
import scipy

from likely.arrays import Array
from likely.errors import SettingsError, did_you_mean, listed
from likely.numerics import is_between, log_of

NUMBER = (int, float, np.integer, np.floating)

LARGEST = 1e100
"""Pseudo-counts beyond this drown every table, and their sums would overflow."""

SLACK = 1e-6
"""How far shares may sum to something else than one."""


class Values(Protocol):
    """Distinct values that can be counted and gone through: a list of categories, or the words of a text column."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Hashable]: ...


@dataclass(frozen=True)
class Laplace:
    """Adds γ to the count of every value in every class; 0 is maximum likelihood, 1 and ½ are usual.

    >>> Laplace(1.0).pseudo_counts(["low", "normal", "high"]).tolist()
    [1.0, 1.0, 1.0]
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _refuse_negative("gamma", self.gamma)

    def pseudo_counts(self, values: Values) -> Array:
        return np.full(len(values), float(self.gamma))

    @property
    def pseudo_rows(self) -> float:
        """Rows added to a class where a mean rather than a proportion is estimated."""
        return float(self.gamma)


@dataclass(frozen=True)
class MEstimate:
    """Adds m rows to each class, spread over the values in the proportions `p` (evenly if not given).

    (count + m·p) / (class count + m). With even p it is Laplace's correction with γ = m / number of values:

    >>> MEstimate(3).pseudo_counts(["low", "normal", "high"]).tolist()
    [1.0, 1.0, 1.0]
    >>> MEstimate(10, p={"low": 0.2, "normal": 0.5, "high": 0.3}).pseudo_counts(["low", "normal", "high"]).tolist()
    [2.0, 5.0, 3.0]
    """

    m: float
    p: Mapping[Hashable, float] | None = None

    def __post_init__(self) -> None:
        _refuse_negative("m", self.m)
        if self.p is None:
            return
        shares: object = self.p
        if not isinstance(shares, Mapping) or not all(isinstance(share, Real) for share in shares.values()):
            raise SettingsError(f"The shares p of an m-estimate are {self.p!r}, but they map values to numbers.")
        if not all(share >= 0.0 for share in self.p.values()) or abs(sum(self.p.values()) - 1.0) > SLACK:
            raise SettingsError(f"The shares p of an m-estimate sum to {sum(self.p.values()):g}, but must sum to 1.")

    def pseudo_counts(self, values: Values) -> Array:
        if self.p is None:
            return np.full(len(values), self.m / max(len(values), 1))
        return np.array([self.m * self.p.get(value, 0.0) for value in values], dtype=np.float64)

    @property
    def pseudo_rows(self) -> float:
        return float(self.m)


Smoothing = Laplace | MEstimate


def log_share(part: Array, total: Array, size: Array | int) -> Array:
    """log(part / total), pseudo-counts being in both; even shares among `size` values where there is nothing."""
    even = np.broadcast_to(1.0 / np.maximum(size, 1), part.shape).copy()
    return log_of(np.divide(part, total, out=even, where=np.broadcast_to(total > 0.0, part.shape)))


def totals_without_one(smoothing: Smoothing, values: Sequence[Hashable]) -> Array:
    """All pseudo-counts together if one of the values did not exist: one total for each value."""
    pseudo, fewer = smoothing.pseudo_counts(values), smoothing.pseudo_counts(values[1:])
    # Either every value has its own pseudo-count, whatever others there are, or all have the same.
    return pseudo.sum() - pseudo if np.array_equal(fewer, pseudo[1:]) else np.full(len(values), fewer.sum())


def smoothing_by_column(given: object, columns: Sequence[str], *, auto: bool = False) -> dict[str, Smoothing]:
    """One smoothing per column, from a number, a smoothing, or a mapping of column names to either.

    With `auto`, the word "auto" may stand for one that is chosen later; until then it is the usual one.
    """
    if auto and isinstance(given, Mapping):
        given = {name: 1.0 if _is_auto(each) else each for name, each in given.items()}
    if auto and _is_auto(given):
        given = 1.0
    if not isinstance(given, Mapping):
        return dict.fromkeys(columns, _smoothing(given))
    refuse_unknown_columns("smoothing", given, columns, "column of the model")
    return {name: _smoothing(given.get(name, 1.0)) for name in columns}


def refuse_unknown_columns(option: str, given: Iterable[str], columns: Sequence[str], what: str) -> None:
    """Raise where an option names columns that there are not."""
    known = set(columns)
    strange = [name for name in given if name not in known]
    if strange:
        hint = did_you_mean(str(strange[0]), columns)
        raise SettingsError(f"{option} names {listed(strange)}, which is no {what}.{hint}")


def _is_auto(given: object) -> bool:
    return isinstance(given, str) and given == "auto"


def _smoothing(given: object) -> Smoothing:
    if isinstance(given, Laplace | MEstimate):
        return given
    if isinstance(given, NUMBER) and not isinstance(given, bool):
        _refuse_negative("smoothing", given)
        return Laplace(float(given))
    raise SettingsError(f"smoothing is {given!r}, but it is a number, Laplace(γ), MEstimate(m) or a mapping by column.")


def _refuse_negative(name: str, value: object) -> None:
    if not isinstance(value, NUMBER) or not (isinstance(value, bool) or is_between(value, 0.0, LARGEST)):
        raise SettingsError(f"{name} is {value!r}, but smoothing is a finite number from 0 up.")


# How sure a family is of its parameters. Given the counts, shares have a Dirichlet distribution (counts and
# pseudo-counts are its parameters), mean and variance of a bell curve a normal-inverse-gamma one (with the prior that
# says nothing), a rate a gamma one. Logarithms of shares and densities then have means and variances in closed form.


def trigamma(a: Array) -> Array:
    """Variance of the logarithm of a gamma variable; 0 where there is nothing, for what is impossible is certain."""
    return np.asarray(scipy.special.polygamma(1, np.where(a > 0.0, a, 1.0)) * (a > 0.0))


def log_bias(a: Array) -> Array:
    """Mean of the logarithm of a gamma variable less the logarithm of its mean."""
    known = np.where(a > 0.0, a, 1.0)
    return np.asarray((scipy.special.digamma(known) - np.log(known)) * (a > 0.0))
