"""Which columns tell most about the class: in general, and on given rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.errors import SettingsError, listed
from likely.explain.contrast import Contrast
from likely.explain.explanation import Explanation
from likely.explain.outcomes import outcomes_of
from likely.explain.sides import sides_of
from likely.information import entropy
from likely.measures import information_gain, information_gains
from likely.stats import (
    FeatureCounts,
    Histogram,
    Moments,
    PairCounts,
    Part,
    Presence,
    Scatter,
    Statistic,
    Summary,
    TokenCounts,
    ValueCounts,
)
from likely.stats.telling import information_by_word

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

ORDERS = ("information", "contribution")
CELLS_AT_ONCE = 1 << 22


def rank(model: Model, summary: Summary, why: Explanation | None = None, by: str | None = None) -> pd.DataFrame:
    """One line per column, best first: bits about the class, their share of all there are, mean contribution.

    *information* is the mutual information of column and class, in bits, times the share of rows in which the
    column is known: from the counts for categories, for presence and for what is counted in pairs, by integrating the
    settled densities for other numbers. Counts that compete are asked occurrence by occurrence: is it this word or
    another? A text column tells at least as much as the presence of its most telling word, and that is its figure;
    `rank_words` lists them all.

    *contribution*, if rows are given, is the mean size of the log-odds, in nats, by which the column moves each
    row's most probable class against the rest.
    """
    import pandas as pd

    if by is not None and by not in (ORDERS if why is not None else ORDERS[:1]):
        extra = " Give rows to rank by contribution." if by in ORDERS else ""
        raise SettingsError(f"by is {by!r}, but it is one of {listed(ORDERS)}.{extra}")
    bits = information_by_column(model, summary)
    total = entropy(_shares(summary.classes.weights))
    lines = {
        "column": list(bits),
        "information": list(bits.values()),
        "share": [value / total if total > 0.0 else 0.0 for value in bits.values()],
    }
    frame = pd.DataFrame(lines)
    if why is not None:
        frame["contribution"] = frame["column"].map(contribution_by_column(why)).fillna(0.0)
    return frame.sort_values(by or "information", ascending=False, kind="stable", ignore_index=True)


def information_by_column(model: Model, summary: Summary) -> dict[str, float]:
    """Mutual information of each column with the class, in bits."""
    weights = summary.classes.weights
    found: dict[str, float] = {}
    for part, seen in summary.parts.items():
        found |= _of_part(part, seen, weights, model)
    return {name: found[name] for name in model.columns if name in found}


def contribution_by_column(why: Explanation) -> dict[str, float]:
    """Mean size of each column's log-odds for the most probable class of every row against the rest."""
    if len(why.classes) < 2 or not len(why):
        return dict.fromkeys(why.columns, 0.0)
    best = why.posterior.argmax(axis=1)
    sizes = np.zeros(len(why.columns))
    for place in np.unique(best):
        rows = np.flatnonzero(best == place)
        some = Explanation(why.classes, why.columns, (), why.prior, why.contributions[rows])
        sizes += np.abs(Contrast.of(some, *sides_of(why.classes[place], why.classes)).contributions).sum(axis=0)
    return dict(zip(why.columns, (sizes / len(why)).tolist(), strict=True))


def _of_part(part: Part, seen: Statistic, weights: Array, model: Model) -> Mapping[str, float]:
    if isinstance(seen, ValueCounts):
        return {part.columns[0]: information_gain(seen.counts) * _known(seen.counts.sum(), weights)}
    if isinstance(seen, PairCounts):
        tables = [(name, seen.single(place)) for place, name in enumerate(part.columns)]
        return {name: information_gain(table) * _known(table.sum(), weights) for name, table in tables}
    if isinstance(seen, TokenCounts):
        best = float(information_by_word(seen).max(initial=0.0))
        return {part.columns[0]: best * _known(seen.texts.sum(), weights)}
    if isinstance(seen, Presence):
        return _named(part, _of_presence(seen, weights))
    if isinstance(seen, FeatureCounts):
        return _named(part, _of_occurrences(seen))
    found = {}
    for belief in model.beliefs:
        for name in set(belief.columns) & set(part.columns):
            outcomes = outcomes_of(belief, name, len(model.classes))
            if outcomes is not None:
                known = _known_weights(seen, part.columns.index(name), weights)
                table = _shares(known)[:, None] * outcomes.shares.T
                found[name] = information_gain(table) * _known(known.sum(), weights)
    return found


def _known_weights(seen: Statistic, place: int, weights: Array) -> Array:
    """Weight of each class's rows in which a numeric column is known."""
    if isinstance(seen, Histogram):
        return seen.known
    moments = seen.moments if isinstance(seen, Scatter) else seen
    return moments.n[:, place] if isinstance(moments, Moments) else weights


def _of_presence(seen: Presence, weights: Array) -> Array:
    present = seen.present.dense()
    known = np.maximum(weights[:, None] - seen.gaps.dense(), 0.0)
    tables = np.stack([present, np.maximum(known - present, 0.0)], axis=-1).swapaxes(0, 1)
    return np.asarray(information_gains(tables) * known.sum(axis=0) / max(weights.sum(), np.finfo(float).tiny))


def _of_occurrences(seen: FeatureCounts) -> Array:
    """Bits per occurrence, block by block of columns: the table of counts may be sparse and wide."""
    totals, n_columns = seen.class_sums(), seen.shape[1]
    step = max(CELLS_AT_ONCE // max(2 * len(totals), 1), 1)
    parts = []
    for start in range(0, n_columns, step):
        counts = seen.select(np.arange(start, min(start + step, n_columns))).dense()
        tables = np.stack([counts, np.maximum(totals[:, None] - counts, 0.0)], axis=-1).swapaxes(0, 1)
        parts.append(information_gains(tables))
    return np.concatenate(parts) if parts else np.zeros(0)


def _named(part: Part, values: Array) -> dict[str, float]:
    return dict(zip(part.columns, values.tolist(), strict=True))


def _known(known: float, weights: Array) -> float:
    total = float(weights.sum())
    return min(float(known) / total, 1.0) if total > 0.0 else 0.0


def _shares(weights: Array) -> Array:
    total = weights.sum()
    return np.asarray(weights / total if total > 0.0 else np.full(len(weights), 1.0 / max(len(weights), 1)))
