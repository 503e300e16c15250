"""What is said of a table at the doors: what to know before learning it, and what has changed since it was learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike
from likely.errors import LikelyError
from likely.evaluation.report import Report
from likely.io.file_table import FileTable
from likely.models.classifier import Classifier
from likely.streaming.read_all import sample_rows
from likely.table import Labelling, RowsLike, Table, as_table, encode_column, encode_labels
from likely.table.infer import Note
from likely.table.labels import with_label
from likely.table.notes import ENOUGH, ROWS, data_notes, target_notes, unlabelled_note
from likely.table.schema import Schema, schema_for

if TYPE_CHECKING:
    import pandas as pd

MORE_GAPS = 0.2  # a column has changed if this much more of it is missing, or less
NEW_VALUES = 0.05  # if so much of it was never seen
OUTSIDE = 0.1  # if so many numbers lie where a hundredth did


def source_notes(source: FileTable | Table | RowsLike, target: ColumnLike, schema: Schema) -> tuple[Note, ...]:
    """What there is to know of the columns of a table; of files, by a sample of their rows."""
    left_out: tuple[Note, ...] = ()
    if isinstance(source, FileTable):
        sample = source.sample()
        table = as_table(sample.filter(sample.column(str(target)).is_valid()))
        left_out = (unlabelled_note(source.unlabelled),) if source.unlabelled else ()
    else:
        table = as_table(source)
    named = isinstance(target, str) and target in table
    try:
        labels = encode_column(table.cells(str(target))) if named else encode_labels(target)
        return (*left_out, *data_notes(table, schema, labels)) if len(labels) == table.n_rows else left_out
    except LikelyError:  # whoever learns the table will say what is wrong with it
        return left_out


def learned_notes(
    classifier: Classifier, source: FileTable | Table, target: str, labels: AnyArray | None
) -> tuple[Note, ...]:
    """What there is to know of a table that was learned; `labels` are those of files that were read whole."""
    if labels is None and isinstance(source, FileTable):
        counts = np.asarray(classifier.summary_.classes.rows)
    else:
        found = encode_column(source.cells(target)) if isinstance(source, Table) else encode_labels(labels)
        counts = np.bincount(found.codes, minlength=len(found.classes))
    of_target = target_notes(target, classifier.classes_, counts)
    return (*of_target, *source_notes(source, target, classifier.schema_))


def report_notes(
    report: Report, classifier: object, source: FileTable | RowsLike, target: Labelling, *, fitted: bool
) -> tuple[Note, ...]:
    """What there is to know of a table that a classifier is judged on: as it is, or against what it has learned."""
    truth, named = report.predictions.truth, target if isinstance(target, str) else None
    counts = np.bincount(truth, minlength=len(report.classes)) // report.repeats
    of_target = tuple(target_notes(named, report.predictions.classes, counts))
    try:
        if fitted:
            return (
                (*of_target, *changed_columns(classifier, source)) if isinstance(classifier, Classifier) else of_target
            )
        rows = as_table(source.sample() if isinstance(source, FileTable) else source)
        wished = classifier.get_params(deep=False).get("schema") if isinstance(classifier, Classifier) else None
        return (*of_target, *source_notes(source, target, schema_for(rows, named, wished)))
    except LikelyError:  # images and the like
        return of_target


def rows_with_label(table: RowsLike, target: ColumnLike) -> tuple[RowsLike, ColumnLike, int]:
    """Rows and labels without the rows that have none, and how many these were."""
    whole = as_table(table)
    if isinstance(target, str):
        known = with_label(whole, target)
        return known, target, whole.n_rows - known.n_rows
    coded = as_table({"y": target}).codes("y")
    known_rows = coded.codes >= 0
    if known_rows.all() or len(coded) != whole.n_rows:
        return table, target, 0
    return whole.take(known_rows), [coded.levels[k] for k in coded.codes[known_rows]], int((~known_rows).sum())


# Columns that are no longer what they were.


@runtime_checkable
class KnowsUnseen(Protocol):
    """A classifier that can tell which categories it has never seen."""

    def unseen_values(self, X: RowsLike) -> pd.DataFrame: ...


def changed_columns(classifier: Classifier, source: FileTable | RowsLike) -> tuple[Note, ...]:
    """How rows differ from those that a fitted classifier has learned; of files, by the first rows.

    Categories that were never seen, cells that are missing more or less often, and numbers outside of what was usual.
    """
    rows = sample_rows(classifier, source, 0, ROWS) if isinstance(source, FileTable) else source
    table, schema = as_table(rows), classifier.schema_
    if table.n_rows > ROWS:
        table = table.take(np.arange(0, table.n_rows, -(-table.n_rows // ROWS)))
    if table.n_rows < ENOUGH or table.sparse is not None:
        return ()
    table = schema.align(table)
    return tuple(_changes(classifier, schema, table))


def _changes(classifier: Classifier, schema: Schema, table: Table) -> Iterator[Note]:
    learned = max(int(classifier._rows_learned()), 1)
    new = {}
    if isinstance(classifier, KnowsUnseen):
        new = classifier.unseen_values(table)["column"].value_counts().to_dict()
    for name in schema.features:
        column = schema[name]
        missing = table.gaps(name) / table.n_rows
        if column.gaps is not None and abs(missing - column.gaps / learned) >= MORE_GAPS:
            said = (
                f"column {name!r} is missing in {missing:.0%} of the rows, and was in {column.gaps / learned:.0%} of "
            )
            yield Note("missing values", f"{said}the training rows", name, missing)
        known = table.n_rows * (1.0 - missing)
        if known and new.get(name, 0) / known >= NEW_VALUES:
            share = new[name] / known
            said = f"column {name!r} has values in {share:.0%} of the rows that did not occur in training; they "
            yield Note("new values", f"{said}contribute nothing", name, share)
        if column.kind == "numeric" and column.low is not None and column.high is not None:
            yield from _range(name, table.numbers(name), column.low, column.high)


def _told(number: float) -> str:
    """A number in four digits, but whole ones of any usual size as they are."""
    return f"{number:,.0f}" if 1_000.0 <= abs(number) < 1e9 else f"{number:.4g}"


def _range(name: str, numbers: Array, low: float, high: float) -> Iterator[Note]:
    known = numbers[~np.isnan(numbers)]
    share = float(((known < low) | (known > high)).mean()) if len(known) else 0.0
    if len(known) >= ENOUGH and share >= OUTSIDE:
        usual = f"{_told(low)} to {_told(high)}, where nearly all training rows are"
        yield Note("range", f"column {name!r} is outside {usual}, in {share:.0%} of the rows", name, share)
