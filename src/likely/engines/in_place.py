"""From a table in an engine to a task that is counted there, and to a fair sample of its rows for what needs rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.engines.connect import as_relation
from likely.engines.files import counted_schema as schema_of_all
from likely.engines.gpu.rows import DeviceRows
from likely.engines.memory import Preprocessing, Rows
from likely.engines.plan import Task
from likely.engines.relation import Relation
from likely.engines.relational import RelationalRows, refuse_below, refuse_no_dates
from likely.errors import DataError, SettingsError
from likely.stats import Summary
from likely.table import Table, as_table, encode_column, merge_classes
from likely.table.labels import row_weights
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


def label_column(relation: Relation, y: object, sample_weight: object = None) -> str:
    """The name of the column of labels: labels and weights that lie elsewhere cannot be joined to rows."""
    if sample_weight is not None:
        raise SettingsError(
            "Weights of a table in an engine are one of its columns: name it, as in schema={'w': 'weight'}."
        )
    if not isinstance(y, str):
        raise SettingsError("The labels of a table in an engine are one of its columns: give its name.")
    relation.require([y])
    return y


def weight_column(given: object) -> str | None:
    """The column that a user's schema calls the weight."""
    if isinstance(given, Schema):
        return given.weight
    if not isinstance(given, Mapping):
        return None
    return next((str(name) for name, kind in given.items() if kind == "weight"), None)


def ignored_columns(given: object) -> list[str]:
    """The columns that a user's schema leaves out."""
    kinds = given.kinds if isinstance(given, Schema) else given if isinstance(given, Mapping) else {}
    return [str(name) for name, kind in kinds.items() if kind == "ignored"]


def task_in_place(
    X: object, y: object, sample_weight: object, given: object, look: Callable[[Table, str], Task], n_jobs: int | None
) -> Task:
    """What is to be counted in the engine: kinds, families and preprocessing are those that `look` finds in a sample.

    `given` is what the user said of the columns.
    """
    relation, weight = as_relation(X), weight_column(given)
    target = label_column(relation, y, sample_weight)
    rows = RelationalRows.of(relation, target, weight, ignored=ignored_columns(given), n_jobs=n_jobs)
    judged = look(rows.table, target)
    refuse_unfit(relation, judged.assigned)
    return Task(rows.with_preprocessing(judged.rows.preprocessing), judged.schema, judged.assigned, weight is not None)


def further_task(
    X: object,
    y: object,
    sample_weight: object,
    schema: Schema,
    assigned: Mapping[str, str],
    preprocessing: Preprocessing,
) -> Task:
    """Further rows in an engine, read as the first ones were."""
    relation = as_relation(X)
    target = label_column(relation, y, sample_weight)
    relation.require(tuple(assigned))
    refuse_unfit(relation, assigned)
    left_out = ignored_columns(schema)
    rows = RelationalRows.of(relation, target, schema.weight, ignored=left_out, preprocessing=preprocessing)
    return Task(rows, schema, assigned, schema.weight is not None)


def refuse_unfit(relation: Relation, assigned: Mapping[str, str]) -> None:
    """A Poisson column must not hold anything below zero when it is learned, and a date must be one."""
    refuse_no_dates(relation, list(assigned))
    refuse_below(relation, [name for name, family in assigned.items() if family == "poisson"], 0.0)


def counted_schema(task: Task, summary: Summary) -> Schema:
    """With the gaps of what was not read twice, a large matrix or a table in an engine: rows less known cells."""
    schema = task.schema
    if isinstance(task.rows, RelationalRows | DeviceRows):
        return schema_of_all(schema, summary, task.rows.looked)
    if task.weighted:
        return schema
    known: dict[str, float] = {}
    for part, seen in summary.parts.items():
        weights = seen.known_weights
        if weights is not None:
            known |= zip(part.columns, weights.sum(axis=0).tolist(), strict=True)
    unknown = [name for name in known if schema[name].gaps is None]
    return schema.with_gaps({name: summary.n_rows - round(known[name]) for name in unknown}) if unknown else schema


# A fair sample of the rows, drawn in the engine: every class has its share, and none is lost.

MIN_PER_CLASS = 50
"""Rows of each class that are drawn at least, if there are as many."""


def stratified_sample(rows: RelationalRows, columns: Sequence[str], most: int, seed: int) -> Rows:
    """About `most` rows with some columns, in memory; all of them if they are not more.

    Rows of rare classes are drawn more often and count for less, so that each class has the share of the weight that it
    has in the whole table; a row counts for about one.
    """
    grouping, relation = rows.grouping, rows.relation
    wanted = [
        *map(relation.input_of, columns),
        grouping.target,
        *([] if grouping.weight is None else [grouping.weight]),
    ]
    table = relation.table.select(list(dict.fromkeys(wanted)))
    counts, total = grouping.seen.rows, int(grouping.seen.rows.sum())
    relation.seed(seed)
    if total <= most:
        return _read(rows, relation.run(table), None)
    share = most / total
    rare = np.flatnonzero((counts * share < MIN_PER_CLASS) & (counts > 0))
    drawn = relation.run(relation.sample(relation.table, share, seed).select(table.columns))
    if not len(rare):
        return _read(rows, drawn, grouping.seen.weights)
    import pyarrow as pa

    labels = grouping.seen.labels[rare].tolist()
    more = relation.sample(relation.table, min(1.0, most / int(counts[rare].sum())), seed)
    of_rare = relation.run(more.filter(more[grouping.target].isin(labels)).select(table.columns))
    common = drawn.filter(_is_common(drawn, grouping.target, labels))
    return _read(rows, pa.concat_tables([common, of_rare], promote_options="permissive"), grouping.seen.weights)


def _is_common(drawn: pa.Table, target: str, labels: Sequence[object]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = drawn.column(target)
    return pc.invert(pc.is_in(column, pa.array(labels, column.type)))


def _read(rows: RelationalRows, found: pa.Table, weights: Array | None) -> Rows:
    """Rows in memory, their classes among all, and what each counts for."""
    table, grouping = as_table(found), rows.grouping
    if not table.n_rows:
        raise DataError(f"{rows.relation.name}: no row was drawn; ask for more of them.")
    labels = encode_column(table.cells(grouping.target))
    merged, _, theirs = merge_classes(grouping.seen.labels, labels.classes)
    grouping.refuse_classes(merged)
    y = theirs.astype(np.int32)[labels.codes]
    weight = row_weights(None, table, grouping.weight)
    if weights is not None:
        own = np.ones(len(y)) if weight is None else weight
        held = np.bincount(y, weights=own, minlength=grouping.n_classes)
        there = weights * (held > 0.0)
        factor = np.divide(there, held, out=np.zeros_like(held), where=held > 0.0) * (held.sum() / there.sum())
        weight = own * factor[y]
    return Rows(table, grouping.seen.labels, y, weight, rows.n_jobs, rows.preprocessing)
