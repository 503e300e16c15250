"""From a table in an engine to a task that is counted there: columns are judged by a sample, rows stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from likely.engines.connect import as_relation
from likely.engines.memory import Preprocessing
from likely.engines.pieces import counted_schema as schema_of_all
from likely.engines.plan import Task
from likely.engines.relation import Relation
from likely.engines.relational import RelationalRows, refuse_below
from likely.errors import SettingsError
from likely.stats import Summary
from likely.table import Table
from likely.table.schema import Schema


def label_column(relation: Relation, y: Any, sample_weight: Any = None) -> str:
    """The name of the column of labels: labels and weights that lie elsewhere cannot be joined to rows."""
    if sample_weight is not None:
        raise SettingsError(
            "Weights of a table in an engine are one of its columns: name it, as in schema={'w': 'weight'}."
        )
    if not isinstance(y, str):
        raise SettingsError("The labels of a table in an engine are one of its columns: give its name.")
    relation.require([y])
    return y


def weight_column(given: Any) -> str | None:
    """The column that a user's schema calls the weight."""
    if isinstance(given, Schema):
        return given.weight
    if not isinstance(given, Mapping):
        return None
    return next((str(name) for name, kind in given.items() if kind == "weight"), None)


def task_in_place(
    X: Any, y: Any, sample_weight: Any, given: Any, look: Callable[[Table, str], Task], n_jobs: int | None
) -> Task:
    """What is to be counted in the engine: kinds, families and preprocessing are those that `look` finds in a sample.

    `given` is what the user said of the columns.
    """
    relation, weight = as_relation(X), weight_column(given)
    target = label_column(relation, y, sample_weight)
    rows = RelationalRows.of(relation, target, weight, n_jobs=n_jobs)
    rows.table.dated = False
    judged = look(rows.table, target)
    refuse_negative_counts(relation, judged.assigned)
    return Task(rows.with_preprocessing(judged.rows.preprocessing), judged.schema, judged.assigned, weight is not None)


def further_task(
    X: Any, y: Any, sample_weight: Any, schema: Schema, assigned: Mapping[str, str], preprocessing: Preprocessing
) -> Task:
    """Further rows in an engine, read as the first ones were."""
    relation = as_relation(X)
    target = label_column(relation, y, sample_weight)
    relation.require(tuple(assigned))
    refuse_negative_counts(relation, assigned)
    rows = RelationalRows.of(relation, target, schema.weight, preprocessing=preprocessing)
    return Task(rows, schema, assigned, schema.weight is not None)


def refuse_negative_counts(relation: Relation, assigned: Mapping[str, str]) -> None:
    """A Poisson column must not hold anything below zero when it is learned."""
    refuse_below(relation, [name for name, family in assigned.items() if family == "poisson"], 0.0)


def counted_schema(task: Task, summary: Summary) -> Schema:
    """With the gaps of what was not read twice, a large matrix or a table in an engine: rows less known cells."""
    schema = task.schema
    if isinstance(task.rows, RelationalRows):
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
