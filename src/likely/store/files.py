"""A model file: what is written of a fitted classifier, and what is read back of it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from likely.arrays import AnyArray
from likely.errors import LikelyError, ModelFileError
from likely.io.outputs import BINARY
from likely.scorer import Model
from likely.stats import Summary
from likely.store.codec import Reader, Writer, read_names, read_width, write_names
from likely.store.container import Document, pack, unpack
from likely.store.plain import from_plain, read_labels, to_plain, write_labels
from likely.store.summaries import check_parameters, read_summary, write_parameters, write_summary
from likely.table.schema import Schema
from likely.version import __version__

NO_WAITING = 0 if sys.platform == "win32" else os.O_NONBLOCK
MADE_UP = (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError, RecursionError)
"""What comes of a document that has another form than that of a model."""


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from: names without folders, the time, and the version that wrote it."""

    sources: tuple[str, ...] = ()
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    version: str = __version__


@dataclass(frozen=True, eq=False, kw_only=True)
class Saved:
    """Everything that every classifier has, and no code."""

    kind: str
    settings: Mapping[str, object]
    schema: Schema
    named: bool
    rows: int
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted(Saved):
    """A classifier that follows from a summary."""

    families: Mapping[str, str]
    summary: Summary
    weights: Document | None = None


def packed(saved: Counted, model: Model) -> bytes:
    """The bytes of a file; the settled numbers of `model` go along."""
    writer = Writer()
    document = {
        **_write_saved(saved),
        "families": _write_families(saved.families),
        "summary": write_summary(saved.summary, writer),
        "parameters": write_parameters(model, writer),
    }
    if saved.weights is not None:
        document["weights"] = dict(saved.weights)
    return pack(document, writer.arrays)


def packed_learned(saved: Saved, labels: AnyArray, learned: Callable[[Writer], object]) -> bytes:
    """The same for a classifier whose memory is no summary: `learned` gives JSON that names the arrays it puts away."""
    writer = Writer()
    document = {**_write_saved(saved), "labels": write_labels(labels), "learned": learned(writer)}
    return pack(document, writer.arrays)


def _write_saved(saved: Saved) -> Document:
    return {
        "kind": saved.kind,
        "likely": saved.provenance.version,
        "created": saved.provenance.created,
        "sources": [Path(source).name for source in saved.provenance.sources],
        "rows": saved.rows,
        "settings": {name: _write_setting(value) for name, value in saved.settings.items()},
        "schema": saved.schema.to_dict(),
        "named": saved.named,
    }


@dataclass(frozen=True, eq=False)
class Found:
    """A file that was read and is sound in itself; `check` compares it with the model settled from it."""

    saved: Counted
    parameters: Document
    reader: Reader

    def check(self, model: Model) -> None:
        """Refuse a file whose settled numbers do not follow from its counts."""
        check_parameters(self.parameters, model, self.reader)


@dataclass(frozen=True, eq=False)
class FoundLearned:
    """A classifier whose memory is no summary: its labels, and what it has learned, which it has to check itself."""

    saved: Saved
    labels: AnyArray
    learned: Document
    reader: Reader


def read(path: str | os.PathLike[str], announce: Callable[[str], object] | None = None) -> Found | FoundLearned:
    """What the file holds, or a `ModelFileError` that says what is wrong with it.

    `announce` is told the kind of classifier first, so that types which its settings may hold can be registered.
    """
    return parsed(_content(path), announce)


def parsed(content: bytes, announce: Callable[[str], object] | None = None) -> Found | FoundLearned:
    """The same from the bytes of a file."""
    document, arrays = unpack(content)
    reader = Reader(arrays)
    try:
        if announce is not None:
            announce(str(document["kind"]))
        if "learned" in document:
            labels = read_labels(document["labels"])
            return FoundLearned(Saved(**_read_saved(document, reader)), labels, document["learned"], reader)
        saved = Counted(
            **_read_saved(document, reader),
            families=_read_families(document["families"], reader),
            summary=read_summary(document["summary"], reader),
            weights=document.get("weights"),
        )
    except MADE_UP as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError("its document is not one of a model") from error
    if saved.summary.n_rows != saved.rows:
        raise ModelFileError("its row count does not agree with its classes")
    if not set(saved.families) <= set(saved.schema.features):
        raise ModelFileError("it has families for columns that are not in its schema")
    return Found(saved, document.get("parameters", {}), reader)


def _read_saved(document: Document, reader: Reader) -> Document:
    rows = document["rows"]
    if type(rows) is not int or rows < 0:
        raise ModelFileError("its row count is no number")
    return {
        "kind": str(document["kind"]),
        "settings": {name: _read_setting(value, reader) for name, value in document["settings"].items()},
        "schema": _read_schema(document["schema"], reader),
        "named": bool(document["named"]),
        "rows": rows,
        "provenance": Provenance(
            tuple(map(str, document["sources"])), str(document["created"]), str(document["likely"])
        ),
    }


def refusal(path: str | os.PathLike[str], error: LikelyError) -> ModelFileError:
    """The error that a user sees: which file, and what is wrong with it."""
    return ModelFileError(f"{os.fspath(path)!r} cannot be loaded: {str(error).rstrip('.')}.")


def _content(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file; devices and pipes could go on for ever, so none is waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | BINARY | NO_WAITING)
    except ValueError as error:  # a zero byte in its name
        raise ModelFileError(f"no file has such a name ({error})") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ModelFileError("it is no regular file")
    with os.fdopen(handle, "rb") as file:
        return file.read()


def _read_schema(data: Document, reader: Reader) -> Schema:
    if "many" in data:
        read_width(data["many"], reader)
    return Schema.from_dict(data)


def _write_setting(value: object) -> object:
    return {"schema": value.to_dict()} if isinstance(value, Schema) else to_plain(value)


def _read_setting(value: object, reader: Reader) -> object:
    if isinstance(value, dict) and set(value) == {"schema"}:
        return _read_schema(value["schema"], reader)
    return from_plain(value)


def _write_families(families: Mapping[str, str]) -> Document:
    of = list(families.values())
    return {"columns": write_names(tuple(families)), "of": of[0] if len(set(of)) == 1 else of}


def _read_families(data: Document, reader: Reader) -> dict[str, str]:
    names, of = read_names(data["columns"], reader), data["of"]
    families = [of] * len(names) if isinstance(of, str) else of
    if len(families) != len(names) or not all(isinstance(family, str) for family in families):
        raise ModelFileError("its families do not fit its columns")
    return dict(zip(names, families, strict=True))
