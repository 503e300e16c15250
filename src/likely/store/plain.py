"""Labels, categories and settings as JSON, each with its type, and back: none that takes long to read or to compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from likely.arrays import AnyArray
from likely.decide import Loss
from likely.errors import ModelFileError, SettingsError
from likely.families.smoothing import Laplace, MEstimate
from likely.store.container import LONGEST_NUMBER, Document
from likely.table import level_key
from likely.table.cells import as_objects
from likely.table.levels import is_gap
from likely.text.tokenizer import Tokenizer

TAG = "$"
"""Marks a value that JSON has no word for: {"$": "tuple", "of": […]}."""

COLLECTIONS: dict[type, str] = {tuple: "tuple", list: "list", frozenset: "frozenset"}

DEEPEST = 50
"""Tuples in tuples in tuples: deeper than any label, so that hostile files end here and not in the stack."""


# Values that JSON has no word for, as text or small lists, and back.

FRACTION = re.compile(r"-?\d+(/\d+)?")
SPAN = re.compile(r"(\d{1,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic)")
"""What a date or a span of time of NumPy is counted in: nanoseconds, or steps of 25 microseconds."""


def _read_decimal(text: str) -> Decimal:
    """A decimal that can be compared and made a whole number in no time, and that is no gap."""
    number = Decimal(text) if len(text) <= LONGEST_NUMBER else Decimal("nan")
    if number.is_nan() or (number.is_finite() and number and abs(number.adjusted()) > LONGEST_NUMBER):
        raise ValueError("a decimal that is nothing, or too long")
    return number


def _read_fraction(text: str) -> Fraction:
    """Digits over digits: of an exponent Python would make as many digits as it says."""
    if len(text) > 2 * LONGEST_NUMBER or not FRACTION.fullmatch(text):
        raise ValueError("no fraction")
    return Fraction(text)


def _read_timedelta(of: list[int]) -> timedelta:
    days, seconds, microseconds = of
    if not all(type(part) is int for part in of):
        raise TypeError("no time")
    return timedelta(days, seconds, microseconds)


def _write_ticks(value: np.datetime64 | np.timedelta64) -> list[object]:
    return [unit_of(value.dtype), int(value.astype(np.int64))]


def unit_of(dtype: np.dtype[np.datetime64 | np.timedelta64]) -> str:
    """The unit in which dates or spans of time are counted."""
    unit, step = np.datetime_data(dtype)
    return unit if step == 1 else f"{step}{unit}"


def ticking(letter: str, unit: object) -> np.dtype[np.generic]:
    """The type of dates ("M") or spans of time ("m") that are counted in a unit which a file names."""
    if not isinstance(unit, str) or not SPAN.fullmatch(unit):
        raise ModelFileError("its document counts time in a unit that there is not")
    return np.dtype(f"{letter}8" if unit == "generic" else f"{letter}8[{unit}]")


def _ticks_reader(letter: str) -> Callable[[list[object]], np.generic]:
    def read(of: list[object]) -> np.generic:
        unit, ticks = of
        if type(ticks) is not int:
            raise TypeError("no time")
        value: np.datetime64 = np.array([ticks], dtype=np.int64).view(ticking(letter, unit))[0]
        if np.isnat(value):
            raise ValueError("no time")
        return value

    return read


SCALARS: dict[type, tuple[str, Callable[[Any], object], Callable[[Any], object]]] = {
    float: ("float", float.hex, float.fromhex),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("timedelta", lambda span: [span.days, span.seconds, span.microseconds], _read_timedelta),
    Decimal: ("decimal", str, _read_decimal),
    Fraction: ("fraction", str, _read_fraction),
    np.datetime64: ("datetime64", _write_ticks, _ticks_reader("M")),
    np.timedelta64: ("timedelta64", _write_ticks, _ticks_reader("m")),
}
READERS = {name: read for name, _, read in SCALARS.values()}


def is_plain_number(value: object) -> bool:
    """Whether JSON has a word for the number; a whole one of too many digits is refused."""
    if type(value) is int and abs(value) >= 10**LONGEST_NUMBER:
        raise SettingsError(f"A whole number of more than {LONGEST_NUMBER} digits cannot be saved in a model file.")
    return type(value) is int or (type(value) is float and math.isfinite(value))


def write_scalar(value: object) -> tuple[str, object]:
    """The name of its type, and what is written of the value; refuses what could not be read back."""
    name, write, read = SCALARS[type(value)]
    written = write(value)
    try:
        read(written)
    except (TypeError, ValueError, ArithmeticError):
        raise SettingsError(
            f"A label or setting is a {name} that a model file cannot hold: too long, or none."
        ) from None
    return name, written


# Those, collections of them, and settings.


def to_plain(value: Any, depth: int = 0) -> object:
    """A value as JSON; refuses types that could not be read back as they were."""
    if depth > DEEPEST:
        raise SettingsError("A label or setting is nested too deeply to be saved.")
    if isinstance(value, np.generic | np.ndarray) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item() if isinstance(value, np.generic) else value.tolist()
    if value is None or type(value) in (bool, str) or is_plain_number(value):
        return value
    if type(value) in SCALARS:
        return _tagged(*write_scalar(value))
    if type(value) in COLLECTIONS:
        items = sorted(value, key=repr) if isinstance(value, frozenset) else value
        return _tagged(COLLECTIONS[type(value)], [to_plain(item, depth + 1) for item in items])
    if isinstance(value, Mapping):
        return _tagged("dict", [[to_plain(k, depth + 1), to_plain(v, depth + 1)] for k, v in value.items()])
    for kind in type(value).__mro__:
        if kind in TAGGED:
            return _tagged(TAGGED[kind].name, TAGGED[kind].write(value, depth + 1))
    raise SettingsError(f"{value!r} is a {type(value).__name__}, which cannot be saved in a model file.")


def from_plain(value: object, depth: int = 0) -> Any:
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
    except ModelFileError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"its document holds a bad {name[:20]!r}") from error


def _read(name: str, of: Any, depth: int) -> object:
    if name in READERS:
        return READERS[name](of)
    for tag in TAGGED.values():
        if name == tag.name:
            return tag.read(of, depth + 1)
    if name == "dict":
        return {from_plain(key, depth + 1): from_plain(item, depth + 1) for key, item in of}
    collection = {name: kind for kind, name in COLLECTIONS.items()}[name]
    return collection(from_plain(item, depth + 1) for item in of)


def _tagged(name: str, of: object) -> dict[str, object]:
    return {TAG: name, "of": of}


class Tag(NamedTuple):
    """How a type that JSON has no word for is called, written and read; both get the depth at which its parts lie."""

    name: str
    write: Callable[[Any, int], object]
    read: Callable[[Any, int], object]


def _write_loss(loss: Loss, depth: int) -> list[object]:
    parts = list(loss.decisions), list(loss.truths), np.asarray(loss.costs).tolist(), loss.refuse
    return [to_plain(part, depth) for part in parts]


def _read_loss(of: list[object], depth: int) -> Loss:
    decisions, truths, costs, refuse = (from_plain(part, depth) for part in of)
    return Loss(np.array(costs, dtype=np.float64), decisions=decisions, truths=truths, refuse=refuse)


TAGGED: dict[type, Tag] = {
    Laplace: Tag("laplace", lambda each, _: to_plain(float(each.gamma)), lambda of, _: Laplace(from_plain(of))),
    MEstimate: Tag(
        "m-estimate",
        lambda each, depth: [to_plain(float(each.m)), to_plain(each.p, depth)],
        lambda of, depth: MEstimate(from_plain(of[0]), from_plain(of[1], depth)),
    ),
    Loss: Tag("loss", _write_loss, _read_loss),
    Tokenizer: Tag(
        "recipe",
        lambda each, depth: {entry.name: to_plain(getattr(each, entry.name), depth) for entry in fields(each)},
        lambda of, depth: Tokenizer(**{key: from_plain(item, depth) for key, item in of.items()}),
    ),
}
"""Settings that are more than values. A model adds its own (`models.svm.kernels` adds kernels)."""


# Class labels with the type of their array, so that predictions come back as they went in.

NUMBERS = re.compile(r"[<>|][biuf][1248]")
FIRST_FORM = {"i": "<i8", "u": "<u8", "f": "<f8", "b": "|b1"}
"""The types of labels in files that do not say how wide they are."""

WIDEST = 1 << 20
"""Letters that all labels together may have room for beyond those that they need: a few bytes cannot ask for more."""


def write_labels(labels: AnyArray) -> Document:
    """The labels one by one, the kind of their array, and its exact type."""
    about = {"type": labels.dtype.kind, "dtype": labels.dtype.str}
    if labels.dtype.kind in "Mm":
        about["dtype"] = unit_of(labels.dtype)
        return {**about, "of": labels.astype(np.int64).tolist()}
    return {**about, "of": [to_plain(label) for label in labels.tolist()]}


def unsaved_type(labels: AnyArray) -> str | None:
    """The type of the first label that a file cannot hold, or None."""
    for label in labels.tolist() if labels.dtype.kind in "fO" else ():
        try:
            to_plain(label)
        except SettingsError:
            return type(label).__name__
    return None


def read_labels(data: Document) -> AnyArray:
    """The labels that `write_labels` wrote: as many as there are, and each once."""
    values = [from_plain(value) for value in data["of"]]
    kind, dtype = data["type"], data.get("dtype")
    labels = _array(values, kind, dtype)
    distinct = len(set(map(level_key, values))) == len(values)
    if labels.shape != (len(values),) or not distinct or not _same(labels, values):
        raise ModelFileError("its class labels do not fit their type, or one stands there twice")
    return labels


def _array(values: list[object], kind: object, dtype: object) -> AnyArray:
    if isinstance(kind, str) and kind in ("M", "m") and dtype is not None:
        if not all(type(value) is int for value in values):
            raise ModelFileError("its class labels are no dates")
        return np.array(values, dtype=np.int64).view(ticking(kind, dtype))
    if isinstance(kind, str) and kind in FIRST_FORM:
        with np.errstate(all="ignore"):
            return np.array(values, dtype=_width(kind, dtype))
    if kind == "U" or (kind == "S" and dtype is not None):
        natural = np.array(values, dtype=str if kind == "U" else bytes)
        return _widened(natural, dtype)
    return as_objects(values)


def _width(kind: str, dtype: object) -> np.dtype[np.generic]:
    name = FIRST_FORM[kind] if dtype is None else dtype
    if not isinstance(name, str) or not NUMBERS.fullmatch(name) or name[1] != kind:
        raise ModelFileError("its class labels have a type that no labels have")
    return np.dtype(name)


def _widened(natural: AnyArray, dtype: object) -> AnyArray:
    """Strings with as much room as they had."""
    digits = dtype[2:] if isinstance(dtype, str) and dtype[1:2] == natural.dtype.kind else ""
    width = int(digits) if digits.isdecimal() and len(digits) < 10 else 0
    if width * len(natural) > WIDEST or width * natural.dtype.alignment <= natural.dtype.itemsize:
        return natural
    return natural.astype(f"{natural.dtype.kind}{width}")


def _same(labels: AnyArray, values: list[object]) -> bool:
    """Whether the array holds the labels as they stand in the file; a label is no gap."""
    if labels.dtype.kind in "Mm":
        return not bool(np.isnat(labels).any())
    if labels.dtype.kind == "O":
        return not any(map(is_gap, values))
    held = labels.tolist()
    return held == values and set(map(type, held)) >= set(map(type, values))
