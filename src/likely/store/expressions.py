"""The expressions of families as data: written down once for each class, and joined to one for all classes.

A family says what it adds to the log joint by `sql_terms`, class by class. The classes differ in their numbers alone,
so their expressions become one whose numbers are vectors; a graph of ONNX then looks at each column once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SettingsError
from likely.families.protocol import FittedFamily, WritesSQL
from likely.table.levels import written


@dataclass(frozen=True, slots=True)
class Expression:
    """What is done (`kind`), with which parts; the parts of a case are condition, result, …, and what else holds.

    `value` is the name of a column, how it becomes a code, or one number for each class.
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    value: Hashable = None

    def copy(self) -> Expression:
        return self


Node = Any
"""An `Expression` that comes back from a family, to which it is an `SQLNode` of whatever kind."""

LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)


class NoExpressionError(Exception):
    """A family asks for what only a database has: words of a text, or steps that are worked out once."""


class Expressions:
    """Writes down what a family asks for; a `families.export.SQL`. What may be null is a case without an else."""

    def real(self, name: str) -> Expression:
        return Expression("real", value=name)

    def missing(self, name: str) -> Expression:
        return Expression("missing", value=name)

    def code(self, name: str, values: Sequence[Hashable], codes: Sequence[int], unseen: int, gap: int) -> Expression:
        return Expression("code", value=(name, tuple(values), tuple(codes), unseen, gap))

    def interval(self, name: str, cuts: Array, first: int, gap: int, *, at_most: bool) -> Expression:
        return Expression("interval", value=(name, tuple(cuts.tolist()), first, gap, at_most))

    def number(self, number: float) -> Expression:
        return Expression("number", value=(float(number),))

    def number_at(self, numbers: Sequence[float], place: Node) -> Expression:
        return Expression("number_at", (place, *map(self.number, numbers)))

    def log_bell(self, x: Node, mean: Array, deviation: Array, place: int) -> Expression:
        condition, there = _known(x)
        z = self.over(self.minus(there, self.number(mean[place])), self.number(deviation[place]))
        parabola = self.times(self.number(-0.5), self.times(z, z))
        bell = self.sum([parabola, self.number(-math.log(deviation[place]) - LOG_ROOT_TAU)])
        if condition is None:
            return self.unless(self.missing(str(x.value)), bell)
        return self.case([(condition, bell)], self.number(0.0))

    def sum(self, terms: Sequence[Node]) -> Expression:
        return Expression("sum", tuple(terms))

    def ln(self, a: Node) -> Expression:
        return Expression("ln", (a,))

    def kept(self, node: Node, key: Hashable = None) -> Node:
        return node

    def known_or(self, a: Node, otherwise: Node) -> Expression:
        condition, there = _known(a)
        if condition is None:
            raise NoExpressionError
        return self.case([(condition, there)], otherwise)

    def _of_two(self, kind: str, a: Node, b: Node) -> Expression:
        return Expression(kind, (a, b))

    minus = partialmethod(_of_two, "minus")
    times = partialmethod(_of_two, "times")
    over = partialmethod(_of_two, "over")
    equal = partialmethod(_of_two, "equal")
    below = partialmethod(_of_two, "below")
    at_most = partialmethod(_of_two, "at_most")
    either = partialmethod(_of_two, "either")

    def case(self, whens: Sequence[tuple[Node, Node]], otherwise: Node | None = None) -> Expression:
        if otherwise is None:
            if len(whens) > 1:
                raise NoExpressionError
            return Expression("known", whens[0])
        return Expression("case", (*(part for when in whens for part in when), otherwise))

    def unless(self, condition: Node, result: Node) -> Expression:
        return self.case([(condition, self.number(0.0))], result)

    def _refused(self, *asked: object, **how: object) -> NoReturn:
        raise NoExpressionError

    words = whole = whole_at = power = size = root = greatest = both = null = _refused


def _known(told: Expression) -> tuple[Expression | None, Expression]:
    """Under which condition an expression is a number, if under one, and the expression where it holds."""
    if told.kind == "known":
        return told.parts[0], told.parts[1]
    found = [_known(part) for part in told.parts]
    conditions = {condition for condition, _ in found if condition is not None}
    if len(conditions) > 1:
        raise NoExpressionError
    return next(iter(conditions), None), replace(told, parts=tuple(there for _, there in found))


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
    if not isinstance(belief, WritesSQL):
        return None
    sql = Expressions()
    of_classes: list[list[Expression]] = []
    try:
        for place in range(n_classes):
            terms = belief.sql_terms(sql, place)
            if terms is None:
                return None
            of_classes.append([term for term in terms if isinstance(term, Expression)])
    except NoExpressionError:
        return None
    if len({len(each) for each in of_classes}) > 1:  # some classes have nothing to say of a column
        of_classes = [[sql.sum([sql.number(0.0), *terms])] for terms in of_classes]
    return [list(each) for each in zip(*of_classes, strict=True)]


# A number that is looked up by the code of a category, or by the interval that a number lies in.


@dataclass(frozen=True, slots=True, eq=False)
class ByValue:
    """Lines by the category of a column: those of the values, then the gap's, and last that of any other value."""

    column: str
    values: tuple[Hashable, ...]
    table: Array


@dataclass(frozen=True, slots=True, eq=False)
class ByCut:
    """Lines by the interval of a number, which begins at its cut and ends before the next; the gap's is last."""

    column: str
    cuts: tuple[float, ...]
    table: Array


def as_table(told: Expression) -> ByValue | ByCut | None:
    """The table behind an expression that is looked up in one; it may have a weight."""
    if told.kind == "times" and told.parts[0].kind == "number":
        bare = as_table(told.parts[1])
        return None if bare is None else replace(bare, table=bare.table * np.array(numbers(told.parts[0])))
    if told.kind != "number_at":
        return None
    place, *lines = told.parts
    width = max(len(numbers(line)) for line in lines)
    table = np.array([np.broadcast_to(numbers(line), width) for line in lines])
    asked: Any = place.value
    if place.kind == "code":
        column, values, codes, unseen, gap = asked
        return ByValue(column, values, table[[*codes, gap, unseen]])
    column, cuts, first, gap, at_most = asked
    if at_most:
        return None
    return ByCut(column, cuts, table[[*range(first, first + len(cuts) + 1), gap]])


# The same as plain values: tables and expressions, so that a program in any language can score rows.
#
# A term has `codes`, one for each of its columns, and a `table` with a line of numbers for the classes; or an
# `expression`. Null is minus infinity. docs/export.md shows a scorer of a few lines.

Plain = dict[str, object]


def family_terms(belief: FittedFamily, n_classes: int) -> list[Plain] | None:
    """The terms of a belief, column by column; None if it writes none."""
    found = expressions_of(belief, n_classes)
    return None if found is None else [_term(of_classes) for of_classes in found]


def code_of_value(
    column: str, values: Sequence[Hashable], lines: Sequence[int], *, gap: int, unseen: int, size: int
) -> Plain:
    """The line of each category; of a gap and of any other value."""
    told = [plain_value(value) for value in values]
    return {"column": column, "values": told, "lines": list(lines), "gap": gap, "unseen": unseen, "size": size}


def code_of_number(
    column: str, cuts: Sequence[float], lines: Sequence[int], *, gap: int, closed: str, size: int
) -> Plain:
    """The line of each interval between cuts; `closed` says to which side a number at a cut belongs, as in pandas."""
    return {"column": column, "cuts": list(cuts), "closed": closed, "lines": list(lines), "gap": gap, "size": size}


def table_term(codes: Sequence[Plain], table: Array) -> Plain:
    """A term that is looked up: the lines of its codes are the digits of the line in the table."""
    return {"codes": list(codes), "table": [plain_numbers(line) for line in table]}


def plain_numbers(values: Sequence[float] | NDArray[np.float64]) -> list[float | None]:
    """Numbers as JSON has them: null for minus infinity."""
    return [float(value) if math.isfinite(value) else None for value in values]


def plain_value(value: Hashable) -> object:
    """A category or label as JSON has it; what JSON has no word for is written as text."""
    if isinstance(value, float) and math.isfinite(value):
        return value
    return value if value is None or type(value) in (bool, int, str) else written(value)


def refuse_alike(what: str, texts: Sequence[str], reader: str) -> None:
    """Refuse values of several types, or classes, that a reader who has no more than their texts would take for one."""
    if len(set(texts)) == len(texts):
        return
    twice = next(text for text, n in Counter(texts).items() if n > 1)
    raise SettingsError(
        f"Two {what} are both written {twice!r}, and {reader} tells them by their text; make them one before fitting."
    )


def _term(of_classes: Sequence[Expression]) -> Plain:
    whole = joined(of_classes)
    if whole is None:
        return {"expression": {"by_class": [_expression(each) for each in of_classes]}}
    found = as_table(whole)
    return {"expression": _expression(whole)} if found is None else _looked_up(found)


def _looked_up(found: ByValue | ByCut) -> Plain:
    if isinstance(found, ByValue):
        n = len(found.values)
        code = code_of_value(found.column, found.values, range(n), gap=n, unseen=n + 1, size=n + 2)
    else:
        n = len(found.cuts) + 1
        code = code_of_number(found.column, found.cuts, range(n), gap=n, closed="left", size=n + 1)
    return table_term([code], found.table)


def _expression(told: Expression) -> Plain:
    if told.kind == "number":
        return {"number": plain_numbers(numbers(told))}
    if told.kind == "real":
        return {"column": told.value}
    if told.kind == "missing":
        return {"missing": told.value}
    found = as_table(told)
    if found is not None:
        return _looked_up(found)
    parts = [_expression(part) for part in told.parts]
    if told.kind == "case":
        *whens, otherwise = parts
        return {"case": list(zip(whens[::2], whens[1::2], strict=True)), "else": otherwise}
    return {told.kind: parts}
