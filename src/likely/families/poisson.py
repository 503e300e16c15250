"""One rate per class and column: visits, defects, calls in an hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaln, xlogy

from likely.families.protocol import Array, Scorer, Settings
from likely.numbers import Numbers
from likely.stats import Moments
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Poisson:
    """Expected count of each column in each class (classes × columns).

    Smoothing adds rows with the column's overall mean, so that a class without a single event does not
    rule out the first one. A negative number lies outside and adds nothing.
    """

    name: ClassVar[str] = "poisson"
    statistic: ClassVar[str] = "moments"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    columns: tuple[str, ...]
    rate: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings) -> Poisson:
        overall = seen.pooled().mean
        extra = np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
        rows = seen.n + extra
        total = seen.n * seen.mean + extra * overall
        rate = np.divide(total, rows, out=np.broadcast_to(overall, rows.shape).copy(), where=rows > 0.0)
        return cls(columns, np.maximum(rate, 0.0))

    def bind(self, table: Table) -> Scorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            numbers.refuse_infinite(block)
            cells = numbers.rows(block)
            for column, rate in enumerate(self.rate.T):
                count = cells[:, column]
                inside = count >= 0.0
                known = count[inside, None]
                joint[inside] += xlogy(known, rate) - rate - gammaln(known + 1.0)

        return score

    def only(self, column: str) -> Poisson:
        return Poisson((column,), self.rate[:, [self.columns.index(column)]])
