"""What a column may turn out to be under each class: exact for categories and counts, by quadrature for densities."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Array
from likely.table import Table, as_table

if TYPE_CHECKING:
    import pandas as pd

BlockScorer = Callable[[slice, Array], None]
"""Adds the log-likelihood of a block of rows under every class to the log joint of that block."""

REACH = 8.0
"""Deviations to either side that are integrated over: what lies beyond is below 1e-15."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Values (ascending, if they are numbers) and P(value | class) as values × classes; each class sums to one.

    For a density, `density` holds it, and `shares` what falls to each value's neighbourhood. With `edges` the density
    is flat between these, and the values are both ends of every step.
    """

    values: Sequence[Hashable] | Array
    shares: Array
    density: Array | None = None
    edges: Array | None = None

    @classmethod
    def of_counts(
        cls, bind: Callable[[Table], BlockScorer], column: str, n_classes: int, low: float, high: float, points: int
    ) -> Outcomes:
        """Of a family of whole numbers, from `low` to `high`; every so many of them where these are too many."""
        steps = np.linspace(low, high, int(min(high - low + 1, points)))
        values = np.unique(np.round(steps)).astype(np.float64)
        shares = np.exp(log_likelihood(bind, column, values, n_classes))
        thinned = len(values) <= high - low
        return cls(values, normalised(shares * (trapezoid_widths(values)[:, None] if thinned else 1.0)))

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

    def to_frame(self, classes: AnyArray) -> pd.DataFrame:
        """One line per value: its share, or its density, under each class."""
        import pandas as pd

        told = self.shares if self.density is None else self.density
        return pd.DataFrame(told, index=pd.Index(list(self.values), name="value"), columns=classes.tolist())


def log_likelihood(bind: Callable[[Table], BlockScorer], column: str, values: Array, n_classes: int) -> Array:
    """What a family of one column, given by its `bind`, adds for some values (values × classes)."""
    joint = np.zeros((len(values), n_classes))
    bind(as_table({column: values}))(slice(0, len(values)), joint)
    return joint


def trapezoid_widths(values: Array) -> Array:
    """Weights of the trapezoid rule."""
    if len(values) == 1:
        return np.ones(1)
    steps = np.diff(values)
    return np.concatenate([[steps[0]], steps[:-1] + steps[1:], [steps[-1]]]) / 2.0


def normalised(shares: Array) -> Array:
    """Shares that sum to one in each class; even ones where there is nothing."""
    total = shares.sum(axis=0)
    even = np.full_like(shares, 1.0 / max(len(shares), 1))
    return np.asarray(np.divide(shares, total, out=even, where=total > 0.0))
