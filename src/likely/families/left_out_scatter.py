"""Leave-one-out for covariance matrices: without a row, a scatter matrix changes by one product d dᵀ.

With S the scatter matrix of a class of weight n, d the row's distance from its mean and w its weight, the matrix
without the row is S − a d dᵀ, a = w n / (n − w). Inverse and determinant of that follow from q = dᵀ S⁻¹ d, which is
known from judging the row with all rows: nothing is inverted again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.families.correlation import far_from_singular
from likely.families.protocol import Array, LeftOut, Settings
from likely.families.whitening import Whitening
from likely.stats import Scatter
from likely.stats.protocol import NOISE

if TYPE_CHECKING:
    from likely.families.multivariate import MultivariateGaussian

LEAST_LEFT = 0.5
"""A row that takes more than this share of the scatter in its direction along is settled anew."""

Places = NDArray[np.int64]

MostScored = Callable[[slice, Array], Places]
"""Adds the evidence of a block of rows, and says which of them (counted from the start of the block) it could not."""


def leave_most_out(
    belief: MultivariateGaussian, seen: Scatter, rows: LeftOut, settings: Settings, cells: Callable[[slice], Array]
) -> MostScored | None:
    """Judge the rows without themselves; None where gaps, floors or shrinkage keep the matrix from being S alone."""
    if belief.lower is None or settings.covariance == "shrunk" or not _is_plain(belief, seen, settings):
        return None
    whole = Whitening.of(belief.margins, belief.lower, last=False)
    correct = (_Pooled if settings.covariance == "pooled" else _Own).of(seen, whole, settings)

    def score(block: slice, joint: Array) -> Places:
        y, weight = rows.y[block], rows.weight[block]
        evidence = np.zeros_like(joint)
        cannot = whole.add(cells(block), evidence)
        distances = 2.0 * (whole.log_peak - evidence)
        n = seen.moments.n[y, 0]
        with np.errstate(all="ignore"):  # what is not finite is left over
            left = correct.without_own(distances, y, n, weight, evidence)
        cannot |= ~(left > LEAST_LEFT) | (n - weight <= 2.0 + NOISE)
        joint[~cannot] += evidence[~cannot]
        return np.flatnonzero(cannot)

    return score


def _is_plain(belief: MultivariateGaussian, seen: Scatter, settings: Settings) -> bool:
    """Whether the settled matrices are those of the data, with room below them before a floor is reached."""
    n = seen.moments.n
    if belief.lower is None or seen.pairs is not None or (n <= 2.0).any() or (n != n[:, :1]).any():
        return False
    own = seen.moments.deviation(unbiased=settings.unbiased)
    whole = seen.moments.pooled().deviation(unbiased=False)
    spread = belief.margins.deviation if settings.covariance == "pooled" else own
    if not (np.square(spread) > 8.0 * settings.variance_floor * np.square(whole)).all():
        return False
    return all(far_from_singular(factor, 8.0 * settings.variance_floor) for factor in belief.lower)


@dataclass(frozen=True, slots=True)
class _Own:
    """Each class has its own matrix: only the row's own class changes."""

    unbiased: float
    n_columns: int

    @classmethod
    def of(cls, seen: Scatter, whole: Whitening, settings: Settings) -> _Own:
        return cls(float(settings.unbiased), seen.moments.n.shape[1])

    def without_own(self, distances: Array, y: NDArray[np.int32], n: Array, weight: Array, evidence: Array) -> Array:
        """Put the row's own class right; what is left of the scatter in the row's direction, as a share."""
        here, degrees = np.arange(len(y)), n - self.unbiased
        own = distances[here, y]
        fewer = degrees - weight
        left = 1.0 - weight * n / (n - weight) * own / degrees
        grown = np.square(n / (n - weight)) * own * (fewer / degrees) / left
        evidence[here, y] += 0.5 * (own - grown - np.log(left) - self.n_columns * np.log(degrees / fewer))
        return left


@dataclass(frozen=True, slots=True)
class _Pooled:
    """All classes share a matrix, so that each of them changes; products follow from distances between the means."""

    degrees: float
    n_columns: int
    between: Array

    @classmethod
    def of(cls, seen: Scatter, whole: Whitening, settings: Settings) -> _Pooled:
        n = seen.moments.n[:, 0]
        points = (whole.mean - whole.mean[0]) * whole.precision[0] @ whole.turn[0]
        between = np.square(points[:, None] - points[None]).sum(axis=2)
        return cls(float(n.sum() - len(n) * settings.unbiased), seen.moments.n.shape[1], between)

    def without_own(self, distances: Array, y: NDArray[np.int32], n: Array, weight: Array, evidence: Array) -> Array:
        """The same, for all classes."""
        here, fewer = np.arange(len(y)), self.degrees - weight
        own = distances[here, y]
        share = weight * n / (n - weight) / self.degrees
        left = 1.0 - share * own
        products = 0.5 * (own[:, None] + distances - self.between[y])
        new = distances + (share / left)[:, None] * np.square(products)
        new[here, y] = np.square(n / (n - weight)) * own / left
        new *= (fewer / self.degrees)[:, None]
        evidence += 0.5 * (distances - new)
        evidence -= 0.5 * (np.log(left) + self.n_columns * np.log(self.degrees / fewer))[:, None]
        return left
