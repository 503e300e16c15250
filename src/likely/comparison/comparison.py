"""What came out of a comparison: one line per classifier, best first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from likely.arrays import Array, Index
from likely.errors import DataError
from likely.evaluation.evaluate import HoldOut
from likely.evaluation.metrics import brier_scores, log_losses, mean
from likely.evaluation.report import Report, written
from likely.markup import Markup, tag
from likely.render.charts import leaderboard
from likely.render.page import fragment, page
from likely.render.table import Column, Grid, figure, records, seconds, size

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from likely.render.picture import Picture

SPOKEN = {"error": "error", "log_loss": "log loss", "brier": "Brier", "expected_cost": "cost"}
MARK = "◀"


@dataclass(frozen=True, eq=False)
class Result:
    """One classifier: its report, and what one fit and one prediction of all rows took."""

    name: str
    report: Report
    simplicity: int
    fit_seconds: float
    predict_seconds: float
    model_bytes: int

    def rows(self, measure: str) -> Array | None:
        """The measure of every judged row; None where the classifier cannot be judged by it."""
        predictions = self.report.predictions
        if measure == "error":
            return np.asarray(predictions.top != predictions.truth, dtype=np.float64)
        if measure == "expected_cost":
            return predictions.cost
        if predictions.shares is None:
            return None
        likelihood, squares, _ = predictions.shares
        if measure == "log_loss":
            return log_losses(likelihood)
        return brier_scores(likelihood, squares, len(predictions.classes))

    def figure(self, measure: str) -> float | None:
        """The mean over all rows, by their weights."""
        rows = self.rows(measure)
        return None if rows is None else mean(rows, self.report.predictions.weight)


@dataclass(frozen=True)
class Failure:
    """A classifier that could not take part, and why."""

    name: str
    reason: str
    simplicity: int


class Comparison:
    """A leaderboard. `by` is the measure that decides; ties go to the simpler classifier."""

    def __init__(self, entries: list[Result], failures: list[Failure], by: str, inflation: float) -> None:
        ranked = [entry for entry in entries if entry.figure(by) is not None]
        why = f"It gives no probabilities, so there is no {by}."
        missing = [Failure(entry.name, why, entry.simplicity) for entry in entries if entry not in ranked]
        self.entries = sorted(ranked, key=lambda entry: (entry.figure(by), entry.simplicity))
        self.failures, self.by, self._inflation = [*failures, *missing], by, inflation
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
            rows, predictions = entry.rows(self.by), entry.report.predictions
            assert rows is not None
            assert best is not None
            found[entry.name] = difference(rows - best, predictions.weight, predictions.unit, self._inflation)
        return found

    @property
    def interval(self) -> str:
        """How the intervals of differences were found."""
        return CORRECTED if self._inflation > 1.0 else AS_IT_IS

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
        import pandas as pd

        lines: list[dict[str, object]] = []
        for entry in self.entries:
            gap = self.differences[entry.name]
            figures = {name: entry.figure(name) for name in self._measures}
            noise = {"difference": gap.mean, "low": gap.low, "high": gap.high, "within_noise": gap.is_noise}
            lines.append(
                {
                    "classifier": entry.name,
                    **{name: np.nan if value is None else value for name, value in figures.items()},
                    **noise,
                    "simplest": entry.name == self.simplest,
                    "fit_seconds": entry.fit_seconds,
                    "predict_seconds": entry.predict_seconds,
                    "model_bytes": entry.model_bytes,
                    "reason": "",
                }
            )
        nothing = {"within_noise": False, "simplest": False}
        lines += [{"classifier": each.name, **nothing, "reason": each.reason} for each in self.failures]
        frame = pd.DataFrame(lines).set_index("classifier")
        return frame.astype({"model_bytes": "Int64", "within_noise": bool, "simplest": bool})

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON; written to a file if a path is given."""
        content = {
            "how": self.how,
            "rows": self.n_rows,
            "by": self.by,
            "best": self.best,
            "simplest": self.simplest,
            "interval": self.interval,
            "classifiers": records(self.to_frame().reset_index()),
        }
        return written(json.dumps(content, ensure_ascii=False, indent=1), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page that needs nothing else; written to a file if a path is given."""
        return written(page("Comparison", self._repr_html_()), path)

    def plot(self) -> Picture:
        """Differences to the best with their intervals, and what fitting takes; needs the extra `plot`."""
        return leaderboard(self.to_frame(), self.by, self.how)

    def grid(self) -> Grid:
        """The table that a person reads; the simplest that is as good as the best is marked."""
        rows: list[list[object]] = []
        for entry in self.entries:
            gap = self.differences[entry.name]
            gaps = ["", "", ""] if entry.name == self.best else [gap.mean, gap.low, gap.high]
            figures = [entry.figure(name) for name in self._measures]
            effort = [seconds(entry.fit_seconds), seconds(entry.predict_seconds), size(entry.model_bytes)]
            rows.append([entry.name, *figures, *gaps, *effort, MARK if entry.name == self.simplest else ""])
        looks = {
            place: "chosen" if entry.name == self.simplest else "close"
            for place, entry in enumerate(self.entries)
            if entry.name == self.simplest or self.differences[entry.name].is_noise
        }
        numbers = [*(SPOKEN[name] for name in self._measures), "worse by", "95 % from", "to"]
        columns = [Column("classifier", "left"), *(Column(head, form=figure) for head in numbers)]
        return Grid([*columns, *map(Column, ("fit", "predict", "size", ""))], rows, marks=looks)

    def __str__(self) -> str:
        return "\n".join([self._headline(), "", self.grid().text(), "", *self._notes()])

    def __repr__(self) -> str:
        return f"Comparison({len(self.entries)} classifiers, best {self.best!r}, simplest as good {self.simplest!r})"

    def _repr_html_(self) -> Markup:
        headline = tag("p", tag("strong", self._headline()))
        return fragment(headline, self.grid().html(), *(tag("p", note) for note in self._notes()))

    @property
    def _measures(self) -> list[str]:
        """The measures of the table: the cost only where there is a loss."""
        with_loss = self.entries[0].report.predictions.cost is not None
        return ["error", "log_loss", "brier", *(["expected_cost"] if with_loss else [])]

    def _headline(self) -> str:
        return f"{self.how}: {self.n_rows:,} rows; best by {SPOKEN[self.by]}"

    def _notes(self) -> list[str]:
        """What the marks and intervals mean, and who failed."""
        simple = self.simplest
        note = f"{MARK} {simple}: the simplest classifier that is not worse than {self.best} within noise."
        if simple == self.best:
            none_simpler = "and no other is simpler", "and no simpler one is as good within noise"
            note = f"{MARK} {simple} is the best, {none_simpler[not self.is_simplest(simple)]}."
        failed = [f"{failure.name} could not take part: {failure.reason}" for failure in self.failures]
        return [note, f"Differences to the best with 95 % intervals: {self.interval}.", *failed]


# How far a difference between two classifiers may be chance, judged on the same rows and folds.

LEVEL = 0.95

CORRECTED = "t over paired rows, widened because folds share what they learn (Nadeau and Bengio)"
AS_IT_IS = "t over paired rows"


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of a measure less that of the best classifier, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Whether it may be nothing: the interval reaches zero."""
        return self.low <= 0.0


def variance_inflation(cv: HoldOut, n_rows: int) -> float:
    """By how much the variance of a mean is larger than paired rows alone would say: 1 + folds · tested / learned.

    Models of different folds share most of their rows, so they err together. For a mean over J folds Nadeau and
    Bengio put (1/J + tested/learned) in place of 1/J. A given test set is judged by one model: there is nothing to add.
    """
    if cv is None or isinstance(cv, tuple):
        return 1.0
    folds = float(n_rows if isinstance(cv, str) else cv)
    if folds < 1.0:
        return 1.0 / (1.0 - folds)
    return 1.0 + folds / (folds - 1.0) if folds > 1.0 else 1.0


def difference(gap: Array, weight: Array, unit: Index, inflation: float) -> Difference:
    """From the gap of every judged row; entries of one unit (a row, or a group of rows) count together."""
    total = float(weight.sum())
    if not total > 0.0:
        return Difference(0.0, 0.0, 0.0)
    mean = float(weight @ gap) / total
    there = np.bincount(unit) > 0
    sums, sizes = (np.bincount(unit, weights=cells)[there] for cells in (weight * gap, weight))
    rest, n = sums - mean * sizes, len(sums)
    spread = np.sqrt(inflation * float(rest @ rest) * n / max(n - 1, 1)) / total
    half = float(stdtrit(max(n - 1, 1), 0.5 + 0.5 * LEVEL)) * float(spread)
    return Difference(mean, mean - half, mean + half)
