"""A summary as a part of the document, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import ModelFileError
from likely.scorer import Model
from likely.stats import ClassWeights, Part, Summary
from likely.store.labels import read_labels, write_labels
from likely.store.statistics import Reader, Writer, read_statistic, write_statistic
from likely.table import Numbered


def write_summary(summary: Summary, writer: Writer) -> dict[str, Any]:
    """Class weights and all parts."""
    classes = summary.classes
    return {
        "labels": write_labels(classes.labels),
        "weights": writer.put(classes.weights),
        "rows": writer.put(classes.rows),
        "parts": [
            {"kind": part.kind, "columns": write_names(part.columns), **write_statistic(seen, writer)}
            for part, seen in summary.parts.items()
        ],
    }


def read_summary(data: Any, reader: Reader) -> Summary:
    """The summary that `write_summary` wrote, every size checked."""
    labels = read_labels(data["labels"])
    rows = reader.get(data["rows"], (len(labels),), np.int64)
    if (rows < 0).any():
        raise ModelFileError("it counts fewer than no rows")
    classes = ClassWeights(labels, reader.counts(data["weights"], (len(labels),)), rows)
    parts = {}
    for entry in data["parts"]:
        columns = read_names(entry["columns"], reader)
        part = Part(str(entry["kind"]), columns)
        parts[part] = read_statistic(entry, reader, len(labels), len(columns))
    if len(parts) != len(data["parts"]):
        raise ModelFileError("it describes a column twice")
    return Summary(classes, parts)


def write_names(names: tuple[str, ...]) -> Any:
    """Names of columns; those of an array in short, because a sparse matrix may have a million."""
    return len(names) if names == tuple(Numbered(len(names))) else list(names)


FREE_COLUMNS = 1 << 17


def read_width(data: Any, reader: Reader) -> int:
    """A number of columns. A million of them must be backed by arrays: a few bytes cannot ask for much memory."""
    most = max(FREE_COLUMNS, sum(array.size for array in reader.arrays.values()))
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= most:
        raise ModelFileError(f"it claims to have {str(data)[:20]} columns")
    return data


def read_names(data: Any, reader: Reader) -> tuple[str, ...]:
    """The names that `write_names` wrote."""
    if not isinstance(data, list):
        return tuple(Numbered(read_width(data, reader)))
    if all(isinstance(name, str) for name in data) and len(set(data)) == len(data):
        return tuple(data)
    raise ModelFileError("its column names cannot be read")


# The settled numbers of a model: for readers without likely, and as a check when it is read again.

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
