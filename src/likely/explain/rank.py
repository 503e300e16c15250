"""Which columns are most informative about the class, in general and on given rows; and which repeat each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError, listed
from likely.explain.contrast import target_and_rivals
from likely.explain.explanation import Contrast, Explanation
from likely.explain.factors import expected
from likely.measures import (
    MEASURES,
    entropy,
    held_out_information,
    information_gain,
    information_gains,
    measure_named,
)
from likely.render.charts import heat_map
from likely.render.page import fragment
from likely.render.table import ColumnHead, Grid, figure
from likely.scorer import Model
from likely.stats import (
    HasInformation,
    HasResolutions,
    HasTables,
    HasValues,
    PairCounts,
    Part,
    Statistic,
    Summary,
    TokenCounts,
    moments_of,
)
from likely.stats.histogram import equal_intervals
from likely.stats.protocol import NOISE, share_of

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

FREEDOM = 2.0
"""Parameters of a column in each class where it has no table of values: a mean and a variance."""


def rank(model: Model, summary: Summary, counts: Summary | None = None) -> pd.DataFrame:
    """One line per column, best first: what it tells about the class, in bits.

    *held_out* is what it tells of rows that were not counted, and *share* that part of all there is to know. Each row
    is judged without itself (see `measures.held_out_information`), so many values do not win by being many; a gap is a
    value among others, and *gaps* is what it tells alone whether the cell is empty. Where a column has no table of
    values, as many bits are taken off as it would show by chance.

    *information* is the mutual information of column and class as counted, times the share of rows in which the
    column is known: from the counts for categories, for presence and for what is counted in pairs, by integrating the
    settled densities for other numbers. Counts that compete are asked occurrence by occurrence: is it this word or
    another? A text column tells at least as much as the presence of its most telling word, and that is its figure;
    `rank_words` lists them all.

    `counts` are those of the cells themselves, if the summary has them in bins with gaps among them.
    """
    import pandas as pd

    bits = information_by_column(model, summary)
    found = held_out_by_column(counts or summary, bits)
    total = entropy(_shares(summary.classes.weights))
    told = [found.get(name, (0.0, 0.0)) for name in bits]
    frame = pd.DataFrame(
        {
            "column": list(bits),
            "held_out": [held_out for held_out, _ in told],
            "share": [held_out / total if total > 0.0 else 0.0 for held_out, _ in told],
            "gaps": [gaps for _, gaps in told],
            "information": list(bits.values()),
        }
    )
    return frame.sort_values(["held_out", "information"], ascending=False, kind="stable", ignore_index=True)


def held_out_bits(model: Model, summary: Summary, counts: Summary | None = None) -> dict[str, float]:
    """The *held_out* of every column, as `rank` has it."""
    bits = information_by_column(model, summary)
    found = held_out_by_column(counts or summary, bits)
    return {name: found.get(name, (0.0, 0.0))[0] for name in bits}


def held_out_by_column(summary: Summary, bits: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Held-out information of each column, and that of its gaps alone, in bits; `bits` are those that were counted."""
    classes = summary.classes
    one_row = np.divide(classes.weights, classes.rows, out=np.ones(len(classes)), where=classes.rows > 0)
    by_chance = (len(classes) - 1) / (max(summary.n_rows, 1) * np.log(2.0))
    found: dict[str, tuple[float, float]] = {}
    for part, seen in summary.parts.items() if len(classes) else ():
        all_known = seen.known_weights
        for place, name in enumerate(part.columns):
            known = classes.weights if all_known is None else all_known[:, place]
            empty = classes.weights - known
            gaps = np.where(empty > NOISE * classes.weights, empty, 0.0)[:, None]
            of_gaps = held_out_information(np.hstack([known[:, None], gaps]), one_row) if gaps.any() else 0.0
            if isinstance(seen, HasTables):
                tables = (
                    seen.resolutions(place) if isinstance(seen, HasResolutions) else [seen.class_value_table(place)]
                )
                told = max(held_out_information(np.hstack([table, gaps]), one_row) for table in tables)
            else:
                n_words = len(seen.words) if isinstance(seen, TokenCounts) else 1
                spare = by_chance * FREEDOM + np.log2(max(n_words, 1)) / max(summary.n_rows, 1)
                told = of_gaps + max(bits.get(name, 0.0) - spare, 0.0)
            found[name] = max(float(told), float(of_gaps)), float(of_gaps)
    return found


def information_by_column(model: Model, summary: Summary) -> dict[str, float]:
    """Mutual information of each column with the class, in bits."""
    weights = summary.classes.weights
    found: dict[str, float] = {} if len(weights) else dict.fromkeys(model.columns, 0.0)
    for part, seen in summary.parts.items() if len(weights) else ():
        found |= _of_part(part, seen, weights, model)
    return {name: found[name] for name in model.columns if name in found}


def contribution_by_column(why: Explanation) -> dict[str, float]:
    """Mean size of each column's log-odds for the most probable class of every row against the rest.

    What several columns say together is shared out evenly among them.
    """
    names = list(dict.fromkeys(name for term in why.columns_of_terms for name in term))
    if len(why.classes) < 2 or not len(why):
        return dict.fromkeys(names, 0.0)
    best = why.posterior.argmax(axis=1)
    sizes = np.zeros(len(why.columns))
    for place in np.unique(best):
        rows = np.flatnonzero(best == place)
        some = Explanation(why.classes, why.columns, (), why.prior, why.contributions[rows])
        contrast = Contrast.of(some, *target_and_rivals(why.classes[place], why.classes))
        sizes += np.abs(contrast.contributions).sum(axis=0)
    found = dict.fromkeys(names, 0.0)
    for term, size in zip(why.columns_of_terms, (sizes / len(why)).tolist(), strict=True):
        for name in term:
            found[name] += size / len(term)
    return found


def _of_part(part: Part, seen: Statistic, weights: Array, model: Model) -> Mapping[str, float]:
    if isinstance(seen, HasInformation):
        return dict(zip(part.columns, seen.information(weights).tolist(), strict=True))
    found, all_known = {}, seen.known_weights
    for place, name in enumerate(part.columns):
        _, outcomes = expected(model, name) or (None, None)
        if outcomes is not None:
            known = weights if all_known is None else all_known[:, place]
            table = _shares(known)[:, None] * outcomes.shares.T
            found[name] = information_gain(table) * share_of(known.sum(), weights)
    return found


def _shares(weights: Array) -> Array:
    total = weights.sum()
    return np.asarray(weights / total if total > 0.0 else np.full(len(weights), 1.0 / max(len(weights), 1)))


# Which words of a text column tell most about the class.


def rank_words(summary: Summary, column: str | None = None) -> pd.DataFrame:
    """One line per word of a text column, best first; the column need not be named where there is only one.

    *information* is what it tells about the class, in bits, whether a text holds the word; *texts* is how many do,
    and *speaks_for* the class in whose texts it is most common.
    """
    import pandas as pd

    seen = _texts_of(summary, column)
    per_text = np.divide(1.0, seen.texts, out=np.zeros_like(seen.texts), where=seen.texts > 0.0)
    common = [(held * per_text[:, None]).argmax(axis=0) for held in seen.documents.dense_blocks()]
    lines = {
        "word": seen.words.to_list(),
        "information": seen.information_by_word(),
        "texts": seen.documents.column_sums(),
        "speaks_for": [summary.classes.labels[place] for places in common for place in places],
    }
    return pd.DataFrame(lines).sort_values("information", ascending=False, kind="stable", ignore_index=True)


def _texts_of(summary: Summary, column: str | None) -> TokenCounts:
    there = {part.columns[0]: seen for part, seen in summary.parts_of(TokenCounts).items()}
    if not there:
        raise SettingsError("No text column was learned, so there are no words to rank.")
    if column is None and len(there) == 1:
        return next(iter(there.values()))
    if column is None or column not in there:
        raise SettingsError(f"column is {column!r}, but the text columns are {listed([*there])}.")
    return there[column]


# Columns by any measure of a class × value table, not by mutual information alone.


def rank_by(model: Model, summary: Summary, by: str | None = None) -> pd.DataFrame:
    """One line per column and one column per measure, the best first by one of them.

    Categories are measured by their counts. Numbers are cut into ten intervals of equal weight, whose counts
    are those of bins or follow from the settled densities; words and counts of words have no such table and are left
    out. A column with gaps counts for the share of rows in which it is known.
    """
    import pandas as pd

    order = measure_named(by or "information_gain").__name__
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
        if isinstance(seen, HasTables):
            found |= {name: seen.class_value_table(place) for place, name in enumerate(part.columns)}
            continue
        moments = moments_of(seen)
        if moments is None:
            continue
        for name, weights in zip(part.columns, moments.n.T, strict=True):
            _, outcomes = expected(model, name) or (None, None)
            if outcomes is not None:
                found[name] = equal_intervals(weights[:, None] * outcomes.shares.T)
    return {name: found[name] for name in model.columns if name in found}


# The most telling values: which categories and words speak most for each class.


TellingLine = tuple[object, str, object, float, float, float]
TELLING = ("class", "column", "value", "weight", "share", "elsewhere")


def telling_values(summary: Summary, per_class: int = 5) -> pd.DataFrame:
    """For each class the values and words that tell most about it: class, column, value, weight, share, elsewhere.

    Ordered by P(value, class) · log (P(value | class) / P(value | others)): a value tells much if it is common in
    the class and rare elsewhere. `share` and `elsewhere` are the two shares, without smoothing; a word's share
    is that of the texts that hold it.
    """
    import pandas as pd

    return pd.DataFrame(telling_lines(summary, per_class), columns=list(TELLING))


def telling_lines(summary: Summary, per_class: int = 5) -> list[TellingLine]:
    """The same line by line."""
    found: list[list[tuple[float, TellingLine]]] = [[] for _ in range(len(summary.classes))]
    labels = summary.classes.labels.tolist()
    for name, values, counts, totals in _tables(summary):
        score, here, elsewhere = _weighed(counts, totals, float(summary.classes.weights.sum()))
        for c, label in enumerate(labels):
            order = np.argsort(-score[c], kind="stable")[:per_class]
            for v in order[score[c, order] > 0.0]:
                line = (label, name, values[v], float(counts[c, v]), float(here[c, v]), float(elsewhere[c, v]))
                found[c].append((float(score[c, v]), line))
    return [line for own in found for _, line in sorted(own, key=lambda entry: -entry[0])[:per_class]]


def _tables(summary: Summary) -> Iterator[tuple[str, Sequence[Hashable], Array, Array]]:
    """Column, values, classes × values, and the weight of each class in which the column is known."""
    for part, seen in summary.parts.items():
        if isinstance(seen, HasValues):
            for values, counts, totals in seen.value_blocks():
                yield part.columns[0], values, counts, totals


def _weighed(counts: Array, totals: Array, rows: float) -> tuple[Array, Array, Array]:
    """How much each value tells about each class, its share there, and its share in all other classes."""
    others, rest = counts.sum(axis=0) - counts, totals.sum() - totals
    here = np.divide(counts, totals[:, None], out=np.zeros_like(counts), where=totals[:, None] > 0.0)
    elsewhere = np.divide(others, rest[:, None], out=np.zeros_like(counts), where=rest[:, None] > 0.0)
    # Half a row more on both sides: what was never seen elsewhere is rare, not impossible.
    ratio = np.log((counts + 0.5) / (totals[:, None] + 1.0)) - np.log((others + 0.5) / (rest[:, None] + 1.0))
    return counts / max(rows, 1.0) * ratio, here, np.maximum(elsewhere, 0.0)


# Which columns say the same thing given the class: what naive Bayes would count twice.

BITS = ("bits", "by_chance", "excess")


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """I(column; other column | class) of every pair, in bits: columns × columns, the diagonal zero.

    `by_chance` is about what columns without any connection would show in as few rows: (values − 1)(other values − 1)
    / (2 ln 2 · rows), for each class in which both were seen. What exceeds it is worth a thought.
    """

    columns: tuple[str, ...]
    bits: Array
    by_chance: Array

    @classmethod
    def of(cls, columns: tuple[str, ...], seen: PairCounts) -> Dependence:
        """From the counts of pairs, over the rows that know both columns."""
        bits, by_chance = np.zeros((2, len(columns), len(columns)))
        for j in range(len(columns)):
            for k in range(j + 1, len(columns)):
                bits[j, k], by_chance[j, k] = _of_pair(seen.pair(j, k))
        return cls(columns, bits + bits.T, by_chance + by_chance.T)

    def to_frame(self) -> pd.DataFrame:
        """One line per pair, the most dependent first: column, other, bits, by_chance, excess."""
        import pandas as pd

        first, second = np.triu_indices(len(self.columns), 1)
        bits, chance = self.bits[first, second], self.by_chance[first, second]
        frame = pd.DataFrame(
            {
                "column": [self.columns[j] for j in first],
                "other": [self.columns[k] for k in second],
                "bits": bits,
                "by_chance": chance,
                "excess": np.maximum(bits - chance, 0.0),
            }
        )
        return frame.sort_values("excess", ascending=False, kind="stable", ignore_index=True)

    def plot(self, most: int = 30) -> Picture:
        """A heat map of the excess over chance, for the columns that depend most on others."""
        return heat_map(self.columns, np.maximum(self.bits - self.by_chance, 0.0), most)

    def _repr_html_(self) -> str:
        columns = [
            ColumnHead("column", "left"),
            ColumnHead("other", "left"),
            *(ColumnHead(h, form=figure) for h in BITS),
        ]
        return fragment(Grid(columns, [list(row) for row in self.to_frame().itertuples(index=False)]).html())


def _of_pair(tables: Array) -> tuple[float, float]:
    """Σ P(class) · I(column; other | class), and what chance would make of it."""
    rows = tables.sum(axis=(1, 2))
    total = float(rows.sum())
    if total <= 0.0:
        return 0.0, 0.0
    seen = ((tables.sum(axis=2) > 0.0).sum(axis=1) - 1.0) * ((tables.sum(axis=1) > 0.0).sum(axis=1) - 1.0)
    bits = float((rows / total) @ np.where(rows > 0.0, information_gains(tables), 0.0))
    return max(bits, 0.0), float(np.maximum(seen, 0.0).sum() / (2.0 * np.log(2.0) * total))
