"""A support vector machine as JSON and named arrays, and back; a made-up one is refused before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import ModelFileError
from likely.schema import Schema
from likely.store.plain import from_plain, to_plain
from likely.store.preparations import read_preparation, write_preparation
from likely.store.statistics import Reader, Writer
from likely.svm.calibrating import Calibration
from likely.svm.kernels import Kernel, Linear
from likely.svm.machine import Machine
from likely.svm.preparing import Preparation
from likely.svm.products import Matrix

Array = NDArray[np.float64]

LARGEST = 1e120
"""Coefficients beyond this are no machine's, and their sums would overflow."""


def write_learned(
    preparation: Preparation, machine: Machine, calibration: Calibration, writer: Writer
) -> dict[str, Any]:
    """All that a machine is made of, and how rows are made ready for it."""
    return {
        "preparation": write_preparation(preparation, writer),
        "kernel": to_plain(machine.kernel),
        "vectors": _write_rows(machine.vectors, writer),
        "vector_rows": writer.put(machine.rows),
        "dual": writer.put(machine.dual),
        "n_support": None if machine.n_support is None else writer.put(machine.n_support),
        "b": writer.put(machine.b),
        "plane": None if machine.plane is None else writer.put(machine.plane),
        "slopes": writer.put(calibration.slopes),
        "shifts": writer.put(calibration.shifts),
    }


def read_learned(data: Any, reader: Reader, schema: Schema, n_classes: int) -> tuple[Preparation, Machine, Calibration]:
    """What `write_learned` wrote, every size and range checked."""
    preparation = read_preparation(data["preparation"], reader, schema)
    kernel = from_plain(data["kernel"])
    if not isinstance(kernel, Kernel) or kernel.is_open or not n_classes:
        raise ModelFileError("its kernel is none")
    rows = reader.get(data["vector_rows"], (None,), np.int64)
    if len(rows) and rows.min() < 0:
        raise ModelFileError("its support vectors are rows that cannot be")
    n, n_pairs = len(rows), n_classes * (n_classes - 1) // 2
    vectors = _read_rows(data["vectors"], reader, n, preparation)
    n_support = None if data["n_support"] is None else reader.get(data["n_support"], (n_classes,), np.int64)
    if n_support is not None and (n_support.min() < 0 or n_support.max() > n or n_support.sum() != n):
        raise ModelFileError("its support vectors do not fit its classes")
    plane = None if data["plane"] is None else _finite(reader, data["plane"], (n_pairs, preparation.width))
    dual = _read_dual(data["dual"], reader, n, n_classes, n_support is not None, plane is not None)
    b = _finite(reader, data["b"], (n_pairs,))
    if plane is not None and not isinstance(kernel, Linear):
        raise ModelFileError("it has a plane, but its kernel is not linear")
    slopes, shifts = (_finite(reader, data[name], (n_pairs,)) for name in ("slopes", "shifts"))
    if (slopes < 0.0).any():
        raise ModelFileError("its probabilities fall where they should rise")
    machine = Machine(n_classes, kernel, vectors, dual, n_support, rows, b, plane)
    return preparation, machine, Calibration(n_classes, slopes, shifts)


def _read_dual(name: Any, reader: Reader, n: int, n_classes: int, by_class: bool, has_plane: bool) -> Array:
    n_pairs = n_classes * (n_classes - 1) // 2
    lines = n_classes - 1 if by_class else n_pairs
    if has_plane:
        return _finite(reader, name, (None, n))
    return _finite(reader, name, (lines, n))


def _finite(reader: Reader, name: Any, shape: tuple[int | None, ...]) -> Array:
    array = reader.get(name, shape)
    if not (np.abs(array) <= LARGEST).all():
        raise ModelFileError(f"its array {name!r} holds something that no machine has")
    return np.asarray(array)


def _write_rows(rows: Matrix, writer: Writer) -> dict[str, Any]:
    if not sparse.issparse(rows):
        return {"rows": writer.put(rows)}
    starts, places = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    return {"cells": writer.put(rows.data), "places": writer.put(places), "starts": writer.put(starts)}


def _read_rows(data: Any, reader: Reader, n: int, preparation: Preparation) -> Matrix:
    width = preparation.width
    if preparation.is_sparse != ("cells" in data):
        raise ModelFileError("its support vectors are kept in a form that its columns do not have")
    if not preparation.is_sparse:
        return _finite(reader, data["rows"], (n, width))
    starts = reader.get(data["starts"], (n + 1,), np.int64)
    cells = _finite(reader, data["cells"], (None,))
    places = reader.get(data["places"], cells.shape, np.int32)
    if starts[0] != 0 or starts[-1] != len(cells) or (np.diff(starts) < 0).any():
        raise ModelFileError("its sparse support vectors do not fit together")
    if len(places) and (places.min() < 0 or places.max() >= width):
        raise ModelFileError("its sparse support vectors name a feature that does not exist")
    rows = sparse.csr_array((cells, places, starts), shape=(n, width))
    if not rows.has_canonical_format:
        raise ModelFileError("its sparse support vectors are not in order")
    return rows
