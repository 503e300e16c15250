"""Averaged one-dependence estimators as SQL: a score for every parent, then the logarithm of their mean."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int64
from likely.families.protocol import SQL, SQLNode
from likely.stats.pair_counts import Axis, Cuts


class PairTables(NamedTuple):
    """What `families.aode.Aode` holds, and where the cells of columns and of ordered pairs begin."""

    columns: tuple[str, ...]
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
        return self.sql.code(name, {value: code for code, value in enumerate(axis, 1)}, 0, 0)

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
