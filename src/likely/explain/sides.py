"""Reading what a user wants to see contrasted: one class, and those that it stands against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError, did_you_mean, listed

Index = NDArray[np.intp]


def sides_of(wanted: Any, classes: NDArray[Any]) -> tuple[int, Index]:
    """Position of the one class and those of its rivals; a class alone stands against all the others.

    >>> target, rivals = sides_of(("B", "C"), np.array(["A", "B", "C"]))
    >>> target, rivals.tolist()
    (1, [2])
    """
    labels = classes.tolist()
    if len(labels) < 2:
        raise SettingsError("There is one class only, so there is nothing to contrast it with.")
    target = _find(wanted, labels)
    if target is not None:
        return target, np.array([k for k in range(len(labels)) if k != target], dtype=np.intp)
    if not (isinstance(wanted, (tuple, list)) and len(wanted) == 2):
        hint = did_you_mean(str(wanted), [str(label) for label in labels])
        raise SettingsError(
            f"contrast is {wanted!r}, but it is one class, or two of them; the classes are {listed(labels)}.{hint}"
        )
    first, second = wanted
    # A label may be a tuple itself, so a whole is looked for before its parts.
    others = [second] if _find(second, labels) is not None or not isinstance(second, (tuple, list)) else second
    places = [_known(label, labels) for label in (first, *others)]
    if len(set(places)) < len(places) or len(places) < 2:
        raise SettingsError(f"contrast is {wanted!r}, but its classes must differ, and there must be two at least.")
    return places[0], np.array(places[1:], dtype=np.intp)


def _find(label: Any, labels: list[Any]) -> int | None:
    """Where a label stands; of labels that are equal to Python, such as 1 and True, the one of the same type."""
    label = label.item() if isinstance(label, np.generic) else label
    equal = [place for place, known in enumerate(labels) if isinstance(known == label, bool) and known == label]
    same = [place for place in equal if type(labels[place]) is type(label)]
    return next(iter(same or equal), None)


def _known(label: Any, labels: list[Any]) -> int:
    place = _find(label, labels)
    if place is None:
        hint = did_you_mean(str(label), [str(known) for known in labels])
        raise SettingsError(f"contrast names {label!r}, but the classes are {listed(labels)}.{hint}")
    return place
