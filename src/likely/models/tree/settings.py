"""The parameters of a tree, checked, as growing needs them."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32
from likely.errors import DataError, SettingsError
from likely.families.smoothing import LARGEST as MOST_SMOOTHING
from likely.measures import measure_named
from likely.models.setting_checks import (
    COMMON,
    Check,
    check_settings,
    is_loss,
    is_positive,
    is_truth,
    one_of,
    optional,
    whole_from,
)
from likely.models.settings import not_negative
from likely.models.tree.fit import Plan
from likely.models.tree.pruning.choice import Choice
from likely.models.tree.tree import Missing
from likely.table import Labels, as_table, merge_classes


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


# The rows that a tree grows from or is pruned by: what a user may hand over, and what it means.


def table_and_labels(given: Any, target: str | None) -> tuple[Any, Any]:
    """Rows to prune by: a table and its labels, or a table that has the target among its columns."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    if target is not None and not isinstance(given, str | float | int) and target in as_table(given):
        return given, target
    raise SettingsError(
        "prune=('reduced_error', …) takes a share of the rows, or a table and its labels, (X, y), or a table that has "
        "the target among its columns."
    )


def places_among(labels: Labels, classes: NDArray[Any]) -> Int32:
    """Where each row's class stands among others, −1 if it does not."""
    merged, own, known = merge_classes(labels.classes, classes)
    place = np.full(len(merged), -1, dtype=np.int32)
    place[known] = np.arange(len(classes), dtype=np.int32)
    return np.asarray(place[own][labels.codes], dtype=np.int32)


def learned_places(places: Int32) -> NDArray[np.intp]:
    """The rows to prune by that are of a class that the tree knows: others are errors of every node, and no reason."""
    kept = np.flatnonzero(places >= 0)
    if not len(kept):
        raise DataError("No row to prune by is of a class that the tree has learned: give rows with the same labels.")
    return kept


CHECKS: dict[str, Check] = {
    **COMMON,
    "measure": lambda name, given: measure_named(given),
    **dict.fromkeys(("restrained", "raising", "collapse", "subsets", "binary", "binned"), is_truth),
    "min_cases": is_positive,
    "max_depth": optional(whole_from(0)),
    "missing": one_of("weights", "surrogates"),
    "prune": lambda name, given: Choice.read(given),
    "text_tokens": optional(whole_from(1)),
    "smoothing": partial(not_negative, most=MOST_SMOOTHING),
    "loss": is_loss,
    "random_state": whole_from(0),
}
