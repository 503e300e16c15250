"""What looks odd: a column that knows too much, gaps that speak, identifiers, data that are not those learned.

Each finding is data (its kind, the column and the figures behind it); the page words it in the reader's language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

import numpy as np

from likely.arrays import Array
from likely.errors import LikelyError
from likely.measures import entropy, information_gain
from likely.stats import Histogram, Statistic, Summary, ValueCounts, moments_of
from likely.table import Table, index_levels
from likely.table.notes import data_notes
from likely.table.schema import Schema

TOO_MUCH = 0.95
"""Share of the class's entropy beyond which a single column is too good to be true."""

GAP_BITS, GAP_LIMIT = 0.01, 30.0
"""A gap speaks if it tells so many bits about the class, and more than chance would (2 · n · nats)."""

DRIFTED = 0.1
"""Bits of the divergence (Jensen and Shannon's) between what was learned and what is there now."""

SHIFTED = 0.5
"""Deviations by which a mean has moved."""

MOST = 30
FEWEST_ROWS = 30


class Finding(TypedDict, total=False):
    """What looks odd about a column: a leak, gaps that speak, drift by so many bits or deviations, an identifier."""

    kind: Literal["leak", "gaps", "drift", "identifier"]
    column: str
    share: float
    shares: Array
    much: float
    bits: float
    moved: float
    mean: float


def suspicions(summary: Summary, bits: Mapping[str, float], data: Table | None = None) -> list[Finding]:
    """The findings, the gravest of each kind first."""
    found = [*_leaks(summary, bits), *_speaking_gaps(summary)]
    if data is not None and data.n_rows >= FEWEST_ROWS:
        found += sorted(_drifts(summary, data), key=lambda each: -each["much"])
    return found[:MOST]


def identifiers(data: Table, schema: Schema) -> list[Finding]:
    """Columns whose values name the rows, as far as these are at hand; the share is that of different values."""
    found = [note for note in data_notes(data, schema) if note.about == "identifier" and note.column is not None]
    return [{"kind": "identifier", "column": str(note.column), "share": float(note.share or 1.0)} for note in found]


def _leaks(summary: Summary, bits: Mapping[str, float]) -> Iterator[Finding]:
    weights = summary.classes.weights
    total = entropy(weights / weights.sum()) if weights.sum() > 0.0 else 0.0
    for name, told in sorted(bits.items(), key=lambda item: -item[1]):
        if total > 0.0 and told / total > TOO_MUCH:
            yield {"kind": "leak", "column": name, "share": told / total}


def _speaking_gaps(summary: Summary) -> Iterator[Finding]:
    weights = summary.classes.weights
    found: list[Finding] = []
    for part, seen in summary.parts.items():
        known = seen.known_weights
        if known is None:
            continue
        gaps = np.maximum(weights[:, None] - known, 0.0)
        for place in np.flatnonzero(gaps.sum(axis=0) > 0.0):
            table = np.column_stack([known[:, place], gaps[:, place]])
            told = information_gain(table)
            if told > GAP_BITS and 2.0 * np.log(2.0) * told * table.sum() > GAP_LIMIT * len(weights):
                shares = gaps[:, place] / np.maximum(weights, 1e-300)
                found.append({"kind": "gaps", "column": part.columns[place], "bits": told, "shares": shares})
    yield from sorted(found, key=lambda each: -each["bits"])


def _drifts(summary: Summary, data: Table) -> Iterator[Finding]:
    """Columns whose values come in other shares than those that were learned."""
    for part, seen in summary.parts.items():
        for place, name in enumerate(part.columns):
            if name not in data:
                continue
            try:
                found = _drift(seen.select(np.array([place], dtype=np.intp)), data, name)
            except LikelyError:  # cells that are none of the kind that was learned: other parts say so
                continue
            if found is not None:
                yield {**found, "kind": "drift", "column": name}


def _drift(seen: Statistic, data: Table, name: str) -> Finding | None:
    if isinstance(seen, ValueCounts):
        column = data.codes(name)
        places = index_levels(column.levels, seen.values)
        there = np.where(places >= 0, places, len(seen.values))
        now = np.bincount(there[column.codes[column.codes >= 0]], minlength=len(seen.values) + 1)
        return _divergence(np.append(seen.counts.sum(axis=0), 0.0), now.astype(np.float64))
    if isinstance(seen, Histogram) and len(seen.cells):
        learned, numbers = seen.counts.sum(axis=0), data.numbers(name)
        cuts = np.interp(np.linspace(0.1, 0.9, 9), np.cumsum(learned) / learned.sum(), seen.middles())
        before = np.bincount(np.searchsorted(cuts, seen.middles()), weights=learned, minlength=10)
        now = np.bincount(np.searchsorted(cuts, numbers[~np.isnan(numbers)]), minlength=10)
        return _divergence(before.astype(np.float64), now.astype(np.float64))
    moments = moments_of(seen)
    if moments is None:
        return None
    pooled, numbers = moments.pooled(), data.numbers(name)
    spread = float(pooled.deviation(unbiased=False)[0, 0])
    known = numbers[np.isfinite(numbers)]
    if not len(known) or not spread > 0.0:
        return None
    moved = (float(known.mean()) - float(pooled.mean[0, 0])) / spread
    return {"much": abs(moved), "moved": moved, "mean": float(known.mean())} if abs(moved) > SHIFTED else None


def _divergence(before: Array, now: Array) -> Finding | None:
    if not (before.sum() > 0.0 and now.sum() >= FEWEST_ROWS):
        return None
    shares = np.stack([before / before.sum(), now / now.sum()])
    bits = float(information_gain(shares))
    return {"much": bits, "bits": bits} if bits > DRIFTED else None
