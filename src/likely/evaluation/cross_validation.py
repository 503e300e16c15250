"""Cross-validation: from one pass, where a classifier counts and each model is a sum of folds; else by fitting anew.

Which is better, total − fold or the sum of the other folds? For counts of rows they are the same to the last bit. For
moments a subtraction loses digits wherever the fold holds most of the spread (one outlier of 1e8 is enough), for
fractional weights it leaves rounding where a zero should be. Adding loses nothing. So folds are added: halves of
the folds at a time, K·log₂K additions of small tables in all, against one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, runtime_checkable

import numpy as np
import scipy

from likely.arrays import AnyArray, Array, ColumnLike, Index, Int32
from likely.engines.memory import Rows
from likely.engines.plan import Task, plan
from likely.errors import DataError, SettingsError, missing_columns
from likely.evaluation.folds import by_fold, sums_without_each
from likely.evaluation.predictions import PredictionBuffer
from likely.numerics import refuse_many
from likely.parallel import FEWEST_ROWS, n_threads, run
from likely.progress import StepBar
from likely.stats import ClassWeights, Summary
from likely.table import Labels, RowsLike, Table, Weights, as_table, encode_column, encode_labels, level_key
from likely.table.cells import as_objects
from likely.table.images import as_images
from likely.table.sparse import as_csr

PIECE_CELLS = 1 << 18
"""Cells of a matrix that are copied and judged at once (2 MiB)."""


class Predicts(Protocol):
    """A fitted classifier, of this package or of another one."""

    @property
    def classes_(self) -> AnyArray: ...

    def predict(self, X: RowsLike) -> AnyArray: ...

    def predict_proba(self, X: RowsLike) -> AnyArray: ...


class CountedModel(Predicts, Protocol):
    """A classifier that follows from a summary."""

    def set_params(self, *, n_jobs: int | None) -> object: ...


@runtime_checkable
class Counting(Protocol):
    """A classifier whose memory is a summary: see `likely.models.learner.Learner`.

    Nothing that is fitted: one that is not fitted yet has no `classes_`, and counts all the same.
    """

    @property
    def adds_up(self) -> bool: ...

    def _task(self, X: RowsLike, y: ColumnLike, sample_weight: Weights = None) -> Task: ...

    def _learned(self, task: Task, summary: Summary) -> CountedModel: ...

    def _leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None: ...


@runtime_checkable
class ReadsTables(Protocol):
    """A classifier of this package: it reads any table, and says what the columns are taken for."""

    def _schema_of(self, table: Table, target: str | None) -> object: ...


def cross_validate(
    clf: Counting,
    task: Task,
    fold: Int32,
    n_folds: int,
    buffer: PredictionBuffer,
    first: int,
    n_jobs: int | None,
    bar: StepBar,
) -> None:
    """Judge every row by the model of the other folds; rows of a fold below zero are learned but never judged."""
    rows_of = by_fold(fold, n_folds)
    models = [clf._learned(task, summary) for summary in training_summaries(task, fold, n_folds)]
    inner = 1 if n_folds >= n_threads(n_jobs) else n_jobs

    def judge(k: int) -> None:
        models[k].set_params(n_jobs=inner)
        for few, part in _pieces(task.rows.table, rows_of[k]):
            write_posterior(models[k], part, few, buffer, first)
        bar.step()

    run(judge, range(n_folds), n_jobs)


def _pieces(table: Table, rows: Index) -> Iterator[tuple[Index, Table]]:
    """The rows of a fold as tables. Those of a matrix are copied piece by piece into one small room.

    A copy of the whole fold would go through memory twice more. Other tables are taken at once: each piece would have
    to look up its values anew.
    """
    matrix = table.matrix
    if matrix is None:  # a table with names has none
        yield rows, table.take(rows)
        return
    size = max(PIECE_CELLS // max(table.n_columns, 1), FEWEST_ROWS)
    room = np.empty((min(size, len(rows)), table.n_columns), dtype=matrix.dtype)
    for start in range(0, len(rows), size):
        few = rows[start : start + size]
        part = room[: len(few)]
        np.take(matrix, few, axis=0, out=part, mode="clip")  # any other mode would copy twice
        yield few, as_table(part)


def write_posterior(model: Predicts, table: Table, rows: Index, buffer: PredictionBuffer, first: int) -> None:
    """Write down what a model that counts says about rows that it has not seen."""
    posterior = model.predict_proba(table)
    buffer.write(rows, among(posterior, model.classes_, buffer.classes), first=first)


def among(posterior: Array, known: AnyArray, classes: AnyArray) -> Array:
    """A posterior over all classes: those that a model never met have none."""
    if len(known) == len(classes):
        return posterior
    wide = np.zeros((len(posterior), len(classes)))
    wide[:, places_among(known, classes)] = posterior
    return wide


def places_among(known: AnyArray, classes: AnyArray) -> Index:
    """Where each label stands among all classes."""
    place = {level_key(label): k for k, label in enumerate(classes.tolist())}
    return np.array([place[level_key(label)] for label in known.tolist()], dtype=np.intp)


def training_summaries(task: Task, fold: Int32, n_folds: int) -> list[Summary]:
    """For each fold the summary of all other rows, from one pass."""
    always = int((fold < 0).any())
    parts = _cuts(task, fold + np.int32(always), n_folds + always)
    outside = [parts.pop(0)] if always else []
    return [_tidy(summary) for summary in sums_without_each(parts, _add, outside)]


def fold_summaries(task: Task, fold: Int32, n_folds: int) -> list[Summary]:
    """The summary of each fold by itself, from one pass."""
    return [_tidy(summary) for summary in _cuts(task, fold, n_folds)]


def _cuts(task: Task, fold: Int32, n_folds: int) -> list[Summary]:
    """All folds counted at once: class and fold together are counted as a class."""
    rows, n_classes = task.rows, len(task.rows.classes)
    refuse_many(n_folds * n_classes, "folds × classes")
    labels, placed = np.arange(n_folds * n_classes), fold * np.int32(n_classes) + rows.y
    by_fold = Rows(rows.table, labels, placed, rows.weight, rows.n_jobs, rows.preprocessing)
    whole = by_fold.summarise(plan(task.assigned))
    return [_cut(whole, k, rows.classes) for k in range(n_folds)]


def _cut(whole: Summary, fold: int, classes: AnyArray) -> Summary:
    """The summary of one fold; classes that it has no row of keep their place."""
    own = np.arange(fold * len(classes), (fold + 1) * len(classes))
    weights = ClassWeights(classes, whole.classes.weights[own], whole.classes.rows[own])
    return Summary(weights, {part: seen.take_classes(own) for part, seen in whole.parts.items()})


def _add(a: Summary, b: Summary) -> Summary:
    """`a + b` for summaries with the same classes in the same places."""
    classes = ClassWeights(a.classes.labels, a.classes.weights + b.classes.weights, a.classes.rows + b.classes.rows)
    return Summary(classes, {part: seen + b.parts[part] for part, seen in a.parts.items()})


def _tidy(summary: Summary) -> Summary:
    """Without classes and values that have no row. To take nothing out brings a statistic into its usual form."""
    n_classes = len(summary.classes)
    none = ClassWeights(summary.classes.labels, np.zeros(n_classes), np.zeros(n_classes, dtype=np.int64))
    absent = np.full(n_classes, -1)
    return summary - Summary(none, {part: seen.take_classes(absent) for part, seen in summary.parts.items()})


# Any other classifier: what it reads, and what it says.


def labelled(X: RowsLike, y: ColumnLike) -> tuple[RowsLike, Labels]:
    """Rows without their labels, and these, which may also be a column of the table."""
    if not isinstance(y, str):
        images, labels = as_images(X), encode_labels(y)  # whether images can be read, the classifier knows
        n_rows = as_table(X, allow_empty=False).n_rows if images is None or not len(images) else len(images)
        if len(labels) != n_rows:
            raise DataError(f"X has {n_rows} rows, but y has {len(labels)} labels: give one label per row.")
        return X if images is None else images, labels
    table = as_table(X, allow_empty=False)
    if y not in table:
        raise missing_columns([y], table.names)
    return _without_column(X, table, y), encode_column(table.cells(y))


def _without_column(X: RowsLike, table: Table, name: str) -> RowsLike:
    """The same table without one column, in the form in which it came where that is known."""
    if isinstance(X, Mapping):
        return {key: cells for key, cells in X.items() if key != name}
    if hasattr(X, "drop"):
        frame: RowsLike = X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)
        return frame
    names = [other for other in table.names if other != name]
    return Table(names, table.n_rows, lambda place: table.cells(names[place]), named=True)


def readable(clf: object, X: RowsLike) -> RowsLike:
    """Rows as a classifier reads them: ours read any table, others get a frame for ours, dicts and lists of dicts."""
    if scipy.sparse.issparse(X):
        rows: RowsLike = as_csr(X)
        return rows  # not every format gives some of its rows, and one is a dict
    dicts = isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping))
    if isinstance(clf, ReadsTables):
        return as_table(X) if dicts else X
    import pandas as pd

    return pd.DataFrame(X) if dicts else pd.DataFrame(_columns(X)) if isinstance(X, Table) else X


def _columns(table: Table) -> dict[str, AnyArray]:
    """The columns of one of our tables, for classifiers that do not know these."""
    columns: dict[str, AnyArray] = {}
    for name in table.names:
        if table.storage(name) in ("float", "integer"):
            columns[name] = table.numbers(name)
        else:
            found = table.codes(name)
            columns[name] = as_objects([*found.levels, None])[found.codes]
    return columns


def has_probabilities(model: object) -> bool:
    """Whether a classifier gives P(class | row); one of scikit-learn's may have the method and refuse it."""
    return hasattr(model, "predict_proba")


def write_predictions(model: Predicts, X: RowsLike, rows: Index, buffer: PredictionBuffer, first: int = 0) -> None:
    """Write down what a fitted classifier says about rows."""
    if not has_probabilities(model):
        if buffer.loss is not None:
            raise SettingsError(f"{type(model).__name__} gives no probabilities, so no loss can be weighed with them.")
        buffer.write_labels(rows, _codes(model.predict(X), buffer.classes), first)
        return
    posterior = np.asarray(model.predict_proba(X), dtype=np.float64)
    wide = among(posterior, np.asarray(model.classes_), buffer.classes)
    chosen = None if buffer.loss is not None else _codes(model.predict(X), buffer.classes)
    buffer.write(rows, wide, chosen, first)


def _codes(labels: ColumnLike, classes: AnyArray) -> Int32:
    encoded = encode_labels(np.asarray(labels))
    return places_among(encoded.classes, classes).astype(np.int32)[encoded.codes]


def some_rows(X: RowsLike, rows: Index) -> RowsLike:
    """Some rows of a table in whatever form."""
    if isinstance(X, Table):
        return X.take(rows)
    from sklearn.utils import _safe_indexing

    taken: RowsLike = _safe_indexing(X, rows)
    return taken
