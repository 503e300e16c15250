"""What a family adds to the log joint, as a small tree of plain values that the page evaluates.

Families write SQL by way of a builder; this one makes trees instead, so that a family which can be scored in SQL is
scored in the page for nothing. The trees of all classes have one shape as a rule: they are merged into one, whose
numbers are lists with an entry for each class, and whose tables are arrays with a line for each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import SettingsError
from likely.families.protocol import FittedFamily, WritesSQL

FUNCTIONS = ("pow", "ln", "exp", "sqrt", "abs", "lgamma")
"""What the page can call."""

FEWEST_CASES = 2
"""So many cases of one cell are written as one table."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation and what it is applied to: nodes, names and plain values."""

    op: str
    parts: tuple[Any, ...]

    def copy(self) -> Node:
        return self


class Trees:
    """Makes trees where another builder makes SQL."""

    def real(self, name: str) -> Node:
        """A column as numbers."""
        return Node("real", (name,))

    def cast(self, name: str, values: Sequence[Hashable]) -> Node:
        """A column of categories."""
        return Node("cell", (name,))

    def missing(self, name: str) -> Node:
        """Whether a number is not there."""
        return Node("missing", (name,))

    def null(self, name: str) -> Node:
        """Whether a cell is empty."""
        return Node("missing", (name,))

    def number(self, number: float) -> Node:
        return Node("number", (float(number),))

    def value(self, value: Hashable) -> Node:
        """A category."""
        return Node("value", (value,))

    def call(self, name: str, *arguments: Any) -> Node:
        if name not in FUNCTIONS:
            raise SettingsError(f"The page has no function {name!r}.")
        return Node(name, arguments)

    def sum(self, terms: Sequence[Any]) -> Node:
        return Node("+", tuple(terms))

    def minus(self, a: Any, b: Any) -> Node:
        return Node("-", (a, b))

    def times(self, a: Any, b: Any) -> Node:
        return Node("*", (a, b))

    def over(self, a: Any, b: Any) -> Node:
        return Node("/", (a, b))

    def equal(self, a: Any, b: Any) -> Node:
        return Node("=", (a, b))

    def below(self, a: Any, b: Any) -> Node:
        return Node("<", (a, b))

    def at_most(self, a: Any, b: Any) -> Node:
        return Node("<=", (a, b))

    def either(self, a: Any, b: Any) -> Node:
        return Node("or", (a, b))

    def case(self, whens: Sequence[tuple[Any, Any]], otherwise: Any) -> Node:
        """The first result whose condition holds; many cases of one cell become a table."""
        plain = [place for place, (condition, result) in enumerate(whens) if not _is_entry(condition, result)]
        start = plain[-1] + 1 if plain else 0
        entries = [(condition.parts[1].parts[0], result.parts[0]) for condition, result in whens[start:]]
        first = whens[start][0] if entries else None
        alike = all(
            (condition.op, condition.parts[0]) == (first.op, first.parts[0]) for condition, _ in whens[start:] if first
        )
        if first is None or len(entries) < FEWEST_CASES or not alike:
            return Node("case", (*(part for when in whens for part in when), otherwise))
        keys, numbers = tuple(key for key, _ in entries), Node("numbers", tuple(number for _, number in entries))
        table = Node("look" if first.op == "=" else "step", (first.op, first.parts[0], keys, numbers, otherwise))
        return table if start == 0 else Node("case", (*(part for when in whens[:start] for part in when), table))

    def unless(self, condition: Any, result: Any) -> Node:
        """A result, or 0 where a condition holds."""
        return Node("case", (condition, self.number(0.0), result))


def _is_entry(condition: Any, result: Any) -> bool:
    """Whether a case compares a cell with a constant, and has a number for it."""
    return (
        isinstance(condition, Node)
        and condition.op in ("=", "<", "<=")
        and condition.parts[0].op in ("real", "cell")
        and condition.parts[1].op in ("number", "value")
        and result.op == "number"
    )


def column_tree(belief: FittedFamily, n_classes: int) -> list[Any] | None:
    """What a belief about one column adds, for all classes at once; None if it has no expression for that."""
    if not isinstance(belief, WritesSQL):
        return None
    trees, of_class = Trees(), []
    for place in range(n_classes):
        terms = belief.sql_terms(trees, place)
        if terms is None:
            return None
        found: list[Any] = list(terms)
        of_class.append(found[0] if len(found) == 1 else trees.sum(found) if found else trees.number(0.0))
    return merged(of_class)


def merged(trees: Sequence[Node]) -> list[Any]:
    """The trees of all classes as one, in lists; where their shapes differ there is a branch for each class."""
    first = trees[0]
    if first.op in ("number", "numbers") and all(tree.op == first.op for tree in trees):
        same = all(tree.parts == first.parts for tree in trees)
        if first.op == "numbers":
            return ["numbers", np.array([tree.parts for tree in (trees[:1] if same else trees)])]
        return ["number", first.parts[0]] if same else ["number", *(tree.parts[0] for tree in trees)]
    if not all(tree.op == first.op and len(tree.parts) == len(first.parts) for tree in trees):
        return ["class", *(merged([tree]) for tree in trees)]
    parts: list[Any] = []
    for own in zip(*(tree.parts for tree in trees), strict=True):
        if isinstance(own[0], Node):
            parts.append(merged(own))
        elif all(each == own[0] for each in own):
            parts.append(list(own[0]) if isinstance(own[0], tuple) else own[0])
        else:
            return ["class", *(merged([tree]) for tree in trees)]
    return [first.op, *parts]
