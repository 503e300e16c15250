"""Averaged one-dependence estimators as tensors of ONNX: a look-up of all columns for each parent, then a log mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int64
from likely.families.graph import Graph, Tensor
from likely.stats.pair_counts import Axis, Cuts


def aode_density(
    graph: Graph, columns: Sequence[str], axes: Sequence[Axis], singles: Int64, sizes: Int64, pairs: Int64,
    single: Array, given: Array, is_parent: NDArray[np.uint8],
) -> Tensor:  # fmt: skip
    """Rows × classes; codes are counted from 1, so that 0, which has no evidence, is what is not known."""
    n_columns, nothing = len(columns), np.zeros((1, single.shape[1]))
    codes = _codes(graph, columns, axes)
    alone = [np.concatenate([nothing, single[singles[k] : singles[k] + sizes[k]]]) for k in range(n_columns)]
    starts = np.cumsum([0, *map(len, alone)])[:-1]
    cells = graph.apply("Add", codes, graph.constant(starts[None]))
    one_by_one = _summed(graph, graph.rows_of(np.concatenate(alone), cells))
    may_be = [np.concatenate([[0.0], is_parent[singles[k] : singles[k] + sizes[k]]]) for k in range(n_columns)]
    parents = graph.rows_of(np.concatenate(may_be), cells)
    scores = []
    for j in range(n_columns):
        tables = [
            alone[j] if k == j else _padded(given[pairs[j, k] : pairs[j, k] + sizes[j] * sizes[k]], sizes[j], sizes[k])
            for k in range(n_columns)
        ]
        step = np.array([[0 if k == j else sizes[k] + 1 for k in range(n_columns)]], dtype=np.int64)
        begins = np.cumsum([0, *map(len, tables)])[:-1]
        own, is_here = _column(graph, codes, j), _column(graph, parents, j)
        line = graph.sum([graph.apply("Mul", own, graph.constant(step)), codes, graph.constant(begins[None])])
        score = _summed(graph, graph.rows_of(np.concatenate(tables), line))
        scores.append(graph.where(_positive(graph, is_here), score, graph.constant(-np.inf)))
    peak = graph.apply("Max", *scores)
    total = graph.sum([graph.apply("Exp", graph.apply("Sub", score, peak)) for score in scores])
    number = graph.apply("ReduceSum", parents, graph.constant(np.array([1])))
    mean = graph.apply("Add", peak, graph.apply("Log", graph.apply("Div", total, number)))
    impossible = graph.apply("Equal", peak, graph.constant(-np.inf))
    mixed = graph.where(impossible, graph.constant(-np.inf), mean)
    return graph.where(_positive(graph, number), mixed, one_by_one)


def _codes(graph: Graph, columns: Sequence[str], axes: Sequence[Axis]) -> Tensor:
    """Rows × columns: 1 + the place of each cell on its axis, 0 for a gap or a value never seen."""
    found = []
    for name, axis in zip(columns, axes, strict=True):
        if isinstance(axis, Cuts):
            numbers = graph.numbers([name])
            bins = graph.count_cuts(numbers, [axis.at], inclusive=True)
            gap = graph.apply("IsNaN", numbers)
            found.append(graph.where(gap, graph.constant(np.array([[-1]])), bins))
        else:
            found.append(graph.codes(name, axis, unseen=-1, gap=-1))
    codes = graph.apply("Concat", *found, attributes={"axis": 1})
    return graph.apply("Add", codes, graph.constant(np.array([[1]])))


def _padded(lines: Array, first: int, second: int) -> Array:
    """The table of a pair with a zero line for each value that is not known."""
    table = np.zeros((first + 1, second + 1, lines.shape[1]))
    table[1:, 1:] = lines.reshape(first, second, -1)
    return table.reshape(-1, lines.shape[1])


def _column(graph: Graph, matrix: Tensor, place: int) -> Tensor:
    """One column of a matrix (rows × 1)."""
    return graph.apply("Gather", matrix, graph.constant(np.array([place])), attributes={"axis": 1})


def _summed(graph: Graph, evidence: Tensor) -> Tensor:
    """The sum over columns of rows × columns × classes."""
    return graph.apply("ReduceSum", evidence, graph.constant(np.array([1])), attributes={"keepdims": 0})


def _positive(graph: Graph, numbers: Tensor) -> Tensor:
    return graph.apply("Less", graph.constant(0.0), numbers)
