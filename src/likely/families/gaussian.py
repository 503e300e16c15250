"""One bell curve per class and column, of the numbers or of their logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Index
from likely.families.export import Bells
from likely.families.gaussian_kernels import (
    INFINITE,
    add_gaussian,
    add_gaussian_without,
    count_others,
    moments_without,
    own_gaussian,
)
from likely.families.on_device import BellTerm
from likely.families.outcomes import REACH, BlockScorer, Outcomes, log_likelihood, normalised, trapezoid_widths
from likely.families.protocol import SQL, Certainty, Columns, Domain, LeftOut, Parameter, Reads, Settings, SQLNode
from likely.families.smoothing import log_bias, trigamma
from likely.stats import Histogram, Moments
from likely.stats.protocol import NOISE
from likely.table import Table
from likely.table.table import Numbers

LOG_ROOT_TAU = 0.5 * np.log(2.0 * np.pi)
MANY_TIMES = 1e150
"""A ratio of deviations whose square is still a float."""

LEAST = 1e-30
"""A share of the whole variance below which no class is believed to lie, whatever the user says."""

FEWEST_PER_CLASS = 16
"""Values of a grid that every class brings, however many classes there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """Mean and standard deviation of each column in each class (classes × columns).

    A column that is constant over all rows cannot tell classes apart: its deviation is infinite, and it adds nothing.
    """

    name: ClassVar[str] = "gaussian"
    statistic: ClassVar[str] = "moments"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.REAL
    has_density: ClassVar[bool] = True

    columns: Columns
    mean: Array
    deviation: Array

    @classmethod
    def settle(cls, columns: Columns, seen: Moments, weights: Array, settings: Settings) -> Gaussian:
        pooled = seen.pooled()
        whole = pooled.deviation(unbiased=False)
        deviation = np.maximum(seen.deviation(unbiased=settings.unbiased), np.sqrt(settings.variance_floor) * whole)
        within = within_deviation(seen, whole, unbiased=True)
        typical = np.where(within > 0.0, within, whole)  # what a class with a single row borrows
        deviation = np.where((seen.n > 1.0) & (deviation > 0.0), deviation, typical)
        nothing = seen.n <= 0.0
        mean = np.where(nothing, pooled.mean, seen.mean)
        deviation = np.where(nothing, whole, deviation)
        # A deviation below the smallest normal number has no inverse.
        return cls(columns, mean, np.where(whole > 0.0, np.maximum(deviation, np.finfo(np.float64).tiny), np.inf))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
        numbers = Numbers.of(rows.table, columns)
        belief = cls.settle(columns, seen, rows.classes, settings)
        return belief.without_own(OwnMoments(seen, rows, numbers.column), numbers.rows, settings)

    def without_own(self, own: OwnMoments, cells: Callable[[slice], Array], settings: Settings) -> BlockScorer:
        """Judge each row without it. Most columns need no more than a correction for the row's own class; those in
        which some class is near the floor, or has a single row, are settled anew, cell by cell."""
        rows, seen, unbiased = own.rows, own.seen, settings.unbiased
        whole, deviation = seen.pooled().deviation(unbiased=False), seen.deviation(unbiased=unbiased)
        times = np.divide(whole, deviation, out=np.full_like(deviation, np.inf), where=deviation > 0.0)
        # Twice: without a row the whole deviation may grow, by √2 at most if that row has less than half the weight.
        near = 2.0 * settings.variance_floor * np.minimum(times, MANY_TIMES) ** 2
        heavy = rows.weight.max(initial=0.0) > 0.5 * seen.n.sum(axis=0)
        is_bound = ((seen.n <= 1.0 + NOISE) | (near >= 1.0)).any(axis=0) | heavy
        plain, bound = np.flatnonzero(~is_bound), np.flatnonzero(is_bound)
        # NumPy may pick columns into another order of memory, in which the loops are slow.
        known, mean, width, near = (
            np.ascontiguousarray(x[:, plain]) for x in (seen.n, self.mean, self.deviation, near)
        )
        belief = Gaussian(self.columns, mean, width)
        settled = mean, 1.0 / width, -np.log(width) - LOG_ROOT_TAU, near

        def settle_again(numbers: Index, part: Array, places: Index, joint: Array) -> None:
            scaled, moments = own.scaled(part, places), own.without(numbers, part, places)
            floor = float(np.sqrt(settings.variance_floor))
            add_gaussian_without(scaled, rows.y[numbers], *own.all(places), moments, unbiased, floor, joint)

        def score(block: slice, joint: Array) -> None:
            part, y, here = cells(block), rows.y[block], np.arange(block.stop - block.start)
            if len(plain):
                few = part if len(bound) == 0 else np.ascontiguousarray(part[:, plain])
                evidence, corrected, careful = np.zeros_like(joint), np.empty(len(y)), np.zeros(len(y), dtype=np.bool_)
                belief.add_density(few, evidence)
                own_gaussian(few, y, rows.weight[block], known, *settled, unbiased, corrected, careful)
                evidence[here, y] = corrected
                again = np.flatnonzero(careful)
                if len(again):
                    few_joint = np.zeros((len(again), joint.shape[1]))
                    settle_again(again + block.start, few[again], plain, few_joint)
                    evidence[again] = few_joint
                joint += evidence
            if len(bound):
                settle_again(here + block.start, np.ascontiguousarray(part[:, bound]), bound, joint)

        return score

    def add_density(self, rows: Array, joint: Array) -> bool:
        """Add the log densities of some rows; False if a cell is infinite."""
        return bool(add_gaussian(rows, self.mean, 1.0 / self.deviation, self._log_peak(), joint) != INFINITE)

    def _log_peak(self) -> Array:
        return np.where(np.isinf(self.deviation), 0.0, -np.log(self.deviation) - LOG_ROOT_TAU)

    def bind(self, table: Table) -> BlockScorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            if not self.add_density(numbers.rows(block), joint):
                numbers.refuse_infinite(block)

        return score

    def only(self, column: str) -> Gaussian:
        place = [self.columns.index(column)]
        return Gaussian((column,), self.mean[:, place], self.deviation[:, place])

    def bells(self, columns: Sequence[str]) -> list[tuple[Array, Array]]:
        """Of each class the means, and the covariance matrix of independent columns; a constant one has no variance."""
        places = [self.columns.index(name) for name in columns]
        deviation = np.where(np.isinf(self.deviation), 0.0, self.deviation)[:, places]
        return [(mean, np.diag(own**2)) for mean, own in zip(self.mean[:, places], deviation, strict=True)]

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: Moments, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, numbers = cls.settle(columns, seen, weights, settings), Numbers.of(table, columns)
        return lambda block, *out: add_bells(seen.n, belief.mean, belief.deviation, numbers.rows(block), *out)

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        return bell_likelihood(seen.middles(), seen.counts, settings)

    def parameters(self, of: str = "") -> Iterator[Parameter]:
        for place, name in enumerate(self.columns):
            yield Parameter(name, f"mean{of}", None, self.mean[:, place])
            yield Parameter(name, f"deviation{of}", None, self.deviation[:, place])

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        for name, mean, deviation in zip(self.columns, self.mean.T, self.deviation.T, strict=True):
            if not math.isinf(deviation[place]):
                yield sql.log_bell(sql.real(name), mean, deviation, place)

    def device_terms(self) -> list[BellTerm]:
        return [BellTerm(self.columns, self.mean, 1.0 / self.deviation, self._log_peak())]

    def bayes_inputs(self) -> Iterator[Bells]:
        for place, name in enumerate(self.columns):
            if np.isfinite(self.deviation[:, place]).all():
                yield Bells(name, self.mean[:, place], self.deviation[:, place])

    def outcomes(self, column: str, points: int) -> Outcomes:
        alone = self.only(column)
        values = alone.grid(points)
        with np.errstate(over="ignore", under="ignore"):  # nowhere near
            steps = (values[:, None] - alone.mean[:, 0]) / alone.deviation[:, 0]
            density = np.exp(alone._log_peak()[:, 0] - 0.5 * np.square(steps))
        return Outcomes(values, normalised(density * trapezoid_widths(values)[:, None]), density)

    def grid(self, points: int) -> Array:
        """Values of the first column that are dense wherever some class is: each class brings its own, in steps of its
        own deviation."""
        mean, deviation = self.mean[:, 0], self.deviation[:, 0]
        if np.isinf(deviation).all():
            return np.array([mean[0]])
        steps = np.linspace(-REACH, REACH, max(points // len(mean), FEWEST_PER_CLASS) | 1)
        values = np.unique(mean[:, None] + deviation[:, None] * steps)
        every = -(-len(values) // (2 * points))
        return values[::every]


def within_deviation(seen: Moments, whole: Array, *, unbiased: bool) -> Array:
    """The deviation around the class means, all classes together; zero where there is nothing to estimate it from."""
    scale = np.where(whole > 0.0, whole, 1.0)
    squares = np.square(seen.root / scale).sum(axis=0)
    rows = seen.n.sum(axis=0) - ((seen.n > 0.0).sum(axis=0) if unbiased else 0.0)
    return np.asarray(scale * np.sqrt(np.divide(squares, rows, out=np.zeros_like(squares), where=rows > 0.0)))


def add_bells(n: Array, mean: Array, deviation: Array, cells: Array, shift: Array, variance: Array) -> None:
    """Bell curves (classes × columns) whose mean and variance are known from `n` rows."""
    rows, freedom = np.maximum(n, 1.0), np.maximum(n - 1.0, 1.0)
    for column, values in enumerate(cells.T):
        there = ~np.isnan(values)
        m, s, count, nu = mean[:, column], deviation[:, column], rows[:, column], freedom[:, column]
        z = np.minimum(((values[there, None] - m) / s) ** 2, 1e100)
        shift[there] += np.where(np.isinf(s), 0.0, 0.5 * log_bias(nu / 2.0) - 0.5 / count)
        own = 0.25 * trigamma(nu / 2.0) - z / nu + 0.5 * z**2 / nu + z / count + 0.5 / count**2
        variance[there] += np.where(np.isinf(s), 0.0, np.maximum(own, 0.0))


def bell_likelihood(values: Array, counts: Array, settings: Settings) -> float:
    """Σ log density under bell curves, each row without itself."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)  # a power of two loses nothing, and no square leaves the floats
    y, place = np.indices(counts.shape).reshape(2, -1)
    seen = Moments.observe(values[place][:, None], y.astype(np.int32), counts.ravel(), len(counts))
    n, mean, squares = seen.n, seen.mean, seen.root**2
    rest = np.maximum(n - 1.0, 1.0)
    gap = values - mean
    spread = np.maximum(squares - gap**2 * n / rest, 0.0) / (np.maximum(n - 2.0, 1.0) if settings.unbiased else rest)
    whole = seen.pooled().variance(unbiased=False)
    spread = np.maximum(spread, max(settings.variance_floor, LEAST) * whole)
    z = (gap * n / rest) ** 2 / spread
    density = -LOG_ROOT_TAU - 0.5 * np.log(spread) - 0.5 * np.minimum(z, 1e100)
    return float((counts * density).sum() - exponent * np.log(2.0) * counts.sum())


# The same over logarithms: incomes, durations, sizes.

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
    def columns(self) -> Columns:
        return self.of_logs.columns

    @classmethod
    def settle(cls, columns: Columns, seen: Moments, weights: Array, settings: Settings) -> LogNormal:
        return cls(Gaussian.settle(columns, seen, weights, settings))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
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
        cls, columns: Columns, seen: Moments, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, numbers = Gaussian.settle(columns, seen, weights, settings), Numbers.of(table, columns)
        return lambda block, *out: add_bells(seen.n, belief.mean, belief.deviation, _logs(numbers.rows(block)), *out)

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        logs = np.log(seen.middles())
        return bell_likelihood(logs, seen.counts, settings) - float(logs @ seen.counts.sum(axis=0))

    def parameters(self) -> Iterator[Parameter]:
        return self.of_logs.parameters(" of the logarithm")

    def device_terms(self) -> list[BellTerm]:
        return [replace(term, of_logs=True) for term in self.of_logs.device_terms()]

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        own = self.of_logs
        for column, name in enumerate(self.columns):
            positive = sql.below(sql.number(0.0), sql.real(name))
            logs = sql.kept(sql.case([(positive, sql.ln(sql.real(name)))]), ("ln", name))
            if not math.isinf(own.deviation[place, column]):
                yield sql.log_bell(logs, own.mean[:, column], own.deviation[:, column], place)
            yield sql.known_or(sql.times(sql.number(-1.0), logs.copy()), sql.number(0.0))

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


# The moments of each row's class without that row: by subtraction, and counted anew where that loses digits.

ORDINARY = 400
"""Columns within 2^±400 have squares within the floats; others are divided by a power of two, which loses nothing."""


class OwnMoments:
    """Moments of all rows, from which each row can be taken out; `column` gives all cells of a column."""

    def __init__(self, seen: Moments, rows: LeftOut, column: Callable[[int], Array]) -> None:
        self.seen, self.rows, self._column = seen, rows, column
        largest = np.maximum(np.abs(seen.mean), seen.root).max(axis=0, initial=0.0)
        exponent = np.frexp(largest)[1]
        self._shift = np.where(np.abs(exponent) > ORDINARY, -exponent, 0)

    def scaled(self, part: Array, places: Index) -> Array:
        """Cells of the columns `places` in the units of the moments."""
        shift = self._shift[places]
        return np.ldexp(part, shift) if shift.any() else part

    def all(self, places: Index) -> tuple[Array, Array, Array]:
        """Weight, mean and centred squares of the columns `places` with all rows (classes × columns)."""
        seen, shift = self.seen.select(places), self._shift[places]
        moments = seen.n, np.ldexp(seen.mean, shift), np.ldexp(seen.root, shift) ** 2
        n, mean, squares = map(np.ascontiguousarray, moments)
        return n, mean, squares

    def without(self, numbers: Index, part: Array, places: Index) -> Array:
        """The same for the class of each of the rows `numbers`, without that row (3 × rows × columns)."""
        y, weight = self.rows.y[numbers], self.rows.weight[numbers]
        left, lost = np.zeros((3, *part.shape)), np.zeros(part.shape, dtype=np.bool_)
        moments_without(self.scaled(part, places), y, weight, *self.all(places), left, lost)
        for column in np.flatnonzero(lost.any(axis=0)):
            cells = np.ldexp(self._column(int(places[column])), self._shift[places[column]])
            wanted, again = lost[:, column].copy(), left[:, :, column].copy()
            count_others(cells, self.rows.weight, self.rows.y, *self.rows.by_class, numbers, wanted, again)
            left[:, :, column] = again
        return left
