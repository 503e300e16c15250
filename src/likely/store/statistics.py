"""Statistics as named arrays, and back; what comes from a file is checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array
from likely.errors import ModelFileError, TooLarge
from likely.numerics import HEAVIEST, LARGEST, too_large
from likely.stats import (
    Cuts,
    FeatureCounts,
    Histogram,
    Moments,
    PairCounts,
    Presence,
    Scatter,
    Statistic,
    TokenCounts,
    ValueCounts,
)
from likely.stats.feature_counts import refuse_large
from likely.stats.histogram import MOST_CELLS
from likely.stats.pair_counts import Axis, Layout, size_of
from likely.stats.protocol import Matrix
from likely.stats.scatter import Pairs
from likely.store.plain import from_plain, to_plain
from likely.table import level_key
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

COARSEST = 52
FARTHEST = 0x7FEF_FFFF_FFFF_FFFF
"""A histogram drops at most so many bits, and the largest float has that place in the order of all floats."""


ROUNDED_UP = 1.0 + 1e-9
"""Sums in another order may come out larger by so much."""


@dataclass
class Writer:
    """Collects arrays under names that the document refers to."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def put(self, array: NDArray[Any]) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name


@dataclass(frozen=True)
class Reader:
    """Hands out arrays of the shape and type that are expected, or refuses."""

    arrays: dict[str, NDArray[Any]]

    def get(self, name: Any, shape: tuple[int | None, ...], dtype: type = np.float64) -> NDArray[Any]:
        array = self.arrays.get(name) if isinstance(name, str) else None
        if array is None or array.dtype != dtype or array.ndim != len(shape):
            raise ModelFileError(f"it lacks the array {str(name)[:20]!r}, or has it in another form")
        if any(size is not None and size != there for size, there in zip(shape, array.shape, strict=True)):
            raise ModelFileError(f"its array {name!r} has the shape {array.shape} where {shape} was expected")
        return array

    def counts(self, name: Any, shape: tuple[int | None, ...], most: float = ROUNDED_UP * HEAVIEST) -> Array:
        """Numbers from zero up, none larger than can be counted."""
        array = self.get(name, shape)
        if not ((array >= 0.0) & (array <= most)).all():
            raise ModelFileError(f"its array {name!r} holds something that is no count")
        return array


def write_statistic(seen: Statistic, writer: Writer) -> dict[str, Any]:
    """The statistic as a JSON object that names its arrays."""
    for kind, (name, write, _) in CODECS.items():
        if type(seen) is kind:
            return {"statistic": name, **write(seen, writer)}
    raise TypeError(f"{type(seen).__name__} has no place in a model file yet")


def read_statistic(data: Any, reader: Reader, n_classes: int, n_columns: int) -> Statistic:
    """The statistic of so many classes and columns."""
    if not isinstance(data, dict) or data.get("statistic") not in READERS:
        raise ModelFileError("it holds a statistic that this version does not know")
    try:
        return READERS[data["statistic"]](data, reader, n_classes, n_columns)
    except (KeyError, TypeError) as error:
        raise ModelFileError(f"its {data['statistic']} are incomplete") from error


def _write_moments(seen: Moments, writer: Writer) -> dict[str, Any]:
    return {"n": writer.put(seen.n), "mean": writer.put(seen.mean), "root": writer.put(seen.root)}


def _read_moments(data: Any, reader: Reader, n_classes: int, n_columns: int) -> Moments:
    shape = n_classes, n_columns
    n, mean, root = reader.counts(data["n"], shape), reader.get(data["mean"], shape), reader.get(data["root"], shape)
    if too_large(n, mean, root).any() or (root < 0.0).any():
        raise ModelFileError("it holds a mean or a spread that is no number")
    return Moments(n, mean, root)


def _write_scatter(seen: Scatter, writer: Writer) -> dict[str, Any]:
    data = {"moments": _write_moments(seen.moments, writer), "cross": writer.put(seen.cross)}
    if seen.pairs is not None:
        data |= {"pair_n": writer.put(seen.pairs.n), "pair_mean": writer.put(seen.pairs.mean)}
    return data


def _read_scatter(data: Any, reader: Reader, n_classes: int, n_columns: int) -> Scatter:
    shape = n_classes, n_columns, n_columns
    moments, cross = _read_moments(data["moments"], reader, n_classes, n_columns), reader.get(data["cross"], shape)
    if not (np.abs(cross) <= 1.0).all() or not np.allclose(cross, cross.swapaxes(1, 2), rtol=0.0, atol=1e-12):
        raise ModelFileError("it holds products of columns that no rows can have")
    if "pair_n" not in data:
        return Scatter(moments, cross)
    mean = reader.get(data["pair_mean"], shape)
    if not (np.abs(mean) <= LARGEST).all():
        raise ModelFileError("it holds a mean that is no number")
    return Scatter(moments, cross, Pairs(reader.counts(data["pair_n"], shape), mean))


def _write_values(seen: ValueCounts, writer: Writer) -> dict[str, Any]:
    return {"values": [to_plain(value) for value in seen.values], "counts": writer.put(seen.counts)}


def _read_values(data: Any, reader: Reader, n_classes: int, n_columns: int) -> ValueCounts:
    values = tuple(from_plain(value) for value in data["values"])
    if n_columns != 1 or len(set(map(level_key, values))) != len(values):
        raise ModelFileError("it names a value of a column twice")
    return ValueCounts(values, reader.counts(data["counts"], (n_classes, len(values))))


def _write_features(seen: FeatureCounts, writer: Writer) -> dict[str, Any]:
    if not sparse.issparse(seen.table):
        return {"table": writer.put(seen.table)}
    table = seen.table
    starts, columns = table.indptr.astype(np.int64), table.indices.astype(np.int32)
    return {"cells": writer.put(table.data), "places": writer.put(columns), "starts": writer.put(starts)}


def _read_features(data: Any, reader: Reader, n_classes: int, n_columns: int) -> FeatureCounts:
    if "table" in data:
        return _fair(reader.counts(data["table"], (n_classes, n_columns), LARGEST))
    starts = reader.get(data["starts"], (n_classes + 1,), np.int64)
    cells = reader.counts(data["cells"], (None,), LARGEST)
    columns = reader.get(data["places"], cells.shape, np.int32)
    if starts[0] != 0 or starts[-1] != len(cells) or (np.diff(starts) < 0).any():
        raise ModelFileError("its sparse counts do not fit together")
    if len(columns) and (columns.min() < 0 or columns.max() >= n_columns):
        raise ModelFileError("its sparse counts name a column that does not exist")
    table = sparse.csr_array((cells, columns, starts), shape=(n_classes, n_columns))
    if not table.has_canonical_format:
        raise ModelFileError("its sparse counts are not in order")
    return _fair(table)


def _fair(table: Matrix) -> FeatureCounts:
    try:
        refuse_large(table)
    except TooLarge:
        raise ModelFileError("its counts do not add up") from None
    return FeatureCounts(table)


def _write_presence(seen: Presence, writer: Writer) -> dict[str, Any]:
    return {"present": _write_features(seen.present, writer), "gaps": _write_features(seen.gaps, writer)}


def _read_presence(data: Any, reader: Reader, n_classes: int, n_columns: int) -> Presence:
    size = n_classes, n_columns
    return Presence(_read_features(data["present"], reader, *size), _read_features(data["gaps"], reader, *size))


def _write_tokens(seen: TokenCounts, writer: Writer) -> dict[str, Any]:
    return {
        "recipe": to_plain(seen.recipe),
        "letters": writer.put(seen.words.arena),
        "ends": writer.put(seen.words.starts),
        "counts": _write_features(seen.counts, writer),
        "documents": _write_features(seen.documents, writer),
        "texts": writer.put(seen.texts),
    }


def read_words(data: Any, reader: Reader) -> tuple[Tokenizer, Words]:
    """How texts were cut into words, and the words: each once, and each a text."""
    recipe = from_plain(data["recipe"])
    if not isinstance(recipe, Tokenizer):
        raise ModelFileError("it does not say how its texts were cut into words")
    letters, ends = reader.get(data["letters"], (None,), np.uint8), reader.get(data["ends"], (None,), np.int64)
    if not len(ends) or ends[0] != 0 or ends[-1] != len(letters) or (np.diff(ends) < 0).any():
        raise ModelFileError("its words do not fit together")
    words = Words(letters, ends)
    try:
        spelled = words.to_list()
    except UnicodeDecodeError:
        raise ModelFileError("its words are no text") from None
    if len(set(spelled)) != len(spelled):
        raise ModelFileError("it holds a word twice")
    return recipe, words


def _read_tokens(data: Any, reader: Reader, n_classes: int, n_columns: int) -> TokenCounts:
    recipe, words = read_words(data, reader)
    size = n_classes, len(words)
    counts, documents = _read_features(data["counts"], reader, *size), _read_features(data["documents"], reader, *size)
    return TokenCounts(recipe, words, counts, documents, reader.counts(data["texts"], (n_classes,)))


def _write_histogram(seen: Histogram, writer: Writer) -> dict[str, Any]:
    return {"shift": seen.shift, "cells": writer.put(seen.cells), "counts": writer.put(seen.counts)}


def _read_histogram(data: Any, reader: Reader, n_classes: int, n_columns: int) -> Histogram:
    cells, shift = reader.get(data["cells"], (None,), np.int64), data["shift"]
    if type(shift) is not int or not 0 <= shift <= COARSEST or (cells[1:] <= cells[:-1]).any():
        raise ModelFileError("the cells of its histogram are not in order")
    if len(cells) and not (cells[0] >= -FARTHEST >> shift and cells[-1] <= FARTHEST >> shift):
        raise ModelFileError("its histogram holds cells beyond all numbers")
    counts = reader.counts(data["counts"], (n_classes, len(cells)))
    if len(cells) > MOST_CELLS or not counts.any(axis=0).all():
        raise ModelFileError("its histogram has cells in which nothing was counted, or too many")
    return Histogram(shift, cells, counts)


def _write_pairs(seen: PairCounts, writer: Writer) -> dict[str, Any]:
    axes = [
        {"cuts": writer.put(axis.at)} if isinstance(axis, Cuts) else {"values": [to_plain(value) for value in axis]}
        for axis in seen.axes
    ]
    return {"axes": axes, "counts": writer.put(seen.counts)}


def _read_pairs(data: Any, reader: Reader, n_classes: int, n_columns: int) -> PairCounts:
    axes: list[Axis] = []
    for entry in data["axes"]:
        if "cuts" in entry:
            at = reader.get(entry["cuts"], (None,))
            if not np.isfinite(at).all() or (at[1:] <= at[:-1]).any():
                raise ModelFileError("the cuts of its numbers are not in order")
            axes.append(Cuts(at))
        else:
            values = tuple(from_plain(value) for value in entry["values"])
            if len({level_key(value) for value in values}) != len(values):
                raise ModelFileError("it counts a value twice")
            axes.append(values)
    if len(axes) != n_columns:
        raise ModelFileError("its pairs do not fit its columns")
    width = Layout.of([size_of(axis) for axis in axes]).width
    return PairCounts(tuple(axes), reader.counts(data["counts"], (n_classes, width)))


Write = Callable[[Any, Writer], dict[str, Any]]
Read = Callable[[Any, Reader, int, int], Statistic]

CODECS: dict[type, tuple[str, Write, Read]] = {
    Moments: ("moments", _write_moments, _read_moments),
    Scatter: ("scatter", _write_scatter, _read_scatter),
    ValueCounts: ("value counts", _write_values, _read_values),
    FeatureCounts: ("feature counts", _write_features, _read_features),
    Presence: ("presence", _write_presence, _read_presence),
    Histogram: ("histogram", _write_histogram, _read_histogram),
    PairCounts: ("pair counts", _write_pairs, _read_pairs),
    TokenCounts: ("token counts", _write_tokens, _read_tokens),
}
"""Statistics that can be saved. A new one is one more line."""

READERS = {name: read for name, _, read in CODECS.values()}
