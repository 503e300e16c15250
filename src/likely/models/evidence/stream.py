"""Evidence from files of any length: one pass counts, another one encodes, and experts are fitted to the codes.

Texts need a pass of their own in between, from which the words of a sample of rows are learned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from likely.arrays import Array, Flags, Index, Int32, UInt8
from likely.engines import files
from likely.engines.files import JudgedFile, Pass, Result, RunningSum, counted_schema, judge_usual
from likely.engines.memory import Rows
from likely.errors import DataError, FileError
from likely.io.file_table import FileTable, open_table
from likely.io.sources import Piece
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.encoding import encode_table
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.prepare import (
    FitContext,
    count_plan,
    fit_encoding,
    fit_texts_of,
    sampled_share,
    with_text_offset,
)
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.spill import RowBuffer, RowFiles, SpillDirectory
from likely.models.evidence.text_fit import TextFit, TextTrainingRows
from likely.models.evidence.text_scores import assign_folds, is_sampled, scores_by_fold
from likely.models.settings import whole
from likely.progress import Shown
from likely.stats import Summary
from likely.table import Table, encode_column, merge_classes
from likely.table.labels import row_weights

PER_CODE = 12
"""Bytes of work for each code of a row in memory: the code itself, seen coarsely, and with pairs, two bytes each."""


def train_evidence_file(
    source: Any,
    target: str,
    *,
    classifier: EvidenceClassifier | None = None,
    weight: str | None = None,
    memory: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Shown = None,
) -> EvidenceClassifier:
    """Train an `EvidenceClassifier` on a table in files; the model is the same as in memory.

    The table is read twice, or three times with texts.

    `classifier` is an unfitted one (None for the defaults). Codes that need more than `memory` bytes (None
    for 512 MiB) are kept in temporary files in `folder`, one byte per cell; None is the system's folder
    for such files. `source` is what `open_table` takes.
    """
    clf = EvidenceClassifier() if classifier is None else classifier
    budget = files.BUDGET if memory is None else whole("memory", memory, 0)
    table = source if isinstance(source, FileTable) else open_table(source)
    judged = judge_usual(table, target, schema=clf.schema, weight=weight, text=clf.text)
    with SpillDirectory(folder) as spill:
        clf._learn(judged.schema, TwoPasses(judged, budget, spill, clf.n_jobs, progress).prepare)
    clf._remember_columns(counted_schema(judged.schema, clf.summary_, judged.looked))
    return clf


@dataclass(frozen=True, slots=True, eq=False)
class TwoPasses:
    """Passes over files: their rows are counted, then encoded; between the two, words of texts are learned."""

    judged: JudgedFile
    memory: int
    spill: SpillDirectory
    n_jobs: int | None
    progress: Shown

    def prepare(self, context: FitContext) -> tuple[EncodedData[RowSource], Summary]:
        """Rows that are ready to be learned from, in memory or on disk, and what was counted of them."""
        texts, n_passes = context.schema.text, 3 if context.schema.text else 2
        summary = self._count(context, 1.0 / n_passes)
        classes, encoding = summary.classes, fit_encoding(summary, context.schema)
        n_scores = 1 if len(classes) == 2 else len(classes)
        fitted = self._fit_texts(summary, context) if texts else TextFit.none(len(classes))

        def encode(rows: Rows, fold: Index, _: Flags) -> tuple[UInt8, Int32, Array, Array]:
            text_scores = scores_by_fold(fitted.without_fold, fold, rows.table, texts, n_scores, 1)
            return encode_table(encoding.columns, rows.table), _places(summary, rows), rows.weight, text_scores

        buffer, n_rows = self._buffer(summary.n_rows, len(encoding.columns), len(texts) * n_scores), 0
        for _, encoded in self._each(encode, context, 1.0 - 1.0 / n_passes, 1.0 / n_passes):
            buffer.append(*encoded)
            n_rows += len(encoded[1])
        self._refuse_changed(n_rows, summary)
        found = buffer.rows(len(classes), context.pool)
        return with_text_offset(encoding, found, fitted) if texts else EncodedData(encoding, found, fitted), summary

    def _count(self, context: FitContext, portion: float) -> Summary:
        """The first pass: what was counted of columns and of words."""
        plan, columns = count_plan(context.schema, texts=True), RunningSum()
        for piece, counted in self._each(lambda rows, *_: rows.summarise(plan), context, 0.0, portion):
            columns.add(counted)
            columns.refuse_endless(piece)
        found = columns.total()
        if found is None:
            raise self.judged.no_rows()
        if not found.classes.weights.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        return found

    def _fit_texts(self, summary: Summary, context: FitContext) -> TextFit:
        """A pass of its own: the texts of a sample of rows are kept in memory, and words are learned from them."""
        texts, found = context.schema.text, []

        def keep(rows: Rows, fold: Index, sampled: Flags) -> tuple[int, list[pa.ChunkedArray], Int32, Array, Index]:
            strings = [rows.table.strings(name).filter(pa.array(sampled)) for name in texts]
            return len(fold), strings, _places(summary, rows)[sampled], rows.weight[sampled], fold[sampled]

        for _, kept in self._each(keep, context, 1.0 / 3.0, 1.0 / 3.0, sampled_share(summary)):
            found.append(kept)
        n_rows, strings, *arrays = zip(*found, strict=True)
        self._refuse_changed(sum(n_rows), summary)
        columns = dict(zip(texts, zip(*strings, strict=True), strict=True))
        y, weight, fold = (np.concatenate(parts) for parts in arrays)
        rows = TextTrainingRows(y, weight, fold, len(summary.classes), context.pool)
        return fit_texts_of(lambda name: pa.chunked_array([c for s in columns[name] for c in s.chunks]), rows, summary)

    def _refuse_changed(self, n_rows: int, summary: Summary) -> None:
        if n_rows != summary.n_rows:
            raise FileError(f"{self.judged.table.sources[0].name} has changed while it was read; begin again.")

    def _buffer(self, n_rows: int, n_columns: int, n_text_scores: int) -> RowBuffer:
        """In memory if the rows fit; else on disk, which must have room for them."""
        each = RowFiles.row_bytes(n_columns, n_text_scores)
        if n_rows * (each + (PER_CODE - 1) * n_columns) <= self.memory:
            return RowBuffer(n_columns, n_text_scores, None)
        self.spill.require_space(n_rows * each)
        return RowBuffer(n_columns, n_text_scores, self.spill)

    def _each(
        self, task: Callable[[Rows, Index, Flags], Result], context: FitContext, done: float, portion: float,
        sampled: float = 1.0,
    ) -> Iterator[tuple[Piece, Result]]:  # fmt: skip
        """What a task makes of the rows of every piece that have any weight, of their folds and of which are sampled.

        The pass is a portion of the whole work, of which so much is done.
        """
        one = Pass(self.judged.table, self.judged.wanted, self.n_jobs, self.progress, "learning", done, portion)
        for piece, result in one.tables(lambda rows, turn: task(*self._read(rows, turn.first, context, sampled))):
            if result is not None:
                yield piece, result

    def _read(self, table: Table, first: int, context: FitContext, share: float) -> tuple[Rows, Index, Flags]:
        """The rows of a piece that have any weight, the fold of each, and which of them are sampled."""
        counter, fold = self.judged.counter, assign_folds(first, table.n_rows, context.seed)
        sampled = is_sampled(first, table.n_rows, context.seed, share)
        labels, weight = encode_column(table.cells(counter.target)), row_weights(None, table, context.schema.weight)
        y = labels.codes
        if weight is not None and not weight.all():  # a row without weight is as if it were not there
            there = weight > 0.0
            table, y, weight, fold, sampled = table.take(there), y[there], weight[there], fold[there], sampled[there]
        return Rows(table, labels.classes, y, weight, 1, counter.preprocessing), fold, sampled


def _places(summary: Summary, rows: Rows) -> Int32:
    """The class of each row, by its place among all classes."""
    return merge_classes(summary.classes.labels, rows.classes)[2].astype(np.int32)[rows.y]
