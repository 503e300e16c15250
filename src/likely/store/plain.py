"""Labels, categories and settings as JSON, each with its type, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from likely.decide import Loss
from likely.errors import ModelFileError, SettingsError
from likely.families.smoothing import Laplace, MEstimate
from likely.store.scalars import READERS, SCALARS, is_plain_number, write_scalar
from likely.text.tokenizer import Tokenizer

TAG = "$"
"""Marks a value that JSON has no word for: {"$": "tuple", "of": […]}."""

DEEPEST = 50
"""Tuples in tuples in tuples: deeper than any label, so that hostile files end here and not in the stack."""


def to_plain(value: Any, depth: int = 0) -> Any:
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
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"its document holds a bad {name[:20]!r}") from error


def _read(name: str, of: Any, depth: int) -> Any:
    if name in READERS:
        return READERS[name](of)
    for tag in TAGGED.values():
        if name == tag.name:
            return tag.read(of, depth + 1)
    if name == "dict":
        return {from_plain(key, depth + 1): from_plain(item, depth + 1) for key, item in of}
    collection = {name: kind for kind, name in COLLECTIONS.items()}[name]
    return collection(from_plain(item, depth + 1) for item in of)


COLLECTIONS: dict[type, str] = {tuple: "tuple", list: "list", frozenset: "frozenset"}


def _tagged(name: str, of: Any) -> dict[str, Any]:
    return {TAG: name, "of": of}


class Tag(NamedTuple):
    """How a type that JSON has no word for is called, written and read; both get the depth at which its parts lie."""

    name: str
    write: Callable[[Any, int], Any]
    read: Callable[[Any, int], Any]


def _write_loss(loss: Loss, depth: int) -> Any:
    parts = list(loss.decisions), list(loss.truths), np.asarray(loss.costs).tolist(), loss.refuse
    return [to_plain(part, depth) for part in parts]


def _read_loss(of: Any, depth: int) -> Loss:
    decisions, truths, costs, refuse = (from_plain(part, depth) for part in of)
    return Loss(np.array(costs, dtype=np.float64), decisions=decisions, truths=truths, refuse=refuse)


def _read_recipe(of: Any, depth: int) -> Tokenizer:
    return Tokenizer(**{key: from_plain(item, depth) for key, item in of.items()})


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
        _read_recipe,
    ),
}
"""Settings that are more than values. A model adds its own (`models.svm.kernels` adds kernels)."""
