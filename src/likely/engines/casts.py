"""Columns of types that Ibis or Arrow would not carry home: which number or text an engine hands over for them.

An engine knows types that nothing else does: identifiers, documents, ranges, amounts of money, decimals without bounds.
Some of them would make it impossible to fetch a single row of their table. Here such a column becomes a number where it
is one, and else its text; the table is asked as if it had been declared so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from likely.engines.relation import Backend, Expression


class Cast(NamedTuple):
    """What a column is cast to in its engine, one type after the other, and what Ibis takes it for then.

    `apart`: different texts are different, whatever the collation of the column says.
    """

    sql: tuple[str, ...]
    held: str
    apart: bool = False


TEXT = Cast(("text",), "string")
FLOAT = Cast(("double",), "float64")
WHOLE = Cast(("bigint",), "int64")

# PostgreSQL numbers its types; those of enumerations, composites and extensions have numbers of their own.

ANY = ""
LOOSE_SINCE = 120_000
"""The version of the server that brought collations in which different texts are equal."""

POSTGRES: Mapping[int, tuple[str, Cast]] = {
    16: ("boolean", Cast(("boolean",), "boolean")), 20: ("integer", WHOLE), 21: ("integer", WHOLE),
    23: ("integer", WHOLE), 700: ("floating", FLOAT), 701: ("floating", FLOAT), 19: ("string", TEXT),
    25: ("string", TEXT), 1043: ("string", TEXT), 1082: ("date", Cast(("date",), "date")),
    1114: ("timestamp", Cast(("timestamp",), "timestamp")), 1184: ("timestamp", Cast(("timestamptz",), "timestamp")),
    1083: ("time", Cast(("time",), "time")), 1266: ("time", Cast(("time",), "time")),
    1186: ("interval", TEXT), 17: ("binary", TEXT),
    26: (ANY, WHOLE), 790: (ANY, Cast(("numeric", "double"), "float64")), 1700: (ANY, FLOAT),
}  # fmt: skip
"""What Ibis must take a column for so that it can stay as it is, and what it becomes else; all others become texts.

Decimals become floats because theirs may have NaN, no bounds, and more digits than Arrow has.
"""

DUCKDB_CARRIED = re.compile(
    r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT)|HUGEINT|FLOAT|DOUBLE|DECIMAL\(.*|VARCHAR|ENUM\(.*|BLOB|DATE"
    r"|TIME( WITH TIME ZONE)?|TIMESTAMP.*|STRUCT\(.*|MAP\(.*|.*\[\d*\]"
)
"""Types of DuckDB that Ibis and Arrow know, too."""


def postgres_casts(backend: Backend, query: str, held: Mapping[str, Expression]) -> dict[str, Cast]:
    """The columns of a query in PostgreSQL that need a cast; `held` is what Ibis takes each of them for.

    The engine describes them without running the query; a domain has the type that it is made of.
    """
    with backend.begin() as cursor:
        cursor.execute(f"SELECT * FROM ({query}) AS t LIMIT 0")
        types = {column.name: int(column.type_code) for column in cursor.description or ()}
        collated = _loosely_collated(cursor, query, [name for name, kind in held.items() if kind.is_string()])
    found = {name: _postgres_cast(types[name], kind) for name, kind in held.items() if name in types}
    apart = dict.fromkeys(collated, TEXT._replace(apart=True))
    return {name: cast for name, cast in found.items() if cast is not None} | apart


def _loosely_collated(cursor: Backend, query: str, texts: Sequence[str]) -> list[str]:
    """The texts whose collation takes different ones for equal, such as a and A."""
    if not texts or cursor.connection.info.server_version < LOOSE_SINCE:
        return []
    cursor.execute("SELECT oid::regcollation::text FROM pg_collation WHERE NOT collisdeterministic")
    loose = {name for (name,) in cursor.fetchall()}
    if not loose:
        return []
    from sqlglot import exp

    asked = exp.select(*(exp.func("pg_collation_for", _quoted(name)) for name in texts))
    cursor.execute(f"{asked.sql('postgres')} FROM ({query}) AS t LIMIT 1")
    found = cursor.fetchone() or ()
    return [name for name, collation in zip(texts, found, strict=False) if collation in loose]


def _postgres_cast(number: int, held: Expression) -> Cast | None:
    wanted, cast = POSTGRES.get(number, ("array", TEXT))
    return None if wanted and getattr(held, f"is_{wanted}")() else cast


def duckdb_casts(types: Mapping[str, str]) -> dict[str, Cast]:
    """The columns of DuckDB that need a cast, by the names of their types."""
    odd = {name: kind for name, kind in types.items() if not DUCKDB_CARRIED.fullmatch(kind)}
    return {name: FLOAT if kind == "UHUGEINT" else TEXT for name, kind in odd.items()}


def recast(query: str, names: Sequence[str], casts: Mapping[str, Cast], dialect: str) -> str:
    """The same rows, where some columns are cast."""
    import sqlglot
    from sqlglot import exp

    def column(name: str) -> Expression:
        found: Expression = _quoted(name)
        if name not in casts:
            return found
        for kind in casts[name].sql:
            found = exp.cast(found, kind)
        if casts[name].apart:
            found = exp.Collate(this=found, expression=exp.to_identifier("C", quoted=True))
        return exp.alias_(found, name, quoted=True)

    rows = sqlglot.parse_one(query, dialect=dialect)
    return exp.select(*map(column, names)).from_(exp.Subquery(this=rows, alias="t")).sql(dialect=dialect)


def _quoted(name: str) -> Expression:
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True))
