"""What families write for SQL, as tensors: a code is a look-up, an interval a search among cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely.errors import SettingsError
from likely.families.graph import Tensor
from likely.store.expressions import ByCut, ByValue, Expression, as_table, joined, numbers
from likely.store.onnx import OnnxGraph

OPERATORS = {
    "minus": "Sub", "times": "Mul", "over": "Div", "equal": "Equal", "below": "Less", "at_most": "LessOrEqual",
    "either": "Or", "ln": "Log",
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
    if told.kind == "missing":
        return graph.is_gap(str(told.value))
    if told.kind == "case":
        return _case(graph, told)
    found = as_table(told)
    if found is not None:
        return _looked_up(graph, found)
    parts = [tensor(graph, part) for part in told.parts]
    if told.kind == "sum":
        return graph.sum(parts)
    if told.kind not in OPERATORS:
        raise SettingsError(f"What a family adds ({told.kind!r}) is not known in ONNX: export the model as SQL.")
    return graph.apply(OPERATORS[told.kind], *parts)


def _looked_up(graph: OnnxGraph, found: ByValue | ByCut) -> Tensor:
    if isinstance(found, ByValue):
        n = len(found.values)
        codes = graph.codes(found.column, found.values, unseen=n + 1, gap=n)
        return graph.rows_of(found.table, graph.column(codes, 0))
    bins = graph.count_cuts(graph.number(found.column), [np.array(found.cuts)], inclusive=True)
    gap = graph.constant(np.array([[len(found.cuts) + 1]]))
    return graph.rows_of(found.table, graph.column(graph.where(graph.is_gap(found.column), gap, bins), 0))


def _case(graph: OnnxGraph, told: Expression) -> Tensor:
    *parts, otherwise = told.parts
    chosen = tensor(graph, otherwise)
    for condition, result in zip(reversed(parts[::2]), reversed(parts[1::2]), strict=True):
        chosen = graph.where(tensor(graph, condition), tensor(graph, result), chosen)
    return chosen
