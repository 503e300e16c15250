"""What engines differ in, as far as scoring is concerned: one line for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from likely.errors import SettingsError, did_you_mean, listed


@dataclass(frozen=True, slots=True)
class SQLDialect:
    """How an engine says what others say otherwise.

    name : as sqlglot calls it.
    star : how all columns of a table but some are said: "exclude", by carrying the whole "row" along, or not at all.
    nan : whether NaN equals itself, is told by a function, or does not exist.
    array : the first place of an array; None where there are none to index.
    brackets : how an array of numbers is written as one text, which is read far faster than its numbers one by one.
    position : the function that finds the place of a value in an array, from 1 up.
    joins : whether a table of values can be joined to under names of its columns.
    fence : whether steps must be kept apart, lest what is used twice is worked out twice.
    strict : whether a number that leaves the floats, upwards or downwards, is an error there.
    typed : whether a number with an exponent is a decimal, unless it is said to be a float.
    infinity : a number that is read as infinite; None where the word "inf" is, as a float.
    """

    name: str
    star: Literal["exclude", "row", "none"] = "none"
    nan: Literal["equal", "function", "none"] = "equal"
    array: int | None = None
    brackets: str | None = None
    position: str | None = None
    joins: bool = True
    fence: bool = False
    strict: bool = False
    typed: bool = False
    infinity: str | None = None


DIALECTS = {
    each.name: each
    for each in (
        SQLDialect("duckdb", star="exclude", array=1, brackets="[]", position="list_position"),
        SQLDialect("postgres", star="row", array=1, brackets="{}", fence=True, strict=True, typed=True),
        SQLDialect("spark", star="exclude", array=0),
        SQLDialect("databricks", star="exclude", array=0),
        SQLDialect("bigquery", star="exclude", nan="function", array=0),
        SQLDialect("snowflake", star="exclude"),
        SQLDialect("redshift", star="exclude", strict=True, typed=True),
        SQLDialect("clickhouse", star="exclude", nan="function", array=1),
        SQLDialect("trino", nan="function", array=1),
        SQLDialect("mysql", nan="none"),
        SQLDialect("oracle", nan="none"),
        SQLDialect("tsql", nan="none"),
        SQLDialect("sqlite", nan="none", joins=False, fence=True, infinity="9e999"),
    )
}
"""The dialects that a query can be written in."""

ALSO = {"postgresql": "postgres", "pyspark": "spark", "mssql": "tsql", "athena": "trino"}
"""Other names of the same."""


def dialect_named(name: str) -> SQLDialect:
    """A dialect by its name.

    >>> dialect_named("postgresql").name
    'postgres'
    """
    found = DIALECTS.get(ALSO.get(name, name))
    if found is None:
        known = [*DIALECTS, *ALSO]
        raise SettingsError(f"dialect is {name!r}, but it is {listed(list(DIALECTS))}.{did_you_mean(name, known)}")
    return found
