"""How good the probabilities are: log loss, Brier score, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.evaluation.rates import ratio

Array = NDArray[np.float64]

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
    def of(cls, given: Array, came_true: NDArray[np.bool_], weight: Array, n_bins: int = N_BINS) -> Calibration:
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        place = np.searchsorted(edges[1:-1], given)
        cells = weight, weight * given, weight * came_true
        total, shares, hits = (np.bincount(place, each, n_bins).astype(np.float64) for each in cells)
        return cls(total, ratio(shares, total), ratio(hits, total))

    @property
    def error(self) -> float:
        """Expected calibration error: the mean gap between what was said and what came true."""
        return mean(np.abs(self.predicted - self.observed), self.weight)
