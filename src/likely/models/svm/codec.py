"""A support vector machine as JSON and named arrays, and back; a made-up one is refused before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from likely.arrays import Array
from likely.errors import ModelFileError
from likely.models.svm.calibration import Calibration
from likely.models.svm.features import (
    NARROWEST,
    FeatureBlock,
    NumericFeatures,
    OneHotFeatures,
    Preparation,
    SparseFeatures,
    TfidfFeatures,
)
from likely.models.svm.kernels import Kernel, Linear, Matrix
from likely.models.svm.machine import Machine
from likely.store.plain import from_plain, to_plain
from likely.store.statistics import Reader, Writer, read_words
from likely.store.summaries import read_names, write_names
from likely.table import level_key
from likely.table.schema import Schema

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
        "plane": None if machine.hyperplanes is None else writer.put(machine.hyperplanes),
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


# How rows are made ready for a machine, as JSON and named arrays, and back.

MOST_RARE = 1e3
"""The rarity of a word is a logarithm: far below this."""


def write_preparation(preparation: Preparation, writer: Writer) -> list[dict[str, Any]]:
    """One entry per part."""
    return [_write_part(part, writer) for part in preparation.parts]


def read_preparation(data: Any, reader: Reader, schema: Schema) -> Preparation:
    """The parts that `write_preparation` wrote; each column of the schema is made use of once at most."""
    if not isinstance(data, list) or not data:
        raise ModelFileError("it does not say how rows are made ready")
    preparation = Preparation(tuple(_read_part(entry, reader) for entry in data))
    columns = preparation.columns
    if len(set(columns)) != len(columns) or not set(columns) <= set(schema.features) or not preparation.width:
        raise ModelFileError("its prepared columns are not those of its schema")
    if len(data) > 1 and any(isinstance(part, SparseFeatures) for part in preparation.parts):
        raise ModelFileError("it mixes a sparse matrix with other columns")
    return preparation


def _write_part(part: FeatureBlock, writer: Writer) -> dict[str, Any]:
    if isinstance(part, NumericFeatures):
        arrays = {name: writer.put(getattr(part, name)) for name in ("centre", "scale", "fill", "holed")}
        return {"part": "numbers", "columns": write_names(part.columns), **arrays}
    if isinstance(part, SparseFeatures):
        arrays = {"places": writer.put(part.places), "scale": writer.put(part.scale)}
        return {"part": "sparse", "columns": write_names(tuple(part.columns)), **arrays}
    if isinstance(part, OneHotFeatures):
        levels = [to_plain(level) for level in part.levels]
        return {"part": "categories", "column": part.column, "levels": levels, "holed": part.holed}
    return {
        "part": "text",
        "column": part.column,
        "recipe": to_plain(part.tokenizer),
        "letters": writer.put(part.words.arena),
        "ends": writer.put(part.words.starts),
        "rarity": writer.put(part.idf),
    }


def _read_part(data: Any, reader: Reader) -> FeatureBlock:
    kind = data["part"]
    if kind == "numbers":
        return _read_numbers(data, reader)
    if kind == "sparse":
        columns = read_names(data["columns"], reader)
        places = reader.get(data["places"], (len(columns),), np.int64)
        if not np.array_equal(places, np.arange(len(columns))) and (
            len(places) == 0 or places[0] < 0 or (np.diff(places) <= 0).any()
        ):
            raise ModelFileError("its sparse columns are not in order")
        return SparseFeatures(columns, places, _widths(reader, data["scale"], len(columns)))
    if kind == "categories":
        levels = tuple(from_plain(level) for level in data["levels"])
        if len(set(map(level_key, levels))) != len(levels) or not isinstance(data["holed"], bool) or None in levels:
            raise ModelFileError("it names a value of a column twice")
        return OneHotFeatures(_name(data["column"]), levels, data["holed"])
    if kind == "text":
        return _read_text(data, reader)
    raise ModelFileError("it makes rows ready in a way that this version does not know")


def _read_numbers(data: Any, reader: Reader) -> NumericFeatures:
    columns = read_names(data["columns"], reader)
    n = len(columns)
    centre, fill = reader.get(data["centre"], (n,)), reader.get(data["fill"], (n,))
    holed = reader.get(data["holed"], (None,), np.int64)
    if not (np.isfinite(centre).all() and np.isfinite(fill).all()):
        raise ModelFileError("it holds a mean that is no number")
    if len(holed) and (holed[0] < 0 or holed[-1] >= n or (np.diff(holed) <= 0).any()):
        raise ModelFileError("it marks gaps in columns that do not exist")
    return NumericFeatures(columns, centre, _widths(reader, data["scale"], n), fill, holed)


def _read_text(data: Any, reader: Reader) -> TfidfFeatures:
    recipe, words = read_words(data, reader)
    return TfidfFeatures(_name(data["column"]), recipe, words, _widths(reader, data["rarity"], len(words), MOST_RARE))


def _widths(reader: Reader, name: Any, n: int, most: float = np.finfo(float).max) -> Any:
    widths = reader.get(name, (n,))
    if not ((widths >= NARROWEST) & (widths <= most)).all():
        raise ModelFileError("it holds a width that no column has")
    return widths


def _name(data: Any) -> str:
    if not isinstance(data, str):
        raise ModelFileError("it has a column without a name")
    return data
