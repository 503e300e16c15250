"""What families write for SQL, as tensors: a case over values is a look-up, one over cuts a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.families.gaussian import LOG_ROOT_TAU
from likely.families.graph import Tensor
from likely.store.expressions import ByCut, ByValue, Expression, as_table, joined, numbers
from likely.store.onnx import OnnxGraph

OPERATORS = {
    "minus": "Sub", "times": "Mul", "over": "Div", "equal": "Equal", "below": "Less", "at_most": "LessOrEqual",
    "either": "Or", "both": "And", "ln": "Log", "exp": "Exp", "abs": "Abs", "sqrt": "Sqrt", "greatest": "Max",
    "is_null": "IsNaN",
}  # fmt: skip


def term(graph: OnnxGraph, of_classes: Sequence[Expression]) -> Tensor:
    """Rows × classes of what a column adds, given an expression for each class."""
    whole = joined(of_classes)
    if whole is not None:
        return tensor(graph, whole)
    alone = [graph.sum([graph.zeros(), tensor(graph, each)]) for each in of_classes]
    return graph.apply("Concat", *alone, attributes={"axis": 1})


def tensor(graph: OnnxGraph, told: Expression) -> Tensor:
    """The tensor of an expression: rows × 1, rows × classes, or 1 × classes where it is the same for all rows.

    NaN stands for what is not there.
    """
    if told.kind in ("number", "nothing"):
        return graph.constant(np.array([numbers(told) or (np.nan,)]))
    if told.kind == "real":
        return graph.number(str(told.value))
    if told.kind in ("missing", "null"):
        return graph.is_gap(str(told.value))
    found = as_table(told)
    return _operation(graph, told) if found is None else _look_up(graph, found)


def _operation(graph: OnnxGraph, told: Expression) -> Tensor:
    if told.kind == "equal" and told.parts[0].kind == "category":
        codes = graph.codes(str(told.parts[0].value), (told.parts[1].value,), unseen=1, gap=2)
        return graph.apply("Equal", codes, graph.constant(np.array([[0]])))
    if told.kind == "pow" and set(numbers(told.parts[1])) == {2.0}:
        return graph.apply("Mul", tensor(graph, told.parts[0]), tensor(graph, told.parts[0]))
    parts = [tensor(graph, part) for part in told.parts]
    if told.kind == "case":
        return _case(graph, parts)
    if told.kind == "sum":
        return graph.sum(parts)
    if told.kind == "known_or":
        return graph.where(graph.apply("IsNaN", parts[0]), parts[1], parts[0])
    if told.kind == "log_bell":
        return _log_bell(graph, parts[0], np.array([numbers(told.parts[1])]), np.array([numbers(told.parts[2])]))
    if told.kind not in OPERATORS:
        raise SettingsError(f"What a family calls {told.kind!r} is not known in ONNX.")
    return graph.apply(OPERATORS[told.kind], *parts)


def _look_up(graph: OnnxGraph, found: ByValue | ByCut) -> Tensor:
    if isinstance(found, ByValue):
        n = len(found.values)
        places = graph.codes(found.column, found.values, unseen=n + 1, gap=n)
    else:
        inclusive = found.closed == "left"
        bins = graph.count_cuts(graph.number(found.column), [np.array(found.cuts)], inclusive=inclusive)
        places = graph.where(graph.is_gap(found.column), graph.constant(np.array([[len(found.cuts) + 1]])), bins)
    return graph.rows_of(found.table, graph.column(places, 0))


def _case(graph: OnnxGraph, parts: Sequence[Tensor]) -> Tensor:
    *whens, chosen = parts
    for condition, result in zip(reversed(whens[::2]), reversed(whens[1::2]), strict=True):
        chosen = graph.where(condition, result, chosen)
    return chosen


def _log_bell(graph: OnnxGraph, x: Tensor, mean: Array, deviation: Array) -> Tensor:
    """The log density of a bell curve; 0 where the number is not there."""
    z = graph.apply("Div", graph.apply("Sub", x, graph.constant(mean)), graph.constant(deviation))
    parabola = graph.apply("Mul", graph.apply("Mul", z, z), graph.constant(np.array([[-0.5]])))
    density = graph.apply("Add", parabola, graph.constant(-np.log(deviation) - LOG_ROOT_TAU))
    return graph.where(graph.apply("IsNaN", x), graph.constant(np.array([[0.0]])), density)
