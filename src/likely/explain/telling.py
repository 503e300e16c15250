"""The most telling values: which categories and words speak most for each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.stats import Summary, TokenCounts, ValueCounts

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

MOST_CELLS = 1 << 22
"""Classes × words that are looked at at once."""


def telling_values(summary: Summary, per_class: int = 5) -> pd.DataFrame:
    """For each class the values and words that tell most about it: class, column, value, weight, share, elsewhere.

    Ordered by P(value, class) · log (P(value | class) / P(value | others)): a value tells much if it is common in
    the class and rare elsewhere. `share` and `elsewhere` are the two shares, without smoothing; a word's share
    is that of the texts that hold it.
    """
    import pandas as pd

    found: list[list[tuple[float, tuple[Any, ...]]]] = [[] for _ in range(len(summary.classes))]
    labels = summary.classes.labels.tolist()
    for name, values, counts, totals in _tables(summary):
        score, here, elsewhere = _weighed(counts, totals, float(summary.classes.weights.sum()))
        for c, label in enumerate(labels):
            order = np.argsort(-score[c], kind="stable")[:per_class]
            for v in order[score[c, order] > 0.0]:
                line = (label, name, values[v], float(counts[c, v]), float(here[c, v]), float(elsewhere[c, v]))
                found[c].append((float(score[c, v]), line))
    lines = [line for own in found for _, line in sorted(own, key=lambda entry: -entry[0])[:per_class]]
    return pd.DataFrame(lines, columns=["class", "column", "value", "weight", "share", "elsewhere"])


def _tables(summary: Summary) -> Iterator[tuple[str, Sequence[Any], Array, Array]]:
    """Column, values, classes × values, and the weight of each class in which the column is known."""
    for part, seen in summary.parts.items():
        if isinstance(seen, ValueCounts) and len(seen.values):
            yield part.columns[0], seen.values, seen.counts, seen.counts.sum(axis=1)
        elif isinstance(seen, TokenCounts) and len(seen.words):
            step = max(MOST_CELLS // max(len(summary.classes), 1), 1)
            for start in range(0, len(seen.words), step):
                places = np.arange(start, min(start + step, len(seen.words)))
                words = seen.words.take(places).to_list()
                yield part.columns[0], words, seen.documents.select(places).dense(), seen.texts


def _weighed(counts: Array, totals: Array, rows: float) -> tuple[Array, Array, Array]:
    """How much each value tells about each class, its share there, and its share in all other classes."""
    others, rest = counts.sum(axis=0) - counts, totals.sum() - totals
    here = np.divide(counts, totals[:, None], out=np.zeros_like(counts), where=totals[:, None] > 0.0)
    elsewhere = np.divide(others, rest[:, None], out=np.zeros_like(counts), where=rest[:, None] > 0.0)
    # Half a row more on both sides: what was never seen elsewhere is rare, not impossible.
    ratio = np.log((counts + 0.5) / (totals[:, None] + 1.0)) - np.log((others + 0.5) / (rest[:, None] + 1.0))
    return counts / max(rows, 1.0) * ratio, here, np.maximum(elsewhere, 0.0)
