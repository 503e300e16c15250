"""What a page is made from: a model, rows, and how it was judged, on rows that it has not learned or on folds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from likely.comparison.comparison import Comparison
from likely.evaluation.evaluate import HoldOut, evaluate
from likely.evaluation.folds import stratified
from likely.evaluation.report import Report
from likely.io.file_table import FileTable, open_table
from likely.models.classifier import Classifier
from likely.models.protocols import Counts
from likely.progress import Shown
from likely.store import Provenance
from likely.table import RowsLike, as_table
from likely.table.labels import labels_of

Tell = Callable[[float], None]
"""Is told which share of the work is done."""

MOST_ROWS = 100_000
"""Rows of a table that are looked at; of a longer one, those at its head."""

FEW_ROWS = 5_000
"""Up to so many rows a model that does not count is fitted to five folds; beyond, three quarters of them do."""

SIZES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
TESTED = 4
"""One row in so many judges a learning curve."""


class CurvePoint(TypedDict):
    """How good a model is that has learned so many rows."""

    rows: int
    log_loss: float
    error: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Material:
    """What a page is made from: a fitted classifier, and whatever else is at hand."""

    classifier: Classifier
    name: str = "model"
    origin: Provenance | None = None
    rows: RowsLike | None = None
    first_row: int = 0
    report: Report | None = None
    honest: bool = True
    data_name: str = ""
    comparison: Comparison | None = None
    curve: Sequence[CurvePoint] = ()


def read_rows(path: str | os.PathLike[str]) -> pa.Table:
    """The rows of a file, read by the package's own careful reader."""
    with open_table(path) as source:
        return first_rows(source)


def first_rows(source: FileTable) -> pa.Table:
    """At most so many rows as are looked at."""
    batches, n_rows = [], 0
    for batch in source.batches():
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows >= MOST_ROWS:
            break
    table = pa.Table.from_batches(batches) if batches else source.sample().slice(0, 0)
    return table.slice(0, MOST_ROWS)


def was_learned(origin: Provenance | None, path: str | os.PathLike[str]) -> bool:
    """Whether a model says that it has learned a file of this name."""
    return origin is not None and Path(path).name in origin.sources


def judged(classifier: Classifier, rows: pa.Table, *, learned: bool, progress: Shown = False) -> Report | None:
    """A report; None where the rows have no labels. Rows that were learned are judged in folds, by other models."""
    target = classifier.schema_.target
    if target is None or target not in rows.column_names or not rows.num_rows:
        return None
    known = rows.filter(rows.column(target).is_valid())
    if known.num_rows < 2:
        return None
    return evaluate(
        classifier, known, target, cv=way(classifier, known.num_rows) if learned else None, progress=progress
    )


def way(classifier: Classifier, n_rows: int) -> HoldOut:
    """How rows are held out: in folds, if that is quick."""
    if isinstance(classifier, Counts):
        return min(10, n_rows)
    return min(5, n_rows) if n_rows <= FEW_ROWS else 1.0 / TESTED


def learning_curve(classifier: Classifier, rows: pa.Table, tell: Tell | None = None) -> list[CurvePoint]:
    """Log loss and error of held-out rows for models that have learned fewer and fewer of the others."""
    target = str(classifier.schema_.target)
    known = rows.filter(rows.column(target).is_valid())
    labels = labels_of(target, as_table(known))
    fold = stratified(labels.codes, TESTED, 0)
    test, rest = np.flatnonzero(fold == 0), np.random.default_rng(0).permutation(np.flatnonzero(fold != 0))
    found: list[CurvePoint] = []
    for share in SIZES:
        some = rest[: max(int(share * len(rest)), 2)]
        if len(np.unique(labels.codes[some])) < 2 or (found and len(some) <= found[-1]["rows"]):
            continue
        fitted = clone(classifier).fit(known.take(some), target)
        report = evaluate(fitted, known.take(test), target, cv=None)
        if tell is not None:
            tell(share)
        if report.log_loss is not None:
            found.append({"rows": len(some), "log_loss": float(report.log_loss), "error": float(report.error_rate)})
    return found


def material_of(classifier: Classifier, name: str, origin: Provenance | None, data: str | None) -> Material:
    """A model with the rows of a file, judged as far as these have labels."""
    if data is None:
        return Material(classifier=classifier, name=name, origin=origin)
    rows, learned = read_rows(data), was_learned(origin, data)
    report = judged(classifier, rows, learned=learned)
    honest = learned or (origin is not None and bool(origin.sources))
    return Material(
        classifier=classifier, name=name, origin=origin, rows=rows, report=report, honest=honest,
        data_name=Path(data).name,
    )  # fmt: skip
