"""From a table and classifiers to a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, cast

import numpy as np

from likely.arrays import AnyArray, ColumnLike
from likely.comparison.candidates import Candidate, Contenders, are_contenders, candidates, majority
from likely.comparison.comparison import Comparison, Failure, Result, variance_inflation
from likely.compilation import WATCHER
from likely.decide import LossLike
from likely.errors import DataError, LikelyError, SettingsError, did_you_mean, listed
from likely.evaluation.cross_validation import Predicts, has_probabilities, labelled, readable
from likely.evaluation.evaluate import HoldOut, evaluate
from likely.evaluation.report import Report
from likely.evaluation.splits import is_split, read_splits
from likely.models.classifier import Classifier
from likely.models.protocols import Calibrates
from likely.models.settings import whole
from likely.parallel import one_thread_each
from likely.progress import Shown, StepBar
from likely.table import RowsLike, as_table, encode_labels
from likely.table.images import as_images

MEASURES = ("error", "log_loss", "brier", "expected_cost")

FAULTS = (LikelyError, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, MemoryError, ImportError)
"""What a classifier may fail with without ending the comparison."""


def compare(
    X: RowsLike,
    y: ColumnLike,
    classifiers: Contenders = "all",
    *,
    cv: HoldOut = 10,
    loss: LossLike | None = None,
    by: str | None = None,
    groups: ColumnLike | None = None,
    repeats: int = 1,
    random_state: int = 0,
    sample_weight: ColumnLike | None = None,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> Comparison:
    """Compare classifiers on the same folds of a table, and with a baseline that knows only the class proportions.

    Parameters
    ----------
    X, y : a table and its labels; `y` may also name a column. Images may be an array of three or four dimensions, or a
        list of images of one size. The order of `likely.evaluate`, `compare(classifiers, X, y)`, works too.
    classifiers : "all", a list of names (such as "naive Bayes", "tree", "SVM"; `likely.comparison.known()` lists them)
        and of classifiers of this package or of scikit-learn, or a mapping of names to classifiers.
    cv, groups, repeats, sample_weight : as in `likely.evaluate`.
    loss : a `Loss`: then there is an expected cost, and it decides which one is best.
    by : what decides: "error", "log_loss", "brier" or "expected_cost"; None for the cost if there is a loss, else
        the log loss, or the error if no classifier gives probabilities.
    random_state : the same seed gives the same folds.
    n_jobs : number of threads; None for all cores.
    progress : True for a progress bar, None for one on a terminal only, or a function that is called after each step.

    >>> from likely.teaching import datasets
    >>> comparison = compare(datasets.golf(), "play", ["naive Bayes", "tree"], cv=7)
    >>> sorted(comparison.to_frame().index)
    ['majority class', 'naive Bayes', 'tree']
    """
    X, y, classifiers = in_order(X, y, classifiers)
    if by is not None and by not in MEASURES:
        raise SettingsError(f"by is {by!r}, but it is one of {listed(MEASURES)}.{did_you_mean(str(by), MEASURES)}")
    if by == "expected_cost" and loss is None:
        raise SettingsError("by is 'expected_cost', but no loss says what a decision costs: give loss as well.")
    if cv is None:
        raise SettingsError("A comparison learns: give cv a number of folds, a share of the rows or a test set.")
    whole("random_state", random_state, 0)
    rows, labels = _read(X, y)
    if is_split(cv):  # drawn once: all are judged on the same rows
        codes = encode_labels(labels).codes
        cv = read_splits(cv, codes, None if groups is None else encode_labels(groups).codes)[0]
    wanted = candidates(classifiers, images=as_images(rows) is not None, random_state=random_state)
    judge = partial(
        evaluate, loss=loss, groups=groups, repeats=repeats, random_state=random_state, sample_weight=sample_weight,
        n_jobs=n_jobs, progress=False,
    )  # fmt: skip
    entries: list[Result] = []
    failures: list[Failure] = []
    first: Exception | None = None
    bar = StepBar(len(wanted), "classifier", progress)
    for candidate in wanted:
        try:
            entries.append(_entry(candidate, rows, labels, cv, judge))
        except FAULTS as error:
            first = first or error
            failures.append(Failure(candidate.name, _sentence(error), candidate.simplicity))
        bar.step()
    if first is not None and not entries:
        raise _refusal(first, failures)
    by = by or ("expected_cost" if loss is not None else _usual_measure(entries))
    if not any(candidate.is_majority for candidate in wanted):
        entries.append(_entry(majority(candidate.name for candidate in wanted), rows, labels, cv, judge))
    return Comparison(entries, failures, by, variance_inflation(cv, len(labels)))


def in_order(X: Any, y: Any, classifiers: Any) -> tuple[Any, Any, Contenders]:
    """A table, its labels and classifiers, whichever came first."""
    return (y, classifiers, X) if are_contenders(X) else (X, y, classifiers)


def _usual_measure(entries: list[Result]) -> str:
    """How good probabilities are, or the error rate if nobody gives any."""
    return "error" if all(entry.rows("log_loss") is None for entry in entries) else "log_loss"


def _refusal(first: Exception, failures: list[Failure]) -> Exception:
    """What to say if nobody could take part: the reason alone if it is the same for all."""
    if isinstance(first, LikelyError) and len({failure.reason for failure in failures}) == 1:
        return first
    reasons = " ".join(f"{failure.name}: {failure.reason}" for failure in failures)
    return DataError(f"No classifier could be compared. {reasons}")


def _read(X: RowsLike, y: ColumnLike) -> tuple[RowsLike, AnyArray]:
    """A table without its labels, and these. Of our own tables rows can be taken without knowing whose they were."""
    foreign = hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc")
    rows, labels = labelled(as_table(X, allow_empty=False) if foreign else X, y)
    return rows, labels.classes[labels.codes]


def _rows_for(candidate: Candidate, X: RowsLike) -> RowsLike:
    """Rows as a classifier takes them: images for those that look at them, their pixels in a row for all others."""
    images = as_images(X)
    return X if images is None or candidate.wants_images else images.reshape(len(images), -1)


def _entry(candidate: Candidate, rows: RowsLike, y: AnyArray, cv: HoldOut, judge: Callable[..., Report]) -> Result:
    """Honest figures by folds; then one fit and one prediction of all rows for times and size."""
    X = readable(candidate.classifier, _rows_for(candidate, rows))
    if isinstance(cv, tuple) and len(cv) == 2:
        test, truth = _read(*cast(tuple[RowsLike, ColumnLike], cv))
        cv = _rows_for(candidate, test), truth
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what one of many has to say would drown the others
        with one_thread_each():  # folds go side by side
            report = judge(candidate.classifier, X, y, cv=cv)
        fitted, fit_seconds = _timed_fit(candidate.classifier, X, y)
        start = perf_counter()
        (fitted.predict_proba if has_probabilities(fitted) else fitted.predict)(X)
        predict_seconds = perf_counter() - start
        size = model_bytes(fitted)
    seconds = fit_seconds, predict_seconds
    return Result(
        candidate.name, report, candidate.simplicity, *seconds, size, candidate.is_majority, candidate.depth
    )  # fmt: skip


def _timed_fit(classifier: object, X: RowsLike, y: AnyArray) -> tuple[Predicts, float]:
    """A fitted copy, ready to give probabilities, and how long that took; what is compiled, once on a machine, says
    nothing about a classifier.
    """
    from sklearn.base import clone

    copy = clone(classifier)
    start, compiling = perf_counter(), WATCHER.seconds
    copy.fit(X, y)
    if isinstance(copy, Calibrates):
        copy.calibrate()
    return copy, max(perf_counter() - start - (WATCHER.seconds - compiling), 0.0)


def _sentence(error: BaseException) -> str:
    """The first line of what an error says, in one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentence = lines[0] if lines else type(error).__name__
    for end in (". ", "; "):
        sentence = sentence.split(end)[0]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


# How large a model is: the file that it is saved to, or the arrays that it holds.

DEEPEST = 12


def model_bytes(classifier: object) -> int:
    """Bytes of the file if the classifier can be saved without pickle, else of all arrays in it."""
    if isinstance(classifier, Classifier):
        with TemporaryDirectory() as folder, suppress(LikelyError):  # such as a label of a type that no file has
            path = Path(folder) / "model.likely"
            classifier.save(path)
            return path.stat().st_size
    return _array_bytes(classifier, set(), 0)


def _array_bytes(value: object, seen: set[int], depth: int) -> int:
    """Arrays in an object, its attributes and collections; each counts once."""
    if depth > DEEPEST or id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        inner = sum(_array_bytes(cell, seen, depth + 1) for cell in value.ravel()) if value.dtype == object else 0
        return int(value.nbytes) + inner
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int | float | np.generic):
        return 8
    if isinstance(value, Mapping):
        return sum(_array_bytes(item, seen, depth + 1) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return sum(_array_bytes(item, seen, depth + 1) for item in value)
    return sum(_array_bytes(item, seen, depth + 1) for item in getattr(value, "__dict__", {}).values())
