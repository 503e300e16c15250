"""From a classifier and a table to a report, with every way to hold rows out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike, Index, Int32
from likely.decide import Loss, LossLike, as_loss
from likely.engines.plan import Task
from likely.errors import DataError, Message, SettingsError
from likely.evaluation.cross_validation import (
    Counting,
    Predicts,
    ReadsTables,
    cross_validate,
    labelled,
    readable,
    some_rows,
    write_predictions,
)
from likely.evaluation.folds import by_fold, check_design, grouped, split, stratified
from likely.evaluation.predictions import PredictionBuffer, Predictions
from likely.evaluation.report import Report
from likely.evaluation.splits import Split, SplitLike, is_split, prequential, read_splits, training_sums
from likely.numerics import MOST_PLACES, is_between
from likely.parallel import n_threads, run
from likely.progress import Shown, StepBar
from likely.table import Labels, RowsLike, Weights, as_table, index_levels, merge_classes
from likely.table.labels import row_weights
from likely.table.levels import in_order

HoldOut: TypeAlias = int | float | Literal["loo", "prequential"] | tuple[RowsLike, ColumnLike] | SplitLike | None
"""How rows are held out: folds, one at a time, in their order, a share, a test set, splits, or none if fitted."""


def evaluate(
    classifier: object,
    X: RowsLike,
    y: ColumnLike,
    *,
    cv: HoldOut = 10,
    loss: LossLike | None = None,
    beta: float = 1.0,
    groups: ColumnLike | None = None,
    repeats: int = 1,
    random_state: int = 0,
    sample_weight: ColumnLike | None = None,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> Report:
    """How good a classifier is on rows that it has not learned.

    Parameters
    ----------
    classifier : any classifier of this package or of scikit-learn; it is copied, not changed.
    X, y : a table and its labels; for classifiers of tables `y` may also name a column.
    cv : a number of folds (stratified, or in whole groups if `groups` is given), "loo" to leave out one row at a
        time, "prequential" to judge rows in their order by those before them, a proportion of the rows to test on
        once, a test set `(X_test, y_test)`, or None to test the classifier as it is. Also a splitter of scikit-learn
        (`TimeSeriesSplit()`), pairs of rows to learn and rows to judge, or the fold of each row (−1: only learned).
    loss : a `Loss`: decisions are the cheapest ones, refusals are counted, and the report says what they cost.
    beta : weight of recall in the F measure; above 1 it counts more than precision, below 1 less.
    groups : one label per row; rows of a group are held out together.
    repeats : how often the folds are drawn anew; each row still counts once in total.
    random_state : the same number gives the same folds and intervals, whatever `n_jobs` is.
    sample_weight : what each row counts for, in learning and in measuring.
    n_jobs : number of threads; None for all cores.
    progress : True for a bar on the error stream, None for one on a terminal only, or a function called at each step.

    >>> from likely import BayesClassifier
    >>> days = {"sky": ["grey", "grey", "blue", "blue"]}
    >>> report = evaluate(BayesClassifier(), days, ["wet", "wet", "dry", "dry"], cv=2)
    >>> report.accuracy, report.confusion.to_numpy().tolist()
    (1.0, [[2, 0], [0, 2]])
    """
    check_design(beta, repeats, random_state)
    experiment = Experiment.read(classifier, X, y, sample_weight, groups, n_jobs, progress, cv is not None)
    predictions, how = hold_out(experiment, cv, loss, int(repeats), random_state)
    return Report(predictions, how, type(classifier).__name__, float(beta), random_state, int(repeats))


@dataclass(frozen=True, eq=False)
class Experiment:
    """A classifier, and rows with their classes, weights and groups; `task` is there for a classifier that counts.

    `target` is the column of the labels where that is still in the table, for a classifier that finds it there.
    All folds share the kinds of the columns: they are guessed from all rows, but never from labels.
    """

    clf: object
    X: RowsLike
    task: Task | None
    classes: AnyArray
    y: Int32
    weight: Array | None
    groups: Int32 | None
    n_jobs: int | None
    progress: Shown
    target: str | None = None

    @classmethod
    def read(
        cls,
        clf: object,
        X: RowsLike,
        y: ColumnLike,
        weight: Weights,
        groups: ColumnLike | None,
        n_jobs: int | None,
        progress: Shown,
        learns: bool,
    ) -> Experiment:
        """Look at everything before any work is done; a classifier that is not to learn takes the rows as they are."""
        n_threads(n_jobs)
        if learns and isinstance(clf, Counting) and clf.adds_up:
            task = clf._task(X, y, weight)
            rows = task.rows
            rows.n_jobs = rows.n_jobs if n_jobs is None else n_jobs
            weights = rows.weight if task.weighted else None
            codes = _group_codes(groups, len(rows.y))
            return cls(clf, X, task, rows.classes, rows.y, weights, codes, rows.n_jobs, progress)
        rows_alone, labels = labelled(X, y)
        n_rows = len(labels)
        weights = None if weight is None else row_weights(weight, as_table(np.zeros((n_rows, 1))))
        if learns and weights is not None:
            from sklearn.utils.validation import has_fit_parameter

            if not has_fit_parameter(clf, "sample_weight"):
                raise SettingsError(f"{type(clf).__name__} learns without sample_weight: leave it out here, too.")
        codes = _group_codes(groups, n_rows)
        target = y if learns and isinstance(y, str) and isinstance(clf, ReadsTables) else None
        rows_read = readable(clf, rows_alone) if target is None else as_table(X)
        return cls(clf, rows_read, None, labels.classes, labels.codes, weights, codes, n_jobs, progress, target)

    def fitted(self, rows: Index | None = None) -> Predicts:
        """A copy of the classifier that has learned all rows, or some of them."""
        if self.task is not None and rows is None:
            assert isinstance(self.clf, Counting)
            return cast(Predicts, self.clf._learned(self.task, self.task.count()))
        from sklearn.base import clone

        weight = {} if self.weight is None else {"sample_weight": self.weight if rows is None else self.weight[rows]}
        X, y = (self.X, self.y) if rows is None else (some_rows(self.X, rows), self.y[rows])
        labels = self.classes[y] if self.target is None else self.target
        return cast(Predicts, clone(self.clf).fit(X, labels, **weight))

    def buffer(self, loss: Loss | None, repeats: int = 1) -> PredictionBuffer:
        """Room for the predictions of all repetitions: each row counts once, so each of its entries for a part."""
        n = len(self.y)
        weight = np.ones(n) if self.weight is None else self.weight
        unit = np.arange(n) if self.groups is None else self.groups.astype(np.intp)
        entries = np.tile(self.y, repeats), np.tile(weight / repeats, repeats), np.tile(unit, repeats)
        return PredictionBuffer(self.classes, *entries, loss)


def _group_codes(groups: ColumnLike | None, n_rows: int) -> Int32 | None:
    if groups is None:
        return None
    found = as_table({"groups": groups}).codes("groups")
    if (found.codes < 0).any():
        row = int(np.argmax(found.codes < 0))
        raise DataError(f"The group of row {row} is missing: give every row one, its own if it belongs to none.")
    if len(found.codes) != n_rows:
        raise DataError(f"There are {len(found.codes)} groups for {n_rows} rows: give one label per row.")
    sorted_places = index_levels(found.levels, in_order(found.levels)).astype(np.int32)
    return np.asarray(sorted_places[found.codes], dtype=np.int32)


# The ways to hold rows out: folds, one row at a time, a split, a test set, or none at all.

STEP = 7919
"""Seeds of repetitions lie this far apart, so that neighbouring seeds do not share their folds."""


def hold_out(
    experiment: Experiment, cv: HoldOut, given: LossLike | None, repeats: int, random_state: int
) -> tuple[Predictions, str]:
    """What the classifier says about rows that it has not learned, and how they were chosen."""
    loss = None if given is None else as_loss(given)
    if cv is None or isinstance(cv, tuple):
        if repeats > 1 or experiment.groups is not None:
            raise SettingsError("Repeats and groups are for folds and splits: leave them out with a test set.")
        return _as_it_is(experiment, loss) if cv is None else _test_set(experiment, cv, loss)
    if is_split(cv) or cv == "prequential":
        return _splits(experiment, cv, loss, repeats)
    if cv == "loo" or (cv == len(experiment.y) and experiment.groups is None):
        if repeats > 1 or experiment.groups is not None:
            raise SettingsError("There is one way to leave out one row at a time: leave out repeats and groups.")
        return _leave_one_out(experiment, loss)
    if not is_between(cv, -MOST_PLACES, MOST_PLACES):
        raise SettingsError(
            f"cv is {cv!r}, but it is a number of folds, 'loo', 'prequential', a share of the rows, a test set "
            "(X_test, y_test), a splitter such as TimeSeriesSplit(), or None for a classifier that is fitted already."
        )
    if float(cv) < 1.0:
        return _split(experiment, float(cv), loss, repeats, random_state)
    if float(cv) != int(cv):
        raise SettingsError(f"cv is {cv!r}, but a number of folds is whole, and a share of the rows is below 1.")
    return _folds(experiment, int(cv), loss, repeats, random_state)


def _folds(
    experiment: Experiment, n_folds: int, loss: Loss | None, repeats: int, random_state: int
) -> tuple[Predictions, str]:
    buffer, bar = experiment.buffer(loss, repeats), StepBar(n_folds * repeats, "fold", experiment.progress)
    for turn in range(repeats):
        own_state, first = random_state + STEP * turn, turn * len(experiment.y)
        if experiment.groups is None:
            fold = stratified(experiment.y, n_folds, own_state)
        else:
            fold = grouped(experiment.y, experiment.groups, n_folds, own_state)
        _predict(experiment, fold, n_folds, buffer, first, bar)
        buffer.fold[first : first + len(fold)] = fold + n_folds * turn
    how = Message(str(n_folds), "-fold cross-validation, ", _drawn(experiment, repeats, random_state))
    return buffer.finish(experiment.n_jobs), how


def _split(
    experiment: Experiment, share: float, loss: Loss | None, repeats: int, random_state: int
) -> tuple[Predictions, str]:
    buffer, bar, tested = experiment.buffer(loss, repeats), StepBar(repeats, "split", experiment.progress), []
    for turn in range(repeats):
        first = turn * len(experiment.y)
        test = split(experiment.y, experiment.groups, share, random_state + STEP * turn)
        _predict(experiment, np.where(test, 0, -1).astype(np.int32), 1, buffer, first, bar)
        buffer.fold[first : first + len(test)] = turn
        tested.append(np.flatnonzero(test) + first)
    how = Message("a test on ", f"{share:.3g}", " of the rows, ", _drawn(experiment, repeats, random_state))
    return buffer.finish(experiment.n_jobs).take(np.concatenate(tested)), how


def _drawn(experiment: Experiment, repeats: int, random_state: int) -> Message:
    """How rows were drawn, for the headline of a report; in parts, which other languages can word."""
    kind = "stratified" if experiment.groups is None else "in whole groups"
    times = (", ", str(repeats), " times") if repeats > 1 else ()
    return Message(kind, *times, ", seed ", str(random_state))


def _leave_one_out(experiment: Experiment, loss: Loss | None) -> tuple[Predictions, str]:
    buffer = experiment.buffer(loss)
    if experiment.task is not None:
        assert isinstance(experiment.clf, Counting)
        experiment.clf._leave_one_out(experiment.task, buffer.write)
    else:
        fold = np.arange(len(experiment.y), dtype=np.int32)
        _predict(experiment, fold, len(fold), buffer, 0, StepBar(len(fold), "row", experiment.progress))
    return buffer.finish(experiment.n_jobs), "leave-one-out"


def _predict(
    experiment: Experiment, fold: Int32, n_folds: int, buffer: PredictionBuffer, first: int, bar: StepBar
) -> None:
    """Every row by a model of the other folds: by sums of summaries, or by fitting anew."""
    if experiment.task is not None:
        assert isinstance(experiment.clf, Counting)
        cross_validate(experiment.clf, experiment.task, fold, n_folds, buffer, first, experiment.n_jobs, bar)
        return
    tests = by_fold(fold, n_folds)

    def refit(k: int) -> None:
        model = experiment.fitted(np.flatnonzero(fold != k))
        write_predictions(model, some_rows(experiment.X, tests[k]), tests[k], buffer, first)
        bar.step()

    run(refit, range(n_folds), experiment.n_jobs)


def _splits(
    experiment: Experiment, cv: SplitLike | Literal["prequential"], loss: Loss | None, repeats: int
) -> tuple[Predictions, str]:
    """Rows are judged as often as splits say so; those of a row count together as one."""
    if repeats > 1:
        raise SettingsError("Splits say themselves how often rows are judged: leave out repeats.")
    n_rows = len(experiment.y)
    if isinstance(cv, str):
        splits = prequential(n_rows)
        how: str = Message("prequential, each of ", str(len(splits)), " blocks judged by all rows before it")
    else:
        splits, how = read_splits(cv, experiment.y, experiment.groups)
    entries = np.concatenate([split.judged for split in splits])
    often = np.bincount(entries, minlength=n_rows)
    weight = (1.0 if experiment.weight is None else experiment.weight[entries]) / often[entries]
    unit = entries if experiment.groups is None else experiment.groups[entries].astype(np.intp)
    if loss is not None and loss.n_rows is not None:
        loss = Loss(loss.costs[entries], decisions=loss.decisions, truths=loss.truths, refuse=loss.refuse)
    buffer = PredictionBuffer(experiment.classes, experiment.y[entries], weight, unit, loss)
    ends = np.cumsum([len(split.judged) for split in splits]).tolist()
    buffer.fold[:] = np.repeat(np.arange(len(splits)), [len(split.judged) for split in splits])
    bar, models = StepBar(len(splits), "split", experiment.progress), _models(experiment, splits)

    def judge(k: int) -> None:
        rows, own = splits[k].judged, np.arange(ends[k] - len(splits[k].judged), ends[k])
        table = some_rows(experiment.X if experiment.task is None else experiment.task.rows.table, rows)
        write_predictions(models(k), table, own, buffer)
        bar.step()

    run(judge, range(len(splits)), experiment.n_jobs)
    return buffer.finish(experiment.n_jobs), how


def _models(experiment: Experiment, splits: Sequence[Split]) -> Callable[[int], Predicts]:
    """What gives the model of a split: sums of what was counted once, or a fit of its own."""
    task, clf = experiment.task, experiment.clf
    if task is None:
        return lambda k: experiment.fitted(splits[k].learned)
    assert isinstance(clf, Counting)
    learned = [cast(Predicts, clf._learned(task, summary)) for summary in training_sums(task, splits)]
    return learned.__getitem__


def _test_set(experiment: Experiment, test: tuple[RowsLike, ColumnLike], loss: Loss | None) -> tuple[Predictions, str]:
    """Learn all rows and judge those of the test set."""
    if len(test) != 2:
        raise SettingsError(f"cv has {len(test)} entries, but a test set has two: (X_test, y_test).")
    return _tested(experiment.fitted(), *labelled(*test), None, loss), "a given test set"


def _as_it_is(experiment: Experiment, loss: Loss | None) -> tuple[Predictions, str]:
    from sklearn.utils.validation import check_is_fitted

    model = cast(Predicts, experiment.clf)
    check_is_fitted(model)
    labels = Labels(experiment.classes, experiment.y)
    return _tested(model, experiment.X, labels, experiment.weight, loss), "the classifier as it is"


def _tested(model: Predicts, X: RowsLike, labels: Labels, weight: Array | None, loss: Loss | None) -> Predictions:
    """What a fitted classifier says about rows; classes that either side lacks are no matter."""
    classes, places, _ = merge_classes(labels.classes, np.asarray(model.classes_))
    truth, rows = places.astype(np.int32)[labels.codes], np.arange(len(labels))
    buffer = PredictionBuffer(classes, truth, np.ones(len(rows)) if weight is None else weight, rows, loss)
    write_predictions(model, readable(model, X), rows, buffer)
    return buffer.finish()
