"""One bell curve per class and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from likely.families.kernels import INFINITE, add_gaussian
from likely.families.protocol import Array, Scorer, Settings
from likely.numbers import Numbers
from likely.stats import Moments
from likely.table import Table

LOG_ROOT_TAU = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """Mean and standard deviation of each column in each class (classes × columns).

    A column that is constant over all rows cannot tell classes apart: its deviation is infinite, and it adds nothing.
    """

    name: ClassVar[str] = "gaussian"
    statistic: ClassVar[str] = "moments"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    columns: tuple[str, ...]
    mean: Array
    deviation: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings) -> Gaussian:
        pooled = seen.pooled()
        whole = pooled.deviation(unbiased=False)
        deviation = np.maximum(seen.deviation(unbiased=settings.unbiased), np.sqrt(settings.variance_floor) * whole)
        deviation = np.where((seen.n > 1.0) & (deviation > 0.0), deviation, _typical_deviation(seen, whole))
        nothing = seen.n <= 0.0
        mean = np.where(nothing, pooled.mean, seen.mean)
        deviation = np.where(nothing, whole, deviation)
        return cls(columns, mean, np.where(whole > 0.0, deviation, np.inf))

    def add_density(self, rows: Array, joint: Array) -> bool:
        """Add the log densities of some rows; False if a cell is infinite."""
        log_peak = np.where(np.isinf(self.deviation), 0.0, -np.log(self.deviation) - LOG_ROOT_TAU)
        return bool(add_gaussian(rows, self.mean, 1.0 / self.deviation, log_peak, joint) != INFINITE)

    def bind(self, table: Table) -> Scorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            if not self.add_density(numbers.rows(block), joint):
                numbers.refuse_infinite(block)

        return score

    def only(self, column: str) -> Gaussian:
        place = [self.columns.index(column)]
        return Gaussian((column,), self.mean[:, place], self.deviation[:, place])


def _typical_deviation(seen: Moments, whole: Array) -> Array:
    """What a class with a single row borrows: the deviation within classes, else that of the column."""
    scale = np.where(whole > 0.0, whole, 1.0)
    rows = np.maximum(seen.n.sum(axis=0) - (seen.n > 0.0).sum(axis=0), 0.0)
    squares = np.square(seen.root / scale).sum(axis=0)
    within = scale * np.sqrt(np.divide(squares, rows, out=np.zeros_like(squares), where=rows > 0.0))
    return np.asarray(np.where(within > 0.0, within, whole))
