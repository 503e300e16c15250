"""A summary as a part of the document, and back: class weights and statistics, labels, and settled numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from likely.arrays import AnyArray, is_sparse
from likely.errors import DataError, ModelFileError
from likely.scorer import Model
from likely.stats import (
    STATISTICS,
    ClassWeights,
    Cuts,
    FeatureCounts,
    Moments,
    PairCounts,
    Part,
    Scatter,
    Statistic,
    Summary,
    TokenCounts,
)
from likely.stats.pair_counts import Axis
from likely.stats.scatter import Pairs
from likely.store import codec
from likely.store.codec import FORMS, ByHand, Context, Form, Reader, Writer, register
from likely.store.container import Document
from likely.store.plain import from_plain, read_labels, to_plain, write_labels
from likely.text.vocabulary import Words


def write_summary(summary: Summary, writer: Writer) -> Document:
    """Class weights and all parts."""
    classes = summary.classes
    return {
        "labels": write_labels(classes.labels),
        "weights": writer.put(classes.weights),
        "rows": writer.put(classes.rows),
        "parts": [
            {"kind": part.kind, "columns": codec.write_names(part.columns), **write_statistic(seen, writer)}
            for part, seen in summary.parts.items()
        ],
    }


def read_summary(data: Document, reader: Reader) -> Summary:
    """The summary that `write_summary` wrote, every size checked."""
    labels = read_labels(data["labels"])
    rows, weights = reader.get(data["rows"], (None,), np.int64), reader.get(data["weights"], (None,))
    parts = {}
    for entry in data["parts"]:
        columns = codec.read_names(entry["columns"], reader)
        part = Part(str(entry["kind"]), columns)
        parts[part] = read_statistic(part, entry, reader)
    if len(parts) != len(data["parts"]):
        raise ModelFileError("it describes a column twice")
    summary = Summary(ClassWeights(labels, weights, rows), parts)
    try:
        summary.validate(parts=False)
    except DataError as error:
        raise ModelFileError(str(error).removesuffix(".")) from error
    return summary


# Statistics: those of `stats.STATISTICS`, field by field but for what old files have at other places.


def write_statistic(seen: Statistic, writer: Writer) -> Document:
    """The statistic as a JSON object that names its arrays."""
    FORMS.setdefault(type(seen), Form())
    return {"statistic": seen.stored_as, **codec.write(seen, writer)}


def read_statistic(part: Part, data: Document, reader: Reader) -> Statistic:
    """The statistic of a part, sound in itself."""
    statistic = STATISTICS.get(part.kind)
    if statistic is None or data["statistic"] != statistic.stored_as:
        raise ModelFileError("it holds a statistic that this version does not know")
    FORMS.setdefault(statistic, Form())
    return codec.read(statistic, data, reader, columns=len(part.columns))


def _read_words(data: Document, reader: Reader, context: Context) -> Words:
    """Words, each once, and each a text."""
    letters, ends = reader.get(data["arena"], (None,), np.uint8), reader.get(data["starts"], (None,), np.int64)
    if not len(ends) or ends[0] != 0 or ends[-1] != len(letters) or (np.diff(ends) < 0).any():
        raise ModelFileError("its words do not fit together")
    words = Words(letters, ends)
    try:
        spelled = words.to_list()
    except UnicodeDecodeError:
        raise ModelFileError("its words are no text") from None
    if len(set(spelled)) != len(spelled):
        raise ModelFileError("it holds a word twice")
    return words


def _write_axes(axes: tuple[Axis, ...], writer: Writer) -> list[object]:
    return [
        codec.write(axis, writer) if isinstance(axis, Cuts) else {"values": [to_plain(value) for value in axis]}
        for axis in axes
    ]


def _read_axes(data: list[Document], reader: Reader, context: Context) -> tuple[Axis, ...]:
    return tuple(
        codec.read(Cuts, entry, reader) if "cuts" in entry else tuple(from_plain(value) for value in entry["values"])
        for entry in data
    )


WORDS = {"words.arena": "letters", "words.starts": "ends"}
"""Where the words of a column of texts lie."""

register(Moments)
register(Pairs)
register(Scatter, Form(names={"pairs.n": "pair_n", "pairs.mean": "pair_mean"}))
register(Cuts, Form(names={"at": "cuts"}))
register(PairCounts, Form(by_hand={"axes": ByHand(_write_axes, _read_axes)}))
register(Words, ByHand(lambda w, writer: {"arena": writer.put(w.arena), "starts": writer.put(w.starts)}, _read_words))
register(TokenCounts, Form(names=WORDS | {"tokenizer": "recipe"}, lengths={"columns": "words"}))
register(
    FeatureCounts,
    ByHand(
        lambda seen, writer: codec.write_matrix(seen.table, writer, "table"),
        lambda data, reader, context: FeatureCounts(codec.read_matrix(data, reader, "table", context["columns"])),
    ),
)


# The settled numbers of a model: for readers without likely, and as a check when it is read again.

ROUNDING = 1e-9
"""How far settling again may be from what was settled: another processor rounds its logarithms otherwise."""


def write_parameters(model: Model, writer: Writer) -> Document:
    """The prior and every array of every belief, by name."""
    return {
        "prior": writer.put(model.prior),
        "beliefs": [
            {"family": type(belief).__name__, "arrays": {name: writer.put(array) for name, array in arrays_in(belief)}}
            for belief in model.beliefs
        ],
    }


def check_parameters(data: Document, model: Model, reader: Reader) -> None:
    """What was settled when the file was written must be what its summary settles to now."""
    _agree(reader, data["prior"], model.prior, "prior")
    if len(data["beliefs"]) != len(model.beliefs):
        raise ModelFileError("its parameters do not belong to its summary")
    for entry, belief in zip(data["beliefs"], model.beliefs, strict=True):
        settled = dict(arrays_in(belief))
        if entry["family"] != type(belief).__name__ or set(entry["arrays"]) != set(settled):
            raise ModelFileError("its parameters do not belong to its summary")
        for name, array in settled.items():
            _agree(reader, entry["arrays"][name], array, name)


def _agree(reader: Reader, name: object, settled: AnyArray, meaning: str) -> None:
    stored = reader.get(name, settled.shape, settled.dtype.type)
    if not np.allclose(stored, settled, rtol=ROUNDING, atol=ROUNDING, equal_nan=True):
        raise ModelFileError(f"its {meaning} does not follow from its counts")


def arrays_in(belief: Any, prefix: str = "") -> Iterator[tuple[str, AnyArray]]:
    """The arrays in a belief or statistic and in what it is made of."""
    for entry in fields(belief):
        value, name = getattr(belief, entry.name), f"{prefix}{entry.name}"
        if isinstance(value, np.ndarray):
            yield name, value
        elif is_sparse(value):
            yield f"{name}.cells", value.data
            yield f"{name}.columns", value.indices.astype(np.int32)
            yield f"{name}.starts", value.indptr.astype(np.int64)
        elif is_dataclass(value):
            yield from arrays_in(value, f"{name}.")
