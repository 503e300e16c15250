"""Labels, categories and settings as JSON, each with its type, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from likely.decide import Loss
from likely.errors import ModelFileError, SettingsError
from likely.families.smoothing import Laplace, MEstimate
from likely.models.svm.kernels import Gauss, Kernel, Linear, Polynomial, Product, Scaled, Sigmoid, Sum
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
    if isinstance(value, Laplace):
        return _tagged("laplace", to_plain(float(value.gamma), depth + 1))
    if isinstance(value, MEstimate):
        return _tagged("m-estimate", [to_plain(float(value.m), depth + 1), to_plain(value.p, depth + 1)])
    if isinstance(value, Loss | Tokenizer | Kernel):
        return _composed(value, depth)
    raise SettingsError(f"{value!r} is a {type(value).__name__}, which cannot be saved in a model file.")


def _composed(value: Loss | Tokenizer | Kernel, depth: int) -> Any:
    if isinstance(value, Kernel):
        return _tagged("kernel", [type(value).__name__, *(to_plain(each, depth + 1) for each in vars(value).values())])
    if isinstance(value, Tokenizer):
        return _tagged(
            "recipe", {entry.name: to_plain(getattr(value, entry.name), depth + 1) for entry in fields(value)}
        )
    parts = list(value.decisions), list(value.truths), np.asarray(value.costs).tolist(), value.refuse
    return _tagged("loss", [to_plain(part, depth + 1) for part in parts])


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
    if name == "laplace":
        return Laplace(from_plain(of, depth + 1))
    if name == "m-estimate":
        return MEstimate(*(from_plain(part, depth + 1) for part in of))
    if name == "loss":
        decisions, truths, costs, refuse = (from_plain(part, depth + 1) for part in of)
        return Loss(np.array(costs, dtype=np.float64), decisions=decisions, truths=truths, refuse=refuse)
    if name == "recipe":
        return Tokenizer(**{key: from_plain(item, depth + 1) for key, item in of.items()})
    if name == "kernel":
        return _read_kernel(of, depth)
    if name == "dict":
        return {from_plain(key, depth + 1): from_plain(item, depth + 1) for key, item in of}
    collection = {name: kind for kind, name in COLLECTIONS.items()}[name]
    return collection(from_plain(item, depth + 1) for item in of)


def _read_kernel(of: Any, depth: int) -> Kernel:
    kind = KERNELS[of[0]]
    parts = [from_plain(part, depth + 1) for part in of[1:]]
    inner = parts[1:] if kind is Scaled else parts if kind in (Sum, Product) else []
    if not all(isinstance(part, Kernel) for part in inner):
        raise TypeError("a kernel is made of kernels")
    return kind(*parts)


KERNELS: dict[str, Callable[..., Kernel]] = {
    kind.__name__: kind for kind in (Linear, Polynomial, Gauss, Sigmoid, Scaled, Sum, Product)
}


COLLECTIONS: dict[type, str] = {tuple: "tuple", list: "list", frozenset: "frozenset"}


def _tagged(name: str, of: Any) -> dict[str, Any]:
    return {TAG: name, "of": of}
