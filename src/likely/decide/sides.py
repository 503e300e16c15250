"""The two classes of a binary loss, before a classifier says what they are called."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum

from likely.errors import SettingsError, listed
from likely.table import index_levels


class Side(Enum):
    """A class that was not named."""

    NEGATIVE = "negative"
    POSITIVE = "positive"

    def __str__(self) -> str:
        return self.value


def name_sides(sides: tuple[Hashable, ...], classes: list[Hashable]) -> tuple[tuple[Hashable, ...], list[int]]:
    """The two classes in their own order, and which of the sides (negative, positive) each one is."""
    if len(classes) != 2:
        raise SettingsError(
            f"A binary loss is for two classes, but here are {len(classes)}: {listed(classes)}. "
            "Give the costs of each decision in a mapping."
        )
    named = [label for label in sides if not isinstance(label, Side)]
    if not named:
        return tuple(classes), [0, 1]
    place = int(index_levels(named, classes)[0])
    if place < 0:
        raise SettingsError(f"The loss names the class {named[0]!r}, but the classes are {listed(classes)}.")
    side = sides.index(named[0])
    return tuple(classes), [side, 1 - side] if place == 0 else [1 - side, side]
