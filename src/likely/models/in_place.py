"""Tables in engines are scored where they are: what comes back is an expression of Ibis, and no row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from likely.arrays import AnyArray
from likely.decide import REFUSED, LossLike, LossMatrix, as_loss
from likely.engines.connect import as_relation, is_ibis
from likely.engines.relation import Expression, Relation, ibis_module, refresh_dialects
from likely.engines.token_tables import refuse_letters
from likely.errors import SchemaError, missing_columns
from likely.sql.dialects import dialect_named
from likely.sql.posterior import asked
from likely.sql.query import Query
from likely.table.schema import Schema

Method = TypeVar("Method", bound=Callable[..., Any])

SOURCE = "likely_source"
"""What the table is called in the query."""


def is_scored_in_place(X: Any) -> bool:
    """Whether rows are in an engine that Ibis speaks to."""
    return isinstance(X, Relation) or is_ibis(X)


def scored(
    classifier: Any, X: Any, output: str, loss: LossLike | None = None, wanted: Sequence[str] | None = None
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
    return expression(relation, query.written(columns), _types(classifier.classes_, columns, loss))


def query_of(classifier: Any, relation: Relation, columns: Sequence[str]) -> Query:
    """A query over a table that has what the classifier reads; its result has some columns of the table."""
    refuse_columns(classifier, relation)
    return Query(dialect_named(relation.engine), [SOURCE], columns, classifier.schema_.parts)


def scored_there(wanted: str) -> Callable[[Method], Method]:
    """A method that gives an expression for a table of Ibis: its columns, and those whose names begin so."""

    def decorate(method: Method) -> Method:
        @wraps(method)
        def ask(classifier: Any, X: Any) -> Any:
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


def refuse_columns(classifier: Any, relation: Relation) -> None:
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
        if schema.kinds[name] == "text" and kind != "string":
            raise SchemaError(f"Column {name!r} of {relation.name} is read as text, but it holds no strings there.")


def _types(classes: AnyArray, columns: Sequence[str] | dict[str, Any], loss: LossLike | None) -> dict[str, str]:
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
