"""Parts of dates as SQL: what `likely.table.dates` hands out under names such as "signup: month"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.table.dates import ELAPSED, WEEKDAYS, Part

if TYPE_CHECKING:
    from likely.sql.nodes import Node, Nodes

FIRST_WEEKDAY = 3
"""1970 began with a Thursday."""

SECONDS = 86_400.0
EPOCH = ("duckdb", "postgres", "redshift")
"""Where a point in time without a zone has seconds since 1970, fractions among them."""


def date_part(nodes: Nodes, cell: Node, part: Part) -> Node:
    """One part of a date, a time stamp or a text such as 2025-01-31 17:05; null for a gap."""
    moment = nodes.exp.cast(cell, "timestamp")
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
