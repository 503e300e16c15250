"""The door: from a classifier and a table to a report."""

from __future__ import annotations

from typing import Any, Literal

from likely.errors import SettingsError
from likely.evaluation.hold_out import Given, hold_out
from likely.evaluation.report import Report
from likely.progress import Shown


def evaluate(
    classifier: Any,
    X: Any,
    y: Any,
    *,
    cv: int | float | Literal["loo"] | tuple[Any, Any] | None = 10,
    loss: Any = None,
    beta: float = 1.0,
    groups: Any = None,
    repeats: int = 1,
    seed: int = 0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> Report:
    """How good a classifier is on rows that it has not learned.

    Parameters
    ----------
    classifier : any classifier of this package or of scikit-learn; it is copied, not changed.
    X, y : a table and its labels; for classifiers of tables `y` may also name a column.
    cv : a number of folds (stratified, or in whole groups if `groups` is given), "loo" to leave out one row at a
        time, a share of the rows to test on once, a test set `(X_test, y_test)`, or None to test the classifier as
        it is.
    loss : a `Loss`: decisions are the cheapest ones, refusals are counted, and the report says what they cost.
    beta : weight of recall in the F measure; above 1 it counts more than precision, below 1 less.
    groups : one label per row; rows of a group are held out together.
    repeats : how often the folds are dealt anew; every row then counts once in all.
    seed : the same seed gives the same folds and intervals, whatever `n_jobs` is.
    sample_weight : what each row counts for, in learning and in measuring.
    n_jobs : number of threads; None for all cores.
    progress : a counter on the error stream, or a function that is told; None: a counter, on a terminal only.

    >>> from likely import BayesClassifier
    >>> days = {"sky": ["grey", "grey", "blue", "blue"]}
    >>> report = evaluate(BayesClassifier(), days, ["wet", "wet", "dry", "dry"], cv=2)
    >>> report.accuracy, report.confusion.to_numpy().tolist()
    (1.0, [[2, 0], [0, 2]])
    """
    if not beta >= 0.0:
        raise SettingsError(f"beta is {beta!r}, but it is a number from 0 up; above 1 it favours recall.")
    if int(repeats) != repeats or repeats < 1:
        raise SettingsError(f"repeats is {repeats!r}, but folds are dealt at least once.")
    given = Given.read(classifier, X, y, sample_weight, groups, n_jobs, progress, cv is not None)
    outcomes, how = hold_out(given, cv, loss, int(repeats), seed)
    return Report(outcomes, how, type(classifier).__name__, float(beta), seed, int(repeats))
