"""How much smoothing suits a column: the γ under which the rows are most likely, each judged without itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from likely.families.choosing import leave_one_out_shares
from likely.families.protocol import Settings
from likely.families.smoothing import Laplace
from likely.stats import FeatureCounts, Histogram, Part, Presence, Statistic, Summary, TokenCounts, ValueCounts
from likely.stats.cutting import cut

Array = NDArray[np.float64]

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
    if isinstance(seen, ValueCounts):
        return {part.columns[0]: Laplace(best_gamma(seen.counts))}
    if isinstance(seen, Histogram):
        binning = cut(seen, settings.bins)
        counts = np.stack([seen.counts[:, binning.of_cell == k].sum(axis=1) for k in range(len(binning))], axis=1)
        return {part.columns[0]: Laplace(best_gamma(counts))}
    if isinstance(seen, Presence):
        present = seen.present.dense()
        absent = np.maximum(weights[:, None] - seen.gaps.dense() - present, 0.0)
        tables = np.stack([present, absent], axis=2)
        return {name: Laplace(best_gamma(tables[:, place])) for place, name in enumerate(part.columns)}
    if isinstance(seen, FeatureCounts):
        return dict.fromkeys(part.columns, Laplace(best_gamma(seen.dense())))
    if isinstance(seen, TokenCounts):
        return {part.columns[0]: Laplace(best_gamma(seen.counts.dense()))}
    return {}
