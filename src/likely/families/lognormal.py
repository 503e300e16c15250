"""One bell curve per class over the logarithm of a column: incomes, durations, sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array
from likely.families.gaussian import Gaussian, OwnMoments
from likely.families.protocol import BlockScorer, LeftOut, Reads, Settings
from likely.stats import Moments
from likely.table import Table
from likely.table.table import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class LogNormal:
    """A Gaussian of log x. A value that is not above zero lies outside and adds nothing."""

    name: ClassVar[str] = "lognormal"
    statistic: ClassVar[str] = "log moments"
    reads: ClassVar[Reads] = "numeric"

    of_logs: Gaussian

    @property
    def columns(self) -> tuple[str, ...]:
        return self.of_logs.columns

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings) -> LogNormal:
        return cls(Gaussian.settle(columns, seen, weights, settings))

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
        """A Gaussian of the logarithms; the factor 1 / x is the same for all classes, but is part of the joint."""
        numbers, belief = Numbers.of(rows.table, columns), Gaussian.settle(columns, seen, rows.classes, settings)
        own = OwnMoments(seen, rows, lambda place: np.log(numbers.column(place)))
        of_logs = belief.without_own(own, lambda block: np.log(numbers.rows(block)), settings)

        def score(block: slice, joint: Array) -> None:
            of_logs(block, joint)
            joint -= np.nansum(np.log(numbers.rows(block)), axis=1, keepdims=True)

        return score

    def bind(self, table: Table) -> BlockScorer:
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
