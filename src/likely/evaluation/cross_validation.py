"""Cross-validation: from one pass, where a classifier counts and each model is a sum of folds; else by fitting anew.

Which is better, total − fold or the sum of the other folds? For counts of rows they are the same to the last bit. For
moments a subtraction loses digits wherever the fold holds most of the spread (one outlier of 1e8 is enough), for
fractional weights it leaves rounding where a zero should be. Adding loses nothing. So folds are added: halves of
the folds at a time, K·log₂K additions of small tables in all, against one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Index, Int32
from likely.engines.memory import Rows
from likely.engines.plan import Task, plan
from likely.errors import SettingsError
from likely.evaluation.folds import by_fold, sums_without_each
from likely.evaluation.predictions import PredictionBuffer
from likely.parallel import FEWEST_ROWS, n_threads, run
from likely.progress import StepBar
from likely.stats import ClassWeights, Summary
from likely.table import Table, as_table, encode_labels, level_key
from likely.table.sparse import as_csr

PIECE_CELLS = 1 << 18
"""Cells of a matrix that are copied and judged at once (2 MiB)."""


@runtime_checkable
class Counting(Protocol):
    """A classifier whose memory is a summary: see `likely.models.learner.Learner`.

    Nothing that is fitted: one that is not fitted yet has no `classes_`, and counts all the same.
    """

    @property
    def adds_up(self) -> bool: ...

    def _task(self, X: Any, y: Any, sample_weight: Any = None) -> Task: ...

    def _learned(self, task: Task, summary: Summary) -> Self: ...

    def _leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None: ...

    def predict_proba(self, X: Any) -> Array: ...

    def set_params(self, *, n_jobs: int | None) -> Any: ...


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
    rows_of = by_fold(fold + 1, n_folds + 1)[1:] if (fold < 0).any() else by_fold(fold, n_folds)
    models = [clf._learned(task, summary) for summary in training_summaries(task, fold, n_folds)]
    inner = 1 if n_folds >= n_threads(n_jobs) else n_jobs

    def judge(k: int) -> None:
        models[k].set_params(n_jobs=inner)
        for few, part in _pieces(task.rows.table, rows_of[k]):
            write_posterior(models[k], part, few, buffer, first)
        bar.step()

    run(judge, range(n_folds), n_jobs)


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


def write_posterior(model: Any, table: Table, rows: NDArray[np.intp], buffer: PredictionBuffer, first: int) -> None:
    """Write down what a model that counts says about rows that it has not seen."""
    posterior = model.predict_proba(table)
    buffer.write(rows, among(posterior, model.classes_, buffer.classes), first=first)


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
    by_fold = Rows(rows.table, labels, placed, rows.weight, rows.n_jobs, rows.preprocessing)
    whole = by_fold.summarise(plan(task.assigned))
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


# Any other classifier: a copy is fitted for every fold.


class RefitCV:
    """A scikit-learn classifier and the rows that it is to be fitted on, as it likes to have them."""

    def __init__(self, clf: Any, X: Any, classes: NDArray[Any], y: Int32, weight: Array | None) -> None:
        self.clf, self.classes, self.y, self.weight = clf, classes, y, weight
        self.X = readable(clf, X)
        if weight is not None:
            from sklearn.utils.validation import has_fit_parameter

            if not has_fit_parameter(clf, "sample_weight"):
                raise SettingsError(f"{type(clf).__name__} learns without sample_weight: leave it out here, too.")

    def fitted(self, rows: Index | None = None) -> Any:
        """A copy that has learned some rows."""
        from sklearn.base import clone

        weight = {} if self.weight is None else {"sample_weight": self.weight if rows is None else self.weight[rows]}
        X, y = (self.X, self.y) if rows is None else (_taken(self.X, rows), self.y[rows])
        return clone(self.clf).fit(X, self.classes[y], **weight)

    def predict(self, train: Index, test: Index, buffer: PredictionBuffer, first: int) -> None:
        """Fit a copy on some rows and write down what it says about others."""
        write_predictions(self.fitted(train), _taken(self.X, test), test, buffer, first)


def readable(clf: Any, X: Any) -> Any:
    """Our classifiers of tables read any; others get a frame for a dict of columns or a list of dicts."""
    if sparse.issparse(X):
        return as_csr(X)  # not every format gives some of its rows, and one is a dict
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        if isinstance(clf, Counting):
            return as_table(X)
        import pandas as pd

        return pd.DataFrame(X)
    return X


def write_predictions(model: Any, X: Any, rows: Index, buffer: PredictionBuffer, first: int = 0) -> None:
    """Write down what a fitted classifier says about rows."""
    known = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        posterior = np.asarray(model.predict_proba(X), dtype=np.float64)
        wide = among(posterior, known, buffer.classes)
        if buffer.loss is not None:
            buffer.write(rows, wide, first=first)
            return
        buffer.write(rows, wide, _codes(model.predict(X), buffer.classes), first)
    elif buffer.loss is not None:
        raise SettingsError(f"{type(model).__name__} gives no probabilities, so no loss can be weighed with them.")
    else:
        buffer.write_labels(rows, _codes(model.predict(X), buffer.classes), first)


def _codes(labels: Any, classes: NDArray[Any]) -> Int32:
    encoded = encode_labels(np.asarray(labels))
    return places_among(encoded.classes, classes).astype(np.int32)[encoded.codes]


def _taken(X: Any, rows: Index) -> Any:
    if isinstance(X, Table):
        return X.take(rows)
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
