"""What a user may choose for a classifier: the names and types of its settings, said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypedDict, TypeVar

from likely.errors import SettingsError, listed
from likely.families.protocol import Covariance
from likely.families.smoothing import Smoothing
from likely.numerics import is_between
from likely.table.schema import Schema
from likely.text.tokenizer import Tokenizer

Missing = Literal["ignore", "value"]
Unseen = Literal["ignore", "smooth"]
Variance = Literal["unbiased", "ml"]
Weighting = Literal["counts", "tf-idf"]

CHOICES: dict[str, tuple[str, ...]] = {
    "missing": ("ignore", "value"),
    "unseen": ("ignore", "smooth"),
    "variance": ("unbiased", "ml"),
    "weighting": ("counts", "tf-idf"),
    "weights": ("learned",),
    "covariance": ("full", "pooled", "diagonal", "shrunk"),
}
"""Settings that are one of a few words."""

LARGEST = 1e300
"""Numbers beyond this overflow as soon as something is done with them."""

LARGEST_WHOLE = 2**63 - 1
"""Whole numbers end where those of the processor do."""

MOST_BINS = 10_000
"""Bins of a column of numbers at most: beyond this every one of them is next to empty."""

HIGHEST_FLOOR = 1e9
"""A floor of variances is relative to that of the whole column: far below one, as a rule."""


class Changes(TypedDict, total=False):
    """Settings that can be changed after training: they are about beliefs, not about what was seen."""

    smoothing: float | Smoothing | Literal["auto"] | Mapping[str, float | Smoothing | Literal["auto"]]
    priors: str | Mapping[Any, float] | Sequence[float] | None
    families: str | Mapping[str, str] | None
    missing: Missing
    unseen: Unseen
    variance: Variance
    variance_floor: float
    weighting: Weighting
    normalise: bool
    bins: int
    weights: Literal["learned"] | None
    n_jobs: int | None


class PairChanges(TypedDict, total=False):
    """Settings of pairs that can be changed after training; bins and cuts cannot, for pairs are counted in them."""

    smoothing: float | Smoothing | Mapping[str, float | Smoothing]
    priors: str | Mapping[Any, float] | Sequence[float] | None
    min_cases: float
    n_jobs: int | None


class FullChanges(Changes, total=False):
    """The same for full Bayes."""

    covariance: Covariance
    shrinkage: float | Literal["auto"]


class Choices(Changes, total=False):
    """All settings of a classifier for tables."""

    schema: Schema | Mapping[str, str] | None
    text: Tokenizer | Mapping[str, Tokenizer] | None


Word = TypeVar("Word", bound=str)


def checked(name: str, given: Word) -> Word:
    """A setting that is one of a few words, or an error that lists them."""
    if given not in CHOICES[name]:
        raise SettingsError(f"{name} is {given!r}, but it is one of {listed(CHOICES[name])}.")
    return given


def share_or_auto(name: str, given: Any) -> float | Literal["auto"]:
    """A setting that is a number in [0, 1], or "auto"."""
    if isinstance(given, str) and given == "auto":
        return "auto"
    if is_between(given, 0.0, 1.0):
        return float(given)
    raise SettingsError(f"{name} is {given!r}, but it is 'auto' or a number from 0 to 1.")


def whole(name: str, given: Any, least: int, most: int = LARGEST_WHOLE) -> int:
    """A setting that is a whole number from `least` up."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not least <= int(given) <= most:
        span = f"from {least} up" if most == LARGEST_WHOLE else f"from {least} to {most}"
        raise SettingsError(f"{name} is {given!r}, but it is a whole number {span}.")
    return int(given)


def at_least_one(name: str, given: Any) -> int:
    """A setting that is a whole number from one up."""
    return whole(name, given, 1)


def between(name: str, given: Any, low: float, high: float) -> float:
    """A setting that is a number above `low` and below `high`."""
    if not is_between(given, low, min(high, LARGEST)) or given in (low, high):
        span = f"above {low:g} and finite" if high == float("inf") else f"between {low:g} and {high:g}"
        raise SettingsError(f"{name} is {given!r}, but it is a number {span}.")
    return float(given)


def not_negative(name: str, given: Any, most: float = float("inf")) -> float:
    """A setting that is a number from zero up."""
    if not is_between(given, 0.0, min(most, LARGEST)) and not is_between(given, float("inf"), most):
        span = "" if most == float("inf") else f", at most {most:g}"
        raise SettingsError(f"{name} is {given!r}, but it is a number from 0 up{span}.")
    return float(given)
