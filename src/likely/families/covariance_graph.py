"""A bell curve over several columns as tensors of ONNX: matrix products, and elimination for rows with gaps."""

from __future__ import annotations

import numpy as np

from likely.arrays import Array
from likely.families.covariance import Whitening
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.graph import Graph, Tensor

LEAST_PIVOT = 1e-16


def block_density(graph: Graph, margins: Gaussian, lower: Array) -> Tensor:
    """Rows × classes of log densities; of a row with gaps, the density of what is known."""
    cells = graph.numbers(margins.columns)
    dense = _whole(graph, cells, Whitening.of(margins, lower, last=False))
    gaps = graph.apply("IsNaN", cells)
    marks = graph.where(gaps, graph.constant(np.array(1)), graph.constant(np.array(0)))
    has_gap = graph.apply("ReduceMax", marks, attributes={"axes": [1], "keepdims": 0})
    rows = graph.column(graph.apply("Transpose", graph.apply("NonZero", has_gap)), 0)
    known = graph.apply("Gather", cells, rows, attributes={"axis": 0})
    places = graph.apply("Unsqueeze", rows, graph.constant(np.array([1])))
    return graph.apply("ScatterND", dense, places, _with_gaps(graph, known, margins, lower))


def _whole(graph: Graph, cells: Tensor, whitening: Whitening) -> Tensor:
    distances = []
    for c in range(len(whitening.mean)):
        step = graph.apply("Sub", cells, graph.constant(whitening.mean[[c]]))
        step = graph.apply("Mul", step, graph.constant(whitening.precision[[c]]))
        turned = graph.apply("MatMul", step, graph.constant(whitening.turn[c % len(whitening.turn)]))
        distances.append(graph.apply("ReduceSum", graph.apply("Mul", turned, turned), graph.constant(np.array([1]))))
    halves = graph.apply("Mul", _side_by_side(graph, distances), graph.constant(-0.5))
    return graph.apply("Add", halves, graph.constant(whitening.log_peak[None]))


def _with_gaps(graph: Graph, cells: Tensor, margins: Gaussian, lower: Array) -> Tensor:
    """zᵀ R⁻¹ z and log |R| by symmetric elimination, where a column that is not known has z = 0 and is independent."""
    n_columns = len(margins.columns)
    missing = graph.apply("IsNaN", cells)
    gap = _as_double(graph, missing)
    known = graph.apply("Sub", graph.constant(1.0), gap)
    across, down, middle = (graph.constant(np.array(axes)) for axes in ([1, 2], [1, 3], [1]))
    known_across, known_down = (graph.apply("Unsqueeze", known, axes) for axes in (across, down))
    matrix = graph.apply("Mul", graph.constant((lower @ lower.swapaxes(1, 2))[None]), known_across)
    matrix = graph.apply("Mul", matrix, known_down)
    alone = graph.apply("Mul", graph.constant(np.eye(n_columns)), graph.apply("Unsqueeze", gap, across))
    step = graph.apply("Sub", graph.apply("Unsqueeze", cells, middle), graph.constant(margins.mean[None]))
    z = graph.apply("Mul", step, graph.constant(1.0 / margins.deviation[None]))
    z = graph.where(graph.apply("Unsqueeze", missing, middle), graph.constant(0.0), z)
    peak = np.where(np.isinf(margins.deviation), 0.0, -np.log(margins.deviation) - LOG_ROOT_TAU)
    peaks = graph.apply("MatMul", known, graph.constant(np.ascontiguousarray(peak.T)))
    # No steps at all where no row has a gap.
    n_cells = graph.apply("Mul", graph.apply("Size", cells), graph.constant(np.array(n_columns)))
    steps = graph.apply("Min", n_cells, graph.constant(np.array(n_columns)))
    nothing = graph.apply("Mul", peaks, graph.constant(0.0))
    states = [graph.apply("Add", matrix, alone), z, nothing]
    total = graph.repeat(steps, states, _eliminate)[2]
    return graph.apply("Sub", peaks, graph.apply("Mul", total, graph.constant(0.5)))


def _eliminate(graph: Graph, place: Tensor, states: list[Tensor]) -> list[Tensor]:
    """One column: what it adds to zᵀ R⁻¹ z + log |R|, and what it leaves of the others."""
    matrix, z, total = states
    column = graph.apply("Gather", matrix, place, attributes={"axis": 3})
    pivot = graph.apply("Gather", column, place, attributes={"axis": 2})
    pivot = graph.apply("Max", pivot, graph.constant(LEAST_PIVOT))
    own = graph.apply("Gather", z, place, attributes={"axis": 2})
    pull = graph.apply("Div", own, pivot)
    more = graph.apply("Add", graph.apply("Mul", own, pull), graph.apply("Log", pivot))
    last, before_last = graph.constant(np.array([3])), graph.constant(np.array([2]))
    scaled = graph.apply("Div", column, graph.apply("Unsqueeze", pivot, before_last))
    product = graph.apply("Mul", graph.apply("Unsqueeze", column, last), graph.apply("Unsqueeze", scaled, before_last))
    moved = graph.apply("Mul", column, graph.apply("Unsqueeze", pull, before_last))
    return [
        graph.apply("Sub", matrix, product),
        graph.apply("Sub", z, moved),
        graph.apply("Add", total, more),
    ]


def _side_by_side(graph: Graph, columns: list[Tensor]) -> Tensor:
    return graph.apply("Concat", *columns, attributes={"axis": 1})


def _as_double(graph: Graph, flags: Tensor) -> Tensor:
    return graph.where(flags, graph.constant(1.0), graph.constant(0.0))
