"""What is to be evaluated: a classifier and its rows, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32
from likely.engines.plan import Task
from likely.errors import DataError, SchemaError, SettingsError, missing_columns
from likely.evaluation.fold_sums import Counting, cross_validate
from likely.evaluation.folds import by_fold, grouped, split, stratified
from likely.evaluation.predictions import Outcomes, Predictions
from likely.evaluation.refit import RefitCV, enter, readable
from likely.parallel import n_threads, run
from likely.progress import Shown, StepBar
from likely.table import Labels, as_table, encode_column, encode_labels, merge_classes
from likely.table.images import as_images
from likely.table.labels import row_weights


@dataclass(frozen=True, eq=False)
class Given:
    """Rows with their classes, weights and groups; `task` is there for a classifier that counts.

    All folds share the kinds of the columns: they are guessed from all rows, but never from labels.
    """

    clf: Any
    X: Any
    task: Task | None
    classes: NDArray[Any]
    y: Int32
    weight: Array | None
    groups: Int32 | None
    n_jobs: int | None
    progress: Shown

    @classmethod
    def read(
        cls, clf: Any, X: Any, y: Any, weight: Any, groups: Any, n_jobs: int | None, progress: Shown, learns: bool
    ) -> Given:
        """Look at everything before any work is done; a classifier that is not to learn takes the rows as they are."""
        n_threads(n_jobs)
        if learns and isinstance(clf, Counting) and getattr(clf, "adds_up", True):
            task = clf.task(X, y, weight)
            rows = task.rows
            rows.n_jobs = rows.n_jobs if n_jobs is None else n_jobs
            weights = rows.weight if task.weighted else None
            codes = _group_codes(groups, len(rows.y))
            return cls(clf, X, task, rows.classes, rows.y, weights, codes, rows.n_jobs, progress)
        X, labels = labelled(clf, X, y)
        n_rows = len(labels)
        weights = None if weight is None else row_weights(weight, as_table(np.zeros((n_rows, 1))))
        codes = _group_codes(groups, n_rows)
        return cls(clf, X, None, labels.classes, labels.codes, weights, codes, n_jobs, progress)

    def ledger(self, loss: Any, repeats: int = 1) -> Predictions:
        """Room for the predictions of all repetitions: each row counts once, so each of its entries for a part."""
        n = len(self.y)
        weight = np.ones(n) if self.weight is None else self.weight
        unit = np.arange(n) if self.groups is None else self.groups.astype(np.intp)
        entries = np.tile(self.y, repeats), np.tile(weight / repeats, repeats), np.tile(unit, repeats)
        return Predictions(self.classes, *entries, loss)


def _group_codes(groups: Any, n_rows: int) -> Int32 | None:
    if groups is None:
        return None
    codes = encode_labels(groups).codes
    if len(codes) != n_rows:
        raise DataError(f"There are {len(codes)} groups for {n_rows} rows: give one label per row.")
    return codes


def labelled(clf: Any, X: Any, y: Any) -> tuple[Any, Labels]:
    """A table and its labels, which may also be a column of it."""
    if not isinstance(y, str):
        images = as_images(X)  # whether they can be read, the classifier knows
        rows, labels = X if images is None else images, encode_labels(y)
        n_rows = as_table(X, allow_empty=False).n_rows if images is None or not len(images) else len(images)
        if len(labels) != n_rows:
            raise DataError(f"X has {n_rows} rows, but y has {len(labels)} labels: give one label per row.")
        return rows, labels
    table = as_table(X, allow_empty=False)
    if y not in table:
        raise missing_columns([y], table.names)
    labels = encode_column(table.cells(y))
    if isinstance(clf, Counting):
        return table, labels
    if isinstance(X, dict):
        return {name: cells for name, cells in X.items() if name != y}, labels
    if not hasattr(X, "drop"):
        raise SchemaError(f"{type(clf).__name__} would learn from the column {y!r}, too: give X and y apart.")
    return X.drop(columns=[y]) if hasattr(X, "iloc") else X.drop(y), labels


# The ways to hold rows out: folds, one row at a time, a split, a test set, or none at all.

STEP = 7919
"""Seeds of repetitions lie this far apart, so that neighbouring seeds do not share their folds."""


def hold_out(given: Given, cv: Any, loss: Any, repeats: int, seed: int) -> tuple[Outcomes, str]:
    """What the classifier says about rows that it has not learned, and how they were chosen."""
    if loss is not None:
        from likely.decide import as_loss

        loss = as_loss(loss)
    if cv is None or isinstance(cv, tuple):
        if repeats > 1 or given.groups is not None:
            raise SettingsError("Repeats and groups are for folds and splits: leave them out with a test set.")
        return _as_it_is(given, loss) if cv is None else _test_set(given, cv, loss)
    is_number = isinstance(cv, int | float | np.number) and not isinstance(cv, bool)
    if not is_number and cv != "loo":
        raise SettingsError(
            f"cv is {cv!r}, but it is a number of folds, 'loo', a share of the rows, a test set (X_test, y_test), "
            "or None for a classifier that is fitted already."
        )
    if cv == "loo" or (cv == len(given.y) and given.groups is None):
        if repeats > 1 or given.groups is not None:
            raise SettingsError("There is one way to leave out one row at a time: leave out repeats and groups.")
        return _leave_one_out(given, loss)
    if float(cv) < 1.0:
        return _split(given, float(cv), loss, repeats, seed)
    if float(cv) != int(cv):
        raise SettingsError(f"cv is {cv!r}, but a number of folds is whole, and a share of the rows is below 1.")
    return _folds(given, int(cv), loss, repeats, seed)


def _folds(given: Given, n_folds: int, loss: Any, repeats: int, seed: int) -> tuple[Outcomes, str]:
    ledger, bar = given.ledger(loss, repeats), StepBar(n_folds * repeats, "fold", given.progress)
    for turn in range(repeats):
        own_seed, first = seed + STEP * turn, turn * len(given.y)
        if given.groups is None:
            fold = stratified(given.y, n_folds, own_seed)
        else:
            fold = grouped(given.y, given.groups, n_folds, own_seed)
        _judge(given, fold, n_folds, ledger, first, bar)
        ledger.fold[first : first + len(fold)] = fold + n_folds * turn
    kind = "stratified" if given.groups is None else "in whole groups"
    return ledger.close(given.n_jobs), f"{n_folds}-fold cross-validation, {kind}{_times(repeats)}, seed {seed}"


def _split(given: Given, share: float, loss: Any, repeats: int, seed: int) -> tuple[Outcomes, str]:
    ledger, bar, tested = given.ledger(loss, repeats), StepBar(repeats, "split", given.progress), []
    for turn in range(repeats):
        first = turn * len(given.y)
        test = split(given.y, given.groups, share, seed + STEP * turn)
        _judge(given, np.where(test, 0, -1).astype(np.int32), 1, ledger, first, bar)
        ledger.fold[first : first + len(test)] = turn
        tested.append(np.flatnonzero(test) + first)
    kind = "stratified" if given.groups is None else "in whole groups"
    how = f"a test on {share:.3g} of the rows, {kind}{_times(repeats)}, seed {seed}"
    return ledger.close(given.n_jobs).take(np.concatenate(tested)), how


def _leave_one_out(given: Given, loss: Any) -> tuple[Outcomes, str]:
    ledger = given.ledger(loss)
    if given.task is not None:
        given.clf.leave_one_out(given.task, ledger.enter)
    else:
        fold = np.arange(len(given.y), dtype=np.int32)
        _judge(given, fold, len(fold), ledger, 0, StepBar(len(fold), "row", given.progress))
    return ledger.close(given.n_jobs), "leave-one-out"


def _judge(given: Given, fold: Int32, n_folds: int, ledger: Predictions, first: int, bar: StepBar) -> None:
    """Every row by a model of the other folds: by sums of summaries, or by fitting anew."""
    if given.task is not None:
        cross_validate(given.clf, given.task, fold, n_folds, ledger, first, given.n_jobs, bar)
        return
    foreign = RefitCV(given.clf, given.X, given.classes, given.y, given.weight)
    tests = by_fold(fold + 1, n_folds + 1)[1:]

    def refit(k: int) -> None:
        foreign.judge(np.flatnonzero(fold != k), tests[k], ledger, first)
        bar.step()

    run(refit, range(n_folds), given.n_jobs)


def _test_set(given: Given, test: tuple[Any, ...], loss: Any) -> tuple[Outcomes, str]:
    """Learn all rows and judge those of the test set."""
    if len(test) != 2:
        raise SettingsError(f"cv has {len(test)} entries, but a test set has two: (X_test, y_test).")
    if given.task is not None:
        model = given.clf.learned(given.task, given.task.count())
    else:
        model = RefitCV(given.clf, given.X, given.classes, given.y, given.weight).fitted()
    X, labels = labelled(given.clf, *test)
    return _tested(model, X, labels, None, loss), "a given test set"


def _as_it_is(given: Given, loss: Any) -> tuple[Outcomes, str]:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(given.clf)
    labels = Labels(given.classes, given.y)
    return _tested(given.clf, given.X, labels, given.weight, loss), "the classifier as it is"


def _tested(model: Any, X: Any, labels: Labels, weight: Array | None, loss: Any) -> Outcomes:
    """What a fitted classifier says about rows; classes that either side lacks are no matter."""
    classes, places, _ = merge_classes(labels.classes, np.asarray(model.classes_))
    truth, rows = places.astype(np.int32)[labels.codes], np.arange(len(labels))
    ledger = Predictions(classes, truth, np.ones(len(rows)) if weight is None else weight, rows, loss)
    enter(model, readable(model, X), rows, ledger)
    return ledger.close()


def _times(repeats: int) -> str:
    return f", {repeats} times" if repeats > 1 else ""
