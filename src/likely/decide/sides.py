"""The two classes of a binary loss, before a classifier says what they are called."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum

from likely.errors import SettingsError, listed
from likely.table import index_levels
from likely.table.levels import plain


class Side(Enum):
    """A class that was not named."""

    NEGATIVE = "negative"
    POSITIVE = "positive"

    def __str__(self) -> str:
        return self.value


_PAIRS = (
    ("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"), ("negative", "positive"),
    ("neg", "pos"), ("-", "+"), ("off", "on"), ("absent", "present"),
)  # fmt: skip
"""Labels that say which class is the negative and which the positive one."""


def name_sides(
    sides: tuple[Hashable, ...], classes: list[Hashable], *, alike: bool
) -> tuple[tuple[Hashable, ...], list[int]]:
    """The two classes in their own order, and which of the sides (negative, positive) each one is.

    With `alike` both mistakes cost the same, and it is no matter.
    """
    if len(classes) != 2:
        raise SettingsError(
            f"A binary loss is for two classes, but here are {len(classes)}: {listed(classes)}. "
            "Give the costs of each decision in a mapping."
        )
    named = [label for label in sides if not isinstance(label, Side)]
    if not named:
        return tuple(classes), [0, 1] if alike else _told_by(classes)
    place = int(index_levels(named, classes)[0])
    if place < 0:
        raise SettingsError(f"The loss names the class {named[0]!r}, but the classes are {listed(classes)}.")
    side = sides.index(named[0])
    return tuple(classes), [side, 1 - side] if place == 0 else [1 - side, side]


def _told_by(classes: list[Hashable]) -> list[int]:
    """The sides of two classes whose labels tell."""
    words = [_word(label) for label in classes]
    for pair in _PAIRS:
        if sorted(words) == sorted(pair):
            return [pair.index(word) for word in words]
    raise SettingsError(
        f"Nothing tells which of the classes {listed(classes)} is the positive one, whose miss has its own price: "
        f"say Loss.binary(…, positive={classes[0]!r}) or positive={classes[1]!r}."
    )


def _word(label: Hashable) -> str:
    """A label as it is compared: numbers as whole ones, words in small letters."""
    value = plain(label)
    return str(value).strip().casefold()
