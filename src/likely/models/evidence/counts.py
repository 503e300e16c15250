"""From what was counted to weighted naive Bayes: what a model can still say after its counts have changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.errors import DataError
from likely.models.evidence.binning import counted_of, frame_of, gaps_beside
from likely.models.evidence.columns import WORTH_THREADS, Column, NominalColumn, NumericColumn
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.hyperparameters import Hyperparameters
from likely.models.evidence.predictor import Evidence
from likely.models.evidence.solver import log_prior
from likely.models.evidence.text_scores import as_scores, text_parts
from likely.models.evidence.weighted_nb import Weighted, log_shares
from likely.stats import Histogram, Part, Statistic, Summary, ValueCounts
from likely.table import Labels, Table
from likely.table.schema import Schema

ROUNDING = 1e-6
"""By how much more, in parts of a class, its known cells may weigh after many sums and differences."""


KINDS = {"numeric": "histogram", "nominal": "values"}


def counted_parts(schema: Schema, *, texts: bool = False) -> tuple[Part, ...]:
    """What is counted: cells of numbers, values of categories, and words of texts if they are wanted."""
    kinds = schema.kinds
    plain = tuple(Part(KINDS[kinds[name]], (name,)) for name in schema.features if kinds[name] in KINDS)
    return plain + (text_parts(schema.text) if texts and schema.text else ())


def count_rows(
    table: Table, schema: Schema, labels: Labels, weight: Array, recipes: Mapping[str, Any], n_jobs: int | None,
    *, texts: bool = True,
) -> Summary:  # fmt: skip
    """Class × cell of numbers, class × category, and class × word unless texts are counted elsewhere."""
    plan = counted_parts(schema, texts=texts)
    few = table.n_rows * len(plan) < WORTH_THREADS
    return Rows(table, labels.classes, labels.codes, weight, 1 if few else n_jobs, recipes).summarise(plan)


def by_code(column: Column, summary: Summary) -> Array:
    """Codes × classes of a column: what was counted falls into its bins whole."""
    seen, out = counted_of(column.name, summary), np.zeros((column.size, len(summary.classes)))
    if isinstance(seen, Histogram) and isinstance(column, NumericColumn):
        codes, known = column.codes_of(seen.lows()), seen.known
        fits = bool((codes == column.codes_of(seen.highs())).all())
    elif isinstance(seen, ValueCounts) and isinstance(column, NominalColumn):
        codes, known = column.codes_of(seen.values), np.asarray(seen.counts.sum(axis=1))
        fits = True
    else:
        raise DataError(f"what was counted of {column.name!r} is not what its bins are made of")
    gaps = gaps_beside(known, summary)
    too_much = known > (1.0 + ROUNDING) * summary.classes.weights
    if not fits or too_much.any() or (codes == 0).any() or bool(gaps.any()) != column.gap:
        raise DataError(f"what was counted of {column.name!r} does not fit its bins")
    np.add.at(out, codes, seen.counts.T)
    if column.gap:
        out[-1] = gaps
    return out


def by_bin(frame: Encoding, summary: Summary) -> Summary:
    """The same counts by the codes of columns, as values: a gap is one of them."""
    cut = {column.name: column for column in frame.columns}
    parts: dict[Part, Statistic] = {}
    for part, seen in summary.parts.items():
        column = cut.get(part.columns[0])
        if column is None:
            parts[part] = seen
        else:
            codes = tuple(range(1, column.size))
            parts[Part("values", part.columns)] = ValueCounts(codes, by_code(column, summary)[1:].T)
    return Summary(summary.classes, parts)


def weighted_nb_from_counts(ways: Hyperparameters, summary: Summary, schema: Schema) -> Evidence:
    """Weighted naive Bayes over what is counted now, in bins that follow from it, with weights known before; no pairs.

    Score = log share of the class + its offset + Σ weight · log((count + 4 · share of the bin)/(class + 4)), over the
    coarse bins that pairs have.
    """
    classes = summary.classes.weights
    n_scores = 1 if len(classes) == 2 else len(classes)
    frame = frame_of(summary, schema)
    empty = Evidence.empty(frame, Terms.none(), n_scores, len(schema.text), ways)
    if not n_scores:
        return empty
    starts, n_cells = frame.coarse.starts()
    counts = np.zeros((n_cells, len(classes)))
    for place, column in enumerate(frame.columns):
        np.add.at(counts, starts[place] + column.coarse.astype(np.intp), by_code(column, summary))
    tables = as_scores(log_shares(counts, starts, classes, 0.0))
    widths = np.diff(np.append(starts, n_cells))
    by_cell = np.repeat(ways.weights[: len(starts)], widths)[:, None]
    base = log_prior(classes) + as_scores(ways.offsets[None])[0]
    return empty.plus_weighted(Weighted(ways.weights, by_cell * tables, base, 0), 1.0)
