"""The expressions of families as data: written down once for each class, and joined to one for all classes.

A family says what it adds to the log joint by `sql_terms`, class by class. The classes differ in their numbers alone,
so their expressions become one whose numbers are vectors; a graph of ONNX then looks at each column once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Any

import numpy as np

from likely.arrays import Array
from likely.families.protocol import FittedFamily, WritesSQL


@dataclass(frozen=True, slots=True)
class Expression:
    """What is done (`kind`), with which parts; the parts of a case are condition, result, …, and what else holds.

    `value` is the name of a column, a category, a function's name, or one number for each class.
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    value: Hashable = None

    def copy(self) -> Expression:
        return self


Node = Any
"""An `Expression` that comes back from a family, to which it is an `SQLNode` of whatever kind."""


class Expressions:
    """Writes down what a family asks for; a `families.protocol.SQL`."""

    def real(self, name: str) -> Expression:
        return Expression("real", value=name)

    def cast(self, name: str, values: Sequence[Hashable]) -> Expression:
        return Expression("category", value=name)

    def missing(self, name: str) -> Expression:
        return Expression("missing", value=name)

    def null(self, name: str) -> Expression:
        return Expression("null", value=name)

    def number(self, number: float) -> Expression:
        return Expression("number", value=(float(number),))

    def value(self, value: Hashable) -> Expression:
        return Expression("value", value=value)

    def call(self, name: str, *arguments: Node) -> Expression:
        return Expression("call", arguments, name)

    def sum(self, terms: Sequence[Node]) -> Expression:
        return Expression("sum", tuple(terms))

    def _of_two(self, kind: str, a: Node, b: Node) -> Expression:
        return Expression(kind, (a, b))

    minus = partialmethod(_of_two, "minus")
    times = partialmethod(_of_two, "times")
    over = partialmethod(_of_two, "over")
    equal = partialmethod(_of_two, "equal")
    below = partialmethod(_of_two, "below")
    at_most = partialmethod(_of_two, "at_most")
    either = partialmethod(_of_two, "either")

    def case(self, whens: Sequence[tuple[Node, Node]], otherwise: Node) -> Expression:
        return Expression("case", (*(part for when in whens for part in when), otherwise))

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


# A case whose results are numbers is a table that is looked up.


@dataclass(frozen=True, slots=True, eq=False)
class ByValue:
    """Lines by the category of a column: those of the values, then the gap's, and last that of any other value."""

    column: str
    values: tuple[Hashable, ...]
    table: Array


@dataclass(frozen=True, slots=True, eq=False)
class ByCut:
    """Lines by the bin of a number, which begins at its cut and ends before the next; the gap's is last."""

    column: str
    cuts: tuple[float, ...]
    table: Array


def as_table(told: Expression) -> ByValue | ByCut | None:
    """A case over the values of one column, or over its ascending cuts, with nothing but numbers as results.

    It may have a weight.
    """
    if told.kind == "times" and told.parts[0].kind == "number":
        bare = as_table(told.parts[1])
        return None if bare is None else replace(bare, table=bare.table * np.array(numbers(told.parts[0])))
    return _table_of_case(told) if told.kind == "case" else None


def _table_of_case(case: Expression) -> ByValue | ByCut | None:
    *parts, otherwise = case.parts
    (gap, *conditions), (of_gap, *results) = parts[::2], parts[1::2]
    lines = [*results, of_gap, otherwise] if gap.kind == "null" else [*results, otherwise, of_gap]
    if gap.kind not in ("null", "missing") or any(line.kind != "number" for line in lines):
        return None
    width = max(len(numbers(line)) for line in lines)
    table, column = np.array([np.broadcast_to(numbers(line), width) for line in lines]), str(gap.value)
    if gap.kind == "null":
        cell = Expression("category", value=column)
        found = all(condition.kind == "equal" and condition.parts[0] == cell for condition in conditions)
        return ByValue(column, tuple(each.parts[1].value for each in conditions), table) if found else None
    cell = Expression("real", value=column)
    if not all(condition.kind == "below" and condition.parts[0] == cell for condition in conditions):
        return None
    cuts = [set(numbers(condition.parts[1])) for condition in conditions]
    ascending = tuple(number for each in cuts for number in each)
    if not cuts or any(len(each) != 1 for each in cuts) or sorted(ascending) != list(ascending):
        return None
    return ByCut(column, ascending, table)
