"""The settled numbers of a model: for readers without likely, and as a check when it is read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.bayes import Model
from likely.errors import ModelFileError
from likely.store.statistics import Reader, Writer

ROUNDING = 1e-9
"""How far settling again may be from what was settled: another processor rounds its logarithms otherwise."""


def write_parameters(model: Model, writer: Writer) -> dict[str, Any]:
    """The prior and every array of every belief, by name."""
    return {
        "prior": writer.put(model.prior),
        "beliefs": [
            {"family": type(belief).__name__, "arrays": {name: writer.put(array) for name, array in _arrays(belief)}}
            for belief in model.beliefs
        ],
    }


def check_parameters(data: Any, model: Model, reader: Reader) -> None:
    """What was settled when the file was written must be what its summary settles to now."""
    _agree(reader, data["prior"], model.prior, "prior")
    if len(data["beliefs"]) != len(model.beliefs):
        raise ModelFileError("its parameters do not belong to its summary")
    for entry, belief in zip(data["beliefs"], model.beliefs, strict=True):
        settled = dict(_arrays(belief))
        if entry["family"] != type(belief).__name__ or set(entry["arrays"]) != set(settled):
            raise ModelFileError("its parameters do not belong to its summary")
        for name, array in settled.items():
            _agree(reader, entry["arrays"][name], array, name)


def _agree(reader: Reader, name: Any, settled: NDArray[Any], meaning: str) -> None:
    stored = reader.get(name, settled.shape, settled.dtype.type)
    if not np.allclose(stored, settled, rtol=ROUNDING, atol=ROUNDING, equal_nan=True):
        raise ModelFileError(f"its {meaning} does not follow from its counts")


def _arrays(belief: Any, prefix: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays in a belief and in what it is made of."""
    for entry in fields(belief):
        value, name = getattr(belief, entry.name), f"{prefix}{entry.name}"
        if isinstance(value, np.ndarray):
            yield name, value
        elif sparse.issparse(value):
            yield f"{name}.cells", value.data
            yield f"{name}.columns", value.indices.astype(np.int32)
            yield f"{name}.starts", value.indptr.astype(np.int64)
        elif is_dataclass(value):
            yield from _arrays(value, f"{name}.")
