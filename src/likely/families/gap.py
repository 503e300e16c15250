"""Whether a cell is known at all, taken as evidence: numeric columns with `missing="value"`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.families.protocol import Array, Scorer, Settings
from likely.numbers import Numbers
from likely.numerics import log_of
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class GapFactor:
    """log P(gap | class) and log P(known | class) of each column (classes × columns)."""

    columns: tuple[str, ...]
    gap: Array
    known: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], known: Array, weights: Array, settings: Settings) -> GapFactor:
        pseudo = np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns]).T
        gaps = np.maximum(weights[:, None] - known, 0.0)
        total = gaps + known + pseudo.sum(axis=0)
        safe = np.where(total > 0.0, total, 1.0)
        share_gap = np.where(total > 0.0, (gaps + pseudo[0]) / safe, 0.5)
        share_known = np.where(total > 0.0, (known + pseudo[1]) / safe, 0.5)
        return cls(columns, log_of(share_gap), log_of(share_known))

    def bind(self, table: Table) -> Scorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            gaps = np.isnan(numbers.rows(block))
            for column in range(len(self.columns)):
                joint += np.where(gaps[:, [column]], self.gap[:, column], self.known[:, column])

        return score

    def only(self, column: str) -> GapFactor:
        place = [self.columns.index(column)]
        return GapFactor((column,), self.gap[:, place], self.known[:, place])
