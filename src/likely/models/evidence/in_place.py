"""Evidence from a table in an engine: counts come from all rows there, corrections from a fair sample of them."""

from __future__ import annotations

import logging
from dataclasses import replace

from likely.engines import files
from likely.engines.connect import as_relation
from likely.engines.files import USUAL_FAMILIES
from likely.engines.in_place import ignored_columns, label_column, stratified_sample, task_in_place, weight_column
from likely.engines.memory import Preprocessing, Rows
from likely.engines.plan import Task, assign, tokenizers_for
from likely.engines.relation import Relation
from likely.engines.relational import RelationalRows
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.prepare import FitContext, count_rows, encode_rows, fit_encoding
from likely.models.evidence.row_source import RowSource
from likely.models.settings import SchemaLike, TokenizerLike
from likely.stats import Summary
from likely.table import Labelling, Table, Weights, encode_column
from likely.table.schema import Schema, schema_for

LOG = logging.getLogger("likely")

PER_CELL = 48
"""Bytes of work for each cell of a row that is learned from in memory."""


def rows_in_memory(relation: Relation, n_columns: int) -> int:
    """How many rows corrections are made from: as many as a table in memory may have, unless the user says."""
    return relation.drawn if relation.drawn is not None else max(files.BUDGET // (PER_CELL * max(n_columns, 1)), 1)


def judge_in_place(
    X: object, y: Labelling, sample_weight: Weights, given: SchemaLike, text: TokenizerLike, n_jobs: int | None
) -> Task:
    """A table to be learned where it lies: columns are judged by a sample; `given` is what the user said of them."""
    relation = _with_weight(as_relation(X), weight_column(given))

    def look(table: Table, target: str) -> Task:
        schema = schema_for(table, target, given)
        assigned = assign(schema, None, USUAL_FAMILIES, is_sparse=False)
        labels, preprocessing = encode_column(table.cells(target)), tokenizers_for(table, assigned, text)
        return Task(Rows(table, labels.classes, labels.codes, None, 1, preprocessing), schema, assigned, False)

    return task_in_place(relation, y, sample_weight, given, look, n_jobs)


def _with_weight(relation: Relation, weight: str | None) -> Relation:
    """Without the rows that have no weight: such a row is as if it were not there."""
    if weight is None:
        return relation
    relation.require([weight])
    # A weight that is missing or wrong stays, so that it is told.
    column = relation.numbers(weight)
    return replace(relation, table=relation.table.filter((column != 0.0) | column.isnull()))


def prepare_in_place(task: Task, context: FitContext) -> tuple[EncodedData[RowSource], Summary]:
    """Encoded rows of a sample, under an encoding that follows from the counts of all rows."""
    summary = count_rows(task.rows, context.schema)
    drawn = at_hand(task.rows, context.schema, context.seed)
    if len(drawn.y) < summary.n_rows:
        LOG.info(
            f"corrections: from {len(drawn.y):,} of {summary.n_rows:,} rows, drawn in the engine; counts are from all."
        )
    data, _ = encode_rows(fit_encoding(summary, context.schema), drawn, context)
    return EncodedData(data.encoding, data.rows, data.texts), summary


def further_rows(
    X: object, y: Labelling, sample_weight: Weights, schema: Schema, preprocessing: Preprocessing
) -> RelationalRows:
    """Further rows in an engine, read as the first ones were."""
    relation = _with_weight(as_relation(X), schema.weight)
    relation.require(schema.features)
    return RelationalRows.of(
        relation, label_column(relation, y, sample_weight), schema.weight, ignored=ignored_columns(schema),
        preprocessing=preprocessing,
    )  # fmt: skip


def at_hand(rows: Rows, schema: Schema, seed: int) -> Rows:
    """The rows themselves; of those in an engine a fair sample, as many as fit into memory."""
    if not isinstance(rows, RelationalRows):
        return rows
    return stratified_sample(rows, schema.features, rows_in_memory(rows.relation, len(schema.features)), seed)
