"""What came out: figures, tables and curves, for a terminal, a notebook, a file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluation import pages, tables
from likely.evaluation.intervals import Interval, intervals
from likely.evaluation.metrics import Rates, figures
from likely.evaluation.predictions import Outcomes

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from likely.render.picture import Picture


class Report:
    """How good a classifier is. Figures are worked out when they are first asked for, and then kept.

    Averages without a name are macro averages: every class counts the same.
    """

    def __init__(self, outcomes: Outcomes, how: str, classifier: str, beta: float, seed: int, repeats: int = 1) -> None:
        self.outcomes, self.how, self.classifier = outcomes, how, classifier
        self.beta, self.seed, self.repeats = beta, seed, repeats

    @property
    def classes(self) -> list[Any]:
        """The labels, in order."""
        return list(self.outcomes.classes.tolist())

    @property
    def n_rows(self) -> int:
        """How many rows were judged, each counted once."""
        return len(self.outcomes) // self.repeats

    @cached_property
    def rates(self) -> Rates:
        """Right and wrong decisions per class."""
        return Rates.of(self.outcomes, self.beta)

    @cached_property
    def figures(self) -> dict[str, float]:
        """All figures by name."""
        return figures(self.outcomes, self.beta)

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """95 % intervals by name, each with its method; the bootstrap is seeded."""
        return intervals(self.outcomes, self.figures, self.beta, self.repeats, self.seed)

    @property
    def accuracy(self) -> float:
        """Share of right decisions among those taken; 1 − error rate."""
        return self.rates.accuracy

    @property
    def error_rate(self) -> float:
        """Share of wrong decisions among those taken."""
        return 1.0 - self.rates.accuracy

    @property
    def coverage(self) -> float:
        """Share of rows that were not refused."""
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
        """Mean squared distance of the shares from the truth; halved for two classes, as is usual."""
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

    @property
    def confusion(self) -> pd.DataFrame:
        """Truths in rows, decisions in columns; a last column for refusals if the loss allows them."""
        return tables.confusion(self.outcomes)

    @property
    def by_class(self) -> pd.DataFrame:
        """Precision, recall, F with their Wilson intervals, areas and weight of every class."""
        return tables.by_class(self.outcomes, self.rates, self.repeats)

    @property
    def averages(self) -> pd.DataFrame:
        """Precision, recall and F: macro, micro and weighted."""
        return tables.averages(self.rates)

    @property
    def folds(self) -> pd.DataFrame:
        """Accuracy and log loss of every fold."""
        return tables.folds(self.outcomes, self.beta)

    def calibration(self, label: Any = None) -> pd.DataFrame:
        """Bins of the share given to the most probable class, or to one class: given, came true, weight."""
        return tables.calibration_bins(self.outcomes, label)

    def roc(self, most: int | None = None) -> pd.DataFrame:
        """Points of the ROC curve of every class against the rest; at most so many per class."""
        return tables.roc(self.outcomes, most)

    def precision_recall(self, most: int | None = None) -> pd.DataFrame:
        """Points of the precision–recall curve of every class against the rest; at most so many per class."""
        return tables.precision_recall(self.outcomes, most)

    def to_frame(self) -> pd.DataFrame:
        """One line per figure: its value, the ends of its interval, and how that was found."""
        return tables.measures(self.figures, self.intervals)

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON, curves thinned; written to a file if a path is given."""
        return pages.written(pages.as_json(self), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page that needs nothing else; written to a file if a path is given."""
        return pages.written(pages.as_page(self), path)

    def plot(self) -> Picture:
        """Confusion, calibration, ROC and precision–recall in one picture; needs the extra `plot`."""
        from likely.render.charts import quality

        return quality(self)

    def __str__(self) -> str:
        return pages.as_text(self)

    def __repr__(self) -> str:
        return f"Report({self.classifier}, {self.how}: accuracy {self.accuracy:.4g} on {self.n_rows:,} rows)"

    def _repr_html_(self) -> str:
        return pages.as_html(self)

    def _figure(self, name: str) -> float | None:
        """One figure without the curves, which take longest."""
        if "figures" in self.__dict__:
            return self.figures.get(name)
        return self._quick.get(name)

    @cached_property
    def _quick(self) -> dict[str, float]:
        return figures(self.outcomes, self.beta, with_curves=False)

    @property
    def impossible(self) -> int:
        """Rows whose true class was given probability zero; the log loss counts each as 36 nats."""
        shares = self.outcomes.shares
        return 0 if shares is None else int(np.count_nonzero(shares.likelihood <= 0.0))
