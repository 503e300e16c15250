"""Cross-validation of classifiers that count: one pass makes all folds, and each model is the sum of the others.

Which is better, total − fold or the sum of the other folds? For counts of rows they are the same to the last bit. For
moments a subtraction loses digits wherever the fold holds most of the spread (one outlier of 1e8 is enough), for
fractional weights it leaves rounding where a zero should be. Adding loses nothing. So folds are added: halves of
the folds at a time, K·log₂K additions of small tables in all, against one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32
from likely.engines.memory import Rows
from likely.engines.plan import Task, plan
from likely.evaluation.folds import by_fold, sums_without_each
from likely.evaluation.predictions import Predictions
from likely.evaluation.progress import Progress
from likely.parallel import FEWEST_ROWS, n_threads, side_by_side
from likely.stats import ClassWeights, Summary
from likely.table import Table, as_table, level_key

PIECE_CELLS = 1 << 18
"""Cells of a matrix that are copied and judged at once (2 MiB)."""


@runtime_checkable
class Counting(Protocol):
    """A classifier whose memory is a summary: see `likely.models.learner.Learner`.

    Methods only: one that is not fitted yet has no `classes_`, and counts all the same.
    """

    def task(self, X: Any, y: Any, sample_weight: Any = None) -> Task: ...

    def learned(self, task: Task, summary: Summary) -> Self: ...

    def leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None: ...

    def predict_proba(self, X: Any) -> Array: ...

    def set_params(self, *, n_jobs: int | None) -> Any: ...


def cross_validate(
    clf: Counting,
    task: Task,
    fold: Int32,
    n_folds: int,
    ledger: Predictions,
    first: int,
    n_jobs: int | None,
    bar: Progress,
) -> None:
    """Judge every row by the model of the other folds; rows of a fold below zero are learned but never judged."""
    rows_of = by_fold(fold + 1, n_folds + 1)[1:] if (fold < 0).any() else by_fold(fold, n_folds)
    models = [clf.learned(task, summary) for summary in training_summaries(task, fold, n_folds)]
    inner = 1 if n_folds >= n_threads(n_jobs) else n_jobs

    def judge(k: int) -> None:
        models[k].set_params(n_jobs=inner)
        for few, part in _pieces(task.rows.table, rows_of[k]):
            enter(models[k], part, few, ledger, first)
        bar.step()

    for _ in side_by_side(judge, range(n_folds), n_jobs):
        pass


def _pieces(table: Table, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Table]]:
    """The rows of a fold as tables. Those of a matrix are copied piece by piece into one small room.

    A copy of the whole fold would go through memory twice more. Other tables are taken at once: each piece would have
    to look up its values anew.
    """
    matrix = table.matrix
    if matrix is None or table.named:
        yield rows, table.take(rows)
        return
    size = max(PIECE_CELLS // max(table.n_columns, 1), FEWEST_ROWS)
    room = np.empty((min(size, len(rows)), table.n_columns), dtype=matrix.dtype)
    for start in range(0, len(rows), size):
        few = rows[start : start + size]
        part = room[: len(few)]
        np.take(matrix, few, axis=0, out=part, mode="clip")  # any other mode would copy twice
        yield few, as_table(part)


def enter(model: Any, table: Table, rows: NDArray[np.intp], ledger: Predictions, first: int) -> None:
    """Write down what a model says about rows that it has not seen."""
    posterior = model.predict_proba(table)
    ledger.enter(rows, among(posterior, model.classes_, ledger.classes), first=first)


def among(posterior: Array, known: NDArray[Any], classes: NDArray[Any]) -> Array:
    """A posterior over all classes: those that a model never met have none."""
    if len(known) == len(classes):
        return posterior
    wide = np.zeros((len(posterior), len(classes)))
    wide[:, places_among(known, classes)] = posterior
    return wide


def places_among(known: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
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
    labels, placed = np.arange(n_folds * n_classes), fold * np.int32(n_classes) + rows.y
    whole = Rows(rows.table, labels, placed, rows.weight, rows.n_jobs, rows.recipes).summarise(plan(task.assigned))
    return [_cut(whole, k, rows.classes) for k in range(n_folds)]


def _cut(whole: Summary, fold: int, classes: NDArray[Any]) -> Summary:
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
