"""What families write for SQL, as tensors: a case over values is a look-up, one over cuts a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely.errors import SettingsError
from likely.families.graph import Tensor
from likely.store.expressions import ByCut, ByValue, Expression, as_table, joined, numbers
from likely.store.onnx import OnnxGraph

OPERATORS = {
    "minus": "Sub", "times": "Mul", "over": "Div", "equal": "Equal", "below": "Less", "at_most": "LessOrEqual",
    "either": "Or",
}  # fmt: skip


def term(graph: OnnxGraph, of_classes: Sequence[Expression]) -> Tensor:
    """Rows × classes of what a column adds, given an expression for each class."""
    whole = joined(of_classes)
    if whole is not None:
        return tensor(graph, whole)
    alone = [graph.sum([graph.zeros(), tensor(graph, each)]) for each in of_classes]
    return graph.apply("Concat", *alone, attributes={"axis": 1})


def tensor(graph: OnnxGraph, told: Expression) -> Tensor:
    """The tensor of an expression: rows × 1, rows × classes, or 1 × classes where it is the same for all rows."""
    if told.kind == "number":
        return graph.constant(np.array([numbers(told)]))
    if told.kind == "real":
        return graph.number(str(told.value))
    if told.kind in ("missing", "null"):
        return graph.is_gap(str(told.value))
    if told.kind == "case":
        return _case(graph, told)
    if told.kind == "call":
        return _call(graph, told)
    if told.kind == "equal" and told.parts[0].kind == "category":
        codes = graph.codes(str(told.parts[0].value), (told.parts[1].value,), unseen=1, gap=2)
        return graph.apply("Equal", codes, graph.constant(np.array([[0]])))
    parts = [tensor(graph, part) for part in told.parts]
    if told.kind == "sum":
        return graph.sum(parts)
    return graph.apply(OPERATORS[told.kind], *parts)


def _call(graph: OnnxGraph, told: Expression) -> Tensor:
    first = tensor(graph, told.parts[0])
    if told.value == "ln":
        return graph.apply("Log", first)
    if told.value == "pow" and set(numbers(told.parts[1])) == {2.0}:
        return graph.apply("Mul", first, first)
    raise SettingsError(f"The function {told.value!r} of a family is not known in ONNX.")


def _case(graph: OnnxGraph, told: Expression) -> Tensor:
    found = as_table(told)
    if isinstance(found, ByValue):
        n = len(found.values)
        codes = graph.codes(found.column, found.values, unseen=n + 1, gap=n)
        return graph.rows_of(found.table, graph.column(codes, 0))
    if isinstance(found, ByCut):
        bins = graph.count_cuts(graph.number(found.column), [np.array(found.cuts)], inclusive=True)
        gap = graph.constant(np.array([[len(found.cuts) + 1]]))
        return graph.rows_of(found.table, graph.column(graph.where(graph.is_gap(found.column), gap, bins), 0))
    *parts, otherwise = told.parts
    chosen = tensor(graph, otherwise)
    for condition, result in zip(reversed(parts[::2]), reversed(parts[1::2]), strict=True):
        chosen = graph.where(tensor(graph, condition), tensor(graph, result), chosen)
    return chosen
