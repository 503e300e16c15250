"""The door: from a table and classifiers to a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likely.comparison.candidates import Candidate, candidates
from likely.comparison.comparison import Comparison, Entry, Failure
from likely.comparison.noise import variance_inflation
from likely.errors import DataError, LikelyError, SettingsError, did_you_mean, listed, missing_columns
from likely.evaluation.evaluate import evaluate
from likely.models.classifier import Classifier
from likely.models.protocols import Calibrates, HasProbabilities
from likely.models.settings import whole
from likely.parallel import one_thread_each
from likely.progress import Shown, StepBar
from likely.table import Table, as_table, encode_column, encode_labels, labels_of
from likely.table.images import as_images

MEASURES = ("error", "log_loss", "brier", "expected_cost")

FAULTS = (LikelyError, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, MemoryError, ImportError)
"""What a classifier may fail with without ending the comparison."""


def compare(
    X: Any,
    y: Any,
    classifiers: Any = "all",
    *,
    cv: int | float | Literal["loo"] | tuple[Any, Any] = 10,
    loss: Any = None,
    by: str | None = None,
    groups: Any = None,
    repeats: int = 1,
    random_state: int = 0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> Comparison:
    """How good several classifiers are on the same table, judged on the same folds.

    Parameters
    ----------
    X, y : a table and its labels; `y` may also name a column. Images may be an array of three or four dimensions, or a
        list of images of one size.
    classifiers : "all", a list of names (such as "naive Bayes", "tree", "SVM"; `likely.comparison.known()` lists them)
        and of classifiers of this package or of scikit-learn, or a mapping of names to classifiers.
    cv, groups, repeats, sample_weight : as in `likely.evaluate`.
    loss : a `Loss`: then there is an expected cost, and it decides who is best.
    by : what decides: "error", "log_loss", "brier" or "expected_cost"; None for the cost if there is a loss, else the
        error.
    random_state : the same seed gives the same folds.
    n_jobs : number of threads; None for all cores.
    progress : True for a bar of the classifiers, None for one on a terminal only, or a function that is told of steps.

    >>> from likely.teaching import datasets
    >>> comparison = compare(datasets.golf(), "play", ["naive Bayes", "tree"], cv=7)
    >>> sorted(comparison.to_frame().index)
    ['naive Bayes', 'tree']
    """
    if by is not None and by not in MEASURES:
        raise SettingsError(f"by is {by!r}, but it is one of {listed(MEASURES)}.{did_you_mean(str(by), MEASURES)}")
    if by == "expected_cost" and loss is None:
        raise SettingsError("by is 'expected_cost', but no loss says what a decision costs: give loss as well.")
    if cv is None:
        raise SettingsError("A comparison learns: give cv a number of folds, a share of the rows or a test set.")
    whole("random_state", random_state, 0)
    source = Source.of(X, y)
    wanted = candidates(classifiers, images=source.are_images, random_state=random_state)
    options = {
        "cv": cv, "loss": loss, "groups": groups, "repeats": repeats, "random_state": random_state,
        "sample_weight": sample_weight, "n_jobs": n_jobs, "progress": False,
    }  # fmt: skip
    entries: list[Entry] = []
    failures: list[Failure] = []
    first: Exception | None = None
    bar = StepBar(len(wanted), "classifier", progress)
    for candidate in wanted:
        try:
            entries.append(_entry(candidate, source, options))
        except FAULTS as error:
            first = first or error
            failures.append(Failure(candidate.name, _sentence(error), candidate.simplicity))
        bar.step()
    if first is not None and not entries:
        raise _refusal(first, failures)
    measure = by or ("expected_cost" if loss is not None else "error")
    return Comparison(entries, failures, measure, variance_inflation(cv, len(source.y)))


def _refusal(first: Exception, failures: list[Failure]) -> Exception:
    """What to say if nobody could take part: the reason alone if it is the same for all."""
    if isinstance(first, LikelyError) and len({failure.reason for failure in failures}) == 1:
        return first
    reasons = " ".join(f"{failure.name}: {failure.reason}" for failure in failures)
    return DataError(f"No classifier could be compared. {reasons}")


def _entry(candidate: Candidate, source: Source, options: dict[str, Any]) -> Entry:
    """Honest figures by folds; then one fit and one prediction of all rows for times and size."""
    X = source.rows_for(candidate)
    options = {**options, "cv": source.test_for(candidate, options["cv"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what one of many has to say would drown the others
        with one_thread_each():  # folds go side by side
            report = evaluate(candidate.classifier, X, source.y, **options)
        fitted, fit_seconds = _timed_fit(candidate.classifier, X, source.y)
        start = perf_counter()
        (fitted.predict_proba if isinstance(fitted, HasProbabilities) else fitted.predict)(X)
        predict_seconds = perf_counter() - start
        size = model_bytes(fitted)
    return Entry(candidate.name, report, candidate.simplicity, fit_seconds, predict_seconds, size)


def _timed_fit(classifier: Any, X: Any, y: Any) -> tuple[Any, float]:
    """A fitted copy, ready to give probabilities, and how long that took."""
    from sklearn.base import clone

    copy = clone(classifier)
    start = perf_counter()
    copy.fit(X, y)
    if isinstance(copy, Calibrates):
        copy.calibrate()
    return copy, perf_counter() - start


def _sentence(error: BaseException) -> str:
    """The first line of what an error says, in one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentence = lines[0] if lines else type(error).__name__
    for end in (". ", "; "):
        sentence = sentence.split(end)[0]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


# How large a model is: the file that it is saved to, or the arrays that it holds.

DEEPEST = 12


def model_bytes(classifier: Any) -> int:
    """Bytes of the file if the classifier can be saved without pickle, else of all arrays in it."""
    if isinstance(classifier, Classifier):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.likely"
            try:
                classifier.save(path)
            except LikelyError:  # such as a label of a type that no file has
                return _array_bytes(classifier, set(), 0)
            return path.stat().st_size
    return _array_bytes(classifier, set(), 0)


def _array_bytes(value: Any, seen: set[int], depth: int) -> int:
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


# The rows that all classifiers are judged on, in the form that each of them reads.


@dataclass(frozen=True, eq=False)
class Source:
    """A table without its labels, and these; `are_images` if rows have more than one dimension."""

    X: Any
    y: NDArray[Any]
    are_images: bool
    target: str | None = None

    @classmethod
    def of(cls, X: Any, y: Any) -> Source:
        """Read the labels, and refuse what no classifier could learn from."""
        images = as_images(X)
        if images is not None:
            labels = encode_labels(y)
            if len(labels) != len(images):
                raise DataError(f"There are {len(images)} images, but {len(labels)} labels.")
            return cls(images, labels.classes[labels.codes], True)
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) else None
        if target is not None and target not in table:
            raise missing_columns([target], table.names)
        labels = labels_of(y, table)
        if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc"):
            X = table  # rows of it can be taken without knowing whose it is
        rows = X if target is None else without_column(X, table, target)
        return cls(rows, labels.classes[labels.codes], False, target)

    def rows_for(self, candidate: Candidate) -> Any:
        """The rows as the classifier reads them."""
        return _readable(self.X, candidate)

    def test_for(self, candidate: Candidate, cv: Any) -> Any:
        """A test set, if there is one, in the same form."""
        if not isinstance(cv, tuple) or len(cv) != 2:
            return cv
        X, y = cv
        if isinstance(y, str):
            table = as_table(X, allow_empty=False)
            labels = encode_column(table.cells(y))
            return _readable(without_column(X, table, y), candidate), labels.classes[labels.codes]
        return _readable(X, candidate), y


def without_column(X: Any, table: Table, name: str) -> Any:
    """The same table without one column, in the form in which it came where that is known."""
    if isinstance(X, Mapping):
        return {key: cells for key, cells in X.items() if key != name}
    if hasattr(X, "iloc"):
        return X.drop(columns=[name])
    names = [other for other in table.names if other != name]
    return Table(names, table.n_rows, lambda place: table.cells(names[place]), named=True)


def _readable(X: Any, candidate: Candidate) -> Any:
    images = as_images(X)
    if images is not None:
        return images if candidate.wants_images else images.reshape(len(images), -1)
    foreign = not type(candidate.classifier).__module__.startswith("likely.")
    return _frame(X) if isinstance(X, Table) and foreign else X


def _frame(table: Table) -> Any:
    """A frame for classifiers that do not know our tables."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in table.names:
        if table.storage(name) in ("float", "integer"):
            columns[name] = table.numbers(name)
        else:
            found = table.codes(name)
            cells = np.empty(len(found.levels) + 1, dtype=object)
            cells[:-1] = found.levels
            columns[name] = cells[found.codes]
    return pd.DataFrame(columns)
