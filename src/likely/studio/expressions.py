"""What a family adds to the log joint, as a small tree of plain values that the page evaluates.

Families write SQL by way of a builder; the same calls give an expression that is scored in the page, so that a family
which can be scored in SQL is scored there for nothing. A node is a list: what is done, then with what. A number has an
entry for each class where the classes differ; `look` and `step` are tables by category and by interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely.arrays import Array
from likely.families.protocol import FittedFamily
from likely.store.expressions import ByValue, Expression, as_table, expressions_of, joined, numbers

OPERATORS = {
    "sum": "+", "minus": "-", "times": "*", "over": "/", "equal": "=", "below": "<", "at_most": "<=", "either": "or",
    "ln": "ln", "case": "case",
}  # fmt: skip
"""What the page calls the kinds of expressions."""


def column_tree(belief: FittedFamily, n_classes: int) -> list[Any] | None:
    """What a belief about one column adds, for all classes at once; None if it has no expression for that."""
    found = expressions_of(belief, n_classes)
    if found is None:
        return None
    trees = [merged(of_classes) for of_classes in found]
    return trees[0] if len(trees) == 1 else ["+", *trees] if trees else ["number", 0.0]


def merged(of_classes: Sequence[Expression]) -> list[Any]:
    """The expressions of all classes as one tree; where their shapes differ there is a branch for each class."""
    whole = joined(of_classes)
    return _tree(whole) if whole is not None else ["class", *(_tree(each) for each in of_classes)]


def _tree(told: Expression) -> list[Any]:
    if told.kind == "number":
        return ["number", *_by_class(numbers(told))]
    if told.kind in ("real", "missing"):
        return [told.kind, told.value]
    found = as_table(told)
    if found is None:
        return [OPERATORS[told.kind], *map(_tree, told.parts)]
    name, lines = found.column, found.table
    if isinstance(found, ByValue):
        n, otherwise = len(found.values), _line(lines[-1])
        known: list[Any] = ["look", "=", ["cell", name], list(found.values), _lines(lines[:n]), otherwise]
    else:
        n = len(found.cuts) + 1
        known = ["step", "<", ["real", name], list(found.cuts), _lines(lines[: n - 1]), _line(lines[n - 1])]
    return ["case", ["missing", name], _line(lines[n]), known]


def _line(numbers: Array) -> list[Any]:
    return ["number", *_by_class(tuple(numbers.tolist()))]


def _lines(table: Array) -> list[Any]:
    """A line for each class, or one for all."""
    same = bool((table == table[:, :1]).all())
    return ["numbers", np.ascontiguousarray(table.T[:1] if same else table.T)]


def _by_class(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return numbers if len(set(numbers)) > 1 else numbers[:1]
