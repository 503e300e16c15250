"""One bell curve over several columns per class: columns may depend on each other within a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likely.families.correlation import lower_factor, own_correlations, shrink, shrinkage_of, within_correlation
from likely.families.gaussian import Gaussian
from likely.families.left_out_scatter import MostScored, leave_most_out
from likely.families.marginals import add_marginals, find_gaps
from likely.families.protocol import Array, LeftOut, Reads, Scorer, Settings
from likely.families.whitening import Whitening
from likely.numbers import Numbers
from likely.stats import Scatter
from likely.table import Table

MANY_ROWS = 24
"""Rows of a block with the same gaps from which on a matrix product of their own pays."""

KEPT_PATTERNS = 256
LEAST_PIVOT = 1e-16


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

    margins: Gaussian
    lower: Array | None
    shrinkage: Array
    last: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.margins.columns

    @classmethod
    def settle(
        cls, columns: tuple[str, ...], seen: Scatter, weights: Array, settings: Settings
    ) -> MultivariateGaussian:
        margins = Gaussian.settle(columns, seen.moments, weights, settings)
        if settings.covariance == "diagonal":
            return cls(margins, None, np.ones(len(weights)))
        if settings.covariance == "pooled":
            shared = within_correlation(seen, unbiased=settings.unbiased)[None]
            margins = Gaussian(columns, margins.mean, _shared_deviation(seen, settings))
            return cls(margins, _factors(shared, settings.variance_floor), np.zeros(1))
        own = own_correlations(seen, unbiased=settings.unbiased)
        shrinkage = np.zeros(len(own))
        if settings.covariance == "shrunk":
            for c, n in enumerate(seen.pair_n):
                shrinkage[c] = shrinkage_of(own[c], n, settings.shrinkage)
                own[c] = shrink(own[c], shrinkage[c])
        return cls(margins, _factors(own, settings.variance_floor), shrinkage)

    @classmethod
    def leave_most_out(
        cls, columns: tuple[str, ...], seen: Scatter, rows: LeftOut, settings: Settings
    ) -> MostScored | None:
        belief = cls.settle(columns, seen, rows.classes, settings)
        return leave_most_out(belief, seen, rows, settings, Numbers.of(rows.table, columns).rows)

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

    def bind(self, table: Table) -> Scorer:
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

    def _add_groups(self, cells: Array, whole: Whitening, marginal: Marginals, joint: Array) -> NDArray[np.int64]:
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


def _add_some(
    belief: Whitening, cells: Array, rows: NDArray[np.int64], columns: NDArray[np.int64] | slice, joint: Array
) -> NDArray[np.int64]:
    """Add the evidence of some rows and columns; the rows that are left out."""
    part = joint[rows]
    odd = belief.add(np.ascontiguousarray(cells[rows][:, columns]), part)
    joint[rows] = part
    return rows[odd]


def _factors(correlations: Array, floor: float) -> Array:
    return np.array([lower_factor(matrix, floor) for matrix in correlations]).reshape(correlations.shape)


def _shared_deviation(seen: Scatter, settings: Settings) -> Array:
    """The deviation around the class means, the same in all classes."""
    moments = seen.moments
    whole = moments.pooled().deviation(unbiased=False)[0]
    scale = np.where(whole > 0.0, whole, 1.0)
    squares = np.square(moments.root / scale).sum(axis=0)
    rows = moments.n.sum(axis=0) - ((moments.n > 0.0).sum(axis=0) if settings.unbiased else 0.0)
    within = scale * np.sqrt(np.divide(squares, rows, out=np.zeros_like(squares), where=rows > 0.0))
    within = np.maximum(within, np.sqrt(settings.variance_floor) * whole)
    within = np.where(within > 0.0, within, np.where(whole > 0.0, whole, np.inf))
    return np.tile(within, (len(moments.n), 1))
