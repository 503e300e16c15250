"""One bell curve per class over the logarithm of a column: incomes, durations, sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from likely.families.gaussian import Gaussian
from likely.families.protocol import Array, Scorer, Settings
from likely.numbers import Numbers
from likely.stats import Moments
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class LogNormal:
    """A Gaussian of log x. A value that is not above zero lies outside and adds nothing."""

    name: ClassVar[str] = "lognormal"
    statistic: ClassVar[str] = "log moments"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    of_logs: Gaussian

    @property
    def columns(self) -> tuple[str, ...]:
        return self.of_logs.columns

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings) -> LogNormal:
        return cls(Gaussian.settle(columns, seen, weights, settings))

    def bind(self, table: Table) -> Scorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            cells = numbers.rows(block)
            logs = np.log(cells, out=np.full_like(cells, np.nan), where=cells > 0.0)
            if not self.of_logs.add_density(logs, joint):
                numbers.refuse_infinite(block)
            joint -= np.nansum(logs, axis=1, keepdims=True)

        return score

    def only(self, column: str) -> LogNormal:
        return LogNormal(self.of_logs.only(column))
