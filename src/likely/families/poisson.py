"""One rate per class and column: visits, defects, calls in an hour."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from likely.arrays import Array
from likely.families.export import PoissonRates
from likely.families.gaussian import OwnMoments
from likely.families.on_device import RateTerm
from likely.families.outcomes import REACH, BlockScorer, Outcomes
from likely.families.protocol import SQL, Certainty, Columns, Domain, LeftOut, Parameter, Reads, Settings, SQLNode
from likely.families.smoothing import log_bias, trigamma
from likely.numerics import sums_of_others
from likely.stats import Histogram, Moments
from likely.table import Table
from likely.table.table import Numbers

LARGEST_COUNT = 1e302
"""A larger count is taken for this one: times a logarithm, and over many columns, it is still a float."""


@dataclass(frozen=True, slots=True, eq=False)
class Poisson:
    """Expected count of each column in each class (classes × columns).

    Smoothing adds rows with the column's overall mean, so that a class without a single event does not
    rule out the first one. A negative number lies outside and adds nothing.
    """

    name: ClassVar[str] = "poisson"
    statistic: ClassVar[str] = "moments"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.COUNTS
    has_density: ClassVar[bool] = True

    columns: Columns
    rate: Array

    @classmethod
    def settle(cls, columns: Columns, seen: Moments, weights: Array, settings: Settings) -> Poisson:
        overall = seen.pooled().mean
        extra = np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
        rows = seen.n + extra
        total = seen.n * seen.mean + extra * overall
        rate = np.divide(total, rows, out=np.broadcast_to(overall, rows.shape).copy(), where=rows > 0.0)
        return cls(columns, np.maximum(rate, 0.0))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Without a row the overall mean changes as well, and with smoothing the rate of every class."""
        numbers, everywhere = Numbers.of(rows.table, columns), np.arange(len(columns))
        own = OwnMoments(seen, rows, numbers.column)
        extra = np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
        total = seen.n * seen.mean
        other_rows, other_total = sums_of_others(seen.n), sums_of_others(total)

        def score(block: slice, joint: Array) -> None:
            cells, y, here = numbers.rows(block), rows.y[block], np.arange(block.stop - block.start)
            left_rows, left_mean, _ = own.without(here + block.start, cells, everywhere)
            for column, count in enumerate(cells.T):
                n, events = np.tile(seen.n[:, column], (len(y), 1)), np.tile(total[:, column], (len(y), 1))
                n[here, y] = left_rows[:, column]
                events[here, y] = left_rows[:, column] * left_mean[:, column]
                all_rows = other_rows[y, column] + n[here, y]
                all_events = other_total[y, column] + events[here, y]
                overall = np.divide(all_events, all_rows, out=np.zeros(len(y)), where=all_rows > 0.0)[:, None]
                more = extra[column]
                rate = np.tile(overall, len(seen.n))
                np.divide(events + more * overall, n + more, out=rate, where=n + more > 0.0)
                known = ~np.isnan(count)
                joint[known] += log_poisson(count[known, None], np.maximum(rate[known], 0.0))

        return score

    def bind(self, table: Table) -> BlockScorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            numbers.refuse_infinite(block)
            cells = numbers.rows(block)
            for column, rate in enumerate(self.rate.T):
                count = cells[:, column]
                inside = count >= 0.0
                known = count[inside, None]
                joint[inside] += log_poisson(known, rate)

        return score

    def only(self, column: str) -> Poisson:
        return Poisson((column,), self.rate[:, [self.columns.index(column)]])

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: Moments, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, numbers = cls.settle(columns, seen, weights, settings), Numbers.of(table, columns)
        rows = seen.n + np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
        rows = np.where(rows > 0.0, rows, 1.0)
        return lambda block, *out: _add_rates(belief.rate * rows, rows, numbers.rows(block), *out)

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        values, counts, extra = seen.middles(), seen.counts, settings.smoothing_of(column).pseudo_rows
        n, total = counts.sum(axis=1, keepdims=True), counts @ values
        overall = float(total.sum() / n.sum())
        rate = (np.maximum(total[:, None] - values, 0.0) + extra * overall) / (n - 1.0 + extra)
        told = np.maximum(log_poisson(values, rate), -1e100)
        return float((counts * told).sum())

    def parameters(self) -> Iterator[Parameter]:
        for place, name in enumerate(self.columns):
            yield Parameter(name, "rate", None, self.rate[:, place])

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        """x·log λ − λ; log x!, for which few engines have a function, is left out: it is the same for all classes."""
        for column, name in enumerate(self.columns):
            rate = float(self.rate[place, column])
            log_rate = math.log(rate) if rate > 0.0 else -math.inf
            nothing = sql.either(sql.missing(name), sql.below(sql.real(name), sql.number(0.0)))
            none = sql.equal(sql.real(name), sql.number(0.0))
            events = sql.sum([sql.times(sql.real(name), sql.number(log_rate)), sql.number(-rate)])
            yield sql.case([(nothing, sql.number(0.0)), (none, sql.number(-rate))], events)

    def device_terms(self) -> list[RateTerm]:
        return [RateTerm(self.columns, self.rate)]

    def bayes_inputs(self) -> Iterator[PoissonRates]:
        for column, name in enumerate(self.columns):
            yield PoissonRates(name, self.rate[:, column])

    def outcomes(self, column: str, points: int) -> Outcomes:
        alone = self.only(column)
        rate = alone.rate[:, 0]
        low = float(np.floor(np.maximum(rate - REACH * np.sqrt(rate) - REACH, 0.0)).min())
        high = float(np.ceil(rate + REACH * np.sqrt(rate) + 2.0 * REACH).max())
        return Outcomes.of_counts(alone.bind, column, len(rate), low, high, points)


def log_poisson(count: Array, rate: Array) -> Array:
    """log P(count | rate); nothing has probability zero but events at rate zero."""
    within = np.minimum(count, LARGEST_COUNT)
    return np.asarray(scipy.special.xlogy(within, rate) - rate - scipy.special.gammaln(within + 1.0))


def _add_rates(a: Array, b: Array, cells: Array, shift: Array, variance: Array) -> None:
    """Rates with the gamma parameters `a` and `b` (classes × columns)."""
    for column, counts in enumerate(cells.T):
        inside = counts >= 0.0
        x, shape, rate = counts[inside, None], a[:, column], b[:, column]
        shift[inside] += x * log_bias(shape)
        variance[inside] += np.maximum(x**2 * trigamma(shape) - 2.0 * x / rate + shape / rate**2, 0.0) * (shape > 0.0)
