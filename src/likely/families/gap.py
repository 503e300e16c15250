"""Whether a cell is known at all, taken as evidence: numeric columns with `missing="value"`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array
from likely.families.leave_one_out import LeftOut, less
from likely.families.outcomes import BlockScorer
from likely.families.protocol import SQL, Parameter, Settings, SQLNode
from likely.numerics import log_of
from likely.stats import Moments
from likely.stats.protocol import leave
from likely.table import Table
from likely.table.table import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class GapFactor:
    """log P(gap | class) and log P(known | class) of each column (classes × columns)."""

    name: ClassVar[str] = "gap"

    columns: tuple[str, ...]
    gap: Array
    known: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], known: Array, weights: Array, settings: Settings) -> GapFactor:
        counts = np.stack([np.maximum(weights[:, None] - known, 0.0), known])
        counts += np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns]).T[:, None]
        total = counts.sum(axis=0)
        shares = np.divide(counts, total, out=np.full(counts.shape, 0.5), where=total > 0.0)
        return cls(columns, *log_of(shares))

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
        """The same for every row without that row; a column whose only gap it is says nothing any more."""
        numbers, factor = Numbers.of(rows.table, columns), cls.settle(columns, seen.n, rows.classes, settings)
        pseudo = np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns]).T
        gaps = leave(np.broadcast_to(rows.classes[:, None], seen.n.shape), seen.n)
        all_gaps = gaps.sum(axis=0)

        def score(block: slice, joint: Array) -> None:
            cells, y, weight = np.isnan(numbers.rows(block)), rows.y[block], rows.weight[block]
            here = np.arange(len(y))
            for column in np.flatnonzero(all_gaps):
                gap = cells[:, column]
                evidence = np.where(gap[:, None], factor.gap[:, column], factor.known[:, column])
                own_gaps = less(gaps[y, column], np.where(gap, weight, 0.0))
                own_known = less(seen.n[y, column], np.where(gap, 0.0, weight))
                total = own_gaps + own_known + pseudo[:, column].sum()
                own = np.where(gap, own_gaps + pseudo[0, column], own_known + pseudo[1, column])
                share = np.divide(own, total, out=np.full(len(y), 0.5), where=total > 0.0)
                evidence[here, y] = log_of(share)
                only = gap & (less(np.full(len(y), all_gaps[column]), weight) == 0.0)
                joint += np.where(only[:, None], 0.0, evidence)

        return score

    def bind(self, table: Table) -> BlockScorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            gaps = np.isnan(numbers.rows(block))
            for column in range(len(self.columns)):
                joint += np.where(gaps[:, [column]], self.gap[:, column], self.known[:, column])

        return score

    def only(self, column: str) -> GapFactor:
        place = [self.columns.index(column)]
        return GapFactor((column,), self.gap[:, place], self.known[:, place])

    def parameters(self) -> Iterator[Parameter]:
        for place, name in enumerate(self.columns):
            yield Parameter(name, "probability of a gap", None, np.exp(self.gap[:, place]))

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        for column, name in enumerate(self.columns):
            gap, known = sql.number(self.gap[place, column]), sql.number(self.known[place, column])
            yield sql.case([(sql.missing(name), gap)], known)
