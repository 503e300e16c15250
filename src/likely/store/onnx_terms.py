"""What families write for SQL, as tensors: a case over values is a look-up, one over cuts a search."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from likely.errors import SettingsError
from likely.families.graph import Tensor
from likely.store.expressions import Expression, joined, numbers
from likely.store.onnx import OnnxGraph

OPERATORS = {
    "minus": "Sub", "times": "Mul", "over": "Div", "equal": "Equal", "below": "Less", "at_most": "LessOrEqual",
    "either": "Or",
}  # fmt: skip

When = tuple[Expression, Expression]


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
    *parts, otherwise = told.parts
    whens = list(zip(parts[::2], parts[1::2], strict=True))
    found = _look_up(graph, whens, otherwise) or _search(graph, whens, otherwise)
    if found is not None:
        return found
    chosen = tensor(graph, otherwise)
    for condition, result in reversed(whens):
        chosen = graph.where(tensor(graph, condition), tensor(graph, result), chosen)
    return chosen


def _look_up(graph: OnnxGraph, whens: Sequence[When], otherwise: Expression) -> Tensor | None:
    """A line of a table by the category of a column: the gap's, the values', and last that of all others."""
    (first, _), *rest = whens
    values: list[Hashable] = []
    for condition, _ in rest:
        if condition.kind != "equal" or condition.parts[0] != Expression("category", value=first.value):
            return None
        values.append(condition.parts[1].value)
    table = _table([result for _, result in rest], whens[0][1], otherwise)
    if first.kind != "null" or table is None:
        return None
    codes = graph.codes(str(first.value), values, unseen=len(values) + 1, gap=len(values))
    return graph.rows_of(table, graph.column(codes, 0))


def _search(graph: OnnxGraph, whens: Sequence[When], otherwise: Expression) -> Tensor | None:
    """A line of a table by the bin of a number: those below each cut, the gap's after the last but one."""
    (first, _), *rest = whens
    cuts: list[float] = []
    for condition, _ in rest:
        cut = set(numbers(condition.parts[1])) if condition.kind == "below" else set()
        if len(cut) != 1 or condition.parts[0] != Expression("real", value=first.value):
            return None
        cuts += cut
    if first.kind != "missing" or not cuts or sorted(cuts) != cuts:
        return None
    table = _table([*(result for _, result in rest), otherwise], whens[0][1])
    if table is None:
        return None
    name = str(first.value)
    bins = graph.count_cuts(graph.number(name), [np.array(cuts)], inclusive=True)
    gap = graph.constant(np.array([[len(cuts) + 1]]))
    return graph.rows_of(table, graph.column(graph.where(graph.is_gap(name), gap, bins), 0))


def _table(*lines: Expression | Sequence[Expression]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    """Results as lines of a table, if all of them are numbers."""
    flat = [part for line in lines for part in (line if isinstance(line, Sequence) else [line])]
    if any(part.kind != "number" for part in flat):
        return None
    width = max(len(numbers(part)) for part in flat)
    return np.array([np.broadcast_to(numbers(part), width) for part in flat])
