"""The parameters of a tree, checked, as growing needs them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32
from likely.errors import DataError, SettingsError
from likely.models.tree.fit import Plan
from likely.models.tree.tree import Missing
from likely.parallel import n_threads
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
