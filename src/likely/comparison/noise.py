"""How far a difference between two classifiers may be chance, judged on the same rows and folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from likely.arrays import Array

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


def variance_inflation(cv: Any, n_rows: int) -> float:
    """By how much the variance of a mean is larger than paired rows alone would say: 1 + folds · tested / learned.

    Models of different folds share most of their rows, so they err together. For a mean over J folds Nadeau and
    Bengio put (1/J + tested/learned) in place of 1/J. A given test set is judged by one model: there is nothing to add.
    """
    if isinstance(cv, tuple):
        return 1.0
    folds = float(n_rows) if cv == "loo" else float(cv)
    if folds < 1.0:
        return 1.0 / (1.0 - folds)
    return 1.0 + folds / (folds - 1.0) if folds > 1.0 else 1.0


def difference(gap: Array, weight: Array, unit: NDArray[np.intp], inflation: float) -> Difference:
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
