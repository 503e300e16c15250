"""The classes of two models as one list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.table.labels import class_array, ordered_labels
from likely.table.levels import level_key

_EXACT = 2**53


def merge_classes(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
    """All classes of both, in order, and where those of each side stand among them.

    >>> classes, of_a, of_b = merge_classes(np.array([1, 3]), np.array(["x"]))
    >>> classes.tolist(), of_a.tolist(), of_b.tolist()
    ([1, 3, 'x'], [0, 1], [2])
    """
    if a.dtype == b.dtype and len(a) == len(b) and bool((a == b).all()) and a.dtype.kind != "O":
        places = np.arange(len(a))
        return a, places, places
    both = [*a.tolist(), *b.tolist()] if a.dtype.kind not in "Mm" else [*a, *b]
    distinct = list({level_key(label): label for label in reversed(both)}.values())
    ordered = ordered_labels(distinct[::-1])
    place = {level_key(label): i for i, label in enumerate(ordered)}
    found = np.fromiter((place[level_key(label)] for label in both), np.intp, len(both))
    return class_array(ordered, _common(a, b)), found[: len(a)], found[len(a) :]


def _common(a: NDArray[Any], b: NDArray[Any]) -> np.dtype[Any] | None:
    """The dtype that holds the labels of both as they are, or None: only objects can."""
    if len(a) == 0 or len(b) == 0:
        dtype = b.dtype if len(a) == 0 else a.dtype
        return None if dtype.kind == "O" else dtype
    kinds = {a.dtype.kind, b.dtype.kind}
    if len(kinds) == 1 and kinds <= set("bfUSMm"):
        return np.result_type(a, b)
    if kinds <= set("iu"):
        joint = np.result_type(a, b)
        return joint if joint.kind in "iu" else None
    if kinds <= set("iuf"):
        whole = a if a.dtype.kind in "iu" else b
        return np.dtype(np.float64) if bool((np.abs(whole.astype(np.float64)) <= _EXACT).all()) else None
    return None
