"""Labels, categories and settings as JSON, each with its type, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from likely.errors import ModelFileError, SettingsError
from likely.families.smoothing import Laplace, MEstimate
from likely.text.recipe import Recipe

TAG = "$"
"""Marks a value that JSON has no word for: {"$": "tuple", "of": […]}."""

DEEPEST = 50
"""Tuples in tuples in tuples: deeper than any label, so that hostile files end here and not in the stack."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON; refuses types that could not be read back as they were."""
    if depth > DEEPEST:
        raise SettingsError("A label or setting is nested too deeply to be saved.")
    if isinstance(value, np.generic | np.ndarray):
        value = value.item() if isinstance(value, np.generic) else value.tolist()
    if value is None or type(value) in (bool, int, str) or (type(value) is float and np.isfinite(value)):
        return value
    if type(value) in SCALARS:
        name, write, _ = SCALARS[type(value)]
        return _tagged(name, write(value))
    if type(value) in COLLECTIONS:
        items = sorted(value, key=repr) if isinstance(value, frozenset) else value
        return _tagged(COLLECTIONS[type(value)], [to_plain(item, depth + 1) for item in items])
    if isinstance(value, Mapping):
        return _tagged("dict", [[to_plain(k, depth + 1), to_plain(v, depth + 1)] for k, v in value.items()])
    if isinstance(value, Laplace):
        return _tagged("laplace", to_plain(float(value.gamma)))
    if isinstance(value, MEstimate):
        return _tagged("m-estimate", [to_plain(float(value.m)), to_plain(value.p, depth + 1)])
    if isinstance(value, Recipe):
        return _tagged("recipe", {entry.name: to_plain(getattr(value, entry.name)) for entry in fields(value)})
    raise SettingsError(f"{value!r} is a {type(value).__name__}, which cannot be saved in a model file.")


def from_plain(value: Any, depth: int = 0) -> Any:
    """The value that `to_plain` wrote."""
    if depth > DEEPEST:
        raise ModelFileError("its document is nested too deeply")
    if value is None or isinstance(value, bool | int | str | float):
        return value
    if not isinstance(value, dict) or set(value) != {TAG, "of"} or not isinstance(value[TAG], str):
        raise ModelFileError("its document holds a value that no model has")
    name, of = value[TAG], value["of"]
    try:
        return _read(name, of, depth)
    except (TypeError, ValueError, KeyError, OverflowError, InvalidOperation, ZeroDivisionError) as error:
        raise ModelFileError(f"its document holds a bad {name[:20]!r}") from error


def _read(name: str, of: Any, depth: int) -> Any:
    if name in READERS:
        return READERS[name](of)
    if name == "laplace":
        return Laplace(from_plain(of))
    if name == "m-estimate":
        return MEstimate(from_plain(of[0]), from_plain(of[1], depth + 1))
    if name == "recipe":
        return Recipe(**{key: from_plain(item, depth + 1) for key, item in of.items()})
    if name == "dict":
        return {from_plain(key, depth + 1): from_plain(item, depth + 1) for key, item in of}
    collection = {name: kind for kind, name in COLLECTIONS.items()}[name]
    return collection(from_plain(item, depth + 1) for item in of)


COLLECTIONS: dict[type, str] = {tuple: "tuple", list: "list", frozenset: "frozenset"}


def _tagged(name: str, of: Any) -> dict[str, Any]:
    return {TAG: name, "of": of}


Scalar = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]

SCALARS: dict[type, Scalar] = {
    float: ("float", float.hex, float.fromhex),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("timedelta", lambda span: [span.days, span.seconds, span.microseconds], lambda of: timedelta(*of)),
    Decimal: ("decimal", str, Decimal),
    Fraction: ("fraction", str, Fraction),
}
READERS = {name: read for name, _, read in SCALARS.values()}
