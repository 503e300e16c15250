"""From a table of truths × decisions to error rates, precision, recall and F."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array, Flags, Index, Int32
from likely.evaluation.predictions import REFUSAL, Predictions
from likely.measures import entropy

if TYPE_CHECKING:
    import pandas as pd


def crossed(truth: Int32, chosen: Int32, weight: Array, n_truths: int, n_chosen: int) -> Array:
    """Weight of every pair of truth and choice; a choice of −1 (a refusal) gets a further, last column."""
    width = n_chosen + 1
    cell = truth.astype(np.int64) * width + np.where(chosen < 0, n_chosen, chosen)
    table = np.bincount(cell, weight, n_truths * width).reshape(n_truths, width)
    return np.asarray(table, dtype=np.float64)


def ratio(above: Array, below: Array) -> Array:
    """Division in which nothing out of nothing is 0."""
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below > 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Right and wrong decisions of each class: `table` is truths × classes, with a last column for refusals.

    Precision tp / (tp + fp), recall tp / (tp + fn), F = (1 + β²)·P·R / (β²·P + R); β > 1 favours recall. A refused
    row is a miss for recall, and neither right nor wrong for accuracy. Where nothing is divided by nothing the
    result is 0. Averages are over the classes that occur among truths or decisions.
    """

    table: Array
    beta: float

    @classmethod
    def of(cls, predictions: Predictions, beta: float) -> Rates:
        """Rates of the decisions, if these are classes; else of the most probable classes. A refusal stays one."""
        n_classes = len(predictions.classes)
        place = own_places(predictions)
        if place is None:
            chosen = np.where(predictions.decided < 0, np.int32(REFUSAL), predictions.top)
        else:
            chosen = np.append(place, REFUSAL).astype(np.int32)[predictions.decided]
        return cls(crossed(predictions.truth, chosen, predictions.weight, n_classes, n_classes), beta)

    @property
    def support(self) -> Array:
        return np.asarray(self.table.sum(axis=1))

    @property
    def hits(self) -> Array:
        return np.diagonal(self.table)

    @property
    def decided(self) -> Array:
        """How often each class was decided for."""
        return np.asarray(self.table[:, :-1].sum(axis=0))

    @property
    def accuracy(self) -> float:
        """Share of right ones among the rows that were decided."""
        return _share(self.hits.sum(), self.decided.sum())

    @property
    def coverage(self) -> float:
        """Share of rows that were decided."""
        return _share(self.decided.sum(), self.table.sum())

    @property
    def precision(self) -> Array:
        return ratio(self.hits, self.decided)

    @property
    def recall(self) -> Array:
        return ratio(self.hits, self.support)

    @property
    def f(self) -> Array:
        return f_measure(self.hits, self.decided, self.support, self.beta)

    def average(self, kind: str) -> tuple[float, float, float]:
        """Precision, recall and F: the mean over classes ("macro", "weighted"), or of the pooled table ("micro")."""
        if kind == "micro":
            hits, decided, support = (np.array([x.sum()]) for x in (self.hits, self.decided, self.support))
            pooled = f_measure(hits, decided, support, self.beta)
            return ratio(hits, decided).item(), ratio(hits, support).item(), pooled.item()
        occurs = (self.decided > 0.0) | (self.support > 0.0)
        weight = self.support if kind == "weighted" else occurs.astype(np.float64)
        total = max(float(weight.sum()), np.finfo(float).tiny)
        precision, recall, f = (float(weight @ x / total) for x in (self.precision, self.recall, self.f))
        return precision, recall, f


def f_measure(hits: Array, decided: Array, support: Array, beta: float) -> Array:
    """(1 + β²)·tp / ((1 + β²)·tp + β²·fn + fp), which is (1 + β²)·P·R / (β²·P + R)."""
    square = beta * beta
    if np.isinf(square):
        return ratio(hits, support)
    return ratio((1.0 + square) * hits, square * support + decided)


def own_places(predictions: Predictions) -> Int32 | None:
    """The class that each decision stands for; None if some are no classes."""
    if predictions.decisions is predictions.classes:
        return np.arange(len(predictions.classes), dtype=np.int32)
    place = {label: k for k, label in enumerate(predictions.classes.tolist())}
    places = [place.get(decision, -1) for decision in predictions.decisions.tolist()]
    return None if -1 in places else np.array(places, dtype=np.int32)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0.0 else 0.0


# How good the probabilities are: log loss, Brier score, calibration.

N_BINS = 10
EPSILON = float(np.finfo(np.float64).eps)
"""A share of zero for the true class would cost infinitely much; as in scikit-learn it counts as this much."""


def mean(values: Array, weight: Array) -> float:
    """Weighted mean; 0 if there is no weight."""
    total = float(weight.sum())
    return float(weight @ values / total) if total > 0.0 else 0.0


def log_losses(likelihood: Array) -> Array:
    """−log P(true class) of each row, in nats."""
    return -np.log(np.clip(likelihood, EPSILON, 1.0 - EPSILON))


def brier_scores(likelihood: Array, squares: Array, n_classes: int) -> Array:
    """Squared distance of the shares from the truth, Σ (p − o)², of each row; half of it for two classes."""
    scores = np.maximum(squares - 2.0 * likelihood + 1.0, 0.0)
    return 0.5 * scores if n_classes < 3 else scores


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Rows in bins of equal width by the share that was given: how large it was on average, how often it came true."""

    weight: Array
    predicted: Array
    observed: Array

    @classmethod
    def of(cls, predicted: Array, came_true: Flags, weight: Array, n_bins: int = N_BINS) -> Calibration:
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        place = np.searchsorted(edges[1:-1], predicted)
        cells = weight, weight * predicted, weight * came_true
        total, shares, hits = (np.bincount(place, each, n_bins).astype(np.float64) for each in cells)
        return cls(total, ratio(shares, total), ratio(hits, total))

    @property
    def error(self) -> float:
        """Expected calibration error: the mean gap between what was said and what came true."""
        return mean(np.abs(self.predicted - self.observed), self.weight)


# One class against the rest, threshold by threshold: ROC and precision–recall.


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Weight of the true and of the false rows at or above each distinct score, from the highest score down."""

    thresholds: Array
    true: Array
    false: Array

    @classmethod
    def of(cls, is_class: Flags, score: Array, weight: Array) -> Curve:
        order = np.argsort(score, kind="stable")[::-1]
        ranked, weights = score[order], weight[order]
        last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
        of_class = is_class[order]
        return cls(ranked[last], np.cumsum(weights * of_class)[last], np.cumsum(weights * ~of_class)[last])

    @property
    def is_defined(self) -> bool:
        """Whether there are rows of the class and rows of others."""
        return bool(len(self.true) and self.true[-1] > 0.0 and self.false[-1] > 0.0)

    def roc(self) -> tuple[Array, Array, Array]:
        """False positive rate, true positive rate and threshold; the first point accepts nothing."""
        false, true = (np.append(0.0, weight / weight[-1]) for weight in (self.false, self.true))
        return false, true, np.append(np.inf, self.thresholds)

    def precision_recall(self) -> tuple[Array, Array, Array]:
        """Precision, recall and threshold, from the highest threshold down; the first point accepts nothing."""
        precision = np.append(1.0, ratio(self.true, self.true + self.false))
        return precision, np.append(0.0, self.true / self.true[-1]), np.append(np.inf, self.thresholds)

    def roc_auc(self) -> float:
        """Area under the ROC curve: how often a row of the class scores above one of the others."""
        false, true, _ = self.roc()
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1])) / 2.0)

    def average_precision(self) -> float:
        """Area under the precision–recall curve, by steps: the mean precision over the rows of the class."""
        precision, recall, _ = self.precision_recall()
        return float(np.sum(np.diff(recall) * precision[1:]))


def thinned(n_points: int, most: int) -> Index:
    """Which points of a long curve to show: the ends, and others evenly between."""
    return np.unique(np.linspace(0, n_points - 1, min(n_points, most)).round().astype(np.intp))


# The figures of a report, each one number.

AVERAGES = ("macro", "micro", "weighted")
MOST_CURVES = 100
"""Beyond so many classes no curve is drawn for each of them."""

RATES = ("accuracy", "error_rate", "coverage")
"""Shares of rows: their intervals have a formula."""

CURVES = ("roc_auc", "average_precision")
"""Figures that need single rows."""

UNBOUNDED = ("log_loss", "expected_cost")
"""Figures that may be above one; all others are shares."""


def figures(predictions: Predictions, beta: float, *, with_curves: bool = True) -> dict[str, float]:
    """All figures that the predictions allow, in the order in which a report shows them."""
    rates = Rates.of(predictions, beta)
    found = {"accuracy": rates.accuracy, "error_rate": 1.0 - rates.accuracy, "coverage": rates.coverage}
    for kind in AVERAGES:
        names = (f"precision_{kind}", f"recall_{kind}", f"f_{kind}")
        found |= zip(names, rates.average(kind), strict=True)
    weight = predictions.weight
    if predictions.shares is not None:
        likelihood, squares, _ = predictions.shares
        found["log_loss"] = mean(log_losses(likelihood), weight)
        scores = brier_scores(likelihood, squares, len(predictions.classes))
        found["brier_score"] = mean(scores, weight)
        found["calibration_error"] = calibration(predictions).error
    if with_curves and has_curves(predictions):
        found |= areas(predictions)
    if predictions.cost is not None:
        found["expected_cost"] = mean(predictions.cost, weight)
    return found


def calibration(predictions: Predictions, label: int | None = None) -> Calibration:
    """Shares of the most probable class, or of a given one, beside how often that was the truth."""
    if label is None:
        assert predictions.shares is not None
        return Calibration.of(predictions.shares.confidence, predictions.top == predictions.truth, predictions.weight)
    assert predictions.posterior is not None
    share = np.ascontiguousarray(predictions.posterior[:, label])
    return Calibration.of(share, predictions.truth == label, predictions.weight)


def has_curves(predictions: Predictions) -> bool:
    """Whether there are posteriors of few enough classes."""
    return predictions.posterior is not None and len(predictions.classes) <= MOST_CURVES


def curve(predictions: Predictions, label: int) -> Curve:
    """One class against the rest."""
    assert predictions.posterior is not None
    score = np.ascontiguousarray(predictions.posterior[:, label])
    return Curve.of(predictions.truth == label, score, predictions.weight)


def areas(predictions: Predictions) -> dict[str, float]:
    """Macro averages of the areas, over the classes that have both rows of their own and rows of others."""
    curves = [curve(predictions, label) for label in range(len(predictions.classes))]
    drawn = [each for each in curves if each.is_defined]
    if not drawn:
        return {}
    return {
        "roc_auc": float(np.mean([each.roc_auc() for each in drawn])),
        "average_precision": float(np.mean([each.average_precision() for each in drawn])),
    }


def majority(confusion: pd.DataFrame) -> tuple[object, float, float]:
    """What a classifier has to beat, from a table of truths × decisions.

    The most frequent class, the accuracy of always saying it, and the log loss of the class proportions.
    """
    weights = confusion.to_numpy(dtype=np.float64).sum(axis=1)
    shares = weights / max(float(weights.sum()), 1e-300)
    often = confusion.index[int(shares.argmax())] if len(shares) else None
    return often, float(shares.max(initial=0.0)), math.log(2.0) * entropy(shares)


def spoken(name: str, beta: float) -> str:
    """A figure's name as a person says it."""
    words = [f"F{beta:g}" if word == "f" else word for word in name.split("_")]
    return " ".join(words).replace("roc auc", "ROC AUC").replace("brier", "Brier")
