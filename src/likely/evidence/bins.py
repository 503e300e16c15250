"""Bins of a numeric column: where to cut, so that a frequent value stands alone and the rest come in equal shares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
