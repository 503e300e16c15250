"""Class labels with the type of their array, so that predictions come back as they went in."""

from __future__ import annotations

import re

import numpy as np

from likely.arrays import AnyArray
from likely.errors import ModelFileError, SettingsError
from likely.store.container import Document
from likely.store.plain import from_plain, ticking, to_plain, unit_of
from likely.table import level_key
from likely.table.column import as_objects
from likely.table.levels import is_gap

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
