"""One bell curve over several columns per class: columns may depend on each other within a class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Index, Int32, Int64
from likely.families.export import Bells, Graph, Tensor
from likely.families.gaussian import Gaussian, within_deviation
from likely.families.multivariate_covariance import (
    LEAST_PIVOT,
    Whitening,
    add_marginals,
    far_from_singular,
    find_gaps,
    lower_factor,
    own_correlations,
    shrink,
    shrinkage_of,
    within_correlation,
)
from likely.families.multivariate_export import block_density, chain_terms
from likely.families.on_device import BellTerm, WhitenedTerm
from likely.families.outcomes import BlockScorer, Outcomes
from likely.families.protocol import SQL, Columns, Domain, LeftOut, MostScored, Parameter, Reads, Settings, SQLNode
from likely.stats import Moments, Scatter
from likely.stats.protocol import NOISE
from likely.table import Table
from likely.table.table import Numbers

MANY_ROWS = 24
"""Rows of a block with the same gaps from which on a matrix product of their own pays."""

KEPT_PATTERNS = 256

LEAST_SHARE = 1e-9
"""Of its variance, what stays of a column that the others determine."""


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateGaussian:
    """Mean and deviation of each column, and the lower factor of the correlations, of each class.

    `lower` is classes × columns × columns, 1 × columns × columns if the classes share it, or None if the columns are
    independent. `shrinkage` says how far each of them was pulled towards independence. With `last` only
    the last column speaks, given the ones before it: such shares add up to the whole.
    """

    name: ClassVar[str] = "multivariate"
    statistic: ClassVar[str] = "scatter"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.REAL
    has_density: ClassVar[bool] = True

    margins: Gaussian
    lower: Array | None
    shrinkage: Array
    last: bool = False

    @property
    def columns(self) -> Columns:
        return self.margins.columns

    @classmethod
    def settle(cls, columns: Columns, seen: Scatter, weights: Array, settings: Settings) -> MultivariateGaussian:
        margins = Gaussian.settle(columns, seen.moments, weights, settings)
        if settings.covariance == "diagonal":
            return cls(margins, None, np.ones(len(weights)))
        if settings.covariance == "pooled":
            shared = within_correlation(seen, unbiased=settings.unbiased)[None]
            margins = Gaussian(columns, margins.mean, _shared_deviation(seen.moments, settings))
            return cls(margins, _factors(shared, settings.variance_floor), np.zeros(1))
        own = own_correlations(seen, unbiased=settings.unbiased)
        shrinkage = np.zeros(len(own))
        if settings.covariance == "shrunk":
            for c, n in enumerate(seen.pair_n):
                shrinkage[c] = shrinkage_of(own[c], n, settings.shrinkage)
                own[c] = shrink(own[c], shrinkage[c])
        return cls(margins, _factors(own, settings.variance_floor), shrinkage)

    @classmethod
    def leave_most_out(cls, columns: Columns, seen: Scatter, rows: LeftOut, settings: Settings) -> MostScored | None:
        """None where gaps, floors or shrinkage keep a matrix from being that of the data alone."""
        belief, numbers = cls.settle(columns, seen, rows.classes, settings), Numbers.of(rows.table, columns)
        if belief.lower is None or settings.covariance == "shrunk" or not _is_plain(belief, seen, settings):
            return None
        whole, pooled = Whitening.of(belief.margins, belief.lower, last=False), settings.covariance == "pooled"
        correct = _pooled_correction(seen, whole, settings) if pooled else _own_correction(seen, settings)

        def score(block: slice, joint: Array) -> Int64:
            y, weight = rows.y[block], rows.weight[block]
            evidence = np.zeros_like(joint)
            cannot = whole.add(numbers.rows(block), evidence)
            distances = 2.0 * (whole.log_peak - evidence)
            n = seen.moments.n[y, 0]
            with np.errstate(all="ignore"):  # what is not finite is left over
                left = correct(distances, y, n, weight, evidence)
            cannot |= ~(left > LEAST_LEFT) | (n - weight <= 2.0 + NOISE)
            joint[~cannot] += evidence[~cannot]
            return np.flatnonzero(cannot)

        return score

    @property
    def chained(self) -> bool:
        """Whether what a column says depends on other cells of the row."""
        return self.lower is not None and len(self.columns) > 1

    @property
    def correlation(self) -> Array:
        """Correlation matrix of each class, or the one that they share."""
        if self.lower is None:
            return np.eye(len(self.columns))[None]
        return self.lower @ self.lower.swapaxes(1, 2)

    def covariance(self) -> Array:
        """Covariance matrix of each class; zero for a column that is constant over all rows, which says nothing."""
        deviation = np.where(np.isinf(self.margins.deviation), 0.0, self.margins.deviation)
        return deviation[:, :, None] * self.correlation * deviation[:, None, :]

    def bells(self, columns: Sequence[str]) -> list[tuple[Array, Array]]:
        """Of each class the means and the covariance matrix of some columns."""
        if self.lower is None:
            return self.margins.bells(columns)
        places = [self.columns.index(name) for name in columns]
        deviation = np.where(np.isinf(self.margins.deviation), 0.0, self.margins.deviation)[:, places]
        some = deviation[:, :, None] * self.lower[:, places]
        return list(zip(self.margins.mean[:, places], some @ some.swapaxes(1, 2), strict=True))

    def bind(self, table: Table) -> BlockScorer:
        if self.lower is None:
            return self.margins.bind(table)
        numbers = Numbers.of(table, self.columns)
        whole = Whitening.of(self.margins, self.lower, last=self.last)
        marginal = lru_cache(KEPT_PATTERNS)(self._marginal)
        correlation = self.correlation

        def score(block: slice, joint: Array) -> None:
            cells = numbers.rows(block)
            careful = self._add_groups(cells, whole, marginal, joint)
            if len(careful) and not add_marginals(
                cells, careful, self.margins.mean, self.margins.deviation, correlation, self.last, LEAST_PIVOT, joint
            ):
                numbers.refuse_infinite(block)

        return score

    def only(self, column: str) -> MultivariateGaussian:
        """The column given the ones before it: by the chain rule these shares add up to the whole."""
        place = self.columns.index(column)
        if self.lower is None:
            return MultivariateGaussian(self.margins.only(column), None, self.shrinkage)
        margins, upto = self.margins, slice(place + 1)
        prefix = Gaussian(margins.columns[upto], margins.mean[:, upto], margins.deviation[:, upto])
        return MultivariateGaussian(prefix, self.lower[:, upto, upto], self.shrinkage, last=True)

    def given_others(self, table: Table, column: str, rows: Index) -> Iterator[Gaussian]:
        """For each row a bell curve per class: the column's own, narrowed and moved by what is known of the others."""
        cells = Numbers.of(table, self.columns).rows(slice(0, table.n_rows))[rows]
        margins, place = self.margins, self.columns.index(column)
        varying = np.asarray(np.isfinite(margins.deviation).all(axis=0))
        correlation = np.broadcast_to(self.correlation, (len(margins.mean), *self.correlation.shape[1:]))
        for row in cells:
            known = np.flatnonzero(~np.isnan(row) & varying & (np.arange(len(row)) != place))
            mean, deviation = margins.mean[:, place].copy(), margins.deviation[:, place].copy()
            if len(known) and varying[place]:
                for k, matrix in enumerate(correlation):
                    gap = (row[known] - margins.mean[k, known]) / margins.deviation[k, known]
                    pull = np.linalg.lstsq(matrix[np.ix_(known, known)], matrix[known, place], rcond=None)[0]
                    left = max(1.0 - float(pull @ matrix[known, place]), LEAST_SHARE)
                    mean[k] += deviation[k] * float(pull @ gap)
                    deviation[k] *= np.sqrt(left)
            yield Gaussian((column,), mean[:, None], deviation[:, None])

    def parameters(self) -> Iterator[Parameter]:
        yield from self.margins.parameters()
        n_classes, correlation = len(self.margins.mean), self.correlation
        for row, name in enumerate(self.columns):
            for column, other in enumerate(self.columns[:row]):
                shared = np.broadcast_to(correlation[:, row, column], (n_classes,))
                yield Parameter(name, "correlation", other, shared)

    def sql_terms(self, sql: SQL, place: int) -> Iterable[SQLNode]:
        if self.lower is None or not self.chained:
            return self.margins.sql_terms(sql, place)
        return chain_terms(sql, self.margins, self.lower, place, last=self.last)

    def device_terms(self) -> list[BellTerm] | list[WhitenedTerm] | None:
        if self.lower is None:
            return self.margins.device_terms()
        if self.last:
            return None
        whole = Whitening.of(self.margins, self.lower, last=False)
        return [WhitenedTerm(self.columns, whole.mean, whole.precision, whole.turn, whole.log_peak)]

    def bayes_inputs(self) -> Iterator[Bells] | None:
        return None if self.chained else self.margins.bayes_inputs()

    def graph_terms(self, graph: Graph) -> list[Tensor] | None:
        return [block_density(graph, self.margins, self.lower)] if self.lower is not None and self.chained else None

    def described(self) -> Mapping[str, object] | None:
        """Means, deviations and correlations: of the known columns of a row, their matrix is factored there."""
        told = {"is": "bell", "mean": self.margins.mean, "deviation": self.margins.deviation}
        return {**told, "correlation": self.correlation} if self.chained else None

    def outcomes(self, column: str, points: int) -> Outcomes:
        return self.margins.outcomes(column, points)

    def _add_groups(self, cells: Array, whole: Whitening, marginal: Marginals, joint: Array) -> Int64:
        """Add all rows that share their gaps with many others, group by group; which rows are left over."""
        gaps = np.empty(len(cells), dtype=np.bool_)
        find_gaps(cells, gaps)
        if not gaps.any():
            return np.flatnonzero(whole.add(cells, joint))
        left_over = [_add_some(whole, cells, np.flatnonzero(~gaps), slice(None), joint)]
        rows = np.flatnonzero(gaps)
        known = ~np.isnan(cells[rows])
        _, group, size = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True, return_counts=True)
        by_group = np.argsort(group, kind="stable")
        rows, known = rows[by_group], known[by_group]
        for start, stop in zip(np.cumsum(size) - size, np.cumsum(size), strict=True):
            if stop - start < MANY_ROWS:
                left_over.append(rows[start:stop])
                continue
            of_known = marginal(known[start].tobytes())
            if of_known is not None:
                places = np.flatnonzero(known[start])
                left_over.append(_add_some(of_known, cells, rows[start:stop], places, joint))
        return np.concatenate(left_over)

    def _marginal(self, pattern: bytes) -> Whitening | None:
        """The belief about the known columns alone; None if they say nothing."""
        known = np.frombuffer(pattern, dtype=np.bool_)
        places = np.flatnonzero(known)
        if self.lower is None or len(places) == 0 or (self.last and not known[-1]):
            return None
        margins = self.margins
        names = tuple(margins.columns[place] for place in places)
        some = Gaussian(names, margins.mean[:, places], margins.deviation[:, places])
        upper = np.asarray(np.linalg.qr(self.lower[:, places].swapaxes(1, 2), mode="r"))
        signs = np.where(np.diagonal(upper, axis1=1, axis2=2) < 0.0, -1.0, 1.0)
        return Whitening.of(some, upper.swapaxes(1, 2) * signs[:, None, :], last=self.last)


Marginals = Callable[[bytes], Whitening | None]


def _add_some(belief: Whitening, cells: Array, rows: Int64, columns: Int64 | slice, joint: Array) -> Int64:
    """Add the evidence of some rows and columns; the rows that are left out."""
    part = joint[rows]
    odd = belief.add(np.ascontiguousarray(cells[rows][:, columns]), part)
    joint[rows] = part
    return rows[odd]


def _factors(correlations: Array, floor: float) -> Array:
    return np.array([lower_factor(matrix, floor) for matrix in correlations]).reshape(correlations.shape)


def _shared_deviation(seen: Moments, settings: Settings) -> Array:
    """The deviation around the class means, the same in all classes."""
    whole = seen.pooled().deviation(unbiased=False)[0]
    within = within_deviation(seen, whole, unbiased=settings.unbiased)
    within = np.maximum(within, np.sqrt(settings.variance_floor) * whole)
    within = np.where(within > 0.0, within, np.where(whole > 0.0, whole, np.inf))
    return np.tile(within, (len(seen.n), 1))


# Leave-one-out for covariance matrices: without a row, a scatter matrix changes by one product d dᵀ.
#
# With S the scatter matrix of a class of weight n, d the row's distance from its mean and w its weight, the matrix
# without the row is S − a d dᵀ, a = w n / (n − w). Inverse and determinant of that follow from q = dᵀ S⁻¹ d, which is
# known from judging the row with all rows: nothing is inverted again.

LEAST_LEFT = 0.5
"""A row that takes more than this share of the scatter in its direction along is settled anew."""


def _is_plain(belief: MultivariateGaussian, seen: Scatter, settings: Settings) -> bool:
    """Whether the settled matrices are those of the data, with room below them before a floor is reached."""
    n = seen.moments.n
    if belief.lower is None or seen.pairs is not None or (n <= 2.0).any():
        return False
    own = seen.moments.deviation(unbiased=settings.unbiased)
    whole = seen.moments.pooled().deviation(unbiased=False)
    spread = belief.margins.deviation if settings.covariance == "pooled" else own
    if not (np.square(spread) > 8.0 * settings.variance_floor * np.square(whole)).all():
        return False
    return all(far_from_singular(factor, 8.0 * settings.variance_floor) for factor in belief.lower)


Correction = Callable[[Array, Int32, Array, Array, Array], Array]
"""Puts the evidence of rows right, given their squared distances, classes, class weights and weights; says what is left
of the scatter in each row's direction, as a share."""


def _own_correction(seen: Scatter, settings: Settings) -> Correction:
    """Each class has its own matrix: only the row's own class changes."""
    n_columns = seen.moments.n.shape[1]

    def correct(distances: Array, y: Int32, n: Array, weight: Array, evidence: Array) -> Array:
        here, degrees = np.arange(len(y)), n - float(settings.unbiased)
        own = distances[here, y]
        fewer = degrees - weight
        left = 1.0 - weight * n / (n - weight) * own / degrees
        grown = np.square(n / (n - weight)) * own * (fewer / degrees) / left
        evidence[here, y] += 0.5 * (own - grown - np.log(left) - n_columns * np.log(degrees / fewer))
        return np.asarray(left)

    return correct


def _pooled_correction(seen: Scatter, whole: Whitening, settings: Settings) -> Correction:
    """All classes share a matrix, so that each of them changes; products follow from distances between the means."""
    n_classes, n_columns = seen.moments.n.shape
    degrees = float(seen.moments.n[:, 0].sum() - n_classes * settings.unbiased)
    points = (whole.mean - whole.mean[0]) * whole.precision[0] @ whole.turn[0]
    between = np.square(points[:, None] - points[None]).sum(axis=2)

    def correct(distances: Array, y: Int32, n: Array, weight: Array, evidence: Array) -> Array:
        here, fewer = np.arange(len(y)), degrees - weight
        own = distances[here, y]
        share = weight * n / (n - weight) / degrees
        left = 1.0 - share * own
        products = 0.5 * (own[:, None] + distances - between[y])
        new = distances + (share / left)[:, None] * np.square(products)
        new[here, y] = np.square(n / (n - weight)) * own / left
        new *= (fewer / degrees)[:, None]
        evidence += 0.5 * (distances - new)
        evidence -= 0.5 * (np.log(left) + n_columns * np.log(degrees / fewer))[:, None]
        return np.asarray(left)

    return correct
