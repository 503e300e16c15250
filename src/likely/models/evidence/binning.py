"""Bins of a numeric column: where to cut, so that a frequent value stands alone and the rest come in equal shares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, UInt8
from likely.errors import DataError
from likely.models.evidence.columns import MANY_ROWS, Column, Fineness, NominalColumn, NumericColumn
from likely.models.evidence.encoding import Encoding
from likely.stats import Histogram, Part, Statistic, Summary, ValueCounts
from likely.stats.protocol import NOISE
from likely.table.schema import Schema

SMALLEST_SHARE = 0.1
"""A bin has at least this part of an equal share of the rows."""


def group(mass: Array, n_bins: int) -> NDArray[np.intp]:
    """The bin of each atom, neighbours together: heavy atoms alone, the others in about equal shares."""
    n_bins, total = max(n_bins, 1), float(mass.sum())
    if len(mass) <= 1:
        return np.zeros(len(mass), dtype=np.intp)
    heavy = mass >= total / n_bins
    rest = float(mass[~heavy].sum())
    share = rest / max(n_bins - int(heavy.sum()), 1)
    bins = np.empty(len(mass), dtype=np.intp)
    last = -1
    for start, stop in _runs(heavy):
        if heavy[start]:
            bins[start:stop] = last + 1 + np.arange(stop - start)
        else:
            run = mass[start:stop]
            within = max(round(float(run.sum()) / share), 1) if share > 0.0 else 1
            middle = (np.cumsum(run) - 0.5 * run) / run.sum()
            bins[start:stop] = last + 1 + _dense((middle * within).astype(np.intp))
        last = int(bins[stop - 1])
    return _without_slivers(bins, mass, SMALLEST_SHARE * total / n_bins)


def cuts_between(lows: Array, highs: Array, bins: NDArray[np.intp]) -> Array:
    """Half way between the highest float of each bin's last atom and the lowest of the next bin's first one."""
    ends = np.flatnonzero(np.diff(bins))
    low, high = highs[ends], lows[ends + 1]
    with np.errstate(over="ignore"):
        cuts = low + 0.5 * (high - low)
    return np.asarray(np.where(cuts < high, cuts, low))  # neighbouring floats have nothing between them


def _runs(heavy: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(heavy.astype(np.int8))) + 1
    bounds = [0, *edges.tolist(), len(heavy)]
    return list(pairwise(bounds))


def _dense(bins: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same steps, numbered from 0 without holes."""
    return np.concatenate([[0], np.cumsum(np.diff(bins) > 0)]).astype(np.intp)


def _without_slivers(bins: NDArray[np.intp], mass: Array, least: float) -> NDArray[np.intp]:
    """Join a bin that is too small to its lighter neighbour, from the left to the right."""
    sizes = np.bincount(bins, weights=mass).tolist()
    owner = list(range(len(sizes)))
    kept: list[int] = []
    for k, size in enumerate(sizes):
        if size < least and kept and (k + 1 == len(sizes) or sizes[kept[-1]] <= sizes[k + 1]):
            owner[k] = kept[-1]
            sizes[kept[-1]] += size
        elif size < least and k + 1 < len(sizes):
            sizes[k + 1] += size
            owner[k] = -1  # goes with the next one
        else:
            kept.append(k)
    for k in range(len(owner) - 2, -1, -1):
        if owner[k] == -1:
            owner[k] = owner[k + 1]
    return _dense(np.array(owner, dtype=np.intp)[bins])


# Bins and categories, settled from what was counted: a summary adds up, so its bins do not depend on who counted.

MOST_BINS = 250
"""Bins, gap and "nothing" of a column go into one byte."""

MOST_LEVELS = 200
COARSE_LEVELS = 15
TINY_LEVELS = 6
"""In a triple a category has at most 6 codes and those of rest, gap and "nothing"; a number in n = 6 bins at most
2n + 1 (`bins.group` puts no more than one bin too many before, between and behind n heavy atoms), gap and "nothing"."""

RANK, RANK_OF_MANY = 5, 7
"""The most that a number may have in a pair, with few and with many rows."""


def frame_of(summary: Summary, schema: Schema) -> Encoding:
    """The columns of a schema that are no texts, cut as fine as the number of rows bears; labels play no part in it.

    A row counts once here, whatever its weight: weights move cuts, they do not make bins finer.
    """
    n_rows = summary.n_rows
    fine = Fineness.of(n_rows)
    columns = (column_of(name, summary, fine) for name in schema.features if schema.kinds[name] != "text")
    return Encoding(tuple(columns), RANK_OF_MANY if n_rows >= MANY_ROWS else RANK)


def column_of(name: str, summary: Summary, fine: Fineness) -> Column:
    """One column, from the cells of its histogram or from its values."""
    seen = counted_of(name, summary)
    if isinstance(seen, Histogram):
        return numeric_column(name, seen, gaps_beside(seen.known, summary), fine)
    if isinstance(seen, ValueCounts):
        return nominal_column(name, seen, gaps_beside(seen.counts.sum(axis=1), summary))
    raise DataError(f"what was counted of {name!r} cannot be cut into bins")


def counted_of(name: str, summary: Summary) -> Statistic | None:
    """What was counted of one column that is no text."""
    histogram = summary.parts.get(Part("histogram", (name,)))
    return summary.parts.get(Part("values", (name,))) if histogram is None else histogram


def gaps_beside(known: Array, summary: Summary) -> Array:
    """Weight of each class in which a column is not known: exactly none where only rounding is left."""
    weights = summary.classes.weights
    return np.where(weights - known > NOISE * weights, weights - known, 0.0)


def numeric_column(name: str, seen: Histogram, gaps: Array, fine: Fineness) -> NumericColumn:
    """Neighbouring cells in bins of about equal weight; a cut lies between two cells, never within one."""
    mass = np.asarray(seen.counts.sum(axis=0))
    bins = group(mass, fine.bins)
    for fewer in range(fine.bins, 1, -10):
        if not len(bins) or bins[-1] < MOST_BINS:
            break
        bins = group(mass, fewer)
    lows, highs = seen.lows(), seen.highs()
    mass_of = np.bincount(bins, weights=mass).astype(np.float64)
    with np.errstate(over="ignore"):
        middles = lows + 0.5 * (highs - lows)
        # Divided by a power of two, which loses nothing, no sum leaves the floats.
        _, exponent = np.frexp(np.abs(middles).max(initial=0.0))
        means = np.ldexp(np.bincount(bins, weights=np.ldexp(middles, -exponent) * mass) / mass_of, exponent)
    missing = float(gaps.sum())
    coarse, tiny = (_grouped(1 + group(mass_of, n), missing > 0.0) for n in (fine.coarse, fine.tiny))
    if missing > 0.0:
        mass_of = np.append(mass_of, missing)
    return NumericColumn(name, cuts_between(lows, highs, bins), means, mass_of, coarse, tiny, missing > 0.0)


def nominal_column(name: str, seen: ValueCounts, gaps: Array) -> NominalColumn:
    """Categories by how often they were met; those that are as frequent stay in their order."""
    counts = np.asarray(seen.counts.sum(axis=0))
    order = np.argsort(-counts, kind="stable")
    often, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
    mass = counts[often]
    if len(rare):
        mass = np.append(mass, counts[rare].sum())
    places, missing = np.arange(1, len(mass) + 1), float(gaps.sum())
    coarse, tiny = (_grouped(np.minimum(places, most + 1), missing > 0.0) for most in (COARSE_LEVELS, TINY_LEVELS))
    if missing > 0.0:
        mass = np.append(mass, missing)
    levels, others = (tuple(seen.values[k] for k in some) for some in (often, rare))
    return NominalColumn(name, levels, others, mass, coarse, tiny, missing > 0.0)


def _grouped(groups: NDArray[np.intp], gap: bool) -> UInt8:
    """Groups counted from 1, with 0 for what says nothing before them, and the gap behind them."""
    last = [int(groups.max(initial=0)) + 1] if gap else []
    return np.concatenate([[0], groups, last]).astype(np.uint8)
