"""Types and ranges of settings: every classifier has a table of checks, for `fit` and `load` alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from typing import Any

import numpy as np

from likely.decide import Loss
from likely.errors import SettingsError, listed
from likely.families.smoothing import Laplace, MEstimate, smoothing_by_column
from likely.models.settings import (
    CHOICES,
    HIGHEST_FLOOR,
    LARGEST,
    MOST_BINS,
    not_negative,
    whole,
)
from likely.numerics import is_between
from likely.parallel import n_threads
from likely.table.schema import KINDS, ROLES, Schema, as_kind
from likely.text.tokenizer import Tokenizer

Check = Callable[[str, Any], object]
"""Takes the name of a setting and its value; raises a `SettingsError` if it can be none."""


def check_settings(classifier: Any) -> None:
    """Refuse a setting of a type or range that its classifier cannot have."""
    for name, check in classifier.setting_checks.items():
        check(name, getattr(classifier, name))


def refusal(name: str, given: Any, wanted: str) -> SettingsError:
    """The error for a setting, with what it may be."""
    shown = repr(given)
    return SettingsError(f"{name} is {shown if len(shown) <= 200 else shown[:200] + '…'}, but it is {wanted}.")


def optional(check: Check) -> Check:
    """The same check, with None allowed."""

    def either(name: str, given: Any) -> None:
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

    def check(name: str, given: Any) -> None:
        if not isinstance(given, str) or given not in words:
            raise refusal(name, given, f"one of {listed(words)}")

    return check


def is_truth(name: str, given: Any) -> None:
    """True or False."""
    if not isinstance(given, bool | int | np.bool_) or given not in (0, 1):
        raise refusal(name, given, "True or False")


def is_positive(name: str, given: Any) -> None:
    """A number above zero, infinite ones included."""
    if not (is_between(given, 0.0, LARGEST) or is_between(given, np.inf, np.inf)) or given == 0:
        raise refusal(name, given, "a number above 0")


def are_numbers(given: Any) -> bool:
    """Whether they are finite numbers."""
    return isinstance(given, Iterable) and all(is_between(each, -LARGEST, LARGEST) for each in given)


def are_priors(name: str, given: Any) -> None:
    """Shares of classes, or a word for them."""
    if given is None or (isinstance(given, str) and given in ("counted", "smoothed", "uniform")):
        return
    shares = given.values() if isinstance(given, Mapping) else given
    if isinstance(given, str | bytes) or not are_numbers(shares):
        raise refusal(name, given, "'counted', 'smoothed', 'uniform', a mapping by class, or shares of the classes")


def is_smoothing(name: str, given: Any, *, auto: bool) -> None:
    """A smoothing for all columns, or by column."""
    for each in given.values() if isinstance(given, Mapping) else (given,):
        if not isinstance(each, Laplace | MEstimate):
            smoothing_by_column(each, (), auto=auto)


def are_families(name: str, given: Any) -> None:
    """Names of families."""
    words = given.items() if isinstance(given, Mapping) else [] if given is None else [(given,)]
    if not all(isinstance(word, str) for pair in words for word in pair):
        raise refusal(name, given, "a name or a mapping of column names to names")


def is_schema(name: str, given: Any) -> None:
    """A schema, or kinds by column."""
    if given is None or isinstance(given, Schema):
        return
    if not isinstance(given, Mapping) or not all(isinstance(kind, str) for kind in given.values()):
        raise refusal(name, given, f"a Schema or a mapping of column names to {listed((*KINDS, *ROLES))}")
    for column, kind in given.items():
        if kind not in ROLES:
            as_kind(kind, column)


def are_tokenizers(name: str, given: Any) -> None:
    """A tokenizer for all texts, or by column."""
    recipes = given.values() if isinstance(given, Mapping) else () if given is None else (given,)
    if not all(isinstance(recipe, Tokenizer) for recipe in recipes):
        raise refusal(name, given, "a Tokenizer or a mapping of text columns to them")


def is_loss(name: str, given: Any) -> None:
    """A loss, or a table that one is made of, which says itself what is wrong with it."""
    if given is not None and not isinstance(given, Loss) and (is_dataclass(given) or np.isscalar(given)):
        raise SettingsError(f"{given!r} is no table of costs: give them by decision and truth, or as a table.")


def is_random_state(name: str, given: Any) -> None:
    """A whole number, or a state of NumPy's generator."""
    if given is not None and not isinstance(given, np.random.RandomState):
        whole(name, given, 0)


def is_function(name: str, given: Any) -> None:
    """A function that is told of progress."""
    if given is not None and (not callable(given) or is_dataclass(given)):
        raise refusal(name, given, "a function of a few words, or None")


def anything(name: str, given: Any) -> None:
    """What is checked where it is used, and never comes from a file."""


COMMON: dict[str, Check] = {
    "priors": are_priors,
    "schema": is_schema,
    "n_jobs": lambda name, given: n_threads(given),
}

COUNTED: dict[str, Check] = COMMON | {
    "smoothing": partial(is_smoothing, auto=False),
    "families": are_families,
    "text": are_tokenizers,
}

BELIEFS: dict[str, Check] = COUNTED | {
    **{name: one_of(*CHOICES[name]) for name in ("missing", "unseen", "variance", "weighting")},
    "variance_floor": partial(not_negative, most=HIGHEST_FLOOR),
    "normalise": is_truth,
}

BINS: dict[str, Check] = {"bins": partial(whole, least=1, most=MOST_BINS)}
