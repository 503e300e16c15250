"""The parameters of a tree, checked, as growing needs them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Protocol, cast

from likely.families.smoothing import LARGEST as MOST_SMOOTHING
from likely.measures import measure_named
from likely.models.settings import (
    COMMON,
    Check,
    check_settings,
    is_loss,
    is_positive,
    is_truth,
    not_negative,
    one_of,
    optional,
    whole_from,
)
from likely.models.tree.fit import Plan
from likely.models.tree.pruning import Pruning
from likely.models.tree.tree import Missing


class TreeSettings(Protocol):
    """Parameters as a user gave them."""

    setting_checks: ClassVar[Mapping[str, Check]]

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
    random_state: int
    n_jobs: int | None


def checked_plan(given: TreeSettings) -> Plan:
    """How a tree is grown; whatever makes no sense is refused."""
    check_settings(given)
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


CHECKS: dict[str, Check] = {
    **COMMON,
    "measure": lambda name, given: measure_named(given),
    **dict.fromkeys(("restrained", "raising", "collapse", "subsets", "binary", "binned"), is_truth),
    "min_cases": is_positive,
    "max_depth": optional(whole_from(0)),
    "missing": one_of("weights", "surrogates"),
    "prune": lambda name, given: Pruning.read(given),
    "text_tokens": optional(whole_from(1)),
    "smoothing": partial(not_negative, most=MOST_SMOOTHING),
    "loss": is_loss,
    "random_state": whole_from(0),
}
