"""The door: from a table and classifiers to a comparison."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, Literal

from likely.blas import one_thread_each
from likely.choices import whole
from likely.comparison.board import Comparison, Entry, Failure
from likely.comparison.contestants import Contestant, contestants
from likely.comparison.noise import widening
from likely.comparison.sizing import model_bytes
from likely.comparison.sources import Source
from likely.errors import DataError, LikelyError, SettingsError, did_you_mean, listed
from likely.evaluation import evaluate
from likely.evaluation.progress import Progress

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
    progress: bool | None = None,
) -> Comparison:
    """How good several classifiers are on the same table, judged on the same folds.

    Parameters
    ----------
    X, y : a table and its labels; `y` may also name a column. Images may be an array of three or four dimensions, or a
        list of images of one size.
    classifiers : "all", a list of names (such as "naive Bayes", "tree", "SVM", see `likely.comparison.KNOWN`) and of
        classifiers of this package or of scikit-learn, or a mapping of names to classifiers.
    cv, groups, repeats, sample_weight : as in `likely.evaluate`.
    loss : a `Loss`: then there is an expected cost, and it decides who is best.
    by : what decides: "error", "log_loss", "brier" or "expected_cost"; None for the cost if there is a loss, else the
        error.
    random_state : the same seed gives the same folds.
    n_jobs : number of threads; None for all cores.
    progress : count the classifiers on the error stream; None: only on a terminal.

    >>> from likely import datasets
    >>> board = compare(datasets.golf(), "play", ["naive Bayes", "tree"], cv=7)
    >>> sorted(board.to_frame().index)
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
    entrants = contestants(classifiers, images=source.are_images, seed=random_state)
    ways = {
        "cv": cv, "loss": loss, "groups": groups, "repeats": repeats, "seed": random_state,
        "sample_weight": sample_weight, "n_jobs": n_jobs, "progress": False,
    }  # fmt: skip
    entries: list[Entry] = []
    failures: list[Failure] = []
    first: Exception | None = None
    bar = Progress(len(entrants), "classifier", progress)
    for entrant in entrants:
        try:
            entries.append(_judged(entrant, source, ways))
        except FAULTS as error:
            first = first or error
            failures.append(Failure(entrant.name, _sentence(error), entrant.simplicity))
        bar.step()
    if first is not None and not entries:
        raise _refusal(first, failures)
    wanted = by or ("expected_cost" if loss is not None else "error")
    return Comparison(entries, failures, wanted, widening(cv, len(source.y)))


def _refusal(first: Exception, failures: list[Failure]) -> Exception:
    """What to say if nobody could take part: the reason alone if it is the same for all."""
    if isinstance(first, LikelyError) and len({failure.reason for failure in failures}) == 1:
        return first
    told = " ".join(f"{failure.name}: {failure.reason}" for failure in failures)
    return DataError(f"No classifier could be compared. {told}")


def _judged(entrant: Contestant, source: Source, ways: dict[str, Any]) -> Entry:
    """Honest figures by folds; then one fit and one prediction of all rows for times and size."""
    X = source.rows_for(entrant)
    ways = {**ways, "cv": source.test_for(entrant, ways["cv"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what one of many has to say would drown the others
        with one_thread_each():  # folds go side by side
            report = evaluate(entrant.classifier, X, source.y, **ways)
        fitted, fit_seconds = _timed_fit(entrant.classifier, X, source.y)
        start = perf_counter()
        (fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict)(X)
        predict_seconds = perf_counter() - start
        size = model_bytes(fitted)
    return Entry(entrant.name, report, entrant.simplicity, fit_seconds, predict_seconds, size)


def _timed_fit(classifier: Any, X: Any, y: Any) -> tuple[Any, float]:
    """A fitted copy, ready to give probabilities, and how long that took."""
    from sklearn.base import clone

    copy = clone(classifier)
    start = perf_counter()
    copy.fit(X, y)
    if hasattr(copy, "calibrate"):
        copy.calibrate()
    return copy, perf_counter() - start


def _sentence(error: BaseException) -> str:
    """The first line of what an error says, in one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = lines[0] if lines else type(error).__name__
    for end in (". ", "; "):
        told = told.split(end)[0]
    return told if told.endswith((".", "!", "?")) else f"{told}."
