"""Counting rows that are in memory: compiled loops, threads over blocks, sums of summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from likely.arrays import AnyArray, Array, Int32
from likely.errors import BadCell, TooLarge
from likely.parallel import one_thread_each, row_blocks, run, total
from likely.stats import (
    ClassWeights,
    Cuts,
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
    moments_of,
    moments_of_blocks,
)
from likely.stats.pair_counts import Axis
from likely.table import Table
from likely.table.table import Numbers, counts_of
from likely.text.tokenizer import Tokenizer

USUAL_TOKENIZER = Tokenizer(normalize="NFC")
"""How texts are read unless the user says otherwise: composed and decomposed accents are one spelling."""

Preprocessing = Mapping[str, Tokenizer | Cuts]
"""How columns are read that are not simply counted: texts by a tokenizer, numbers in pairs by cuts."""

COLUMN_BY_COLUMN = ("values", "histogram")
"""Statistics of one column each that are counted in one go, several columns side by side."""


class Rows:
    """A table with its class codes and weights: what there is to be counted."""

    def __init__(
        self,
        table: Table,
        classes: AnyArray,
        y: Int32,
        weight: Array | None,
        n_jobs: int | None,
        preprocessing: Preprocessing | None = None,
    ) -> None:
        self.table, self.classes, self.y, self.n_jobs = table, classes, y, n_jobs
        self.preprocessing: Preprocessing = preprocessing or {}
        self.given_weight = weight

    @cached_property
    def weight(self) -> Array:
        """What each row weighs; made where a reader asks for it."""
        return np.ones(len(self.y)) if self.given_weight is None else self.given_weight

    def summarise(self, plan: Sequence[Part]) -> Summary:
        """Count every part of the plan."""
        alone = [part for part in plan if part.kind in COLUMN_BY_COLUMN]
        shared = [part for part in plan if part.kind not in COLUMN_BY_COLUMN]
        counted = dict(zip(alone, run(self._observe, alone, self.n_jobs), strict=True))
        counted |= {part: self._observe(part) for part in shared}
        classes = ClassWeights.observe(self.classes, self.y, self.given_weight, self.n_jobs)
        return Summary(classes, {part: counted[part] for part in plan})

    def with_preprocessing(self, preprocessing: Preprocessing) -> Rows:
        """The same rows, where columns are read otherwise."""
        return Rows(self.table, self.classes, self.y, self.given_weight, self.n_jobs, preprocessing)

    def _observe(self, part: Part) -> Statistic:
        return READINGS[part.kind](self, part.columns)


def _value_counts(rows: Rows, columns: tuple[str, ...]) -> ValueCounts:
    (name,) = columns
    column = rows.table.codes(name)
    return ValueCounts.observe(column.levels, column.codes, rows.y, rows.weight, len(rows.classes))


def _histogram(rows: Rows, columns: tuple[str, ...]) -> Histogram:
    numbers = Numbers.of(rows.table, columns)
    try:
        return Histogram.observe(numbers.column(0), rows.y, rows.weight, len(rows.classes))
    except ValueError:
        numbers.refuse_infinite(slice(0, rows.table.n_rows))
        raise


def _moments(rows: Rows, columns: tuple[str, ...], *, of_logs: bool) -> Moments:
    def observe(cells: Array, block: slice) -> Moments:
        numbers = _logs(cells, columns, block.start) if of_logs else cells
        return Moments.observe(numbers, rows.y[block], rows.weight[block], len(rows.classes))

    shape = len(rows.classes), len(columns)
    if not of_logs:
        cells = Numbers.of(rows.table, columns)
        blocks = row_blocks(
            rows.table.n_rows, 2 * len(columns), fewest=8 * len(rows.classes)
        )  # many threads end together
        seen = moments_of_blocks(cells.rows, blocks, rows.y, rows.given_weight, shape, rows.n_jobs)
        if seen is not None:
            return seen
    return _sum_of_blocks(rows, columns, observe, Moments.empty(*shape), 8)


def _scatter(rows: Rows, columns: tuple[str, ...]) -> Scatter:
    def observe(cells: Array, block: slice) -> Scatter:
        return Scatter.observe(cells, rows.y[block], rows.weight[block], len(rows.classes))

    # The matrices of a block should not be larger than its rows; otherwise the blocks are those of moments.
    nothing, fewest = Scatter.empty(len(rows.classes), len(columns)), max(len(columns), 8)
    with one_thread_each():
        return _sum_of_blocks(rows, columns, observe, nothing, fewest)


N = TypeVar("N", Moments, Scatter)


def _sum_of_blocks(
    rows: Rows, columns: tuple[str, ...], observe: Callable[[Array, slice], N], nothing: N, fewest: int
) -> N:
    """What is observed in blocks of numbers, added up; a block has at least `fewest` rows for each class."""
    numbers = Numbers.of(rows.table, columns)

    def observe_block(block: slice) -> N:
        seen = observe(numbers.rows(block), block)
        moments = moments_of(seen)
        if moments is not None and not np.isfinite(moments.root).all():
            numbers.refuse_infinite(block)
        return seen

    try:
        return total(observe_block, _blocks(rows, columns, fewest), rows.n_jobs, nothing)
    except TooLarge as large:
        raise large.named(columns) from None


def _blocks(rows: Rows, columns: tuple[str, ...], fewest: int) -> list[slice]:
    return row_blocks(rows.table.n_rows, len(columns), fewest=fewest * len(rows.classes))


def _logs(cells: Array, columns: tuple[str, ...], first_row: int) -> Array:
    places = np.argwhere(cells <= 0.0)
    if len(places):
        row, column = (int(k) for k in places[0])
        wanted = "a log-normal column holds only numbers above zero: choose another family, such as 'gaussian'"
        raise BadCell(row, column, float(cells[row, column]), wanted).named(columns, first_row)
    return np.log(cells)


def _features(rows: Rows, columns: tuple[str, ...], *, statistic: type[FeatureCounts] | type[Presence]) -> Statistic:
    source = counts_of(rows.table, columns)
    cells = source.rows(slice(0, rows.table.n_rows)) if isinstance(source, Numbers) else source
    try:
        return statistic.observe(cells, rows.y, rows.weight, len(rows.classes), rows.n_jobs)
    except (BadCell, TooLarge) as bad:
        raise bad.named(columns) from None


def _token_counts(rows: Rows, columns: tuple[str, ...]) -> TokenCounts:
    (name,) = columns
    texts = rows.table.strings(name)
    known = texts.is_valid().to_numpy() if texts.null_count else None
    given = rows.preprocessing.get(name)
    tokenizer = given if isinstance(given, Tokenizer) else USUAL_TOKENIZER
    return TokenCounts.observe(texts, rows.y, rows.weight, len(rows.classes), tokenizer, known, rows.n_jobs)


def _pair_counts(rows: Rows, columns: tuple[str, ...]) -> PairCounts:
    axes: list[Axis] = []
    codes = np.empty((rows.table.n_rows, len(columns)), dtype=np.int32)
    for place, name in enumerate(columns):
        cuts = rows.preprocessing.get(name)
        if isinstance(cuts, Cuts):
            numbers = Numbers.of(rows.table, (name,))
            numbers.refuse_infinite(slice(0, rows.table.n_rows))
            axes.append(cuts)
            codes[:, place] = cuts.places(numbers.column(0))
        else:
            column = rows.table.codes(name)
            axes.append(tuple(column.levels))
            codes[:, place] = column.codes
    return PairCounts.observe(axes, codes, rows.y, rows.weight, len(rows.classes), rows.n_jobs)


READINGS: dict[str, Callable[[Rows, tuple[str, ...]], Statistic]] = {
    "values": _value_counts,
    "tokens": _token_counts,
    "moments": partial(_moments, of_logs=False),
    "log moments": partial(_moments, of_logs=True),
    "scatter": _scatter,
    "histogram": _histogram,
    "pairs": _pair_counts,
    "counts": partial(_features, statistic=FeatureCounts),
    "presence": partial(_features, statistic=Presence),
}
"""What can be kept of a group of columns, and how it is counted. A new statistic is one more line."""
