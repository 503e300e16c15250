"""The expressions of families as data: written down once for each class, and joined to one for all classes.

A family says what it adds to the log joint by `sql_terms`, class by class. The classes differ in their numbers alone,
so their expressions become one whose numbers are vectors; a graph of ONNX then looks at each column once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Any, Literal

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.families.protocol import FittedFamily, HasTokens, WritesSQL
from likely.families.tempered import bare


@dataclass(frozen=True, slots=True)
class Expression:
    """What is done (`kind`), with which parts; the parts of a case are condition, result, …, and what else holds.

    `value` is the name of a column, a category, a function's name, the codes of a column, or one number for each class.
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    value: Hashable = None

    def copy(self) -> Expression:
        return self


Node = Any
"""An `Expression` that comes back from a family, to which it is an `SQLNode` of whatever kind."""


class Expressions:
    """Writes down what a family asks for; a `families.protocol.SQL`. What is not there is null."""

    def real(self, name: str) -> Expression:
        return Expression("real", value=name)

    def cast(self, name: str, values: Sequence[Hashable]) -> Expression:
        return Expression("category", value=name)

    def missing(self, name: str) -> Expression:
        return Expression("missing", value=name)

    def null(self, a: Node) -> Expression:
        return Expression("null", value=a) if isinstance(a, str) else Expression("is_null", (a,))

    def code(self, name: str, codes: Mapping[Hashable, int], unseen: int, gap: int) -> Expression:
        return Expression("code", value=(name, tuple(codes.items()), unseen, gap))

    def interval(self, name: str, cuts: Array, first: int, gap: int, *, at_most: bool) -> Expression:
        return Expression("interval", value=(name, tuple(cuts.tolist()), first, gap, at_most))

    def words(self, name: str, *rest: object, distinct: bool = False) -> list[Node]:
        raise SettingsError(f"Column {name!r} holds free text, whose words are not to be had here.")

    def kept(self, node: Node, key: Hashable = None) -> Node:
        return node

    def number(self, number: float) -> Expression:
        return Expression("number", value=(float(number),))

    def whole(self, number: int) -> Expression:
        return self.number(number)

    def number_at(self, numbers: Sequence[float], place: Node) -> Expression:
        return Expression("number_at", (place, *map(self.number, numbers)))

    whole_at = number_at

    def value(self, value: Hashable) -> Expression:
        return Expression("value", value=value)

    def call(self, name: str, *arguments: Node) -> Expression:
        return Expression(name, arguments)

    def log_bell(self, x: Node, mean: float, deviation: float) -> Expression:
        return Expression("log_bell", (x, self.number(mean), self.number(deviation)))

    def sum(self, terms: Sequence[Node]) -> Expression:
        return Expression("sum", tuple(terms))

    def greatest(self, a: Sequence[Node]) -> Expression:
        return Expression("greatest", tuple(a))

    def _of(self, kind: str, *parts: Node) -> Expression:
        return Expression(kind, parts)

    minus = partialmethod(_of, "minus")
    times = partialmethod(_of, "times")
    over = partialmethod(_of, "over")
    ln = partialmethod(_of, "ln")
    power = partialmethod(_of, "exp")
    size = partialmethod(_of, "abs")
    root = partialmethod(_of, "sqrt")
    equal = partialmethod(_of, "equal")
    below = partialmethod(_of, "below")
    at_most = partialmethod(_of, "at_most")
    either = partialmethod(_of, "either")
    both = partialmethod(_of, "both")
    known_or = partialmethod(_of, "known_or")

    def case(self, whens: Sequence[tuple[Node, Node]], otherwise: Node | None = None) -> Expression:
        last = Expression("nothing") if otherwise is None else otherwise
        return Expression("case", (*(part for when in whens for part in when), last))

    def unless(self, condition: Node, result: Node) -> Expression:
        return self.case([(condition, self.number(0.0))], result)


def joined(of_classes: Sequence[Expression]) -> Expression | None:
    """One expression of several that differ in their numbers alone, else None."""
    first = of_classes[0]
    if any(each.kind != first.kind or len(each.parts) != len(first.parts) for each in of_classes):
        return None
    if first.kind == "number":
        return Expression("number", value=tuple(number for each in of_classes for number in numbers(each)))
    if any(each.value != first.value for each in of_classes):
        return None
    parts = []
    for of_part in zip(*(each.parts for each in of_classes), strict=True):
        part = joined(of_part)
        if part is None:
            return None
        parts.append(part)
    return Expression(first.kind, tuple(parts), first.value)


def numbers(expression: Expression) -> tuple[float, ...]:
    """The numbers of an expression that is nothing else, one for each class."""
    if expression.kind != "number" or not isinstance(expression.value, tuple):
        return ()
    return expression.value


def expressions_of(belief: FittedFamily, n_classes: int) -> list[list[Expression]] | None:
    """What a belief adds: for each of its columns an expression for each class; None if it writes none."""
    if isinstance(bare(belief), HasTokens):
        return None
    sql = Expressions()
    of_classes: list[list[Expression]] = []
    for place in range(n_classes):
        terms = belief.sql_terms(sql, place) if isinstance(belief, WritesSQL) else None
        if terms is None:
            return None
        of_classes.append([term for term in terms if isinstance(term, Expression)])
    if len({len(each) for each in of_classes}) > 1:  # some classes have nothing to say of a column
        of_classes = [[sql.sum([sql.number(0.0), *terms])] for terms in of_classes]
    return [list(each) for each in zip(*of_classes, strict=True)]


# A case whose results are numbers, or a number by the code of a cell, is a table that is looked up.


@dataclass(frozen=True, slots=True, eq=False)
class ByValue:
    """Lines by the category of a column: those of the values, then the gap's, and last that of any other value."""

    column: str
    values: tuple[Hashable, ...]
    table: Array


@dataclass(frozen=True, slots=True, eq=False)
class ByCut:
    """Lines by the interval of a number, and last the gap's; `closed` is the side of an interval that belongs to it."""

    column: str
    cuts: tuple[float, ...]
    table: Array
    closed: Literal["left", "right"] = "left"


def as_table(told: Expression) -> ByValue | ByCut | None:
    """The table of an expression that looks up one column; it may have a weight."""
    if told.kind == "times" and told.parts[0].kind == "number":
        found = as_table(told.parts[1])
        return None if found is None else replace(found, table=found.table * np.array(numbers(told.parts[0])))
    if told.kind == "number_at":
        return _table_of_codes(told)
    return _table_of_case(told) if told.kind == "case" else None


def _table_of_codes(told: Expression) -> ByValue | ByCut | None:
    place, *entries = told.parts
    lines: Any = place.value
    if place.kind == "code":
        name, codes, unseen, gap = lines
        return ByValue(name, tuple(v for v, _ in codes), _lines(entries, [*(line for _, line in codes), gap, unseen]))
    if place.kind == "interval":
        name, cuts, first, gap, at_most = lines
        own = [*range(first, first + len(cuts) + 1), gap]
        return ByCut(name, cuts, _lines(entries, own), "right" if at_most else "left")
    return None


def _table_of_case(case: Expression) -> ByValue | ByCut | None:
    *parts, otherwise = case.parts
    (gap, *conditions), (of_gap, *results) = parts[::2], parts[1::2]
    lines = [*results, of_gap, otherwise] if gap.kind == "null" else [*results, otherwise, of_gap]
    if gap.kind not in ("null", "missing") or any(line.kind != "number" for line in lines):
        return None
    column = str(gap.value)
    if gap.kind == "null":
        cell = Expression("category", value=column)
        if not all(condition.kind == "equal" and condition.parts[0] == cell for condition in conditions):
            return None
        return ByValue(column, tuple(each.parts[1].value for each in conditions), _lines(lines))
    cell = Expression("real", value=column)
    if not all(condition.kind == "below" and condition.parts[0] == cell for condition in conditions):
        return None
    cuts = [set(numbers(condition.parts[1])) for condition in conditions]
    ascending = tuple(number for each in cuts for number in each)
    if not cuts or any(len(each) != 1 for each in cuts) or sorted(ascending) != list(ascending):
        return None
    return ByCut(column, ascending, _lines(lines))


def _lines(entries: Sequence[Expression], order: Sequence[int] | None = None) -> Array:
    """Numbers of entries as lines of a table, one column for each class."""
    width = max(len(numbers(entry)) for entry in entries)
    table = np.array([np.broadcast_to(numbers(entry), width) for entry in entries])
    return table if order is None else table[list(order)]
