"""How large a model is: the file that it is saved to, or the arrays that it holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from likely.errors import LikelyError

DEEPEST = 12


def model_bytes(classifier: Any) -> int:
    """Bytes of the file if the classifier can be saved without pickle, else of all arrays in it."""
    if type(classifier).__module__.startswith("likely.") and hasattr(classifier, "save"):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.likely"
            try:
                classifier.save(path)
            except LikelyError:  # such as a label of a type that no file has
                return _array_bytes(classifier, set(), 0)
            return path.stat().st_size
    return _array_bytes(classifier, set(), 0)


def _array_bytes(value: Any, seen: set[int], depth: int) -> int:
    """Arrays in an object, its attributes and collections; each counts once."""
    if depth > DEEPEST or id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        inner = sum(_array_bytes(cell, seen, depth + 1) for cell in value.ravel()) if value.dtype == object else 0
        return int(value.nbytes) + inner
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int | float | np.generic):
        return 8
    if isinstance(value, Mapping):
        return sum(_array_bytes(item, seen, depth + 1) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return sum(_array_bytes(item, seen, depth + 1) for item in value)
    return sum(_array_bytes(item, seen, depth + 1) for item in getattr(value, "__dict__", {}).values())
