"""Columns by any measure of a class × value table, not by mutual information alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.explain.outcomes import outcomes_of
from likely.measures import MEASURES, measure_named
from likely.stats import Histogram, Moments, PairCounts, Scatter, Summary, ValueCounts

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

N_BINS = 10
"""A column of numbers is cut into so many intervals of equal weight."""


def rank_by(model: Model, summary: Summary, by: str | None = None) -> pd.DataFrame:
    """One line per column and one column per measure, the best first by one of them.

    Categories are measured by their counts. Numbers are cut into ten intervals of equal weight, whose counts
    are those of bins or follow from the settled densities; words and counts of words have no such table and are left
    out. A column with gaps counts for the share of rows in which it is known.
    """
    import pandas as pd

    order = measure_named(by or "information_gain").name
    rows = float(summary.classes.weights.sum())
    lines = [
        {"column": name, **{what: measure(table, total=max(rows, table.sum())) for what, measure in MEASURES.items()}}
        for name, table in class_value_tables(model, summary).items()
    ]
    frame = pd.DataFrame(lines, columns=["column", *MEASURES])
    return frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)


def class_value_tables(model: Model, summary: Summary) -> dict[str, Array]:
    """Classes × values of every column that has such a table."""
    found: dict[str, Array] = {}
    for part, seen in summary.parts.items():
        if isinstance(seen, ValueCounts):
            found[part.columns[0]] = seen.counts
            continue
        if isinstance(seen, Histogram):
            found[part.columns[0]] = _binned(seen.counts)
            continue
        if isinstance(seen, PairCounts):
            found |= {name: seen.single(place) for place, name in enumerate(part.columns)}
            continue
        moments = seen.moments if isinstance(seen, Scatter) else seen
        if not isinstance(moments, Moments):
            continue
        for belief in model.beliefs:
            for name in [name for name in part.columns if name in belief.columns]:
                outcomes = outcomes_of(belief, name, len(model.classes))
                if outcomes is not None:
                    weights = moments.n[:, part.columns.index(name)]
                    found[name] = _binned(weights[:, None] * outcomes.shares.T)
    return {name: found[name] for name in model.columns if name in found}


def _binned(fine: Array) -> Array:
    """Neighbouring values taken together, so that each group has about the same weight in all."""
    weight = fine.sum(axis=0)
    total = float(weight.sum())
    if fine.shape[1] <= N_BINS or total <= 0.0:
        return fine
    place = np.minimum(((np.cumsum(weight) - 0.5 * weight) / total * N_BINS).astype(np.intp), N_BINS - 1)
    return np.stack([np.bincount(place, line, N_BINS) for line in fine])
