"""What a column may turn out to be under each class: exact for categories, by quadrature for numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.explain.factors import evidence
from likely.families.bernoulli import Bernoulli
from likely.families.bins import FIRST as FIRST_BIN
from likely.families.bins import Bins
from likely.families.categorical import FIRST, Categorical
from likely.families.gaussian import Gaussian
from likely.families.lognormal import LogNormal
from likely.families.multivariate import MultivariateGaussian
from likely.families.poisson import Poisson
from likely.families.tempered import bare
from likely.scorer import FittedFamily
from likely.table import as_table

if TYPE_CHECKING:
    import pandas as pd

REACH = 8.0
"""Deviations to either side that are integrated over: what lies beyond is below 1e-15."""

FINE, COARSE = 8192, 1024
"""Values for one integral, and where there is one for every row."""

FEWEST_PER_CLASS = 16
MOST_CELLS, FEWEST_POINTS = 1 << 22, 256
"""Values × classes of one integral: with thousands of classes there are fewer values."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Values (ascending, if they are numbers) and P(value | class) as values × classes; each class sums to one.

    For a density, `density` holds it, and `shares` what falls to each value's neighbourhood.
    """

    values: Sequence[Hashable] | Array
    shares: Array
    density: Array | None = None

    @property
    def is_numeric(self) -> bool:
        return isinstance(self.values, np.ndarray)

    def central(self, prior: Array, mass: float) -> tuple[float, float]:
        """The range that holds so much of each class's values, for classes that can happen at all."""
        values = np.asarray(self.values, dtype=np.float64)
        below = np.cumsum(self.shares[:, prior > 0.0], axis=0)
        edge = (1.0 - mass) / 2.0
        low = [values[min(int(np.searchsorted(column, edge)), len(values) - 1)] for column in below.T]
        high = [values[min(int(np.searchsorted(column, 1.0 - edge)), len(values) - 1)] for column in below.T]
        return (min(low), max(high)) if low else (float(values[0]), float(values[-1]))

    def to_frame(self, classes: NDArray[Any]) -> pd.DataFrame:
        """One line per value: its share, or its density, under each class."""
        import pandas as pd

        told = self.shares if self.density is None else self.density
        return pd.DataFrame(told, index=pd.Index(list(self.values), name="value"), columns=classes.tolist())


def outcomes_of(belief: FittedFamily, column: str, n_classes: int, points: int = FINE) -> Outcomes | None:
    """What a belief expects of a column whatever the others hold; a weight that it may have is left aside.

    None where it is no distribution of single cells, as counts of words.
    """
    belief = bare(belief)
    if isinstance(belief, MultivariateGaussian):
        belief = belief.margins
    find = _KINDS.get(type(belief))
    if find is None or column not in belief.columns:
        return None
    return find(belief.only(column), column, n_classes, min(points, max(MOST_CELLS // n_classes, FEWEST_POINTS)))


def density(belief: FittedFamily, column: str, values: Array, n_classes: int) -> Array:
    """log P(value | class) at some values, as values × classes."""
    belief = bare(belief)
    alone = (belief.margins if isinstance(belief, MultivariateGaussian) else belief).only(column)
    return evidence([alone], as_table({column: values}), n_classes)


def _of_categories(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    shares = np.exp(belief.table[FIRST:])
    return Outcomes(belief.values, _normalised(shares))


def _of_presence(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    values = np.array([0.0, 1.0]) if 0.0 <= belief.threshold < 1.0 else belief.threshold + np.array([0.0, 1.0])
    return Outcomes(values, _normalised(np.exp(density(belief, column, values, n_classes))))


def _of_bells(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    values = _bell_grid(belief, points)
    told = np.exp(density(belief, column, values, n_classes))
    return Outcomes(values, _normalised(told * _widths(values)[:, None]), told)


def _of_log_bells(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    logs = _bell_grid(belief.of_logs, points)
    logs = logs[np.abs(logs) < 700.0]
    values, inverse = np.unique(np.exp(logs), return_index=True)
    told = np.exp(density(belief, column, values, n_classes))
    return Outcomes(values, _normalised(told * (values * _widths(logs)[inverse])[:, None]), told)


def _of_bins(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    """Both ends of every bin, with half of its share each: so the values reach as far as the bins do."""
    ends = np.column_stack([belief.edges[:-1], np.nextafter(belief.edges[1:], -np.inf)])
    shares = np.repeat(0.5 * belief.shares(), 2, axis=0)
    return Outcomes(ends.ravel(), _normalised(shares), np.repeat(np.exp(belief.table[FIRST_BIN:]), 2, axis=0))


def _of_counts(belief: Any, column: str, n_classes: int, points: int) -> Outcomes:
    rate = belief.rate[:, 0]
    low = np.floor(np.maximum(rate - REACH * np.sqrt(rate) - REACH, 0.0)).min()
    high = np.ceil(rate + REACH * np.sqrt(rate) + 2.0 * REACH).max()
    steps = np.linspace(low, high, int(min(high - low + 1, points)))
    values = np.unique(np.round(steps)).astype(np.float64)
    shares = np.exp(density(belief, column, values, n_classes))
    return Outcomes(values, _normalised(shares * (_widths(values)[:, None] if len(values) <= high - low else 1.0)))


_KINDS: dict[type, Callable[[Any, str, int, int], Outcomes]] = {
    Bernoulli: _of_presence,
    Bins: _of_bins,
    Categorical: _of_categories,
    Gaussian: _of_bells,
    LogNormal: _of_log_bells,
    Poisson: _of_counts,
}


def _bell_grid(bells: Gaussian, points: int) -> Array:
    """Values that are dense wherever some class is: each class brings its own, in steps of its own deviation."""
    mean, deviation = bells.mean[:, 0], bells.deviation[:, 0]
    if np.isinf(deviation).all():
        return np.array([mean[0]])
    steps = np.linspace(-REACH, REACH, max(points // len(mean), FEWEST_PER_CLASS) | 1)
    values = np.unique(mean[:, None] + deviation[:, None] * steps)
    every = -(-len(values) // (2 * points))
    return values[::every]


def _widths(values: Array) -> Array:
    """Weights of the trapezoid rule."""
    if len(values) == 1:
        return np.ones(1)
    steps = np.diff(values)
    return np.concatenate([[steps[0]], steps[:-1] + steps[1:], [steps[-1]]]) / 2.0


def _normalised(shares: Array) -> Array:
    total = shares.sum(axis=0)
    even = np.full_like(shares, 1.0 / max(len(shares), 1))
    return np.asarray(np.divide(shares, total, out=even, where=total > 0.0))
