"""Counting rows for this model, and weighted naive Bayes from counts alone, while rows are not at hand to refit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.errors import DataError
from likely.models.evidence.binning import column_counts, fit_encoding, gap_weights
from likely.models.evidence.columns import MIN_PARALLEL_CELLS, Column, NominalColumn, NumericColumn
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.hyperparameters import Hyperparameters
from likely.models.evidence.predictor import AdditiveModel
from likely.models.evidence.solver import log_prior
from likely.models.evidence.text_scores import as_scores, text_parts
from likely.models.evidence.weighted_nb import WeightedNaiveBayes, log_conditionals
from likely.stats import Histogram, Part, Statistic, Summary, ValueCounts
from likely.table import Labels, Table
from likely.table.schema import Schema

ROUNDING = 1e-6
"""Relative excess that rounding of many sums and differences may give the known cells of a class over its weight."""

STATISTICS = {"numeric": "histogram", "nominal": "values"}


def count_plan(schema: Schema, *, texts: bool = False) -> tuple[Part, ...]:
    """What is counted: histograms of numbers, values of categories, and words of texts if they are wanted."""
    kinds = schema.kinds
    columns = tuple(Part(STATISTICS[kinds[name]], (name,)) for name in schema.features if kinds[name] in STATISTICS)
    return columns + (text_parts(schema.text) if texts and schema.text else ())


def count_rows(
    table: Table, schema: Schema, labels: Labels, weight: Array, recipes: Mapping[str, Any], n_jobs: int | None,
    *, texts: bool = True,
) -> Summary:  # fmt: skip
    """Class × cell of numbers, class × category, and class × word unless texts are counted elsewhere."""
    plan = count_plan(schema, texts=texts)
    is_small = table.n_rows * len(plan) < MIN_PARALLEL_CELLS
    return Rows(table, labels.classes, labels.codes, weight, 1 if is_small else n_jobs, recipes).summarise(plan)


def code_counts(column: Column, summary: Summary) -> Array:
    """Codes × classes of a column; every cell of its histogram lies within one bin."""
    counted, out = column_counts(column.name, summary), np.zeros((column.size, len(summary.classes)))
    if isinstance(counted, Histogram) and isinstance(column, NumericColumn):
        codes, known = column.codes_of(counted.lows()), counted.known
        whole_cells = bool((codes == column.codes_of(counted.highs())).all())
    elif isinstance(counted, ValueCounts) and isinstance(column, NominalColumn):
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


def weighted_nb_from_counts(hyperparameters: Hyperparameters, summary: Summary, schema: Schema) -> AdditiveModel:
    """Weighted naive Bayes with known feature weights and class offsets, in bins that follow from the counts.

    score_c = log p_c + offset_c + Σ_j w_j · log((count + 4 · share of the bin)/(weight of the class + 4)), coarse bins.
    """
    class_weights = summary.classes.weights
    n_scores = 1 if len(class_weights) == 2 else len(class_weights)
    encoding = fit_encoding(summary, schema)
    empty = AdditiveModel.empty(encoding, Terms.none(), n_scores, len(schema.text), hyperparameters)
    if not n_scores:
        return empty
    starts, n_cells = encoding.coarse.starts()
    counts = np.zeros((n_cells, len(class_weights)))
    for k, column in enumerate(encoding.columns):
        np.add.at(counts, starts[k] + column.coarse.astype(np.intp), code_counts(column, summary))
    log_likelihoods = as_scores(log_conditionals(counts, starts, class_weights, 0.0))
    widths = np.diff(np.append(starts, n_cells))
    feature_weights = hyperparameters.feature_weights
    cell_weights = np.repeat(feature_weights[: len(starts)], widths)[:, None]
    intercept = log_prior(class_weights) + as_scores(hyperparameters.class_offsets[None])[0]
    fitted = WeightedNaiveBayes(feature_weights, cell_weights * log_likelihoods, intercept, 0)
    return empty.plus_weighted_nb(fitted, 1.0)
