"""One order for labels and categories of any type, so that results do not depend on who came first."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np

from likely.arrays import Int64


def in_order(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The values sorted; where their types cannot be compared, by type and then by how they are written."""
    listed = list(values)
    try:
        return tuple(sorted(listed))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(listed, key=lambda value: (type(value).__name__, repr(value))))


# Values of a nominal column: which are gaps, which are equal, and where they stand among learned ones.

UNSEEN = -1
_EXACT = 2**53
_NUMBER = (int, float, Decimal, Fraction, np.number)
_TRUTH = (bool, np.bool_)
_BOOLEANS = {"true": True, "false": False}


class _Truth:
    """What makes the key of True differ from that of 1; they are equal to Python."""


def is_gap(value: object) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NAType", "NaTType")


def is_number(value: object) -> bool:
    """A number that is no truth value."""
    return isinstance(value, _NUMBER) and not isinstance(value, _TRUTH)


def plain(value: object) -> Hashable:
    """The value as plain Python: NumPy scalars unpacked, whole floats as int, a gap as None."""
    if isinstance(value, str):
        return str(value)
    if is_gap(value):
        return None
    if isinstance(value, np.generic):
        unpacked = value.item()
        # Nanoseconds since 1970 are no date to Python: such a value stays as it is.
        value = value if isinstance(value, np.datetime64) and isinstance(unpacked, int) else unpacked
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return value if getattr(value, "nanosecond", 0) else value.to_pydatetime()
    return value


def level_key(value: Hashable) -> Hashable:
    """A key under which 1 and 1.0 are one level, and True is another."""
    return (_Truth, bool(value)) if isinstance(value, _TRUTH) else value


def level_map(levels: Iterable[Hashable]) -> dict[Hashable, int]:
    """Where each level stands; build it once to align many batches with `index_levels`."""
    return {level_key(plain(level)): place for place, level in enumerate(levels)}


def index_levels(levels: Sequence[Hashable], known: Mapping[Hashable, int] | Sequence[Hashable]) -> Int64:
    """Where each level stands among the known ones, −1 if it was never seen.

    1, 1.0 and np.int8(1) are the same; True finds 1 only if True itself is not known. Where one side has only
    strings and the other only numbers, the strings are read as numbers, or the numbers written as strings.

    >>> index_levels(["b", "z"], ("a", "b")).tolist(), index_levels([3.0, 4], ("3", "5")).tolist()
    ([1, -1], [0, -1])
    """
    places = known if isinstance(known, Mapping) else level_map(known)
    found = [_find(plain(level), places) for level in levels]
    if places and max(found, default=0) < 0:
        strings, string_keys = ([isinstance(value, str) for value in side] for side in (levels, places))
        if all(strings) and not any(string_keys):
            found = [_find(_read(str(level)), places) for level in levels]
        elif all(string_keys) and not any(strings):
            found = [_find_written(level, places) for level in levels]
    return np.array(found, dtype=np.int64)


def _find(value: Hashable, places: Mapping[Hashable, int]) -> int:
    if value is None:
        return UNSEEN
    exact = places.get(level_key(value), UNSEEN)
    if exact != UNSEEN or not isinstance(value, int) or value not in (0, 1):
        return exact
    return places.get(int(value) if isinstance(value, bool) else level_key(bool(value)), UNSEEN)


def _find_written(level: Hashable, places: Mapping[Hashable, int]) -> int:
    text = written(level)
    ways = (text, text.lower(), text.upper()) if isinstance(level, _TRUTH) else (text,)
    return next((places[way] for way in ways if way in places), UNSEEN)


def _read(text: str) -> Hashable:
    """A string as the truth value or number that it spells, or None."""
    return _BOOLEANS.get(text.strip().lower(), plain(read_number(text)))


def read_number(text: str) -> float | None:
    """A number as a person writes it, or None; Python's 1_000 is no such number."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def written(value: Hashable) -> str:
    """The value as text: '3' for 3.0, 'abc' for 'abc'."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value)
