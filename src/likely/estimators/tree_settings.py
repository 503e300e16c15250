"""The parameters of a tree, checked, as growing needs them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Protocol, cast

from likely.errors import SettingsError
from likely.threads import n_threads
from likely.trees import Plan
from likely.trees.tree import Missing


class TreeSettings(Protocol):
    """Parameters as a user gave them."""

    measure: str
    restrained: bool
    min_cases: float
    max_depth: int | None
    missing: str
    collapse: bool
    subsets: bool
    binary: bool
    text_tokens: int | None
    binned: bool
    smoothing: float
    seed: int
    n_jobs: int | None


def checked_plan(given: TreeSettings) -> Plan:
    """How a tree is grown; whatever makes no sense is refused."""
    if given.missing not in ("weights", "surrogates"):
        raise SettingsError(f"missing is {given.missing!r}, but it is 'weights' or 'surrogates'.")
    if not (_is_number(given.min_cases) and given.min_cases > 0.0):
        raise SettingsError(f"min_cases is {given.min_cases!r}, but two branches need some cases: a number above 0.")
    if not (given.max_depth is None or _is_whole(given.max_depth, 0)):
        raise SettingsError(f"max_depth is {given.max_depth!r}, but it is a number of tests, or None.")
    if not (given.text_tokens is None or _is_whole(given.text_tokens, 1)):
        raise SettingsError(f"text_tokens is {given.text_tokens!r}, but it is a number of words from 1 up, or None.")
    if not (_is_number(given.smoothing) and 0.0 <= given.smoothing < float("inf")):
        raise SettingsError(f"smoothing is {given.smoothing!r}, but it is a number from 0 up.")
    if not _is_whole(given.seed, 0):
        raise SettingsError(f"seed is {given.seed!r}, but it is a whole number from 0 up.")
    n_threads(given.n_jobs)
    return Plan(
        measure=given.measure,
        min_cases=float(given.min_cases),
        max_depth=None if given.max_depth is None else int(given.max_depth),
        missing=cast(Missing, given.missing),
        subsets=bool(given.subsets),
        binary=bool(given.binary),
        binned=bool(given.binned),
        collapse=bool(given.collapse),
        restrained=bool(given.restrained),
    )


def _is_number(given: Any) -> bool:
    return type(given) is not bool and isinstance(given, Real)


def _is_whole(given: Any, least: int) -> bool:
    return type(given) is not bool and isinstance(given, Integral) and int(given) >= least
