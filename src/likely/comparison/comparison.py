"""What came out of a comparison: one line per classifier, best first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.comparison import pages
from likely.comparison.noise import AS_IT_IS, CORRECTED, Difference, difference
from likely.errors import DataError
from likely.evaluation.metrics import brier_scores, log_losses, mean
from likely.evaluation.pages import written
from likely.evaluation.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from likely.render.picture import Picture


@dataclass(frozen=True, eq=False)
class Entry:
    """One classifier: its report, and what one fit and one prediction of all rows took."""

    name: str
    report: Report
    simplicity: int
    fit_seconds: float
    predict_seconds: float
    model_bytes: int

    def rows(self, measure: str) -> Array | None:
        """The measure of every judged row; None where the classifier cannot be judged by it."""
        outcomes = self.report.outcomes
        if measure == "error":
            return np.asarray(outcomes.top != outcomes.truth, dtype=np.float64)
        if measure == "expected_cost":
            return outcomes.cost
        if outcomes.shares is None:
            return None
        likelihood, squares, _ = outcomes.shares
        if measure == "log_loss":
            return log_losses(likelihood)
        return brier_scores(likelihood, squares, len(outcomes.classes))

    def figure(self, measure: str) -> float | None:
        """The mean over all rows, by their weights."""
        rows = self.rows(measure)
        return None if rows is None else mean(rows, self.report.outcomes.weight)


@dataclass(frozen=True)
class Failure:
    """A classifier that could not take part, and why."""

    name: str
    reason: str
    simplicity: int


class Comparison:
    """A leaderboard. `by` is the measure that decides; ties go to the simpler classifier."""

    def __init__(self, entries: list[Entry], failures: list[Failure], by: str, widened: float) -> None:
        judged = [entry for entry in entries if entry.figure(by) is not None]
        left = [entry for entry in entries if entry.figure(by) is None]
        missing = [
            Failure(each.name, f"It gives no probabilities, so there is no {by}.", each.simplicity) for each in left
        ]
        self.entries = sorted(judged, key=lambda entry: (entry.figure(by), entry.simplicity))
        self.failures, self.by, self._widened = [*failures, *missing], by, widened
        if not self.entries:
            raise DataError(f"No classifier gives probabilities, so none can be judged by {by}.")

    @property
    def best(self) -> str:
        """The classifier with the least error, loss or cost."""
        return self.entries[0].name

    @cached_property
    def simplest(self) -> str:
        """The simplest classifier that is not worse than the best within noise."""
        good = [entry for entry in self.entries if self.differences[entry.name].is_noise]
        return min(good, key=lambda entry: entry.simplicity).name

    def is_simplest(self, name: str) -> bool:
        """Whether no classifier of the table is simpler than this one, good or not."""
        order = {entry.name: entry.simplicity for entry in self.entries}
        return order[name] == min(order.values())

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """How much worse than the best each classifier is, row by row, with a 95 % interval."""
        best = self.entries[0].rows(self.by)
        found = {}
        for entry in self.entries:
            rows, outcomes = entry.rows(self.by), entry.report.outcomes
            assert rows is not None
            assert best is not None
            found[entry.name] = difference(rows - best, outcomes.weight, outcomes.unit, self._widened)
        return found

    @property
    def interval(self) -> str:
        """How the intervals of differences were found."""
        return CORRECTED if self._widened > 1.0 else AS_IT_IS

    @property
    def how(self) -> str:
        """How rows were held out."""
        return self.entries[0].report.how

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return self.entries[0].report.n_rows

    @property
    def reports(self) -> dict[str, Report]:
        """The whole report of each classifier."""
        return {entry.name: entry.report for entry in self.entries}

    def to_frame(self) -> pd.DataFrame:
        """One line per classifier, best first; those that failed stand last, with their reason.

        error, log_loss, brier, expected_cost (with a loss), difference to the best with low and high, within_noise,
        simplest, fit_seconds, predict_seconds, model_bytes, reason.
        """
        return pages.as_frame(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON; written to a file if a path is given."""
        return written(pages.as_json(self), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page that needs nothing else; written to a file if a path is given."""
        return written(pages.as_page(self), path)

    def plot(self) -> Picture:
        """Differences to the best with their intervals, and what fitting takes; needs the extra `plot`."""
        from likely.render.charts import leaderboard

        return leaderboard(self.to_frame(), self.by, self.how)

    def __str__(self) -> str:
        return pages.as_text(self)

    def __repr__(self) -> str:
        return f"Comparison({len(self.entries)} classifiers, best {self.best!r}, simplest as good {self.simplest!r})"

    def _repr_html_(self) -> str:
        return pages.as_html(self)
