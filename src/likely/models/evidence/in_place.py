"""Evidence from a table in an engine: counts come from all rows there, corrections from a fair sample of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from likely.engines import pieces
from likely.engines.connections import as_relation
from likely.engines.drawn_rows import draw
from likely.engines.in_place import label_column, task_in_place, weight_column
from likely.engines.memory import Rows
from likely.engines.pieces import USUAL_FAMILIES
from likely.engines.plan import Task, assign, recipes_for, recipes_in
from likely.engines.relation import Relation
from likely.engines.relational import RelationalRows
from likely.models.evidence.binning import fit_encoding
from likely.models.evidence.counts import count_plan
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.prepare import FitContext, encode_rows
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.updates import GivenRows
from likely.stats import Summary
from likely.table import Labels, Table, encode_column
from likely.table.schema import Schema, schema_for

LOG = logging.getLogger("likely")

PER_CELL = 48
"""Bytes of work for each cell of a row that is learned from in memory."""


def rows_in_memory(relation: Relation, n_columns: int) -> int:
    """How many rows corrections are made from: as many as a table in memory may have, unless the user says."""
    return relation.drawn if relation.drawn is not None else max(pieces.BUDGET // (PER_CELL * max(n_columns, 1)), 1)


def judge_in_place(X: Any, y: Any, sample_weight: Any, given: Any, text: Any, n_jobs: int | None) -> Task:
    """A table to be learned where it lies: columns are judged by a sample; `given` is what the user said of them."""
    relation = _with_weight(as_relation(X), weight_column(given))

    def look(table: Table, target: str) -> Task:
        schema = schema_for(table, target, given)
        assigned = assign(schema, None, USUAL_FAMILIES, is_sparse=False)
        labels, recipes = encode_column(table.cells(target)), recipes_for(table, assigned, text)
        return Task(Rows(table, labels.classes, labels.codes, None, 1, recipes), schema, assigned, False)

    return task_in_place(relation, y, sample_weight, given, look, n_jobs)


def _with_weight(relation: Relation, weight: str | None) -> Relation:
    """Without the rows that have no weight: such a row is as if it were not there."""
    if weight is None:
        return relation
    relation.require([weight])
    # A weight that is missing or wrong stays, so that it is told.
    column = relation.numbers(weight)
    return replace(relation, table=relation.table.filter((column != 0.0) | column.isnull()))


def prepare_in_place(task: Task, how: FitContext) -> tuple[EncodedData[RowSource], Summary]:
    """Encoded rows of a sample, under an encoding that follows from the counts of all rows."""
    rows = task.rows
    assert isinstance(rows, RelationalRows)
    summary = rows.summarise(count_plan(how.schema, texts=True))
    drawn = draw(rows, how.schema.features, rows_in_memory(rows.relation, len(how.schema.features)), how.seed)
    if len(drawn.y) < summary.n_rows:
        LOG.info(
            f"corrections: from {len(drawn.y):,} of {summary.n_rows:,} rows, drawn in {rows.relation.engine}; counts "
            "are from all of them."
        )
    labels = Labels(summary.classes.labels, drawn.y)
    data, _ = encode_rows(fit_encoding(summary, how.schema), drawn.table, labels, drawn.weight, how)
    return EncodedData(data.encoding, data.rows, data.text_weights), summary


def count_in_place(X: Any, y: Any, sample_weight: Any, schema: Schema, summary: Summary) -> Summary:
    """What there is to count in further rows of an engine, by the recipes of a summary."""
    return _rows(X, y, sample_weight, schema, recipes_in(summary)).summarise(count_plan(schema, texts=True))


def drawn_rows(X: Any, y: Any, sample_weight: Any, schema: Schema, seed: int) -> GivenRows:
    """A fair sample of rows in an engine, to correct a model by."""
    rows = _rows(X, y, sample_weight, schema, {})
    drawn = draw(rows, schema.features, rows_in_memory(rows.relation, len(schema.features)), seed)
    return GivenRows(drawn.table, schema, Labels(rows.classes, drawn.y), drawn.weight)


def _rows(X: Any, y: Any, sample_weight: Any, schema: Schema, recipes: Mapping[str, Any]) -> RelationalRows:
    relation = _with_weight(as_relation(X), schema.weight)
    relation.require(schema.features)
    return RelationalRows.of(relation, label_column(relation, y, sample_weight), schema.weight, recipes=recipes)
