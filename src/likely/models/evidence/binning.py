"""Fit the encoding of a table to its summary: bins of numbers, codes of categories. Labels play no part in it.

A summary adds up, so bins do not depend on how the rows were divided while they were counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, UInt8
from likely.errors import DataError
from likely.models.evidence.columns import MANY_ROWS, BinCounts, Column, NominalColumn, NumericColumn
from likely.models.evidence.encoding import Encoding
from likely.stats import Histogram, Part, Statistic, Summary, ValueCounts
from likely.stats.binning import cuts_between, equal_frequency_bins
from likely.stats.protocol import NOISE
from likely.table.schema import Schema

MAX_BINS = 250
"""Bins, gap and code 0 of a column go into one byte."""

MAX_LEVELS = 200
MAX_COARSE_LEVELS = 15
MAX_TINY_LEVELS = 6
"""In a triple a category has at most 6 codes and those of rest, gap and 0; a number in n = 6 bins at most 2n + 1
(`equal_frequency_bins` has one bin too many before, between and behind n heavy atoms), gap and 0."""

PAIR_RANK, PAIR_RANK_OF_MANY = 5, 7
"""Rank of the basis of a number in a pair, with few and with many rows."""


def fit_encoding(summary: Summary, schema: Schema) -> Encoding:
    """Columns of a schema that are no texts, in as many bins as the number of rows allows.

    A row counts once here, whatever its weight: weights move cuts, they do not make bins finer.
    """
    n_rows = summary.n_rows
    n_bins = BinCounts.for_rows(n_rows)
    columns = (fit_column(name, summary, n_bins) for name in schema.features if schema.kinds[name] != "text")
    return Encoding(tuple(columns), PAIR_RANK_OF_MANY if n_rows >= MANY_ROWS else PAIR_RANK)


def fit_column(name: str, summary: Summary, n_bins: BinCounts) -> Column:
    """One column, from its histogram or from the counts of its values."""
    counted = column_counts(name, summary)
    if isinstance(counted, Histogram):
        return numeric_column(name, counted, gap_weights(counted.known, summary), n_bins)
    if isinstance(counted, ValueCounts):
        return nominal_column(name, counted, gap_weights(counted.counts.sum(axis=1), summary))
    raise DataError(f"what was counted of {name!r} cannot be cut into bins")


def column_counts(name: str, summary: Summary) -> Statistic | None:
    """What was counted of one column that is no text."""
    histogram = summary.parts.get(Part("histogram", (name,)))
    return summary.parts.get(Part("values", (name,))) if histogram is None else histogram


def gap_weights(known: Array, summary: Summary) -> Array:
    """Weight of the gaps of a column in each class; exactly 0 where only rounding is left."""
    weights = summary.classes.weights
    return np.where(weights - known > NOISE * weights, weights - known, 0.0)


def numeric_column(name: str, histogram: Histogram, gaps: Array, n_bins: BinCounts) -> NumericColumn:
    """Neighbouring cells of a histogram in bins of about equal weight; a cut lies between two cells, never within."""
    cell_mass = np.asarray(histogram.counts.sum(axis=0))
    bins = equal_frequency_bins(cell_mass, n_bins.fine)
    for fewer in range(n_bins.fine, 1, -10):
        if not len(bins) or bins[-1] < MAX_BINS:
            break
        bins = equal_frequency_bins(cell_mass, fewer)
    lows, highs = histogram.lows(), histogram.highs()
    mass = np.bincount(bins, weights=cell_mass).astype(np.float64)
    with np.errstate(over="ignore"):
        middles = lows + 0.5 * (highs - lows)
        # Divided by a power of two, which is exact, no sum overflows.
        _, exponent = np.frexp(np.abs(middles).max(initial=0.0))
        means = np.ldexp(np.bincount(bins, weights=np.ldexp(middles, -exponent) * cell_mass) / mass, exponent)
    missing = float(gaps.sum())
    coarse, tiny = (_grouping(1 + equal_frequency_bins(mass, n), missing > 0.0) for n in (n_bins.coarse, n_bins.tiny))
    if missing > 0.0:
        mass = np.append(mass, missing)
    return NumericColumn(name, cuts_between(lows, highs, bins), means, mass, coarse, tiny, missing > 0.0)


def nominal_column(name: str, counted: ValueCounts, gaps: Array) -> NominalColumn:
    """Categories by descending frequency; those that are as frequent stay in their order."""
    counts = np.asarray(counted.counts.sum(axis=0))
    order = np.argsort(-counts, kind="stable")
    frequent, rare = order[:MAX_LEVELS], order[MAX_LEVELS:]
    mass = counts[frequent]
    if len(rare):
        mass = np.append(mass, counts[rare].sum())
    codes, missing = np.arange(1, len(mass) + 1), float(gaps.sum())
    coarse, tiny = (
        _grouping(np.minimum(codes, limit + 1), missing > 0.0) for limit in (MAX_COARSE_LEVELS, MAX_TINY_LEVELS)
    )
    if missing > 0.0:
        mass = np.append(mass, missing)
    levels, rare_levels = (tuple(counted.values[k] for k in some) for some in (frequent, rare))
    return NominalColumn(name, levels, rare_levels, mass, coarse, tiny, missing > 0.0)


def _grouping(groups: NDArray[np.intp], gap: bool) -> UInt8:
    """The group of every code: 0 of code 0, then groups from 1 on, last that of the gap."""
    last = [int(groups.max(initial=0)) + 1] if gap else []
    return np.concatenate([[0], groups, last]).astype(np.uint8)
