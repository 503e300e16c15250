"""What a user may choose for a classifier: names, types and ranges of settings, checked by `fit` and `load` alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from functools import cache, partial
from numbers import Integral
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypedDict, TypeVar, get_args

import numpy as np

from likely.arrays import AnyArray, Array
from likely.decide import Loss
from likely.errors import SettingsError, UnknownParameter, did_you_mean, listed
from likely.families.protocol import Covariance, Settings
from likely.families.smoothing import Laplace, MEstimate, Smoothing, smoothing_by_column
from likely.numerics import is_between
from likely.parallel import n_threads
from likely.scorer import Priors
from likely.table.infer import KINDS, ROLES, as_kind
from likely.table.schema import Schema
from likely.table.schema import SchemaLike as SchemaLike
from likely.text.tokenizer import Tokenizer

Missing = Literal["ignore", "value"]
Unseen = Literal["ignore", "smooth"]
Variance = Literal["unbiased", "ml"]
Weighting = Literal["counts", "tf-idf"]

SmoothingLike: TypeAlias = float | str | Smoothing | Mapping[str, "float | str | Smoothing"]
FamiliesLike: TypeAlias = str | Mapping[str, str] | None
TokenizerLike: TypeAlias = Tokenizer | Mapping[str, Tokenizer] | None
"""A setting for all columns, or by column."""

ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None

LARGEST = 1e300
"""Numbers beyond this overflow in the first multiplication."""

LARGEST_WHOLE = 2**63 - 1
"""Whole numbers end where those of the processor do."""

MOST_BINS = 10_000
"""Bins of a column of numbers at most: beyond this every one of them is next to empty."""

HIGHEST_FLOOR = 1e9
"""A floor of variances is relative to that of the whole column: far below one, as a rule."""


class Changes(TypedDict, total=False):
    """Settings that can be changed after training: they are about beliefs, not about what was seen."""

    smoothing: SmoothingLike
    priors: Priors
    families: FamiliesLike
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

    smoothing: SmoothingLike
    priors: Priors
    min_cases: float
    n_jobs: int | None


class FullChanges(Changes, total=False):
    """The same for full Bayes."""

    covariance: Covariance
    shrinkage: float | Literal["auto"]


class Choices(Changes, total=False):
    """All settings of a classifier for tables."""

    schema: SchemaLike
    text: TokenizerLike


Default = TypeVar("Default")

Check = Callable[[str, Any], object]
"""Takes the name of a setting and its value; raises a `SettingsError` if it can be none."""


class HasSettings(Protocol):
    """Whoever has a table of checks for its parameters, which it stores under their names."""

    setting_checks: ClassVar[Mapping[str, Check]]


def parameter(default: Default, check: Check) -> Default:
    """A field of a classifier: its default, and the check that `fit` and `load` make."""
    return field(default=default, metadata={"check": check})


class ChecksOfFields:
    """The table of checks of a classifier whose parameters are fields of a dataclass."""

    def __get__(self, instance: object, kind: type) -> Mapping[str, Check]:
        return _checks_of(kind)


@cache
def _checks_of(kind: type) -> Mapping[str, Check]:
    return {each.name: each.metadata["check"] for each in fields(kind)} if is_dataclass(kind) else {}


def check_settings(classifier: HasSettings) -> None:
    """Refuse a setting of a type or range that its classifier cannot have."""
    given = vars(classifier)
    for name, check in classifier.setting_checks.items():
        check(name, given[name])


def refusal(name: str, given: object, wanted: str) -> SettingsError:
    """The error for a setting, with what it may be."""
    shown = repr(given)
    return SettingsError(f"{name} is {shown if len(shown) <= 200 else shown[:200] + '…'}, but it is {wanted}.")


def optional(check: Check) -> Check:
    """The same check, with None allowed."""

    def either(name: str, given: object) -> None:
        try:
            if given is not None:
                check(name, given)
        except SettingsError as error:
            raise SettingsError(f"{str(error).rstrip('.')}, or None.") from None

    return either


def whole_from(least: int) -> Check:
    """A whole number from `least` up."""
    return lambda name, given: whole(name, given, least)


def one_of(*words: str) -> Check:
    """One of some words."""

    def check(name: str, given: object) -> None:
        if not isinstance(given, str) or given not in words:
            raise refusal(name, given, f"one of {listed(words)}")

    return check


def member_of(literal: object) -> Check:
    """One of the words of a `Literal`."""
    return one_of(*get_args(literal))


def is_truth(name: str, given: object) -> None:
    """True or False."""
    if not isinstance(given, bool | int | np.bool_) or given not in (0, 1):
        raise refusal(name, given, "True or False")


def is_positive(name: str, given: object) -> None:
    """A number above zero, infinite ones included."""
    if not (is_between(given, 0.0, LARGEST) or is_between(given, np.inf, np.inf)) or given == 0:
        raise refusal(name, given, "a number above 0")


def are_numbers(given: object) -> bool:
    """Whether they are finite numbers."""
    return isinstance(given, Iterable) and all(is_between(each, -LARGEST, LARGEST) for each in given)


def are_priors(name: str, given: object) -> None:
    """Shares of classes, or a word for them."""
    if given is None or (isinstance(given, str) and given in ("counted", "smoothed", "uniform")):
        return
    shares = given.values() if isinstance(given, Mapping) else given
    if isinstance(given, str | bytes) or not are_numbers(shares):
        raise refusal(name, given, "'counted', 'smoothed', 'uniform', a mapping by class, or shares of the classes")


def is_smoothing(name: str, given: object, *, auto: bool) -> None:
    """A smoothing for all columns, or by column."""
    for each in given.values() if isinstance(given, Mapping) else (given,):
        if not isinstance(each, Laplace | MEstimate):
            smoothing_by_column(each, (), auto=auto)


def are_families(name: str, given: object) -> None:
    """Names of families."""
    words = given.items() if isinstance(given, Mapping) else [] if given is None else [(given,)]
    if not all(isinstance(word, str) for pair in words for word in pair):
        raise refusal(name, given, "a name or a mapping of column names to names")


def is_schema(name: str, given: object) -> None:
    """A schema, or kinds by column."""
    if given is None or isinstance(given, Schema):
        return
    if not isinstance(given, Mapping) or not all(isinstance(kind, str) for kind in given.values()):
        raise refusal(name, given, f"a Schema or a mapping of column names to {listed((*KINDS, *ROLES))}")
    for column, kind in given.items():
        if kind not in ROLES:
            as_kind(kind, column)


def are_tokenizers(name: str, given: object) -> None:
    """A tokenizer for all texts, or by column."""
    tokenizers = given.values() if isinstance(given, Mapping) else () if given is None else (given,)
    if not all(isinstance(each, Tokenizer) for each in tokenizers):
        raise refusal(name, given, "a Tokenizer or a mapping of text columns to tokenizers")


def is_loss(name: str, given: object) -> None:
    """A loss, or a table that one is made of, which says itself what is wrong with it."""
    if given is not None and not isinstance(given, Loss) and (is_dataclass(given) or np.isscalar(given)):
        raise SettingsError(f"{given!r} is no table of costs: give them by decision and truth, or as a table.")


def is_random_state(name: str, given: object) -> None:
    """A whole number, or a state of NumPy's generator."""
    if given is not None and not isinstance(given, np.random.RandomState):
        whole(name, given, 0)


def is_progress(name: str, given: object) -> None:
    """Whether to show a progress bar, or a function that is called on progress."""
    if not (given is None or isinstance(given, bool) or callable(given)) or is_dataclass(given):
        raise refusal(name, given, "a function, True, False or None")


def anything(name: str, given: object) -> None:
    """What is checked where it is used, and never comes from a file."""


def share_or_auto(name: str, given: object) -> float | Literal["auto"]:
    """A setting that is a number in [0, 1], or "auto"."""
    if isinstance(given, str) and given == "auto":
        return "auto"
    if is_between(given, 0.0, 1.0):
        return float(given)
    raise SettingsError(f"{name} is {given!r}, but it is 'auto' or a number from 0 to 1.")


def whole(name: str, given: object, least: int, most: int = LARGEST_WHOLE) -> int:
    """A setting that is a whole number from `least` up."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not least <= int(given) <= most:
        span = f"from {least} up" if most == LARGEST_WHOLE else f"from {least} to {most}"
        raise SettingsError(f"{name} is {given!r}, but it is a whole number {span}.")
    return int(given)


def between(name: str, given: object, low: float, high: float) -> float:
    """A setting that is a number above `low` and below `high`."""
    if is_between(given, low, min(high, LARGEST)) and given not in (low, high):
        return float(given)
    span = f"above {low:g} and finite" if high == float("inf") else f"between {low:g} and {high:g}"
    raise SettingsError(f"{name} is {given!r}, but it is a number {span}.")


def not_negative(name: str, given: object, most: float = float("inf")) -> float:
    """A setting that is a number from zero up."""
    if is_between(given, 0.0, min(most, LARGEST)) or is_between(given, float("inf"), most):
        return float(given)
    span = "" if most == float("inf") else f", at most {most:g}"
    raise SettingsError(f"{name} is {given!r}, but it is a number from 0 up{span}.")


def is_n_jobs(name: str, given: Any) -> None:
    """A number of threads, as scikit-learn has it."""
    n_threads(given)


SETTLED = ("missing", "unseen", "variance_floor", "covariance", "shrinkage", "weighting", "normalise", "bins")
"""Parameters that go into the `Settings` of families as they are."""

MOST_CELLS = 1 << 23
"""Classes × pairs of values that AODE counts unless the user allows more: 64 MiB."""

_ANY: Mapping[str, object] = {"priors": None, "families": None, "schema": None, "text": None, "n_jobs": None}
_SETTLED: Mapping[str, object] = {
    "smoothing": 1.0, "missing": "ignore", "unseen": "ignore", "variance": "unbiased", "variance_floor": 1e-9,
    "weighting": "counts", "normalise": False,
}  # fmt: skip

USUAL: Mapping[str, Mapping[str, object]] = {
    "BayesClassifier": {**_ANY, **_SETTLED, "bins": 10, "weights": None},
    "FullBayesClassifier": {**_ANY, **_SETTLED, "covariance": "full", "shrinkage": "auto"},
    "AODEClassifier": {
        **_ANY, "smoothing": 0.5, "bins": 6, "cuts": None, "min_cases": 1.0, "max_cells": MOST_CELLS,
    },
}  # fmt: skip
"""The settings of classifiers that count, where nobody says any, for those who do not want to import them."""


def family_settings(own: Mapping[str, Any], columns: tuple[str, ...]) -> Settings:
    """The parameters that families are settled with; those that a classifier does not have are as usual."""
    given = {name: own[name] for name in SETTLED if name in own}
    unbiased, fewest = own.get("variance", "unbiased") == "unbiased", float(own.get("min_cases", 1.0))
    smoothing = smoothing_by_column(own["smoothing"], columns, auto=True)
    return Settings(smoothing, unbiased=unbiased, fewest=fewest, **given)


is_floor = partial(not_negative, most=HIGHEST_FLOOR)
are_bins = partial(whole, least=1, most=MOST_BINS)

COMMON: dict[str, Check] = {"priors": are_priors, "schema": is_schema, "n_jobs": is_n_jobs}


# Weights of classes.


def are_class_weights(name: str, given: object) -> None:
    """None, 'balanced', or weights by class."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    if not isinstance(given, Mapping):
        raise refusal(name, given, "'balanced' or a mapping of classes to weights")
    for label, weight in given.items():
        between(f"{name} of {label!r}", weight, 0.0, np.inf)


def class_factors(given: ClassWeight, classes: AnyArray, totals: Array) -> Array:
    """What a row of each class counts, from the weight of all rows of each class."""
    are_class_weights("class_weight", given)
    factors = np.ones(len(classes))
    if isinstance(given, str):
        with np.errstate(over="ignore"):
            np.divide(totals.sum(), len(classes) * totals, out=factors, where=totals > 0.0)
        factors[~(totals > 0.0)] = 0.0
    elif given is not None:
        labels = classes.tolist()
        strange = [label for label in given if label not in labels]
        if strange:
            raise SettingsError(f"class_weight names {listed(strange)}, but the classes are {listed(labels)}.")
        factors[:] = [given.get(label, 1.0) for label in labels]
    return factors


# Parameters that scikit-learn has under other names.

SKLEARN_NAMES = {
    "alpha": ("smoothing",),
    "var_smoothing": ("variance_floor",),
    "class_prior": ("priors",),
    "fit_prior": ("priors",),
    "class_weight": ("priors",),
    "criterion": ("measure",),
    "min_samples_split": ("min_cases",),
    "min_samples_leaf": ("min_cases",),
    "ccp_alpha": ("prune",),
    "max_leaf_nodes": ("prune", "max_depth"),
    "n_bins": ("bins",),
    "max_bins": ("bins", "binned"),
    "interactions": ("max_pairs",),
    "gamma": ("kernel",),
    "degree": ("kernel",),
    "coef0": ("kernel",),
    "tol": ("tolerance",),
    "solver": ("covariance", "method"),
    "reg_param": ("shrinkage",),
    "estimator": ("classifier",),
    "verbose": ("progress",),
    "max_iter": ("time_limit",),
}
"""What does the same work here, as far as a classifier has it."""


def refuse_unknown(kind: type, names: Iterable[str]) -> None:
    """Refuse parameters that a classifier does not have; say what scikit-learn's are called here."""
    own = list(inspect.signature(kind).parameters)
    unknown = [name for name in names if name not in own]
    if not unknown:
        return
    first = unknown[0]
    here = [name for name in SKLEARN_NAMES.get(first, ()) if name in own]
    if here:
        raise UnknownParameter(
            f"{kind.__name__} has no parameter {first!r}; scikit-learn's {first!r} is called {listed(here)} here."
        )
    hint = did_you_mean(first, own)
    raise UnknownParameter(f"{kind.__name__} has no parameter {listed(unknown)}; it has {', '.join(own)}.{hint}")
