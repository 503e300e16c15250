"""The expressions of families as data: written down once for each class, and joined to one for all classes.

A family says what it adds to the log joint by `sql_terms`, class by class. The classes differ in their numbers alone,
so their expressions become one whose numbers are vectors; a graph of ONNX then looks at each column once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partialmethod
from typing import Any


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
