"""From a table of truths × decisions to error rates, precision, recall and F."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.evaluation.ledger import Outcomes

Array = NDArray[np.float64]


def crossed(truth: NDArray[np.int32], chosen: NDArray[np.int32], weight: Array, n_truths: int, n_chosen: int) -> Array:
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
    def of(cls, outcomes: Outcomes, beta: float) -> Rates:
        """Rates of the decisions, if these are classes; else of the most probable classes. A refusal stays one."""
        n_classes = len(outcomes.classes)
        place = own_places(outcomes)
        if place is None:
            chosen = np.where(outcomes.decided < 0, np.int32(-1), outcomes.top)
        else:
            chosen = np.append(place, -1).astype(np.int32)[outcomes.decided]
        return cls(crossed(outcomes.truth, chosen, outcomes.weight, n_classes, n_classes), beta)

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
            pooled = ratio(hits, decided), ratio(hits, support), f_measure(hits, decided, support, self.beta)
            return float(pooled[0][0]), float(pooled[1][0]), float(pooled[2][0])
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


def own_places(outcomes: Outcomes) -> NDArray[np.int32] | None:
    """The class that each decision stands for; None if some are no classes."""
    if outcomes.decisions is outcomes.classes:
        return np.arange(len(outcomes.classes), dtype=np.int32)
    place = {label: k for k, label in enumerate(outcomes.classes.tolist())}
    places = [place.get(decision, -1) for decision in outcomes.decisions.tolist()]
    return None if -1 in places else np.array(places, dtype=np.int32)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0.0 else 0.0
