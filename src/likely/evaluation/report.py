"""What came out: figures, tables and curves, for a terminal, a notebook, a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Array
from likely.decide.loss import REFUSED, shown_order
from likely.errors import SettingsError, listed
from likely.evaluation import tables
from likely.evaluation.intervals import Interval, intervals, rows_worth, wilson
from likely.evaluation.metrics import (
    AVERAGES,
    Curve,
    Rates,
    calibration,
    crossed,
    curve,
    figures,
    has_curves,
    log_losses,
    mean,
    thinned,
)
from likely.evaluation.predictions import Predictions
from likely.io.outputs import saved_text
from likely.markup import Markup, tag
from likely.render.charts import POINTS, Curves, quality
from likely.render.page import fragment, report_page
from likely.render.picture import named
from likely.render.table import Grid, json_value, records
from likely.table.infer import Note

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

CURVE_POINTS = 200


class Report:
    """How good a classifier is. Figures are computed when they are first asked for, and then kept.

    Averages without a name are macro averages: every class counts the same.
    """

    def __init__(
        self, predictions: Predictions, how: str, classifier: str, beta: float, random_state: int, repeats: int = 1,
        counted: tuple[Predictions, AnyArray] | None = None,
    ) -> None:  # fmt: skip
        # `counted` are all rows as cells, with the number of rows of each, where `predictions` are some rows only.
        self.counted = counted
        self.predictions, self.how, self.classifier = predictions, how, classifier
        self.beta, self.random_state, self.repeats = beta, random_state, repeats
        self._notes: list[Callable[[], Iterable[Note]]] = []

    def with_notes(self, notes: Callable[[], Iterable[Note]]) -> Report:
        """The same report with notes about the table, which are made when they are asked for."""
        self._notes.append(notes)
        return self

    @property
    def notes(self) -> tuple[Note, ...]:
        """What you should know about the table."""
        found = tuple(note for make in self._notes for note in make())
        self._notes = [lambda: found]
        return found

    @property
    def classes(self) -> list[Hashable]:
        """The labels, in order."""
        return list(self.predictions.classes.tolist())

    @property
    def n_rows(self) -> int:
        """How many rows were judged, each counted once."""
        return len(self.predictions) // self.repeats if self.counted is None else int(self.counted[1].sum())

    @property
    def cells(self) -> Predictions:
        """What everything except the curves is computed from: all rows, one by one or counted."""
        return self.predictions if self.counted is None else self.counted[0]

    @cached_property
    def rates(self) -> Rates:
        """Right and wrong decisions per class."""
        return Rates.of(self.cells, self.beta)

    @cached_property
    def figures(self) -> dict[str, float]:
        """All figures by name."""
        found = figures(self.predictions, self.beta)
        return found if self.counted is None else {**found, **figures(self.cells, self.beta, with_curves=False)}

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """95 % intervals by name, each with its method; the bootstrap is seeded."""
        rows = None if self.counted is None else self.n_rows
        return intervals(self.predictions, self.figures, self.beta, self.repeats, self.random_state, rows)

    @property
    def accuracy(self) -> float:
        """Proportion of correct decisions among those taken; 1 − error rate."""
        return self.rates.accuracy

    @property
    def error_rate(self) -> float:
        """Proportion of wrong decisions among those taken."""
        return 1.0 - self.rates.accuracy

    @property
    def coverage(self) -> float:
        """Proportion of rows that were not refused."""
        return self.rates.coverage

    @property
    def precision(self) -> float:
        """tp / (tp + fp), the mean over the classes."""
        return self.rates.average("macro")[0]

    @property
    def recall(self) -> float:
        """tp / (tp + fn), the mean over the classes."""
        return self.rates.average("macro")[1]

    @property
    def f(self) -> float:
        """(1 + β²)·P·R / (β²·P + R), the mean over the classes; β > 1 favours recall."""
        return self.rates.average("macro")[2]

    @cached_property
    def log_loss(self) -> float | None:
        """Mean −log P(true class) in nats; None if the classifier gives no probabilities."""
        return self._figure("log_loss")

    @property
    def brier_score(self) -> float | None:
        """Mean squared distance of the probabilities from the truth; halved for two classes, as usual."""
        return self._figure("brier_score")

    @property
    def calibration_error(self) -> float | None:
        """Expected calibration error of the most probable class, in ten bins of equal width."""
        return self._figure("calibration_error")

    @property
    def roc_auc(self) -> float | None:
        """Area under the ROC curve, one class against the rest, the mean over the classes."""
        return self.figures.get("roc_auc")

    @property
    def average_precision(self) -> float | None:
        """Area under the precision–recall curve, the mean over the classes."""
        return self.figures.get("average_precision")

    @property
    def expected_cost(self) -> float | None:
        """Mean cost of a row under the loss, refusals included; None without a loss."""
        return self._figure("expected_cost")

    # Tables, as frames.

    @property
    def confusion(self) -> pd.DataFrame:
        """Truths in rows, decisions in columns; a last column for refusals if the loss allows them.

        Counts are whole numbers where rows have no weights.
        """
        import pandas as pd

        found = self.cells
        names: list[Hashable] = [*found.decisions.tolist(), *([REFUSED] if found.may_refuse else [])]
        table = crossed(found.truth, found.decided, found.weight, len(found.classes), len(found.decisions))
        order = shown_order(names, self.classes)  # what is right stands on the diagonal
        table = table[:, order]
        rounded = table.round()
        if np.abs(table - rounded).max(initial=0.0) < 1e-9:
            table = rounded.astype(np.int64)
        columns = _labels([names[place] for place in order], "decision")
        return pd.DataFrame(table, index=_labels(self.classes, "truth"), columns=columns)

    @property
    def by_class(self) -> pd.DataFrame:
        """Precision, recall, F with their Wilson intervals, areas and weight of every class."""
        import pandas as pd

        rates, weight = self.rates, self.predictions.weight
        worth = rows_worth(weight, self.repeats) / max(float(weight.sum()), np.finfo(float).tiny)
        columns: dict[str, object] = {}
        shares_of = {"precision": (rates.precision, rates.decided), "recall": (rates.recall, rates.support)}
        for name, (shares, out_of) in shares_of.items():
            ends = [wilson(float(share), float(n) * worth) for share, n in zip(shares, out_of, strict=True)]
            columns |= {name: shares, f"{name}_low": [e.low for e in ends], f"{name}_high": [e.high for e in ends]}
        columns["f"] = rates.f
        if has_curves(self.predictions):
            curves = [curve(self.predictions, label) for label in range(len(self.classes))]
            columns["roc_auc"] = [each.roc_auc() if each.is_defined else None for each in curves]
            columns["average_precision"] = [each.average_precision() if each.is_defined else None for each in curves]
        return pd.DataFrame({**columns, "weight": rates.support}, index=_labels(self.classes, "class"))

    @property
    def averages(self) -> pd.DataFrame:
        """Precision, recall and F: macro, micro and weighted."""
        import pandas as pd

        lines = [self.rates.average(kind) for kind in AVERAGES]
        return pd.DataFrame(lines, columns=["precision", "recall", "f"], index=pd.Index(AVERAGES, name="average"))

    @property
    def folds(self) -> pd.DataFrame:
        """Accuracy and log loss of every fold."""
        import pandas as pd

        lines = []
        for fold in np.unique(self.cells.fold):
            own = np.flatnonzero(self.cells.fold == fold)
            part, rows = self.cells.take(own), len(own) if self.counted is None else int(self.counted[1][own].sum())
            line = {"fold": int(fold), "rows": rows, "accuracy": Rates.of(part, self.beta).accuracy}
            if part.shares is not None:
                line["log_loss"] = mean(log_losses(part.shares.likelihood), part.weight)
            if part.cost is not None:
                line["expected_cost"] = mean(part.cost, part.weight)
            lines.append(line)
        return pd.DataFrame(lines).set_index("fold")

    def calibration(self, label: Hashable = None) -> pd.DataFrame:
        """Bins of the probability of the most probable class, or of one class: predicted, observed, weight."""
        import pandas as pd

        if label is None and self.predictions.shares is None:
            return pd.DataFrame(columns=["low", "high", "predicted", "observed", "weight"], dtype=float)
        if label is not None and label not in self.classes:
            raise SettingsError(f"{label!r} is no class; the classes are {listed(self.classes)}.")
        if label is not None and self.predictions.posterior is None:
            raise SettingsError("The posteriors were not kept, so there is no calibration of single classes.")
        bins = calibration(
            self.cells if label is None else self.predictions, None if label is None else self.classes.index(label)
        )
        edges = np.linspace(0.0, 1.0, len(bins.weight) + 1)
        columns = {"low": edges[:-1], "high": edges[1:], "predicted": bins.predicted, "observed": bins.observed}
        frame = pd.DataFrame({**columns, "weight": bins.weight})
        return frame[frame["weight"] > 0.0].reset_index(drop=True)

    def roc(self, most: int | None = None) -> pd.DataFrame:
        """Points of the ROC curve of every class against the rest; at most so many per class."""
        return self._points(Curve.roc, ("false_positive_rate", "true_positive_rate", "threshold"), most)

    def precision_recall(self, most: int | None = None) -> pd.DataFrame:
        """Points of the precision–recall curve of every class against the rest; at most so many per class."""
        return self._points(Curve.precision_recall, ("precision", "recall", "threshold"), most)

    def _points(
        self, points: Callable[[Curve], tuple[Array, ...]], names: tuple[str, ...], most: int | None
    ) -> pd.DataFrame:
        import pandas as pd

        parts = []
        for place, label in enumerate(self.classes if has_curves(self.predictions) else []):
            drawn = curve(self.predictions, place)
            if drawn.is_defined:
                cells = points(drawn)
                shown = thinned(len(cells[0]), most or len(cells[0]))
                columns = {name: column[shown] for name, column in zip(names, cells, strict=True)}
                parts.append(pd.DataFrame({"class": pd.Series([label] * len(shown), dtype=object), **columns}))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["class", *names])

    def to_frame(self) -> pd.DataFrame:
        """One line per figure: its value, the ends of its interval, and how that was found."""
        import pandas as pd

        columns = ["measure", "value", "low", "high", "interval"]
        lines = [(name, value, *self._interval(name)) for name, value in self.figures.items()]
        return pd.DataFrame(lines, columns=columns).set_index("measure")

    def _interval(self, name: str) -> tuple[float | None, float | None, str]:
        ends = self.intervals.get(name)
        return (None, None, "") if ends is None else (ends.low, ends.high, ends.method)

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON, curves thinned; written to a file if a path is given."""
        return saved_text(json.dumps(self._content(), ensure_ascii=False, indent=1), path)

    def to_html(self, path: str | Path | None = None, source: str | None = None, studio: str | None = None) -> str:
        """A page with charts; `source` names the table that was judged, `studio` a page of the studio to link to."""
        title, at = f"How good is {self.classifier}?", None if studio is None else f"{studio}#evaluation"
        return saved_text(report_page(title, self._repr_html_(), source=source, chart=self.plot, studio=at), path)

    def plot(self) -> Picture:
        """Confusion, calibration, ROC and precision–recall in one picture; needs the extra `plot`."""
        title = f"{named(self.classifier, 40)}, {named(self.how, 60)}"
        curves = None
        if self.roc_auc is not None and self.average_precision is not None:
            points = self.calibration(), self.roc(POINTS), self.precision_recall(POINTS)
            curves = Curves(*points, self.roc_auc, self.average_precision)
        return quality(title, f"Accuracy {self.accuracy:.4g} on {self.n_rows} rows.", self.confusion, curves)

    def __str__(self) -> str:
        return "\n\n".join([self.text(), *(["\n".join(f"note: {note}" for note in self.notes)] if self.notes else [])])

    def text(self, all_measures: bool = False) -> str:
        """The tables in words and figures, without the notes: the measures that matter most, or all of them."""
        classes, confusion = tables.classes(self.by_class, self.beta), tables.confusion_that_fits(self.confusion)
        grids = [self.measures(all_measures), classes, confusion]
        return "\n\n".join([f"{self._headline()}\n{self.how}", *(grid.text() for grid in grids)])

    def measures(self, every: bool = False) -> Grid:
        """The table of the measures that matter most, or of all of them."""
        shown = {name: v for name, v in self.figures.items() if name != "coverage" or self.predictions.may_refuse}
        return tables.measures(shown, self.intervals, self.confusion, self.beta, every)

    def __repr__(self) -> str:
        measures = ("accuracy", "log_loss", "expected_cost")
        told = [f"{name} {value:.4g}" for name in measures if (value := self._figure(name)) is not None]
        return f"Report({self.classifier}, {self.how}: {', '.join(told)} on {self.n_rows:,} rows)"

    def _repr_html_(self) -> Markup:
        notes = [tag("p", f"note: {note}") for note in self.notes]
        every = tag("details", tag("summary", "All measures"), self.measures(every=True).html())
        grids = [tables.classes(self.by_class, self.beta).html(), tables.confusion(self.confusion).html()]
        headline = tag("p", tag("strong", self._headline()), tag("br"), self.how)
        return fragment(headline, self.measures().html(), every, *grids, *notes)

    def _headline(self) -> str:
        return f"{self.classifier}: {self.n_rows:,} rows, {len(self.classes)} classes"

    def _content(self) -> dict[str, object]:
        """Figures with intervals, tables and thinned curves, as JSON has them."""
        measures = {name: {"value": json_value(value)} for name, value in self.figures.items()}
        for name, ends in self.intervals.items():
            measures[name] |= {"low": ends.low, "high": ends.high, "interval": ends.method}
        confusion = self.confusion
        head = {"classifier": self.classifier, "how": self.how, "rows": self.n_rows, "repeats": self.repeats}
        return {
            **head,
            "seed": self.random_state,
            "beta": self.beta,
            "classes": json_value(self.classes),
            "measures": measures,
            "notes": [
                {"about": note.about, "column": note.column, "share": note.share, "message": str(note)}
                for note in self.notes
            ],
            "by_class": records(self.by_class.reset_index()),
            "confusion": {
                "truths": json_value(list(confusion.index)),
                "decisions": json_value(list(confusion.columns)),
                "counts": confusion.to_numpy().tolist(),
            },
            "folds": records(self.folds.reset_index()),
            "calibration": records(self.calibration()),
            "roc": records(self.roc(CURVE_POINTS)),
            "precision_recall": records(self.precision_recall(CURVE_POINTS)),
        }

    def _figure(self, name: str) -> float | None:
        """One figure without the curves, which take longest."""
        return (self.figures if "figures" in self.__dict__ else self._quick).get(name)

    @cached_property
    def _quick(self) -> dict[str, float]:
        return figures(self.cells, self.beta, with_curves=False)

    @property
    def impossible(self) -> int:
        """Rows whose true class was given probability zero; the log loss counts each as 36 nats."""
        shares = self.predictions.shares
        return 0 if shares is None else int(np.count_nonzero(shares.likelihood <= 0.0))


def _labels(labels: list[Hashable], name: str) -> pd.Index:
    """Labels as they are: tuples, too, are single labels."""
    import pandas as pd

    return pd.Index(labels, name=name, dtype=object, tupleize_cols=False)
