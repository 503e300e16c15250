"""From class × bin counts to weighted naive Bayes: what a model can still say after its counts have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.engines.memory import Rows
from likely.errors import DataError
from likely.evidence.columns import Column, coded
from likely.evidence.frame import Frame, Terms
from likely.evidence.model import Evidence
from likely.evidence.solver import log_prior
from likely.evidence.texts import as_scores, text_parts
from likely.evidence.ways import Index
from likely.evidence.weighing import Weighted, log_shares
from likely.stats import ClassWeights, Part, Summary, ValueCounts
from likely.table import Labels, Table

Array = NDArray[np.float64]


def count_rows(
    frame: Frame, table: Table, labels: Labels, weight: Array, texts: tuple[str, ...], recipes: Mapping[str, Any],
    n_jobs: int | None,
) -> Summary:  # fmt: skip
    """Class × bin of rows, by the bins of a frame, and class × word; what has no code in the frame is not counted."""
    classes = ClassWeights.observe(labels.classes, labels.codes, weight)
    parts: dict[Part, Any] = dict(count_codes(frame.columns, coded(frame.columns, table, n_jobs), labels, weight))
    if texts:
        rows = Rows(table, labels.classes, labels.codes, weight, n_jobs, recipes)
        parts |= rows.summarise(text_parts(texts)).parts
    return Summary(classes, parts)


def count_codes(
    columns: tuple[Column, ...], codes: NDArray[np.uint8], labels: Labels, weight: Array
) -> dict[Part, ValueCounts]:
    """Weight of every code of every column in each class."""
    counts = {}
    for place, column in enumerate(columns):
        numbers = tuple(range(1, column.size))
        places = codes[:, place].astype(np.int32) - 1
        seen = ValueCounts.observe(numbers, places, labels.codes, weight, len(labels.classes))
        counts[Part("values", (column.name,))] = seen
    return counts


def by_code(column: Column, summary: Summary) -> Array:
    """Codes × classes of a column, with a row of zeros for the code that says nothing."""
    seen, out = summary[column.name], np.zeros((column.size, len(summary.classes)))
    values = seen.values if isinstance(seen, ValueCounts) else (None,)
    codes = [value for value in values if isinstance(value, int) and 1 <= value < column.size]
    if not isinstance(seen, ValueCounts) or len(codes) != len(values):
        raise DataError(f"what was counted of {column.name!r} does not fit its bins")
    out[codes] = seen.counts.T
    return out


def with_counts(frame: Frame, summary: Summary) -> Frame:
    """The same bins with the weight that each has now."""
    columns = (replace(column, mass=by_code(column, summary)[1:].sum(axis=1)) for column in frame.columns)
    return Frame(tuple(columns), frame.rank)


def fall_back(evidence: Evidence, summary: Summary, places: Index) -> Evidence:
    """Weighted naive Bayes over what is counted now, with the weights of the last fit; no pairs.

    Score = log share of the class + its offset + Σ weight · log((count + 4 · share of the bin)/(class + 4)), over the
    coarse bins that pairs have. `places` is where each class was at the last fit.
    """
    classes = summary.classes.weights
    n_scores = 1 if len(classes) == 2 else len(classes)
    frame, ways = with_counts(evidence.frame, summary), evidence.ways.of_classes(places, classes)
    empty = Evidence.empty(frame, Terms.none(), n_scores, len(evidence.texts), ways)
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
