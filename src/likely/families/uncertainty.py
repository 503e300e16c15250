"""How sure a family is of what it believes: mean and variance of its log-likelihood over all parameters it may have.

Counts leave the parameters open. Given the counts, shares have a Dirichlet distribution (counts and pseudo-counts are
its parameters), mean and variance of a bell curve a normal-inverse-gamma one (with the prior that says nothing), a
rate a gamma one. Under these, logarithms of shares and densities have means and variances in closed form. `shift` is
the mean less what was settled; it vanishes as rows become many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.special import digamma, polygamma

from likely.arrays import Array, Index
from likely.families.bins import Bins, gaps_of
from likely.families.categorical import keys_of
from likely.families.gaussian import Gaussian
from likely.families.poisson import Poisson
from likely.families.protocol import Settings
from likely.stats import FeatureCounts, Histogram, Moments, Presence, ValueCounts
from likely.stats.binning import cut
from likely.stats.feature_counts import rows_of
from likely.stats.protocol import Matrix
from likely.table import Table
from likely.table.levels import index_levels
from likely.table.table import Numbers, counts_of

Certainty = Callable[[slice, Array, Array], None]
"""Adds shift and variance of the log-likelihood of a block of rows under every class (each rows × classes)."""


def trigamma(a: Array) -> Array:
    """Variance of the logarithm of a gamma variable; 0 where there is nothing, for what is impossible is certain."""
    return np.asarray(polygamma(1, np.where(a > 0.0, a, 1.0)) * (a > 0.0))


def log_bias(a: Array) -> Array:
    """Mean of the logarithm of a gamma variable less the logarithm of its mean."""
    known = np.where(a > 0.0, a, 1.0)
    return np.asarray((digamma(known) - np.log(known)) * (a > 0.0))


def add_lines(a: Array, places: Index, shift: Array, variance: Array) -> None:
    """Shares with the Dirichlet parameters `a` (values × classes); the row's value is `places`, −1 for none."""
    total = a.sum(axis=0)
    known = places >= 0
    shift[known] += (log_bias(a) - log_bias(total))[places[known]]
    variance[known] += (trigamma(a) - trigamma(total))[places[known]]


def add_counts(a: Array, rows: Matrix, shift: Array, variance: Array) -> None:
    """Shares of competing columns (classes × columns): Σ count · log share."""
    total = a.sum(axis=1)
    drawn = np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows**2
    shift += rows @ log_bias(a).T - drawn * log_bias(total)
    variance += np.maximum(squares @ trigamma(a).T - drawn**2 * trigamma(total), 0.0)


def add_presence(yes: Array, no: Array, present: Matrix, known: Array | None, shift: Array, variance: Array) -> None:
    """Shares of presence, column by column (classes × columns); `known` marks cells that are no gaps, None: all."""
    for table, out in ((log_bias, shift), (trigamma, variance)):
        absent = table(no) - table(yes + no)
        more = table(yes) - table(no)
        out += present @ more.T
        out += absent.sum(axis=1) if known is None else known @ absent.T


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


def add_rates(a: Array, b: Array, cells: Array, shift: Array, variance: Array) -> None:
    """Rates with the gamma parameters `a` and `b` (classes × columns)."""
    for column, counts in enumerate(cells.T):
        inside = counts >= 0.0
        x, shape, rate = counts[inside, None], a[:, column], b[:, column]
        shift[inside] += x * log_bias(shape)
        variance[inside] += np.maximum(x**2 * trigamma(shape) - 2.0 * x / rate + shape / rate**2, 0.0) * (shape > 0.0)


def _of_values(
    columns: tuple[str, ...], seen: ValueCounts, weights: Array, settings: Settings, table: Table
) -> Certainty:
    keys, counts = keys_of(seen, weights, settings)
    a = (counts + settings.smoothing_of(columns[0]).pseudo_counts(keys)).T
    column = table.codes(columns[0])
    strange = len(keys) - 1 if settings.unseen == "smooth" else -1
    known = index_levels(column.levels, seen.values)
    gap = len(seen.values) if None in keys else -1
    places = np.append(np.where(known < 0, strange, known), gap)[column.codes]
    return lambda block, shift, variance: add_lines(a, places[block], shift, variance)


def _of_bins(columns: tuple[str, ...], seen: Histogram, weights: Array, settings: Settings, table: Table) -> Certainty:
    belief, binning = Bins.settle(columns, seen, weights, settings), cut(seen, settings.bins)
    counts = np.zeros((len(weights), len(binning)))
    np.add.at(counts.T, binning.of_cell, seen.counts.T)
    gaps = gaps_of(seen, weights, settings)
    counts = counts if gaps is None else np.column_stack([counts, gaps])
    a = (counts + settings.smoothing_of(columns[0]).pseudo_counts(range(counts.shape[1]))).T
    places = belief.places(table.numbers(columns[0])).astype(np.intp)
    places = np.where(places < 0, -1 if gaps is None else len(binning), places)
    return lambda block, shift, variance: add_lines(a, places[block], shift, variance)


def _of_moments(columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings, table: Table) -> Certainty:
    belief, numbers = Gaussian.settle(columns, seen, weights, settings), Numbers.of(table, columns)
    return lambda block, *out: add_bells(seen.n, belief.mean, belief.deviation, numbers.rows(block), *out)


def _of_logs(columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings, table: Table) -> Certainty:
    belief, numbers = Gaussian.settle(columns, seen, weights, settings), Numbers.of(table, columns)

    def spread(block: slice, shift: Array, variance: Array) -> None:
        cells = numbers.rows(block)
        logs = np.log(cells, out=np.full_like(cells, np.nan), where=cells > 0.0)
        add_bells(seen.n, belief.mean, belief.deviation, logs, shift, variance)

    return spread


def _of_rates(columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings, table: Table) -> Certainty:
    belief, numbers = Poisson.settle(columns, seen, weights, settings), Numbers.of(table, columns)
    rows = seen.n + np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
    rows = np.where(rows > 0.0, rows, 1.0)
    return lambda block, *out: add_rates(belief.rate * rows, rows, numbers.rows(block), *out)


def _of_counts(
    columns: tuple[str, ...], seen: FeatureCounts, weights: Array, settings: Settings, table: Table
) -> Certainty:
    a, source = seen.dense() + settings.smoothing_of(columns[0]).pseudo_counts(columns), counts_of(table, columns)

    def spread(block: slice, shift: Array, variance: Array) -> None:
        rows = np.nan_to_num(source.rows(block)) if isinstance(source, Numbers) else rows_of(source, block)
        add_counts(a, rows, shift, variance)

    return spread


def _of_presence(
    columns: tuple[str, ...], seen: Presence, weights: Array, settings: Settings, table: Table
) -> Certainty:
    pseudo = np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns])
    present = seen.present.dense()
    yes, no = present + pseudo[:, 0], weights[:, None] - seen.gaps.dense() - present + pseudo[:, 1]
    source = counts_of(table, columns)

    def spread(block: slice, shift: Array, variance: Array) -> None:
        cells = source.rows(block) if isinstance(source, Numbers) else rows_of(source, block).toarray()
        add_presence(yes, np.maximum(no, 0.0), (cells > 0.0) * 1.0, (~np.isnan(cells)) * 1.0, shift, variance)

    return spread


SPREADS: dict[str, Callable[..., Certainty]] = {
    "bernoulli": _of_presence,
    "bins": _of_bins,
    "categorical": _of_values,
    "gaussian": _of_moments,
    "lognormal": _of_logs,
    "multinomial": _of_counts,
    "poisson": _of_rates,
}
"""Families whose certainty is known, by name."""
