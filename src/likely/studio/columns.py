"""What was seen and is believed of each column, as plain values: counts, densities, telling words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from likely.arrays import Array, Float32, Json
from likely.errors import Setting, parts_of, without_asides
from likely.explain.factors import expected
from likely.families.outcomes import Outcomes
from likely.models.evidence.encoding import BinnedNumber
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.prepare import code_counts
from likely.models.protocols import Fitted
from likely.scorer import Model, Scorer
from likely.stats import HasValues, Histogram, Statistic, Summary, TokenCounts, ValueCounts, moments_of
from likely.stats.protocol import HasTables
from likely.studio.payload import LARGEST_WHOLE, plain_value
from likely.table.infer import Column

MOST_COLUMNS = 12_000
MOST_DRAWN = 300
"""Columns, the most telling ones, whose curves and counts are written out."""

MOST_CELLS = 80_000
"""Values × classes of all curves together: with many classes fewer columns have one, and fewer points."""

MOST_POINTS, FEWEST_POINTS, BINS = 40, 12, 24
MOST_VALUES, MOST_WORDS = 200, 80
CENTRAL = 0.998
"""Of each class's numbers, what a histogram covers."""


Drawn = Float32 | Array
SMALLEST, LARGEST = 1e-30, 1e38
"""What the largest of some numbers may be if these are drawn with seven digits."""


class BinColumn(TypedDict):
    """How many rows of each class fell between edges."""

    edges: Array
    counts: Array


class ColumnFacts(TypedDict, total=False):
    """What was seen and is believed of one column: whatever of this is known.

    `grid` are numbers, `outcomes` and `values` categories; `shares` how probable they are in each class, `counts` how
    often they came.
    """

    bits: float
    known: Array
    values: list[Json]
    counts: Array
    more_values: int
    bins: BinColumn
    mean: Array
    deviation: Array
    grid: Array
    edges: Array
    outcomes: list[Json]
    shares: Drawn
    density: Drawn
    is_density: bool
    words: list[str]
    word_bits: Drawn
    word_counts: Array
    texts: Array
    n_words: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the columns of a classifier that counts."""

    model: Scorer
    summary: Summary
    bits: Mapping[str, float]

    @classmethod
    def of(cls, classifier: Fitted) -> Facts:
        told = classifier.rank()
        bits = {str(name): float(value) for name, value in told[["column", "held_out"]].itertuples(index=False)}
        return cls(classifier.model_, classifier.summary_, bits)

    def by_column(self) -> dict[str, ColumnFacts]:
        """Facts by column; of columns that tell little among very many, only what they tell."""
        n_classes = max(len(self.summary.classes), 1)
        most = min(MOST_DRAWN, max(MOST_CELLS // (2 * FEWEST_POINTS * n_classes), 1))
        drawn = set(sorted(self.bits, key=lambda name: -self.bits[name])[:most])
        points = min(MOST_POINTS, max(MOST_CELLS // (2 * max(len(drawn), 1) * n_classes), FEWEST_POINTS))
        found: dict[str, ColumnFacts] = {name: {"bits": bits} for name, bits in self.bits.items()}
        for part, seen in self.summary.parts.items():
            for place, name in enumerate(part.columns):
                if name in drawn or name not in self.bits:
                    one = seen.select(np.array([place], dtype=np.intp))
                    found.setdefault(name, {}).update(self._of(name, one, points))
        return found

    def _of(self, name: str, seen: Statistic, points: int) -> ColumnFacts:
        known = seen.known_weights
        told: ColumnFacts = {} if known is None else {"known": known[:, 0]}
        if isinstance(seen, TokenCounts):
            return told | telling_words(seen)
        if isinstance(seen, HasValues):
            told |= _values(seen)
        elif isinstance(seen, Histogram):
            told |= histogram(seen.middles(), seen.counts)
        moments = moments_of(seen)
        if moments is not None:
            told |= {"mean": moments.mean[:, 0], "deviation": moments.deviation(unbiased=True)[:, 0]}
        if isinstance(self.model, AdditivePredictor):
            return told | self._by_codes(name)
        found = expected(self.model, name, points) if isinstance(self.model, Model) else None
        return told if found is None else told | _expected(found[1])

    def _by_codes(self, name: str) -> ColumnFacts:
        """The bins of a number that evidence has cut, and how much of each class fell into them."""
        assert isinstance(self.model, AdditivePredictor)
        for column in self.model.evidence.encoding.columns:
            if column.name == name and isinstance(column, BinnedNumber) and len(column.means):
                counts = code_counts(column, self.summary)[1 : 1 + len(column.means)]
                total = np.maximum(counts.sum(axis=0), 1e-300)
                return {"grid": column.means, "shares": _small(counts / total), "edges": column.cuts}
        return {}


def _expected(outcomes: Outcomes) -> ColumnFacts:
    """Densities at some values; shares of categories follow from the counts."""
    if not outcomes.is_numeric:
        values = [plain_value(value) for value in list(outcomes.values)[:MOST_VALUES]]
        return {"outcomes": values, "shares": _small(outcomes.shares[:MOST_VALUES])}
    told: ColumnFacts = {"grid": np.asarray(outcomes.values, dtype=np.float64), "shares": _small(outcomes.shares)}
    if outcomes.density is None:
        return told
    # Between steps a density is not what neighbouring shares tell.
    return {**told, "is_density": True} if outcomes.edges is None else {**told, "density": _small(outcomes.density)}


def _small(numbers: Array) -> Drawn:
    """For drawing seven digits do, unless the numbers are too large for them, or all too small."""
    top = float(np.abs(numbers).max(initial=0.0))
    few = top == 0.0 or SMALLEST < top < LARGEST
    return np.asarray(numbers, dtype=np.float32) if few else np.asarray(numbers, dtype=np.float64)


def _values(seen: HasValues) -> ColumnFacts:
    """The most frequent values and their weight in each class."""
    names: list[object] = []
    counts: list[Array] = []
    for values, held, _ in seen.value_blocks():
        names += list(values)
        counts.append(np.asarray(held))
    table = np.concatenate(counts, axis=1) if counts else np.zeros((0, 0))
    order = np.argsort(-table.sum(axis=0), kind="stable")[:MOST_VALUES]
    shown = [plain_value(names[k]) for k in order]
    return {"values": shown, "counts": table[:, order], "more_values": len(names) - len(order)}


def histogram(middles: Array, counts: Array) -> ColumnFacts:
    """Classes × bins of equal width, where nearly all numbers lie; whole numbers in few places keep these."""
    weights = counts.sum(axis=0)
    if not len(middles) or not weights.sum() > 0.0:
        return {}
    below = np.cumsum(weights) / weights.sum()
    low = middles[min(int(np.searchsorted(below, (1.0 - CENTRAL) / 2.0)), len(middles) - 1)]
    high = middles[min(int(np.searchsorted(below, (1.0 + CENTRAL) / 2.0)), len(middles) - 1)]
    if not high > low:
        wide = max(0.5, 1e-9 * abs(float(low)))  # a half is lost beside a number of sixteen digits
        low, high = low - wide, high + wide
    edges = np.linspace(low, high, BINS + 1)
    if len(middles) <= BINS and (middles % 1.0 == 0.0).all() and np.abs(middles).max() < LARGEST_WHOLE / 2:
        edges = np.arange(middles[0] - 0.5, middles[-1] + 1.0) if middles[-1] - middles[0] < BINS else edges
    inside = np.clip(middles, edges[0], edges[-1])
    binned = np.array([np.histogram(inside, edges, weights=line)[0] for line in counts])
    return {"bins": {"edges": edges, "counts": binned}}


def telling_words(seen: TokenCounts) -> ColumnFacts:
    """The words whose presence tells most about the class, and the share of each class's texts that hold them."""
    bits = seen.information_by_word()
    best = np.argsort(-bits, kind="stable")[:MOST_WORDS]
    held = seen.documents.select(best).dense() if len(best) else np.zeros((len(seen.texts), 0))
    return {
        "words": seen.words.take(best.astype(np.int32)).to_list(), "word_bits": _small(bits[best]),
        "word_counts": held, "texts": seen.texts, "n_words": len(seen.words),
    }  # fmt: skip


def schema_line(column: Column, family: str | None) -> dict[str, object]:
    """What a column is taken for, and why."""
    return {
        "name": column.name, "kind": column.kind, "storage": column.storage, "levels": column.levels,
        "gaps": column.gaps, "why": reason(column), "family": family,
    }  # fmt: skip


def reason(column: Column) -> list[str]:
    """Why a column is taken for what it is, in parts that the page translates one by one; without what to set."""
    return parts_for_page(column.why)


def parts_for_page(sentence: str) -> list[str]:
    """A sentence of the library in parts that the page translates one by one, up to what to set in Python."""
    parts: list[str] = []
    for part in parts_of(without_asides(sentence)):
        if isinstance(part, Setting):
            break
        parts.append(str(part))
    return parts


def table_of_values(seen: Statistic) -> Array | None:
    """Classes × values of a column that was counted value by value."""
    if isinstance(seen, ValueCounts):
        return seen.counts
    return seen.class_value_table(0) if isinstance(seen, HasTables) else None
