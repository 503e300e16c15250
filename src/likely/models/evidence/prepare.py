"""From a table to encoded training rows: count, fit bins and codes to the counts, encode, score texts out of fold.

A summary adds up, so bins do not depend on how the rows were divided while they were counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from likely.arrays import Array, ColumnLike, Index, UInt8
from likely.engines.memory import Rows as TableRows
from likely.engines.relational import RelationalRows
from likely.errors import DataError
from likely.models.evidence.edges import informative_cuts
from likely.models.evidence.encoding import (
    MIN_PARALLEL_CELLS,
    BinnedNumber,
    CodedCategories,
    Column,
    Encoding,
    encode_table,
)
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.row_source import RowsInMemory, RowSource
from likely.models.evidence.text_fit import MAX_TOKENS, TextFit, TextTrainingRows, fit_texts
from likely.models.evidence.text_scores import assign_folds, is_sampled, scores_by_fold, text_parts
from likely.parallel import WorkerPool
from likely.stats import Histogram, Part, Statistic, Summary, TokenCounts, ValueCounts
from likely.stats.binning import cuts_between, equal_frequency_bins
from likely.stats.protocol import NOISE
from likely.table.schema import Schema

Source = TypeVar("Source", bound=RowSource)

STATISTICS = {"numeric": "histogram", "nominal": "values"}
MANY_ROWS = 3000
MAX_BINS = 250
"""Bins, gap and code 0 of a column go into one byte."""

MAX_LEVELS = 200
MAX_COARSE_LEVELS = 15
MAX_TINY_LEVELS = 6
"""In a triple a category has at most 6 codes and those of rest, gap and 0; a number in n = 6 bins at most 2n + 1
(`equal_frequency_bins` has one bin too many before, between and behind n heavy atoms), gap and 0."""

NEAR_IDENTIFIER, FEWEST_IDENTIFIERS = 0.9, 20
"""Distinct values, as a share of the rows and at least, from which on a column is nearly an identifier."""

PAIR_RANK, PAIR_RANK_OF_MANY = 5, 7
"""Rank of the basis of a number in a pair, with few and with many rows."""

ROUNDING = 1e-6
"""Relative excess that rounding of many sums and differences may give the known cells of a class over its weight."""


@dataclass(frozen=True, slots=True, eq=False)
class FitContext:
    """What all rows of one fit share: schema, random seed, threads."""

    schema: Schema
    seed: int
    pool: WorkerPool


Preparation = Callable[[FitContext], tuple[EncodedData[RowSource], Summary]]
"""Makes rows ready to be learned from, wherever they are kept, and says what was counted of them."""


def prepare_rows(given: TableRows, context: FitContext) -> tuple[EncodedData[RowsInMemory], Summary]:
    """Encoded rows under an encoding that is fitted to them, and what was counted."""
    summary = count_rows(given, context.schema, texts=False)
    data, words = encode_rows(fit_encoding(summary, context.schema), given, context)
    return data, Summary(summary.classes, {**summary.parts, **words})


def encode_rows(
    encoding: Encoding, given: TableRows, context: FitContext
) -> tuple[EncodedData[RowsInMemory], Mapping[Part, Statistic]]:
    """Encoded rows under a known encoding, with out-of-fold scores of their texts; and the words counted."""
    codes, n_classes = encode_table(encoding.columns, given.table, given.n_jobs), len(given.classes)
    offset = np.zeros((0, 1 if n_classes == 2 else n_classes))
    rows = RowsInMemory(codes, given.y, given.weight, n_classes, offset, context.pool)
    texts, n_rows = context.schema.text, len(given.y)
    if not texts:
        return EncodedData(encoding, rows, TextFit.none(n_classes)), {}
    counted = given.summarise(text_parts(texts))
    fold = assign_folds(0, n_rows, context.seed)
    sampled = np.flatnonzero(is_sampled(0, n_rows, context.seed, sampled_share(counted)))
    labelled = TextTrainingRows(given.y[sampled], given.weight[sampled], fold[sampled], n_classes, context.pool)
    fitted = fit_texts_of(given.table.take(sampled).strings, labelled, counted)
    text_scores = scores_by_fold(fitted.without_fold, fold, given.table, texts, rows.n_scores, given.n_jobs)
    return with_text_offset(encoding, replace(rows, text_scores=text_scores), fitted), counted.parts


def sampled_share(counted: Summary) -> float:
    """The share of rows from which words are learned, given what was counted of the words."""
    weight = max(float(counted.classes.weights.sum()), 1e-300)
    per_row = sum(seen.counts.class_sums().sum() for seen in counted.parts.values() if isinstance(seen, TokenCounts))
    return MAX_TOKENS / max(float(per_row) / weight * counted.n_rows, 1.0)


def fit_texts_of(strings: Callable[[str], ColumnLike], rows: TextTrainingRows, counted: Summary) -> TextFit:
    """What is learned of the text columns of a sample of rows, given their words; nothing of a single class."""
    tokenizers = {
        part.columns[0]: seen.tokenizer for part, seen in counted.parts.items() if isinstance(seen, TokenCounts)
    }
    if rows.n_classes < 2 or not len(rows.y):
        return TextFit.none(rows.n_classes, len(tokenizers))
    return fit_texts([(strings(name), tokenizer) for name, tokenizer in tokenizers.items()], rows)


def with_text_offset(encoding: Encoding, rows: Source, texts: TextFit) -> EncodedData[Source]:
    """Rows whose offset is the sum of the out-of-fold scores of their texts."""
    return EncodedData(encoding, rows.with_offset(np.ones(len(texts.nb_weights))), texts)


# Counting.


def count_plan(schema: Schema, *, texts: bool = False) -> tuple[Part, ...]:
    """What is counted: histograms of numbers, values of categories, and words of texts if they are wanted."""
    kinds = schema.kinds
    columns = tuple(Part(STATISTICS[kinds[name]], (name,)) for name in schema.features if kinds[name] in STATISTICS)
    return columns + (text_parts(schema.text) if texts and schema.text else ())


def count_rows(given: TableRows, schema: Schema, *, texts: bool = True) -> Summary:
    """Class × cell of numbers, class × category, and class × word unless texts are counted elsewhere."""
    plan = count_plan(schema, texts=texts)
    if isinstance(given, RelationalRows):
        return given.summarise(plan)
    few = given.table.n_rows * len(plan) < MIN_PARALLEL_CELLS
    n_jobs = 1 if few else given.n_jobs
    return TableRows(given.table, given.classes, given.y, given.weight, n_jobs, given.preprocessing).summarise(plan)


def code_counts(column: Column, summary: Summary) -> Array:
    """Codes × classes of a column; every cell of its histogram lies within one bin."""
    counted, out = column_counts(column.name, summary), np.zeros((column.size, len(summary.classes)))
    if isinstance(counted, Histogram) and isinstance(column, BinnedNumber):
        codes, known = column.codes_of(counted.lows()), counted.known
        whole_cells = bool((codes == column.codes_of(counted.highs())).all())
    elif isinstance(counted, ValueCounts) and isinstance(column, CodedCategories):
        codes, known = column.codes_of(counted.values), np.asarray(counted.counts.sum(axis=1))
        whole_cells = True
    else:
        raise DataError(f"what was counted of {column.name!r} is not what its bins are made of")
    gaps = gap_weights(known, summary)
    overweight = known > (1.0 + ROUNDING) * summary.classes.weights
    if not whole_cells or overweight.any() or (codes == 0).any() or bool(gaps.any()) != column.gap:
        raise DataError(f"what was counted of {column.name!r} does not fit its bins")
    np.add.at(out, codes, counted.counts.T)
    if column.gap:
        out[-1] = gaps
    return out


def binned_summary(encoding: Encoding, summary: Summary) -> Summary:
    """The same counts by codes of columns, as counts of values: a gap is one of them."""
    by_name = {column.name: column for column in encoding.columns}
    parts: dict[Part, Statistic] = {}
    for part, counted in summary.parts.items():
        column = by_name.get(part.columns[0])
        if column is None:
            parts[part] = counted
        else:
            codes = tuple(range(1, column.size))
            parts[Part("values", part.columns)] = ValueCounts(codes, code_counts(column, summary)[1:].T)
    return Summary(summary.classes, parts)


# Bins and codes.


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts:
    """How many bins a number has in its main effect, in pairs, in triples."""

    fine: int
    coarse: int
    tiny: int = 6

    @classmethod
    def for_rows(cls, n_rows: int) -> BinCounts:
        """√n bins for a main effect, between 2 and 64 (200 from 3,000 rows on)."""
        root = max(int(np.sqrt(n_rows)), 2)
        if n_rows < MANY_ROWS:
            return cls(min(root, 64), 8)
        return cls(min(root, 200), 12 if n_rows < 10_000 else 20)


def fit_encoding(summary: Summary, schema: Schema) -> Encoding:
    """Columns of a schema that are no texts, in as many bins as the number of rows allows.

    A row counts once here, whatever its weight: weights move cuts, they do not make bins finer.
    """
    n_rows = summary.n_rows
    n_bins = BinCounts.for_rows(n_rows)
    columns = (_fit_column(name, summary, n_bins) for name in schema.features if schema.kinds[name] != "text")
    return Encoding(tuple(columns), PAIR_RANK_OF_MANY if n_rows >= MANY_ROWS else PAIR_RANK)


def _fit_column(name: str, summary: Summary, n_bins: BinCounts) -> Column:
    """One column, from its histogram or from the counts of its values."""
    counted = column_counts(name, summary)
    if isinstance(counted, Histogram):
        rows_per_weight = summary.n_rows / max(float(summary.classes.weights.sum()), 1e-300)
        return _numeric_column(name, counted, gap_weights(counted.known, summary), n_bins, rows_per_weight)
    if isinstance(counted, ValueCounts):
        lone = _weight_of_lone_values(counted, summary)
        return _nominal_column(name, counted, gap_weights(counted.counts.sum(axis=1), summary), lone)
    raise DataError(f"what was counted of {name!r} cannot be cut into bins")


def column_counts(name: str, summary: Summary) -> Statistic | None:
    """What was counted of one column that is no text."""
    histogram = summary.parts.get(Part("histogram", (name,)))
    return summary.parts.get(Part("values", (name,))) if histogram is None else histogram


def gap_weights(known: Array, summary: Summary) -> Array:
    """Weight of the gaps of a column in each class; exactly 0 where only rounding is left."""
    weights = summary.classes.weights
    return np.where(weights - known > NOISE * weights, weights - known, 0.0)


def _numeric_column(
    name: str, histogram: Histogram, gaps: Array, n_bins: BinCounts, rows_per_weight: float
) -> BinnedNumber:
    """Neighbouring cells of a histogram in bins of about equal weight, cut again where the classes change (`edges`).

    A cut lies between two cells, never within.
    """
    cell_mass = np.asarray(histogram.counts.sum(axis=0))
    edges = informative_cuts(histogram.counts, rows_per_weight)
    bins = _cut_at(equal_frequency_bins(cell_mass, n_bins.fine), edges)
    for fewer in range(n_bins.fine, 1, -10):
        if not len(bins) or bins[-1] < MAX_BINS:
            break
        bins = _cut_at(equal_frequency_bins(cell_mass, fewer), edges)
    lows, highs = histogram.lows(), histogram.highs()
    mass = np.bincount(bins, weights=cell_mass).astype(np.float64)
    with np.errstate(over="ignore"):
        middles = lows + 0.5 * (highs - lows)
        # Divided by a power of two, which is exact, no sum overflows.
        _, exponent = np.frexp(np.abs(middles).max(initial=0.0))
        means = np.ldexp(np.bincount(bins, weights=np.ldexp(middles, -exponent) * cell_mass) / mass, exponent)
    missing = float(gaps.sum())
    first = bins[edges]  # the fine bins that begin at an edge
    coarse = _grouping(1 + _cut_at(equal_frequency_bins(mass, n_bins.coarse), first), missing > 0.0)
    tiny = _grouping(1 + equal_frequency_bins(mass, n_bins.tiny), missing > 0.0)
    if missing > 0.0:
        mass = np.append(mass, missing)
    return BinnedNumber(name, cuts_between(lows, highs, bins), means, mass, coarse, tiny, missing > 0.0)


def _cut_at(bins: Index, places: Index) -> Index:
    """Ascending bins with further cuts before some places."""
    begins = np.diff(bins, prepend=bins[:1]) > 0
    begins[places] = True
    begins[:1] = False
    return np.asarray(np.cumsum(begins), dtype=np.intp)


def _weight_of_lone_values(counted: ValueCounts, summary: Summary) -> float:
    """The weight up to which a value of a near-identifier is taken for seen once; 0 in any other column.

    No row that is held out could ever speak for a value that one row has, so such values share the code of rare ones.
    """
    weight = max(float(summary.classes.weights.sum()), 1e-300)
    n_known = summary.n_rows * float(counted.counts.sum()) / weight
    near_identifier = len(counted.values) >= max(NEAR_IDENTIFIER * n_known, FEWEST_IDENTIFIERS)
    return 1.5 * weight / max(summary.n_rows, 1) if near_identifier else 0.0


def _nominal_column(name: str, counted: ValueCounts, gaps: Array, lone: float) -> CodedCategories:
    """Categories by descending frequency; those that are as frequent stay in their order.

    Rare ones are those beyond the most frequent, and those of no more weight than `lone`.
    """
    counts = np.asarray(counted.counts.sum(axis=0))
    order = np.argsort(-counts, kind="stable")
    n_frequent = min(MAX_LEVELS, int(np.count_nonzero(counts > lone)))
    frequent, rare = order[:n_frequent], order[n_frequent:]
    mass = counts[frequent]
    if len(rare):
        mass = np.append(mass, counts[rare].sum())
    codes, missing = np.arange(1, len(mass) + 1), float(gaps.sum())
    coarse, tiny = (
        _grouping(np.minimum(codes, limit + 1), missing > 0.0) for limit in (MAX_COARSE_LEVELS, MAX_TINY_LEVELS)
    )
    if missing > 0.0:
        mass = np.append(mass, missing)
    levels, rare_levels = (tuple(counted.values[k] for k in some) for some in (frequent, rare))
    return CodedCategories(name, levels, rare_levels, mass, coarse, tiny, missing > 0.0)


def _grouping(groups: Index, gap: bool) -> UInt8:
    """The group of every code: 0 of code 0, then groups from 1 on, last that of the gap."""
    last = [int(groups.max(initial=0)) + 1] if gap else []
    return np.concatenate([[0], groups, last]).astype(np.uint8)
