"""One probability per value and class: nominal columns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from likely.families.kernels import add_rows_of_table
from likely.families.protocol import Array, Scorer, Settings
from likely.numerics import log_of
from likely.stats import ValueCounts
from likely.table import Table
from likely.table.levels import index_levels

GAP, UNSEEN, FIRST = 0, 1, 2
"""Lines of the table before those of the values."""

OTHER = object()
"""Stands for all values that were never seen, where they are given a share."""


@dataclass(frozen=True, slots=True, eq=False)
class Categorical:
    """log P(value | class): line 0 for a gap, line 1 for a value never seen, then one line per value."""

    name: ClassVar[str] = "categorical"
    statistic: ClassVar[str] = "values"
    reads: ClassVar[Literal["numeric", "nominal"]] = "nominal"

    columns: tuple[str, ...]
    values: tuple[Hashable, ...]
    table: Array

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: ValueCounts, weights: Array, settings: Settings) -> Categorical:
        gaps = np.maximum(weights - seen.counts.sum(axis=1), 0.0)
        counts, keys = seen.counts, list(seen.values)
        gap_counts = settings.missing == "value" and gaps.sum() > 0.0
        if gap_counts:
            counts, keys = np.column_stack([counts, gaps]), [*keys, None]
        if settings.unseen == "smooth":
            counts, keys = np.column_stack([counts, np.zeros(len(weights))]), [*keys, OTHER]
        log_share = _log_shares(counts, settings.smoothing_of(columns[0]).pseudo_counts(keys))
        table = np.zeros((FIRST + len(seen.values), len(weights)))
        table[FIRST:] = log_share[: len(seen.values)]
        if gap_counts:
            table[GAP] = log_share[len(seen.values)]
        if settings.unseen == "smooth":
            table[UNSEEN] = log_share[-1]
        return cls(columns, seen.values, table)

    def bind(self, table: Table) -> Scorer:
        column = table.codes(self.columns[0])
        known = index_levels(column.levels, self.values)
        row_of_code = np.concatenate([[GAP], np.where(known < 0, UNSEEN, known + FIRST)]).astype(np.int64)

        def score(block: slice, joint: Array) -> None:
            add_rows_of_table(column.codes[block], row_of_code, self.table, joint)

        return score

    def only(self, column: str) -> Categorical:
        return self


def _log_shares(counts: Array, pseudo: Array) -> Array:
    """log((count + pseudo) / (class count + all pseudo)), one line per value; even shares where nothing is known."""
    total = counts.sum(axis=1) + pseudo.sum()
    even = np.full_like(counts, 1.0 / max(counts.shape[1], 1))
    shares = np.divide(counts + pseudo, total[:, None], out=even, where=total[:, None] > 0.0)
    return log_of(shares.T)
