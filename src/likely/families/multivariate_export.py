"""Bell curves over several columns for others: as SQL, and as tensors of ONNX."""

from __future__ import annotations

import numpy as np

from likely.arrays import Array
from likely.families.export import Graph, Tensor
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.gaussian_kernels import STEEP
from likely.families.multivariate_covariance import LEAST_PIVOT, Whitening, inverse_lower
from likely.families.protocol import SQL, SQLNode

# SQL: each column given the known ones before it, in steps.
#
# With L the lower factor of the correlations and z the cells in deviations, u = L⁻¹ z has independent entries, so the
# log density is a sum over columns. In a row without gaps L is known beforehand. In others Cholesky's algorithm runs in
# the query, with the correlations of unknown cells set to zero: what comes out is the factor of the known ones alone.

MOST_FACTORS = 900
"""Entries of factors that a query may work out for rows with gaps: engines have a limit of columns."""


def chain_terms(sql: SQL, margins: Gaussian, lower: Array, place: int, *, last: bool) -> list[SQLNode]:
    """What each column adds in one class, given the known ones before it; with `last`, the last one alone.

    Where there are too many columns to marginalise in a query, a row with a gap has null.
    """
    varying = np.flatnonzero(np.isfinite(margins.deviation).all(axis=0))
    if last and (not len(varying) or varying[-1] != len(margins.columns) - 1):
        return []  # a constant column adds nothing
    shared = len(lower) == 1
    names = tuple(margins.columns[k] for k in varying)
    correlation = (lower[0 if shared else place] @ lower[0 if shared else place].T)[np.ix_(varying, varying)]
    chain = _Chain(sql, names, correlation, 0 if shared else place, len(lower))
    mean, deviation = margins.mean[place, varying], margins.deviation[place, varying]
    whole = np.linalg.cholesky(correlation)
    scaled = inverse_lower(np.ascontiguousarray(whole)) / deviation
    wanted = [len(names) - 1] if last else range(len(names))
    entries = chain.entries(place, mean, deviation, scaled)
    terms = []
    for a in wanted:
        u, peak = entries[a], float(np.log(deviation[a])) + LOG_ROOT_TAU
        known = sql.sum([sql.number(-peak - float(np.log(whole[a, a]))), _minus_half_square(sql, u)])
        if chain.marginalises:
            pivot = sql.times(sql.number(-1.0), sql.ln(chain.factor(a, a)))
            partly = sql.sum([sql.number(-peak), pivot, _minus_half_square(sql, u)])
            known = sql.case([(chain.gaps(), partly)], known)
            known = sql.unless(sql.missing(names[a]), known)
        terms.append(known)
    return terms


def _minus_half_square(sql: SQL, u: SQLNode) -> SQLNode:
    """−½ u², bent where it would leave the floats."""
    size = sql.size(u.copy())
    bent = sql.times(
        sql.number(-0.5 * STEEP * STEEP), sql.minus(sql.ln(size.copy()), sql.number(float(np.log(STEEP)) - 1.0))
    )
    tiny, far = sql.at_most(size.copy(), sql.number(1.0 / STEEP)), sql.at_most(sql.number(STEEP), size)
    square = sql.times(sql.times(sql.number(-0.5), u.copy()), u.copy())
    return sql.case([(tiny, sql.number(0.0)), (far, bent)], square)


class _Chain:
    """Steps for some columns; factors belong to a class, or to all of them where they share their correlations."""

    def __init__(self, sql: SQL, names: tuple[str, ...], correlation: Array, owner: int, n_factors: int) -> None:
        self.sql, self.names, self.correlation, self.owner = sql, names, correlation, owner
        self.marginalises = n_factors * len(names) * (len(names) + 1) // 2 <= MOST_FACTORS

    def gaps(self) -> SQLNode:
        """Whether some of the columns are unknown."""
        sql = self.sql
        found = sql.missing(self.names[0])
        for name in self.names[1:]:
            found = sql.either(found, sql.missing(name))
        return sql.kept(found, ("gaps", self.names))

    def factor(self, a: int, b: int) -> SQLNode:
        """L[a, b] of the known columns of a row; null in rows without gaps, where it is known beforehand."""
        sql, key = self.sql, ("factor", self.names[: a + 1], self.owner, a, b)
        less = [sql.times(self.factor(a, k), self.factor(b, k)) for k in range(b)]
        rest = sql.number(float(self.correlation[a, b]))
        if less:
            rest = sql.minus(rest, sql.sum(less))
        if a == b:
            root = sql.root(sql.greatest([rest, sql.number(LEAST_PIVOT)]))
            value = sql.case([(sql.missing(self.names[a]), sql.number(1.0))], root)
        else:
            unknown = sql.either(sql.missing(self.names[a]), sql.missing(self.names[b]))
            value = sql.case([(unknown, sql.number(0.0))], sql.over(rest, self.factor(b, b)))
        return sql.kept(sql.case([(self.gaps(), value)]), key)

    def entries(self, place: int, mean: Array, deviation: Array, scaled: Array) -> list[SQLNode]:
        """u of every column in one class; null in a row with gaps that is not marginalised."""
        sql, found = self.sql, list[SQLNode]()
        for a, name in enumerate(self.names):
            shifted = [sql.minus(sql.real(self.names[b]), sql.number(float(mean[b]))) for b in range(a + 1)]
            whole = sql.sum([sql.times(sql.number(float(scaled[a, b])), shifted[b]) for b in range(a + 1)])
            if self.marginalises:
                z = sql.times(sql.number(1.0 / float(deviation[a])), shifted[a].copy())
                less = [sql.times(self.factor(a, b), found[b].copy()) for b in range(a)]
                step = sql.over(sql.minus(z, sql.sum(less)) if less else z, self.factor(a, a))
                partly = sql.case([(sql.missing(name), sql.number(0.0))], step)
                whole = sql.case([(self.gaps(), partly)], whole)
            found.append(sql.kept(whole, ("entry", self.names[: a + 1], place, a)))
        return found


# ONNX: matrix products, and elimination for rows with gaps.


def block_density(graph: Graph, margins: Gaussian, lower: Array) -> Tensor:
    """Rows × classes of log densities; of a row with gaps, the density of what is known."""
    cells = graph.numbers(margins.columns)
    dense = _whole(graph, cells, Whitening.of(margins, lower, last=False))
    gaps = graph.apply("IsNaN", cells)
    marks = graph.where(gaps, graph.constant(np.array(1)), graph.constant(np.array(0)))
    has_gap = graph.reduce("Max", marks, 1, keep=False)
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
    halves = graph.apply("Mul", graph.apply("Concat", *distances, attributes={"axis": 1}), graph.constant(-0.5))
    return graph.apply("Add", halves, graph.constant(whitening.log_peak[None]))


def _with_gaps(graph: Graph, cells: Tensor, margins: Gaussian, lower: Array) -> Tensor:
    """zᵀ R⁻¹ z and log |R| by symmetric elimination, where a column that is not known has z = 0 and is independent."""
    n_columns = len(margins.columns)
    missing = graph.apply("IsNaN", cells)
    gap = graph.where(missing, graph.constant(1.0), graph.constant(0.0))
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
