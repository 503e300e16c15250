"""Evidence from files of any length: one pass counts, a second one encodes, and experts are fitted to the codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from likely.arrays import Array, Index, Int32, UInt8
from likely.engines import pieces
from likely.engines.memory import Rows
from likely.engines.pieces import JudgedFile, Pass, Result, RunningSum, counted_schema, judge_usual
from likely.errors import DataError, FileError
from likely.io.file_table import FileTable, open_table
from likely.io.sources import Piece
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.encoding import encode_table
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.prepare import FitContext, count_plan, fit_encoding, with_text_offset
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.spill import RowBuffer, RowFiles, SpillDirectory
from likely.models.evidence.text_scores import (
    N_FOLDS,
    assign_folds,
    count_by_fold,
    models_without_fold,
    scores_by_fold,
)
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
    """Train an `EvidenceClassifier` on a table in files: it is read twice, and gives the same model as in memory.

    `classifier` is an unfitted one (None for the defaults). Codes that need more than `memory` bytes (None
    for 512 MiB) are kept in temporary files in `folder`, one byte per cell; None is the system's folder
    for such files. `source` is what `open_table` takes.
    """
    clf = EvidenceClassifier() if classifier is None else classifier
    budget = pieces.BUDGET if memory is None else whole("memory", memory, 0)
    table = source if isinstance(source, FileTable) else open_table(source)
    judged = judge_usual(table, target, schema=clf.schema, weight=weight, text=clf.text)
    with SpillDirectory(folder) as spill:
        clf._learn(judged.schema, TwoPasses(judged, budget, spill, clf.n_jobs, progress).prepare)
    clf._remember_columns(counted_schema(judged.schema, clf.summary_, judged.looked))
    return clf


@dataclass(frozen=True, slots=True, eq=False)
class TwoPasses:
    """Two passes over files: their rows are counted, then encoded."""

    judged: JudgedFile
    memory: int
    spill: SpillDirectory
    n_jobs: int | None
    progress: Shown

    def prepare(self, context: FitContext) -> tuple[EncodedData[RowSource], Summary]:
        """Rows that are ready to be learned from, in memory or on disk, and what was counted of them."""
        texts, (summary, words) = context.schema.text, self._count(context)
        classes, encoding = summary.classes, fit_encoding(summary, context.schema)
        models = models_without_fold(words, texts) if texts else []
        if texts:
            summary = Summary(classes, {**summary.parts, **reduce(add, words).parts})
        n_text_scores = len(texts) * (1 if len(classes) == 2 else len(classes))

        def encode(rows: Rows, fold: Index) -> tuple[UInt8, Int32, Array, Array]:
            places = merge_classes(classes.labels, rows.classes)[2].astype(np.int32)
            text_scores = scores_by_fold(models, fold, rows.table, n_text_scores, len(classes), 1)
            return encode_table(encoding.columns, rows.table), places[rows.y], rows.weight, text_scores

        buffer, n_rows = self._buffer(summary.n_rows, len(encoding.columns), n_text_scores), 0
        for _, encoded in self._each(encode, context, 0.5):
            buffer.append(*encoded)
            n_rows += len(encoded[1])
        if n_rows != summary.n_rows:
            raise FileError(f"{self.judged.table.sources[0].name} has changed while it was read; begin again.")
        found = buffer.rows(len(classes), context.pool)
        if texts:
            return with_text_offset(encoding, found, classes.weights, context.seed), summary
        return EncodedData(encoding, found, np.zeros(0)), summary

    def _count(self, context: FitContext) -> tuple[Summary, list[Summary]]:
        """The first pass: what was counted of columns, and words of texts by folds of the rows."""
        plan, texts = count_plan(context.schema), context.schema.text
        columns, words = RunningSum(), [RunningSum() for _ in range(N_FOLDS if texts else 0)]

        def count(rows: Rows, fold: Index) -> tuple[Summary, list[Summary]]:
            return rows.summarise(plan), count_by_fold(rows, fold, texts) if texts else []

        for piece, (counted, counted_words) in self._each(count, context, 0.0):
            columns.add(counted)
            columns.refuse_endless(piece)
            for total, more in zip(words, counted_words, strict=True):
                total.add(more)
        found = columns.total()
        if found is None:
            raise self.judged.no_rows()
        if not found.classes.weights.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        return found, [seen for total in words if (seen := total.total()) is not None]

    def _buffer(self, n_rows: int, n_columns: int, n_text_scores: int) -> RowBuffer:
        """In memory if the rows fit; else on disk, which must have room for them."""
        each = RowFiles.row_bytes(n_columns, n_text_scores)
        if n_rows * (each + (PER_CODE - 1) * n_columns) <= self.memory:
            return RowBuffer(n_columns, n_text_scores, None)
        self.spill.require_space(n_rows * each)
        return RowBuffer(n_columns, n_text_scores, self.spill)

    def _each(
        self, task: Callable[[Rows, Index], Result], context: FitContext, done: float
    ) -> Iterator[tuple[Piece, Result]]:
        """What a task makes of the rows of every piece that have any weight, and of their folds, in order."""
        half = Pass(self.judged.table, self.judged.wanted, self.n_jobs, self.progress, "learning", done, 0.5)
        for piece, result in half.tables(lambda rows, turn: task(*self._read(rows, turn.first, context))):
            if result is not None:
                yield piece, result

    def _read(self, table: Table, first: int, context: FitContext) -> tuple[Rows, Index]:
        """The rows of a piece that have any weight, and the fold of each."""
        counter, fold = self.judged.counter, assign_folds(first, table.n_rows, context.seed)
        labels, weight = encode_column(table.cells(counter.target)), row_weights(None, table, context.schema.weight)
        y = labels.codes
        if weight is not None and not weight.all():  # a row without weight is as if it were not there
            there = weight > 0.0
            table, y, weight, fold = table.take(there), y[there], weight[there], fold[there]
        return Rows(table, labels.classes, y, weight, 1, counter.preprocessing), fold
