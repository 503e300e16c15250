"""Tables in files of any length as other files: predictions beside the columns that came in, or another format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

import pyarrow as pa

from likely.arrays import ColumnLike
from likely.engines.files import Pass, columns_read, located
from likely.errors import FileError, LikelyError, Setting, refuse_missing
from likely.io.delimited import TextPiece
from likely.io.dialect import Dialect
from likely.io.file_table import FileTable, as_file_table
from likely.io.outputs import Output
from likely.io.parse import leave_out, read_block, read_text
from likely.io.sources import FileSource, Piece
from likely.io.write import DELIMITERS, suffix_of, table_writer
from likely.progress import Shown
from likely.table import as_table

if TYPE_CHECKING:
    from likely.models.bayes.classifier import BayesClassifier
    from likely.models.bayes.full import FullBayesClassifier

    Classifier: TypeAlias = BayesClassifier | FullBayesClassifier
    More: TypeAlias = Callable[[Classifier, pa.Table], Mapping[str, ColumnLike]]

PREDICTION = "prediction"

Target = str | os.PathLike[str] | IO[bytes]


def convert_file(
    source: FileTable | FileSource, out: Target, *, guard: bool = False, kind: str | None = None, progress: Shown = None
) -> int:
    """Write a table in files as another file; the row count.

    The suffix of `out` says how: CSV, TSV, Parquet, Arrow or JSON lines (for a stream, `kind` does). From text to
    text, cells stay as they are written; otherwise they get the types that were found for the columns. The file
    appears when it is complete, or not at all. `guard` keeps spreadsheets from taking text for formulas.
    """
    table = as_file_table(source)
    suffix = _suffix(table, out, kind)
    as_text = suffix in DELIMITERS and all(file.dialect is not None for file in table.files)

    def read(piece: Piece) -> pa.Table:
        if as_text and isinstance(piece, TextPiece):
            return read_text(piece.block, piece.layout, table.names)
        return piece.read().cast(table.schema)

    whole = Pass(table, table.read_as(table.names), None, progress, "converting")
    return _write(whole, out, suffix, guard, read, table.schema.empty_table)


def predict_file(
    classifier: Classifier,
    source: FileTable | FileSource,
    out: Target,
    *,
    probabilities: bool = True,
    keep: Sequence[str] | None = None,
    more: More | None = None,
    guard: bool = True,
    kind: str | None = None,
    progress: Shown = None,
) -> int:
    """Write the columns of a table in files, with prediction and P(class) beside each row; returns the row count.

    The suffix of `out` says how: CSV, TSV, Parquet or JSON lines (for a stream, `kind` does). The file appears when
    it is complete, or not at all. Delimited text with the suffix of the table, or for a stream, is written as the table
    is: delimiter and decimal mark stay. `keep` names the columns to be copied (all), `more` makes further ones, and
    `guard` keeps spreadsheets from taking text for formulas.
    """
    table = as_file_table(source)
    suffix = _suffix(table, out, kind)
    job = Prediction.prepare(classifier, table, keep, probabilities, more, as_text=suffix in DELIMITERS)
    whole = Pass(table, job.read, classifier.n_jobs, progress, "predicting")
    alike = not isinstance(out, (str, os.PathLike)) or suffix == table.sources[0].suffix
    return _write(whole, out, suffix, guard, job.predict, job.empty, table.dialect if alike else None)


def predict_first(
    classifier: Classifier, table: FileTable, rows: int, *, probabilities: bool = True,
    keep: Sequence[str] | None = None, more: More | None = None,
) -> pa.Table:  # fmt: skip
    """What `predict_file` would write of the first rows; no more is read than needed."""
    job = Prediction.prepare(classifier, table, keep, probabilities, more, as_text=table.dialect is not None)
    found: list[pa.Table] = []
    for piece in table.pieces(job.read):
        found.append(job.predict(piece))
        if sum(map(len, found)) >= rows:
            break
    return pa.concat_tables(some).slice(0, rows) if (some := [part for part in found if len(part)]) else job.empty()


def _suffix(table: FileTable, out: Target, kind: str | None) -> str:
    """The suffix that says how is written; refuses a file by which something would be lost."""
    if not isinstance(out, (str, os.PathLike)):
        return kind or ".csv"
    suffix = kind or suffix_of(os.fspath(out))
    table.refuse_losses(Output(out))
    return suffix


def _write(
    whole: Pass, out: Target, suffix: str, guard: bool, make: Callable[[Piece], pa.Table],
    empty: Callable[[], pa.Table], dialect: Dialect | None = None,
) -> int:  # fmt: skip
    """Write what is made of each piece; the row count."""
    rows, target = 0, Path(out) if isinstance(out, (str, os.PathLike)) else out
    with table_writer(target, kind=suffix, guard=guard, dialect=dialect) as write:
        for _, result in whole.each(lambda turn: make(turn.piece)):
            if result is not None and result.num_rows:
                write(result)
                rows += result.num_rows
        if not rows:
            write(empty())
    return rows


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is read, what is copied, and what is added."""

    classifier: Classifier
    table: FileTable
    model: Mapping[str, str]
    keep: tuple[str, ...]
    probabilities: bool
    more: More | None
    as_text: bool

    @classmethod
    def prepare(
        cls, classifier: Classifier, table: FileTable, keep: Sequence[str] | None, probabilities: bool,
        more: More | None, as_text: bool,
    ) -> Prediction:  # fmt: skip
        """Check the columns before anything is read or written."""
        model, kept = columns_read(classifier), table.names if keep is None else tuple(keep)
        refuse_missing(model, table.names)
        refuse_missing(kept, table.names)
        job = cls(classifier, table, model, kept, probabilities, more, as_text)
        clash = [name for name in (PREDICTION, *job.shares()) if name in kept]
        if clash:
            why = f"The table has a column {clash[0]!r} already; choose columns without it: "
            raise FileError(why, Setting("keep", ...), ".")
        return job

    def shares(self) -> tuple[str, ...]:
        """Names of the columns of probabilities, if these are wanted."""
        return tuple(f"P({label})" for label in self.classifier.classes_.tolist()) if self.probabilities else ()

    @property
    def read(self) -> dict[str, str]:
        """The columns to be read: those of the model, in text files just these; else also those that are copied."""
        return {**dict.fromkeys(self.keep, ""), **self.model}

    def predict(self, piece: Piece) -> pa.Table:
        """The rows of a piece as they are written; done by several threads at once."""
        seen, copied = self._rows(piece)
        try:
            return self._beside(copied, seen)
        except FileError:
            raise
        except LikelyError as error:
            raise located(lambda rows: self._beside(rows, rows), seen, piece, error) from None

    def empty(self) -> pa.Table:
        """No rows, but the columns that all will have."""
        as_text = self.as_text and self.table.dialect is not None
        none = {n: pa.array([], pa.string() if as_text else self.table.schema.field(n).type) for n in self.keep}
        none[PREDICTION] = pa.array(self.classifier.classes_.tolist()).slice(0, 0)
        return pa.table(none | {name: pa.array([], pa.float64()) for name in self.shares()})

    def _rows(self, piece: Piece) -> tuple[pa.Table, pa.Table]:
        """The rows as the model reads them, and as they are copied."""
        if not isinstance(piece, TextPiece):
            rows = piece.read()
            return rows, rows.select(list(self.keep))
        seen = read_block(piece.block, piece.layout, self.model)
        bad = dict(seen.bad)
        if not self.keep:
            copied = seen.table.select([])
        elif self.as_text:
            copied = read_text(piece.block, piece.layout, self.keep)
        else:
            types = {name: self.table.types[name] for name in self.keep}
            typed = read_block(piece.block, piece.layout, types)
            copied, bad = typed.table, {**typed.bad, **bad}
        known, kept = leave_out(bad, piece.rejects, seen.table, copied)
        return known, kept

    def _beside(self, copied: pa.Table, seen: pa.Table) -> pa.Table:
        if not seen.num_rows:
            return seen.select([])
        posterior = self.classifier.predict_proba(as_table(seen))
        labels = self.classifier.classes_
        copied = copied.append_column(PREDICTION, pa.array(labels.tolist()).take(pa.array(posterior.argmax(axis=1))))
        for place, name in enumerate(self.shares()):
            copied = copied.append_column(name, pa.array(posterior[:, place]))
        for name, column in (self.more(self.classifier, seen) if self.more is not None else {}).items():
            copied = copied.append_column(name, pa.array(column))
        return copied
