"""Which family suits a column of numbers: the one under which the rows are most likely, each judged without itself.

All that is needed is the histogram of the column. Its cells stand for the numbers in them (for up to 2,048 distinct
numbers they are the numbers), and taking one row out of a class changes counts and moments in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from likely.arrays import Array
from likely.families.bins import OwnBins
from likely.families.gaussian import LOG_ROOT_TAU
from likely.families.leave_one_out import less
from likely.families.poisson import log_poisson
from likely.families.protocol import LeftOut, Settings
from likely.families.smoothing import Laplace
from likely.stats import HasShares, Histogram, Moments, Part, Statistic, Summary
from likely.table import as_table

CANDIDATES = ("gaussian", "lognormal", "poisson", "bins")
"""In the order in which ties are broken: what is simpler comes first."""

FEWEST = 3.0
"""Classes with less weight have no spread of their own once a row is gone; they are not asked."""


LEAST = 1e-30
"""A share of the whole variance below which no class is believed to lie, whatever the user says."""


def likelihoods(column: str, seen: Histogram, settings: Settings) -> dict[str, float]:
    """Mean log density of a row in its class for every family that can hold the column's numbers, in nats."""
    classes = np.flatnonzero(seen.known >= FEWEST)
    few = seen.take_classes(classes)
    cells = few.counts.any(axis=0)
    few = Histogram(few.shift, few.cells[cells], few.counts[:, cells])
    values, counts = 0.5 * few.lows() + 0.5 * few.highs(), few.counts
    if counts.size == 0 or len(values) < 2:
        return {"gaussian": 0.0}
    found = {"gaussian": _bells(values, counts, settings)}
    if values[0] > 0.0:
        found["lognormal"] = _bells(np.log(values), counts, settings) - float(np.log(values) @ counts.sum(axis=0))
    if values[0] >= 0.0 and few.shift == 0 and (values % 1.0 == 0.0).all():
        found["poisson"] = _rates(values, counts, settings.smoothing_of(column).pseudo_rows)
    found["bins"] = _bins(column, few, settings)
    return {name: found[name] / float(counts.sum()) for name in CANDIDATES if name in found}


def best_of(found: dict[str, float]) -> str:
    """The likeliest family; the simplest of equals."""
    return max(found, key=lambda name: found[name])


def _bells(values: Array, counts: Array, settings: Settings) -> float:
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
    density = -LOG_ROOT_TAU - 0.5 * np.log(np.where(spread > 0.0, spread, 1.0)) - 0.5 * np.minimum(z, 1e100)
    return float((counts * density).sum() - exponent * np.log(2.0) * counts.sum())


def _rates(values: Array, counts: Array, extra: float) -> float:
    """Σ log P(count) under rates, each row without itself."""
    n, total = counts.sum(axis=1, keepdims=True), counts @ values
    overall = float(total.sum() / n.sum())
    rate = (np.maximum(total[:, None] - values, 0.0) + extra * overall) / (n - 1.0 + extra)
    told = np.maximum(log_poisson(values, rate), -1e100)
    return float((counts * told).sum())


def _bins(column: str, seen: Histogram, settings: Settings) -> float:
    """Σ log density in bins, each row without itself."""
    n_cells, weights = len(seen.cells), seen.known
    rows = LeftOut(
        as_table({column: seen.lows()}), np.zeros(n_cells, dtype=np.int32), np.ones(n_cells), np.asarray(weights)
    )
    _, own, places = OwnBins(seen, rows, settings, column, None).lines(np.arange(n_cells, dtype=np.int32))
    return float((seen.counts.T * np.maximum(own[places], -1e100)).sum())


def leave_one_out_shares(counts: Array, gamma: float) -> float:
    """Σ count · log((count − 1 + γ) / (total − 1 + γ · values)) over classes × values."""
    one = np.minimum(counts, 1.0)
    top = less(counts, one) + gamma
    bottom = less(np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape), one) + gamma * counts.shape[1]
    return float((counts * np.log(top / bottom)).sum())


# How much smoothing suits a column: the γ under which the rows are most likely, each judged without itself.

GAMMAS = tuple(2.0 ** (step / 2) for step in range(-14, 9))
"""From 1/128 to 16; the largest of equals is taken, for it believes least in few rows."""


def chosen_smoothing(summary: Summary, settings: Settings) -> dict[str, Laplace]:
    """γ of every column whose family adds it to counts; columns of one statistic that compete share one."""
    found: dict[str, Laplace] = {}
    for part, seen in summary.parts.items():
        found |= _of_part(part, seen, summary.classes.weights, settings)
    return found


def best_gamma(counts: Array) -> float:
    """The best γ of a table of classes × values.

    >>> best_gamma(np.array([[50.0, 0.0, 0.0], [0.0, 40.0, 30.0]])), best_gamma(np.array([[9.0, 8.0], [7.0, 8.0]]))
    (0.0078125, 16.0)
    """
    if counts.shape[1] < 2 or not counts.any():
        return 1.0
    told = [leave_one_out_shares(counts, gamma) for gamma in GAMMAS]
    return float(GAMMAS[len(told) - 1 - int(np.argmax(told[::-1]))])


def _of_part(part: Part, seen: Statistic, weights: Array, settings: Settings) -> Mapping[str, Laplace]:
    if not isinstance(seen, HasShares):
        return {}
    found = [Laplace(best_gamma(table)) for table in seen.share_tables(weights, settings.bins)]
    each = found if len(found) == len(part.columns) else found * len(part.columns)
    return dict(zip(part.columns, each, strict=True))
