"""Averaged one-dependence estimators for others: as SQL, and as tensors of ONNX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int64
from likely.families.export import Graph, Tensor
from likely.families.protocol import SQL, Columns, SQLNode
from likely.stats.pair_counts import Axis, Cuts

# SQL: a score for every parent, then the logarithm of their mean.


class PairTables(NamedTuple):
    """What `families.aode.Aode` holds, and where the cells of columns and of ordered pairs begin."""

    columns: Columns
    axes: tuple[Axis, ...]
    single: Array
    given: Array
    is_parent: NDArray[np.uint8]
    sizes: Int64
    singles: Int64
    pairs: Int64


def aode_terms(sql: SQL, tables: PairTables, place: int, shown: int) -> list[SQLNode]:
    """What the columns add to the log joint of one class: of all, or of one (`shown`, from 0 up)."""
    parents = _Parents(sql, tables, place)
    return [parents.log_mean() if shown < 0 else parents.share(shown)]


class _Parents:
    """Codes of the cells (0: unknown), scores of one class by parent, and their mean."""

    def __init__(self, sql: SQL, belief: PairTables, place: int) -> None:
        self.sql, self.belief, self.place = sql, belief, place
        self.sizes, self.singles, self.pairs = belief.sizes, belief.singles, belief.pairs
        self.columns = range(len(belief.columns))

    def _code(self, k: int) -> SQLNode:
        axis, name = self.belief.axes[k], self.belief.columns[k]
        if isinstance(axis, Cuts):
            return self.sql.interval(name, axis.at, 1, 0, at_most=False)
        return self.sql.code(name, axis, range(1, 1 + len(axis)), 0, 0)

    def _single(self, k: int) -> SQLNode:
        """log P(value | class), nothing for an unknown cell."""
        first = self.singles[k]
        numbers = self.belief.single[first : first + self.sizes[k], self.place].tolist()
        return self.sql.number_at([0.0, *numbers], self._code(k))

    def _given(self, j: int, k: int) -> SQLNode:
        """log P(value of k | value of j, class): the codes of both are the digits of one number."""
        sql, width, first = self.sql, int(self.sizes[k]), self.pairs[j, k]
        cells = np.zeros((int(self.sizes[j]) + 1, width + 1))
        lines = self.belief.given[first : first + self.sizes[j] * width, self.place]
        cells[1:, 1:] = lines.reshape(-1, width)
        at = sql.sum([sql.times(self._code(j), sql.whole(width + 1)), self._code(k)])
        return sql.number_at(
            cells.ravel().tolist(), sql.kept(at, ("pair", self.belief.columns[j], self.belief.columns[k]))
        )

    def _is_parent(self, j: int) -> SQLNode:
        first = self.singles[j]
        flags = [0, *self.belief.is_parent[first : first + self.sizes[j]].tolist()]
        return self.sql.kept(self.sql.whole_at(flags, self._code(j)), ("parent", self.belief.columns[j]))

    def _count(self) -> SQLNode:
        return self.sql.kept(self.sql.sum([self._is_parent(j) for j in self.columns]), ("parents", self.belief.columns))

    def _score(self, j: int) -> SQLNode:
        sql = self.sql
        whole = sql.sum([self._single(j), *(self._given(j, k) for k in self.columns if k != j)])
        is_parent = sql.equal(self._is_parent(j), sql.whole(1))
        return sql.kept(sql.case([(is_parent, whole)], sql.number(-math.inf)), ("score", self.place, j))

    def log_mean(self) -> SQLNode:
        """log of the mean over parents; without any, the columns one by one."""
        sql, key = self.sql, ("score", self.place)
        scores = [self._score(j) for j in self.columns]
        peak = sql.kept(sql.greatest([score.copy() for score in scores]), (*key, "peak"))
        total = sql.sum([sql.power(sql.minus(score.copy(), peak.copy())) for score in scores])
        mean = sql.sum([peak.copy(), sql.ln(sql.over(total, self._count()))])
        alone = sql.sum([self._single(k) for k in self.columns])
        none = sql.equal(self._count(), sql.whole(0))
        impossible = sql.equal(peak.copy(), sql.number(-math.inf))
        found = sql.case([(none, alone), (impossible, sql.number(-math.inf))], mean)
        there = sql.at_most(sql.whole(0), self._count())  # else a number is infinite, and nothing follows
        return sql.kept(sql.case([(there, found)]), (*key, "mean"))

    def share(self, shown: int) -> SQLNode:
        """A column's evidence as parents count in that row and class, and an equal part of what mixing costs."""
        sql, mean = self.sql, self.log_mean()
        own, mixing = [], [sql.times(sql.number(-1.0), sql.ln(sql.times(sql.number(1.0), self._count())))]
        for j in self.columns:
            lowered = sql.power(sql.minus(self._score(j), mean.copy()))
            share = sql.kept(sql.over(lowered, self._count()), ("share", self.place, j))
            there = sql.below(sql.number(0.0), share.copy())
            told = self._single(j) if j == shown else self._given(j, shown)
            own.append(sql.case([(there, sql.times(share.copy(), told))], sql.number(0.0)))
            cost = sql.times(sql.times(sql.number(-1.0), share.copy()), sql.ln(share.copy()))
            mixing.append(sql.case([(there.copy(), cost)], sql.number(0.0)))
        is_known = [sql.whole_at([0, *[1] * int(size)], self._code(k)) for k, size in enumerate(self.sizes)]
        known = sql.kept(sql.sum(is_known), ("known", self.belief.columns))
        costs = sql.kept(sql.sum(mixing), ("mixing", self.place))
        unknown = sql.equal(self._code(shown), sql.whole(0))
        none = sql.equal(self._count(), sql.whole(0))
        impossible = sql.equal(mean.copy(), sql.number(-math.inf))
        whens = [(unknown, sql.number(0.0)), (none, self._single(shown)), (impossible, sql.number(-math.inf))]
        return sql.case(whens, sql.sum([*own, sql.over(costs, known)]))


# ONNX: a look-up of all columns for each parent, then a log mean.


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
    one_by_one = graph.reduce("Sum", graph.rows_of(np.concatenate(alone), cells), 1, keep=False)
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
        own, is_here = graph.columns(codes, [j]), graph.columns(parents, [j])
        line = graph.sum([graph.apply("Mul", own, graph.constant(step)), codes, graph.constant(begins[None])])
        score = graph.reduce("Sum", graph.rows_of(np.concatenate(tables), line), 1, keep=False)
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


def _positive(graph: Graph, numbers: Tensor) -> Tensor:
    return graph.apply("Less", graph.constant(0.0), numbers)
