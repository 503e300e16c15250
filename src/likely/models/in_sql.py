"""A classifier as one SELECT that scores a table where it lies: as text, or as an expression of Ibis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from likely.arrays import AnyArray
from likely.decide import REFUSED, LossLike, LossMatrix, as_loss
from likely.engines.connect import as_relation, is_ibis
from likely.engines.relation import Expression, Relation, ibis_module, refresh_dialects
from likely.engines.term_counts import refuse_letters
from likely.errors import SchemaError, SettingsError, missing_columns
from likely.sql.dialects import dialect_named
from likely.sql.posterior import Posterior, asked
from likely.sql.query import Query, TableName
from likely.table.schema import Schema

Method = TypeVar("Method", bound=Callable[..., Any])

SOURCE = "likely_source"
"""What the table is called in the query."""


class ScoresInSQL(Protocol):
    """A classifier that says how its posterior is written."""

    @property
    def classes_(self) -> AnyArray: ...

    @property
    def schema_(self) -> Schema: ...

    def _sql_posterior(self, query: Query, *, explain: bool) -> Posterior: ...


def to_sql(
    classifier: ScoresInSQL,
    dialect: str = "duckdb",
    table: TableName = "data",
    output: str = "probabilities",
    loss: LossLike | None = None,
    columns: Sequence[str] | None = None,
) -> str:
    """One SELECT that gives the columns of a table, "prediction" and, for each class, "P(class)".

    dialect : "duckdb", "postgres", "spark", "bigquery", "snowflake", … (see `likely.sql.dialects`).
    table : its name, "t" or "schema.t", or the parts of it; it is quoted.
    output : "probabilities"; "decision" adds "decision" and "risk"; "explanation" adds "prior: class" and, for each
        column, "column: class", in nats: with the prior they sum to the log joint.
    loss : for decisions, a `Loss`; without one every mistake costs 1.
    columns : the columns of the table to keep in the result; None for all.

    Missing values, unseen categories and rows that are impossible under every class are treated as in `predict_proba`.
    An infinite number, which `predict_proba` refuses, makes the whole result of a row null.
    """
    schema = classifier.schema_
    if not len(classifier.classes_):
        raise SettingsError("All rows have been forgotten: learn some before writing the model.")
    query = Query(dialect_named(dialect), table, columns, schema.parts, _written_dates(schema))
    found = classifier._sql_posterior(query, explain=output == "explanation")
    return query.written(asked(query, classifier.classes_, found, output, loss)) + "\n"


def _written_dates(schema: Schema) -> list[str]:
    """Dates that were held as texts when they were learned."""
    dates = {column for column, _ in schema.parts.values()}
    return [name for name in dates if schema[name].storage in ("string", "category", "mixed")]


# Tables in engines.


def is_scored_in_place(X: object) -> bool:
    """Whether rows are in an engine that Ibis speaks to."""
    return isinstance(X, Relation) or is_ibis(X)


def scored(
    classifier: ScoresInSQL, X: object, output: str, loss: LossLike | None = None, wanted: Sequence[str] | None = None
) -> Expression:
    """The columns of a table and what the classifier says of its rows: all of it, or the columns that are wanted."""
    relation = as_relation(X)
    query = query_of(classifier, relation, relation.names)
    found = classifier._sql_posterior(query, explain=output == "explanation")
    columns = asked(query, classifier.classes_, found, output, loss)
    for name, tokenizer in query.cut.items():
        refuse_letters(relation, name, tokenizer)
    if wanted is not None:
        columns = {name: node for name, node in columns.items() if name.startswith(tuple(wanted))}
    if relation.as_given is not None:  # the query casts what it reads, and the result keeps the types of the table
        relation = replace(relation, table=relation.as_given)
    return expression(relation, query.written(columns), _types(classifier.classes_, columns, loss))


def query_of(classifier: ScoresInSQL, relation: Relation, columns: Sequence[str]) -> Query:
    """A query over a table that has what the classifier reads; its result has some columns of the table."""
    refuse_columns(classifier, relation)
    schema: Schema = classifier.schema_
    dates = {column for column, _ in schema.parts.values()}
    written = [name for name in dates if relation.table[name].type().is_string()]
    return Query(dialect_named(relation.engine), [SOURCE], columns, schema.parts, written)


def scored_there(wanted: str) -> Callable[[Method], Method]:
    """A method that gives an expression for a table of Ibis: its columns, and those whose names begin so."""

    def decorate(method: Method) -> Method:
        @wraps(method)
        def ask(classifier: ScoresInSQL, X: object) -> object:
            if is_scored_in_place(X):
                return scored(classifier, X, "probabilities", wanted=[wanted])
            return method(classifier, X)

        return cast(Method, ask)

    return decorate


def expression(
    relation: Relation, query: str, types: dict[str, str], columns: Sequence[str] | None = None
) -> Expression:
    """A query over a table, which it calls `SOURCE`, as an expression.

    `columns` are those of the table that it gives, None for all; `types` are those of the columns that it adds.
    """
    ibis = ibis_module()
    refresh_dialects()
    from ibis.expr import operations

    table = relation.table
    kept = {name: table[name].type() for name in (table.columns if columns is None else columns)}
    schema = ibis.schema({**kept, **types})
    return operations.SQLStringView(parent=table.alias(SOURCE).op(), query=query, schema=schema).to_expr()


def refuse_columns(classifier: ScoresInSQL, relation: Relation) -> None:
    """Raise where a column that the classifier reads is not there, or is nothing that it can read."""
    schema: Schema = classifier.schema_
    lacking = [name for name in schema.inputs if name not in relation.names]
    if lacking:
        raise missing_columns(lacking, relation.names)
    for name in schema.inputs:
        kind = relation.cell(name)
        if schema.kinds[name] == "numeric" and kind in ("string", None):
            raise SchemaError(
                f"Column {name!r} of {relation.name} holds {relation.table[name].type()}, but numbers were learned: "
                "cast it in the engine."
            )
        moment = relation.table[name].type()
        if schema.kinds[name] == "date" and not (kind == "string" or moment.is_date() or moment.is_timestamp()):
            raise SchemaError(
                f"Column {name!r} of {relation.name} holds {moment}, but dates were learned: cast it in the engine."
            )
        if schema.kinds[name] == "text" and kind != "string":
            raise SchemaError(f"Column {name!r} of {relation.name} is read as text, but it holds no strings there.")


def _types(classes: AnyArray, columns: Iterable[str], loss: LossLike | None) -> dict[str, str]:
    """Types of the columns that a query adds."""
    decided: Sequence[object] = classes.tolist()
    if loss is not None:
        given = as_loss(loss)
        refuses = [REFUSED] if given.refuse is not None else []
        decided = [*LossMatrix.of(given, classes, 1).labels.tolist(), *refuses]
    kinds = {"prediction": _type(classes.tolist()), "decision": _type(decided)}
    return {name: kinds.get(name, "float64") for name in columns}


def _type(labels: Sequence[object]) -> str:
    for kind, name in ((bool, "boolean"), (int, "int64"), ((int, float), "float64")):
        if all(isinstance(label, kind) and isinstance(label, bool) is (kind is bool) for label in labels):
            return name
    return "string"
