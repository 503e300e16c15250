"""Predictions for files of any length, written beside the columns that came in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from likely.engines.pieces import Pass, columns_read, located
from likely.errors import FileError, LikelyError, Setting, missing_columns
from likely.io.delimited import TextPiece
from likely.io.file_table import FileTable, open_table
from likely.io.outputs import Output
from likely.io.parse import leave_out, read_block, read_text
from likely.io.sources import Piece
from likely.io.write import DELIMITERS, kind_of, table_writer
from likely.models.bayes.classifier import BayesClassifier
from likely.models.bayes.full import FullBayesClassifier
from likely.progress import Shown
from likely.table import as_table

PREDICTION = "prediction"

Classifier = BayesClassifier | FullBayesClassifier

More = Callable[[Any, pa.Table], Mapping[str, Any]]
"""Further columns for some rows, made from the classifier and the rows that it reads."""


def predict_file(
    classifier: Classifier,
    source: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    probabilities: bool = True,
    keep: Sequence[str] | None = None,
    more: More | None = None,
    guard: bool = True,
    kind: str | None = None,
    progress: Shown = None,
) -> int:
    """Write the columns of a table in files and beside them the prediction and P(class) of each row; the row count.

    The suffix of `out` says how: CSV, TSV, Parquet or JSON lines (`kind` says it for a stream). The file appears when
    all is written, or not at all. `keep` names the columns to be copied (all), `more` makes further ones, and
    `guard` keeps spreadsheets from taking text for formulas.
    """
    table = source if isinstance(source, FileTable) else open_table(source)
    target = Path(os.fspath(out)) if isinstance(out, (str, os.PathLike)) else out
    suffix = kind or (kind_of(str(target)) if isinstance(target, Path) else ".csv")
    if isinstance(target, Path):
        table.refuse_losses(Output(target))
    job = Prediction.prepare(classifier, table, keep, probabilities, more, as_text=suffix in DELIMITERS)
    rows = 0
    with table_writer(target, kind=suffix, guard=guard) as write:
        whole = Pass(table, job.read, classifier.n_jobs, progress, "predicting")
        for _, result in whole.each(lambda turn: job.predict(turn.piece)):
            if result is not None and result.num_rows:
                write(result)
                rows += result.num_rows
        if not rows:
            write(job.empty())
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
        model = columns_read(classifier)
        missing = [name for name in model if name not in table.names]
        if missing:
            raise missing_columns(missing, table.names)
        kept = table.names if keep is None else tuple(keep)
        absent = [name for name in kept if name not in table.names]
        if absent:
            raise missing_columns(absent, table.names)
        job = cls(classifier, table, model, kept, probabilities, more, as_text)
        clash = [name for name in (PREDICTION, *(job.shares() if probabilities else ())) if name in kept]
        if clash:
            raise FileError(
                f"The table has a column {clash[0]!r} already; choose columns without it: ", Setting("keep", ...), "."
            )
        return job

    def shares(self) -> tuple[str, ...]:
        """Names of the columns of probabilities."""
        return tuple(f"P({label})" for label in self.classifier.classes_.tolist())

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
        written = dict.fromkeys(self.keep, pa.string())
        types = written if self._is_text() else {name: self.table.schema.field(name).type for name in self.keep}
        none = pa.table([pa.array([], kind) for kind in types.values()], names=list(types))
        labels = pa.array(self.classifier.classes_.tolist()).slice(0, 0)
        none = none.append_column(PREDICTION, labels)
        for name in self.shares() if self.probabilities else ():
            none = none.append_column(name, pa.array([], pa.float64()))
        return none

    def _is_text(self) -> bool:
        return self.as_text and self.table.dialect is not None

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
        rows = as_table(seen)
        posterior = self.classifier.predict_proba(rows)
        labels = self.classifier.classes_
        copied = copied.append_column(PREDICTION, pa.array(labels.tolist()).take(pa.array(posterior.argmax(axis=1))))
        if self.probabilities:
            for place, name in enumerate(self.shares()):
                copied = copied.append_column(name, pa.array(posterior[:, place]))
        for name, column in (self.more(self.classifier, seen) if self.more is not None else {}).items():
            copied = copied.append_column(name, pa.array(column))
        return copied
