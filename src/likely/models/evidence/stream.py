"""Evidence from files of any length: one pass counts, a second one codes, and corrections are made over the codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index
from likely.engines import pieces
from likely.engines.memory import Rows
from likely.engines.pieces import JudgedFile, Pass, Result, RunningSum, counted_schema, judge_usual
from likely.errors import DataError, FileError, SettingsError
from likely.io.sources import Piece
from likely.io.table import FileTable, open_table
from likely.models.evidence.binning import fit_encoding
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.columns import encode_table
from likely.models.evidence.counts import count_plan
from likely.models.evidence.encoding import Encoding
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.prepare import FitContext, with_text_offset
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.spill import RowBuffer, RowFiles, SpillDirectory
from likely.models.evidence.text_scores import (
    TextModel,
    assign_folds,
    count_by_fold,
    models_without_fold,
    scores_by_fold,
)
from likely.progress import Shown
from likely.stats import Summary
from likely.table import Table, encode_column, merge_classes
from likely.table.labels import row_weights

CodedRows = tuple[NDArray[np.uint8], NDArray[np.int32], Array, Array]

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
    """Learn a table in files by evidence: it is read twice, and gives the model that its rows give in memory.

    `classifier` is one as constructed (None for the usual one). Rows whose codes need more than `memory` bytes (None
    for 512 MiB) are kept in temporary files in `folder`, a byte for each cell; None is the folder that the system has
    for such files. `source` is what `open_table` takes.
    """
    clf = EvidenceClassifier() if classifier is None else classifier
    budget: Any = pieces.BUDGET if memory is None else memory
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise SettingsError(f"memory is {memory!r}, but it is a number of bytes from 0 up.")
    table = source if isinstance(source, FileTable) else open_table(source)
    judged = judge_usual(table, target, schema=clf.schema, weight=weight, text=clf.text)
    with SpillDirectory(folder) as shelf:
        coding = Coding(judged, budget, shelf, progress)
        clf._learn(judged.schema, judged.counter.preprocessing, coding.prepare)
    clf._remember_columns(counted_schema(judged.schema, clf.summary_, judged.looked))
    return clf


@dataclass(slots=True, eq=False)
class Total:
    """What the first pass finds: what was counted of columns, and words of texts by parts of the rows."""

    columns: RunningSum = field(default_factory=RunningSum)
    words: list[RunningSum] = field(default_factory=list)

    def add(self, columns: Summary, words: list[Summary], piece: Piece) -> None:
        """One more piece."""
        self.columns.add(columns)
        self.columns.refuse_endless(piece)
        self.words = self.words or [RunningSum() for _ in words]
        for total, more in zip(self.words, words, strict=True):
            total.add(more)


@dataclass(frozen=True, slots=True, eq=False)
class Coder:
    """How rows of a piece are coded: by bins of the whole table, and by words that other rows have."""

    encoding: Encoding
    classes: NDArray[Any]
    judges: list[tuple[TextModel, ...]]
    n_said: int

    def code(self, rows: Rows, part: Index) -> CodedRows:
        """Codes, classes, weights, and what texts say."""
        places = merge_classes(self.classes, rows.classes)[2].astype(np.int32)
        texts = scores_by_fold(self.judges, part, rows.table, self.n_said, len(self.classes), 1)
        return encode_table(self.encoding.columns, rows.table), places[rows.y], rows.weight, texts


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """Two passes over files: their rows are counted, then coded."""

    judged: JudgedFile
    memory: int
    shelf: SpillDirectory
    progress: Shown

    def prepare(self, how: FitContext) -> tuple[EncodedData[RowSource], Summary]:
        """Rows that are ready to be learned from, in memory or on disk, and what was counted of them."""
        summary, coder = self._counted(how)
        n_columns, classes = len(coder.encoding.columns), summary.classes
        kept = RowBuffer(n_columns, coder.n_said, self._shelf_for(summary.n_rows, n_columns, coder.n_said))
        n_rows = 0
        for _, rows in self._each(coder.code, how, 0.5):
            kept.append(*rows)
            n_rows += len(rows[1])
        if n_rows != summary.n_rows:
            raise FileError(f"{self.judged.table.sources[0].name} has changed while it was read; begin again.")
        found = kept.rows(len(classes), how.pool)
        if coder.n_said:
            return with_text_offset(coder.encoding, found, classes.weights, how.seed), summary
        return EncodedData(coder.encoding, found, np.zeros(0)), summary

    def _counted(self, how: FitContext) -> tuple[Summary, Coder]:
        """The first pass: all that was counted, and how rows are coded by it."""
        plan, texts = count_plan(how.schema), how.schema.text
        total = Total()

        def count(rows: Rows, part: Index) -> tuple[Summary, list[Summary]]:
            return rows.summarise(plan), count_by_fold(rows, part, texts) if texts else []

        for piece, (columns, words) in self._each(count, how, 0.0):
            total.add(columns, words, piece)
        found = total.columns.total()
        if found is None:
            raise self.judged.no_rows()
        if not found.classes.weights.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        labels, encoding = found.classes.labels, fit_encoding(found, how.schema)
        if not texts:
            return found, Coder(encoding, labels, [], 0)
        by_part = [seen for one in total.words if (seen := one.total()) is not None]
        whole = Summary(found.classes, {**found.parts, **reduce(add, by_part).parts})
        n_said = len(texts) * (1 if len(labels) == 2 else len(labels))
        return whole, Coder(encoding, labels, models_without_fold(by_part, texts), n_said)

    def _shelf_for(self, n_rows: int, n_columns: int, n_said: int) -> SpillDirectory | None:
        """The shelf if the rows do not fit into memory; it must have room for them."""
        each = RowFiles.row_bytes(n_columns, n_said)
        if n_rows * (each + (PER_CODE - 1) * n_columns) <= self.memory:
            return None
        self.shelf.require_space(n_rows * each)
        return self.shelf

    def _each(
        self, task: Callable[[Rows, Index], Result], how: FitContext, done: float
    ) -> Iterator[tuple[Piece, Result]]:
        """What a task makes of the rows of every piece that have any weight, and of their parts, in order."""
        half = Pass(self.judged.table, self.judged.wanted, how.n_jobs, self.progress, "learning", done, 0.5)
        for piece, result in half.tables(lambda rows, turn: task(*self._given(rows, turn.first, how))):
            if result is not None:
                yield piece, result

    def _given(self, table: Table, first: int, how: FitContext) -> tuple[Rows, Index]:
        """The rows of a piece that have any weight, and the part of each."""
        labels, part = (
            encode_column(table.cells(self.judged.counter.target)),
            assign_folds(first, table.n_rows, how.seed),
        )
        y, weight = labels.codes, row_weights(None, table, how.schema.weight)
        if weight is not None and not weight.all():  # a row without weight is as if it were not there
            there = weight > 0.0
            table, y, weight, part = table.take(there), y[there], weight[there], part[there]
        return Rows(table, labels.classes, y, weight, 1, how.recipes), part
