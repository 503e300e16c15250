"""The rows that a tree grows from or is pruned by: what a user may hand over, and what it means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SettingsError
from likely.table import Labels, as_table, merge_classes

Ints = NDArray[np.int32]


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


def places_among(labels: Labels, classes: NDArray[Any]) -> Ints:
    """Where each row's class stands among others, −1 if it does not."""
    merged, own, known = merge_classes(labels.classes, classes)
    place = np.full(len(merged), -1, dtype=np.int32)
    place[known] = np.arange(len(classes), dtype=np.int32)
    return np.asarray(place[own][labels.codes], dtype=np.int32)


def learned_places(places: Ints) -> NDArray[np.intp]:
    """The rows to prune by that are of a class that the tree knows: others are errors of every node, and no reason."""
    kept = np.flatnonzero(places >= 0)
    if not len(kept):
        raise DataError("No row to prune by is of a class that the tree has learned: give rows with the same labels.")
    return kept
