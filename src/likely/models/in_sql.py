"""A classifier as one SELECT that scores a table where it lies: the same posteriors, without likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from likely.arrays import AnyArray
from likely.decide import LossLike
from likely.sql.dialects import dialect_named
from likely.sql.posterior import Posterior, asked
from likely.sql.query import Query, TableName
from likely.table.schema import Schema


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
    query = Query(dialect_named(dialect), table, columns, classifier.schema_.parts)
    found = classifier._sql_posterior(query, explain=output == "explanation")
    return query.written(asked(query, classifier.classes_, found, output, loss)) + "\n"
