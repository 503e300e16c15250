"""What is read out of a cell before it is scored: the parts of dates, and the words of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.engines.term_counts import COMPOSES, foreign_option, word_class
from likely.errors import SettingsError, listed
from likely.table.dates import ELAPSED, WEEKDAYS, WRITTEN, Part
from likely.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from likely.sql.nodes import Node, Nodes

# Dates.

FIRST_WEEKDAY = 3
"""1970 began with a Thursday."""

SECONDS = 86_400.0
EPOCH = ("duckdb", "postgres", "redshift")
"""Where a point in time without a zone has seconds since 1970, fractions among them."""

EXTRACTS = ("duckdb", "spark", "databricks", "bigquery", "snowflake")
"""Where a group of a regular expression can be taken out of a text."""


def date_part(nodes: Nodes, cell: Node, part: Part, *, written: bool) -> Node:
    """One part of a date, a time stamp, or where it is `written` of a text such as 2025-01-31 17:05; null for a gap."""
    moment = nodes.exp.cast(_without_zone(nodes, cell) if written else cell, "timestamp")
    if part == ELAPSED:
        return _days(nodes, moment)
    if part == "weekday":
        floor = nodes.exp.Floor(this=_days(nodes, moment))
        place = nodes.exp.cast(nodes.grouped(nodes.sum([floor, nodes.whole(FIRST_WEEKDAY)])), "bigint")
        rest = nodes.exp.Mod(this=place, expression=nodes.whole(7))  # before 1970 it may be below zero
        place = nodes.exp.Mod(this=nodes.grouped(nodes.sum([rest, nodes.whole(7)])), expression=nodes.whole(7))
        names = [(nodes.equal(place.copy(), nodes.whole(k)), nodes.value(name)) for k, name in enumerate(WEEKDAYS)]
        return nodes.case(names)
    return _extract(nodes, part, moment)


def _without_zone(nodes: Nodes, cell: Node) -> Node:
    """A text without its zone, which engines read in different ways; null if it is no date."""
    exp, engine = nodes.exp, nodes.dialect.name
    text, pattern = exp.cast(cell, "text"), exp.Literal.string(WRITTEN)
    if engine == "postgres":
        return nodes.call("SUBSTRING", text, pattern)
    if engine not in EXTRACTS:
        return text
    found = exp.RegexpExtract(this=text, expression=pattern, group=nodes.whole(1))
    return exp.Nullif(this=found, expression=exp.Literal.string(""))


def _extract(nodes: Nodes, part: str, moment: Node) -> Node:
    return nodes.exp.Extract(this=nodes.exp.Var(this=part.upper()), expression=moment.copy())


def _days(nodes: Nodes, moment: Node) -> Node:
    """Days since 1970, by the clock on the wall."""
    exp = nodes.exp
    if nodes.dialect.name in EPOCH:
        return nodes.over(nodes.as_float(exp.TimeToUnix(this=moment.copy())), nodes.number(SECONDS))
    first = exp.cast(exp.Literal.string("1970-01-01"), "date")
    days = exp.DateDiff(this=exp.cast(moment.copy(), "date"), expression=first, unit=exp.Var(this="DAY"))
    clock = [
        nodes.times(nodes.as_float(_extract(nodes, unit, moment)), nodes.number(worth / SECONDS))
        for unit, worth in (("hour", 3600.0), ("minute", 60.0), ("second", 1.0))
    ]
    return nodes.grouped(nodes.sum([nodes.as_float(days), *clock]))


# Texts.

SPLITS = ("duckdb", "postgres", "spark", "databricks")
"""Dialects in which texts can be cut."""


def split_words(nodes: Nodes, text: Node, tokenizer: Tokenizer, name: str) -> Node:
    """A row for each word of a text, in lower case and composed as the tokenizer has it.

    Words that are too short, or are stop words, are in no vocabulary and so need not be left out here.
    """
    engine, exp = nodes.dialect.name, nodes.exp
    if engine not in SPLITS:
        raise SettingsError(
            f"Column {name!r} is free text, which {engine} is not taught to cut into words here: write the query for "
            f"{listed(SPLITS)}, or predict with likely."
        )
    option = foreign_option(tokenizer)
    if option is not None:
        raise SettingsError(
            f"Words of column {name!r} are found by {option[0]}={option[1]!r}, which SQL does not have: fit with "
            "tokens as they are usually, or predict with likely."
        )
    if tokenizer.normalize is not None and engine in COMPOSES:
        text = nodes.call(COMPOSES[engine], text)
    if tokenizer.lowercase:
        text = exp.Lower(this=text)
    between = exp.Literal.string(f"[^{word_class()}]+")
    if engine == "postgres":
        return exp.Explode(this=nodes.call("regexp_split_to_array", text, between))
    return exp.Explode(this=exp.RegexpSplit(this=text, expression=between))
