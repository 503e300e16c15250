"""What came out of a comparison: one line per classifier, best first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import stdtrit

from likely.arrays import Array, Index
from likely.errors import DataError
from likely.evaluation.evaluate import HoldOut
from likely.evaluation.metrics import brier_scores, log_losses, mean
from likely.evaluation.report import Report
from likely.evaluation.splits import prequential
from likely.io.outputs import saved_text
from likely.markup import Markup, tag
from likely.render.charts import leaderboard
from likely.render.page import fragment, report_page
from likely.render.table import ColumnHead, Grid, figure, records, seconds, size

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from likely.render.picture import Picture

SPOKEN = {"error": "error", "log_loss": "log loss", "brier": "Brier", "expected_cost": "cost"}
MARK = "◀"
READABLE = {
    "columns": "a table for each column",
    "pairs": "tables of columns and pairs",
    "triples": "tables of columns, pairs and triples",
    "rest": "what no such table can say as well",
}
"""Evidence by its depth: all that there is to be read."""

WIDTH = 80
"""Characters of a line, unless the terminal has more."""


@dataclass(frozen=True, eq=False)
class Result:
    """One classifier: its report, and what one fit and one prediction of all rows took.

    `depth` says of evidence how many columns may act together.
    """

    name: str
    report: Report
    simplicity: int
    fit_seconds: float
    predict_seconds: float
    model_bytes: int
    is_majority: bool = False
    depth: str = ""

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


def _effort(entry: Result) -> dict[str, object]:
    """What one fit, one prediction and the file take."""
    seconds = {"fit_seconds": entry.fit_seconds, "predict_seconds": entry.predict_seconds}
    return {**seconds, "model_bytes": entry.model_bytes}


@dataclass(frozen=True)
class Failure:
    """A classifier that could not take part, and why."""

    name: str
    reason: str
    simplicity: int


class Comparison:
    """A leaderboard. `by` is the measure that decides; ties go to the simpler classifier.

    The baseline that knows only the class proportions (`majority`) is listed among the others. It is never the best,
    and it is recommended only where it is better than all classifiers beyond noise.
    """

    def __init__(self, entries: list[Result], failures: list[Failure], by: str, inflation: float) -> None:
        ranked = [entry for entry in entries if entry.figure(by) is not None]
        why = f"It gives no probabilities, so there is no {SPOKEN[by]}; by='error' includes it."
        missing = [Failure(entry.name, why, entry.simplicity) for entry in entries if entry not in ranked]
        self.entries = sorted(ranked, key=lambda entry: (entry.figure(by), entry.is_majority, entry.simplicity))
        self.failures, self.by, self._inflation = [*failures, *missing], by, inflation
        self._unranked = {entry.name: entry for entry in entries if entry not in ranked}
        self._field = [entry for entry in self.entries if not entry.is_majority] or self.entries
        if all(entry.is_majority for entry in self.entries) and missing:
            raise DataError(f"No classifier gives probabilities, so none can be judged by {SPOKEN[by]}.")

    @property
    def best(self) -> str:
        """The classifier with the least error, loss or cost."""
        return self._field[0].name

    @property
    def majority(self) -> str | None:
        """The line of the baseline that knows only the class proportions."""
        return next((entry.name for entry in self.entries if entry.is_majority), None)

    @cached_property
    def simplest(self) -> str:
        """The simplest classifier that is not worse than the best within noise, nor are its probabilities.

        Probabilities are judged by log loss and by Brier score: a few rows of huge loss make the noise of a log loss so
        large that everything is within it, and the Brier score is bounded. If the class proportions alone are better
        than the best classifier beyond noise, they are the answer.
        """
        if self.majority is not None and self.differences[self.majority].high < 0.0:
            return self.majority
        good = [entry for entry in self._within_noise if entry.name not in self.unsure]
        return min(good, key=lambda entry: entry.simplicity).name

    @cached_property
    def unsure(self) -> list[str]:
        """Classifiers within noise of the best whose probabilities are worse beyond noise than those of another one."""
        good = self._within_noise
        for measure in ("log_loss", "brier"):
            figures = {entry.name: entry.figure(measure) for entry in good}
            judged = [entry for entry in good if figures[entry.name] is not None]
            surest = min(judged, key=lambda entry: figures[entry.name] or 0.0, default=None)
            if surest is not None:
                worse = [entry for entry in judged if not self._difference(entry, surest, measure).is_noise]
                good = [entry for entry in good if entry not in worse]
        return [entry.name for entry in self._within_noise if entry not in good]

    @property
    def _within_noise(self) -> list[Result]:
        return [entry for entry in self._field if self.differences[entry.name].is_noise]

    def is_simplest(self, name: str) -> bool:
        """Whether no classifier of the table is simpler than this one, good or not."""
        order = {entry.name: entry.simplicity for entry in self._field}
        return order[name] == min(order.values())

    @cached_property
    def differences(self) -> dict[str, MeanDifference]:
        """How much worse than the best each classifier is, row by row, with a 95 % interval."""
        return {entry.name: self._difference(entry, self._field[0], self.by) for entry in self.entries}

    @cached_property
    def price_of_readability(self) -> dict[str, MeanDifference]:
        """How much worse evidence is if it can be read as tables of few columns, by classifier, and how sure that is.

        Each is compared with the deepest evidence that takes part; nothing if there is only one.
        """
        by_depth = {entry.depth: entry for entry in reversed(self.entries)}
        there = [by_depth[depth] for depth in READABLE if depth in by_depth]
        return {entry.name: self._difference(entry, there[-1], self.by) for entry in there[:-1]}

    @property
    def beats_majority(self) -> bool:
        """Whether the best classifier is better than the class proportions alone, beyond noise."""
        return self.majority is None or not self.differences[self.majority].is_noise

    def _difference(self, entry: Result, other: Result, measure: str) -> MeanDifference:
        """By how much one classifier is worse than another."""
        mine, theirs, predictions = entry.rows(measure), other.rows(measure), entry.report.predictions
        assert mine is not None
        assert theirs is not None
        return difference(mine - theirs, predictions.weight, predictions.unit, self._inflation)

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
        """One line per classifier, best first; those that failed or cannot be ranked come last, with their reason.

        error, log_loss, brier, expected_cost (with a loss), difference to the best with low and high, within_noise,
        simplest, fit_seconds, predict_seconds, model_bytes, reason.
        """
        import pandas as pd

        lines: list[dict[str, object]] = []
        for entry in self.entries:
            gap = self.differences[entry.name]
            noise = {"difference": gap.mean, "low": gap.low, "high": gap.high, "within_noise": gap.is_noise}
            simplest = {"simplest": entry.name == self.simplest}
            lines.append({**self._figures(entry), **noise, **simplest, **_effort(entry), "reason": ""})
        for each in self.failures:
            judged = self._unranked.get(each.name)
            known: dict[str, object] = (
                {"classifier": each.name} if judged is None else {**self._figures(judged), **_effort(judged)}
            )
            lines.append({**known, "within_noise": False, "simplest": False, "reason": each.reason})
        frame = pd.DataFrame(lines).set_index("classifier")
        return frame.astype({"model_bytes": "Int64", "within_noise": bool, "simplest": bool})

    def _figures(self, entry: Result) -> dict[str, object]:
        """The name and the measures of one line."""
        figures = {name: entry.figure(name) for name in self._measures}
        return {
            "classifier": entry.name,
            **{name: np.nan if value is None else value for name, value in figures.items()},
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON; written to a file if a path is given."""
        content = {
            "how": self.how,
            "rows": self.n_rows,
            "by": self.by,
            "best": self.best,
            "majority": self.majority,
            "simplest": self.simplest,
            "interval": self.interval,
            "classifiers": records(self.to_frame().reset_index()),
        }
        return saved_text(json.dumps(content, ensure_ascii=False, indent=1), path)

    def to_html(self, path: str | Path | None = None, source: str | None = None, studio: str | None = None) -> str:
        """A page with the picture; `source` names the table that was judged, `studio` a page of the studio to link."""
        link = None if studio is None else f"{studio}#comparison"
        page = report_page("Which classifier is best?", self._repr_html_(), source=source, chart=self.plot, studio=link)
        return saved_text(page, path)

    def plot(self) -> Picture:
        """Differences to the best with their intervals, and what fitting takes; needs the extra `plot`."""
        return leaderboard(self.to_frame(), self.by, self.how, self.best)

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
        columns = [ColumnHead("classifier", "left"), *(ColumnHead(head, form=figure) for head in numbers)]
        return Grid([*columns, *map(ColumnHead, ("fit", "predict", "size", ""))], rows, marks=looks)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH) -> str:
        """For a terminal; where it is too narrow, sizes and times are left out first, which `to_frame` has."""
        grid = self.grid().narrowed(width, "size", "predict", "Brier", "fit")
        notes = [line for note in self._notes() for line in wrap(note, width, subsequent_indent="  ")]
        return "\n".join([self._headline(), "", grid.text(), "", *notes])

    def __repr__(self) -> str:
        return f"Comparison({len(self._field)} classifiers, best {self.best!r}, simplest as good {self.simplest!r})"

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
        note = f"{MARK} {simple}: the simplest classifier that is as good as {self.best} within noise."
        if simple == self.best:
            none_simpler = "and no other is simpler", "and no simpler one is as good within noise"
            note = f"{MARK} {simple} is the best, {none_simpler[not self.is_simplest(simple)]}."
        elif simple == self.majority:
            note = f"{MARK} {simple}: the class proportions alone are better than every classifier here."
        doubt = (
            []
            if self.beats_majority or simple == self.majority
            else [f"No classifier is better than {self.majority} beyond noise."]
        )
        if self.unsure and simple != self.majority:
            doubt.append(f"Within noise, but with worse probabilities: {', '.join(self.unsure)}.")
        depths = {entry.name: entry.depth for entry in self.entries}
        prices = [
            f"What readability costs: {name} ({READABLE[depths[name]]}) has {price.mean:.4f} more {SPOKEN[self.by]}, "
            f"95 % from {price.low:.4f} to {price.high:.4f}{', so it may be nothing' if price.is_noise else ''}."
            for name, price in self.price_of_readability.items()
        ]
        failed = [f"{failure.name} could not take part: {failure.reason}" for failure in self.failures]
        return [note, *doubt, *prices, f"Differences to the best with 95 % intervals: {self.interval}.", *failed]


# How far a difference between two classifiers may be chance, judged on the same rows and folds.

LEVEL = 0.95

CORRECTED = "paired t over rows, widened because the folds share training rows (Nadeau and Bengio)"
AS_IT_IS = "paired t over rows"


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """Mean of a measure less that of the best classifier, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Whether it may be nothing: the interval reaches zero."""
        return self.low <= 0.0


def variance_inflation(cv: HoldOut, n_rows: int) -> float:
    """How much larger the variance of a mean is than paired rows alone suggest: 1 + folds · tested / learned.

    For K folds this is 1 + K / (K − 1); for any splits, folds · tested are the rows that are judged at all.

    Models of different folds share most of their rows, so they err together. For a mean over J folds Nadeau and
    Bengio put (1/J + tested/learned) in place of 1/J. A given test set is judged by one model: there is nothing to add.
    """
    if cv is None or isinstance(cv, tuple):
        return 1.0
    if cv == "prequential" or isinstance(cv, list):
        splits = prequential(n_rows) if isinstance(cv, str) else cv
        judged = len(np.unique(np.concatenate([split.judged for split in splits])))
        return 1.0 + judged / float(np.mean([len(split.learned) for split in splits]))
    folds = float(n_rows if cv == "loo" else cast(float, cv))
    if folds < 1.0:
        return 1.0 / (1.0 - folds)
    return 1.0 + folds / (folds - 1.0) if folds > 1.0 else 1.0


def difference(gap: Array, weight: Array, unit: Index, inflation: float) -> MeanDifference:
    """From the gap of every judged row; entries of one unit (a row, or a group of rows) count together."""
    total = float(weight.sum())
    if not total > 0.0:
        return MeanDifference(0.0, 0.0, 0.0)
    mean = float(weight @ gap) / total
    there = np.bincount(unit) > 0
    sums, sizes = (np.bincount(unit, weights=cells)[there] for cells in (weight * gap, weight))
    rest, n = sums - mean * sizes, len(sums)
    spread = np.sqrt(inflation * float(rest @ rest) * n / max(n - 1, 1)) / total
    half = float(stdtrit(max(n - 1, 1), 0.5 + 0.5 * LEVEL)) * float(spread)
    return MeanDifference(mean, mean - half, mean + half)
