"""One class against the rest, threshold by threshold: ROC and precision–recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Weight of the true and of the false rows at or above each distinct score, from the highest score down."""

    thresholds: Array
    true: Array
    false: Array

    @classmethod
    def of(cls, is_class: NDArray[np.bool_], score: Array, weight: Array) -> Curve:
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
        return (
            np.append(0.0, self.false / self.false[-1]),
            np.append(0.0, self.true / self.true[-1]),
            np.append(np.inf, self.thresholds),
        )

    def precision_recall(self) -> tuple[Array, Array, Array]:
        """Precision, recall and threshold, from the highest threshold down; the first point accepts nothing."""
        accepted = self.true + self.false
        precision = np.divide(self.true, accepted, out=np.zeros_like(accepted), where=accepted > 0.0)
        return (
            np.append(1.0, precision),
            np.append(0.0, self.true / self.true[-1]),
            np.append(np.inf, self.thresholds),
        )

    def roc_auc(self) -> float:
        """Area under the ROC curve: how often a row of the class scores above one of the others."""
        false, true, _ = self.roc()
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1])) / 2.0)

    def average_precision(self) -> float:
        """Area under the precision–recall curve, by steps: the mean precision over the rows of the class."""
        precision, recall, _ = self.precision_recall()
        return float(np.sum(np.diff(recall) * precision[1:]))


def thinned(n_points: int, most: int) -> NDArray[np.intp]:
    """Which points of a long curve to show: the ends, and others evenly between."""
    return np.unique(np.linspace(0, n_points - 1, min(n_points, most)).round().astype(np.intp))
