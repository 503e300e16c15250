"""One bell curve per class over the logarithm of a column: incomes, durations, sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array
from likely.families.gaussian import Gaussian, OwnMoments, add_bells, bell_likelihood
from likely.families.leave_one_out import LeftOut
from likely.families.outcomes import BlockScorer, Outcomes, log_likelihood, normalised, trapezoid_widths
from likely.families.protocol import SQL, Domain, Parameter, Reads, Settings, SQLNode
from likely.families.uncertainty import Certainty
from likely.stats import Histogram, Moments
from likely.table import Table
from likely.table.table import Numbers

MOST_LOG = 700.0
"""Logarithms of numbers that are floats."""


@dataclass(frozen=True, slots=True, eq=False)
class LogNormal:
    """A Gaussian of log x. A value that is not above zero lies outside and adds nothing."""

    name: ClassVar[str] = "lognormal"
    statistic: ClassVar[str] = "log moments"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.POSITIVE
    has_density: ClassVar[bool] = True

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
            logs = _logs(numbers.rows(block))
            if not self.of_logs.add_density(logs, joint):
                numbers.refuse_infinite(block)
            joint -= np.nansum(logs, axis=1, keepdims=True)

        return score

    def only(self, column: str) -> LogNormal:
        return LogNormal(self.of_logs.only(column))

    @classmethod
    def uncertainty(
        cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, numbers = Gaussian.settle(columns, seen, weights, settings), Numbers.of(table, columns)
        return lambda block, *out: add_bells(seen.n, belief.mean, belief.deviation, _logs(numbers.rows(block)), *out)

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        logs = np.log(seen.middles())
        return bell_likelihood(logs, seen.counts, settings) - float(logs @ seen.counts.sum(axis=0))

    def parameters(self) -> Iterator[Parameter]:
        return self.of_logs.parameters(" of the logarithm")

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        """Without the factor 1 / x, which is the same for all classes."""
        for column, name in enumerate(self.columns):
            if not math.isinf(self.of_logs.deviation[place, column]):
                below = sql.at_most(sql.real(name), sql.number(0.0))
                density = self.of_logs.sql_density(sql, sql.call("ln", sql.real(name)), place, column)
                yield sql.unless(sql.either(sql.missing(name), below), density)

    def outcomes(self, column: str, points: int) -> Outcomes:
        alone = self.only(column)
        logs = alone.of_logs.grid(points)
        logs = logs[np.abs(logs) < MOST_LOG]
        values, inverse = np.unique(np.exp(logs), return_index=True)
        density = np.exp(log_likelihood(alone.bind, column, values, len(self.of_logs.mean)))
        shares = density * (values * trapezoid_widths(logs)[inverse])[:, None]
        return Outcomes(values, normalised(shares), density)


def _logs(cells: Array) -> Array:
    """Logarithms; a gap where there is none."""
    return np.log(cells, out=np.full_like(cells, np.nan), where=cells > 0.0)
