"""Present or absent, column by column; absence speaks, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from likely.families.kernels import add_presence
from likely.families.linear import SparseWeights, cells_of, weights_where_seen
from likely.families.protocol import Array, Scorer, Settings
from likely.numbers import Numbers, counts_of
from likely.numerics import log_of
from likely.stats import Presence
from likely.stats.protocol import Matrix
from likely.table import Table

DENSE_ROWS = 256
"""Sparse rows that are written out at a time where a share is exactly 0 or 1."""


@dataclass(frozen=True, slots=True, eq=False)
class PresenceTable:
    """log P(present | class) and log P(absent | class), one line per column."""

    present: Array
    absent: Array

    def add(self, rows: Matrix, threshold: float, joint: Array) -> None:
        if not sparse.issparse(rows):
            add_presence(rows, threshold, self.present, self.absent, joint)
            return
        for start in range(0, rows.shape[0], DENSE_ROWS):
            few = slice(start, start + DENSE_ROWS)
            add_presence(rows[few].toarray(), threshold, self.present, self.absent, joint[few])

    def only(self, column: int) -> PresenceTable:
        return PresenceTable(self.present[[column]], self.absent[[column]])


@dataclass(frozen=True, slots=True, eq=False)
class PresenceWeights:
    """The same for wide sparse rows: all columns absent, corrected for those that are present.

    `absent` (classes × columns) corrects `absent_unseen`, the log share of absence where a class never
    met a column; `odds` weighs presence against absence.
    """

    odds: SparseWeights
    absent: sparse.csr_array
    absent_unseen: Array

    def add(self, rows: Matrix, threshold: float, joint: Array) -> None:
        held = sparse.csr_array(rows)
        present = (held.data > threshold).astype(np.float64)
        self.odds.add(sparse.csr_array((present, held.indices, held.indptr), shape=held.shape), joint)

    def only(self, column: int) -> PresenceTable:
        absent = (self.absent[:, [column]].toarray()[:, 0] + self.absent_unseen)[None]
        return PresenceTable(absent + self.odds.only(column).lines, absent)


@dataclass(frozen=True, slots=True, eq=False)
class Bernoulli:
    """A share of presence per column and class; two values, so Laplace adds 2γ below the line."""

    name: ClassVar[str] = "bernoulli"
    statistic: ClassVar[str] = "presence"
    reads: ClassVar[Literal["numeric", "nominal"]] = "numeric"

    columns: tuple[str, ...]
    shares: PresenceTable | PresenceWeights
    threshold: float = 0.0

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Presence, weights: Array, settings: Settings) -> Bernoulli:
        pseudo = np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns])
        return cls(columns, presence_shares(seen, weights, pseudo[:, 0], pseudo[:, 1]))

    def bind(self, table: Table) -> Scorer:
        source = counts_of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            rows = source.rows(block) if isinstance(source, Numbers) else source[block]
            self.shares.add(rows, self.threshold, joint)

        return score

    def only(self, column: str) -> Bernoulli:
        return Bernoulli((column,), self.shares.only(self.columns.index(column)), self.threshold)


def presence_shares(seen: Presence, weights: Array, yes: Array, no: Array) -> PresenceTable | PresenceWeights:
    """(present + yes) / (known + yes + no) for each class and column."""
    counts = seen.present.table
    even = len(yes) > 0 and np.ptp(yes) == np.ptp(no) == 0.0
    if sparse.issparse(counts) and seen.gaps.is_zero() and even and yes[0] > 0.0 and no[0] > 0.0:
        return _sparse_shares(counts, weights, float(yes[0]), float(no[0]))
    present = seen.present.dense()
    absent = np.maximum(weights[:, None] - seen.gaps.dense() - present, 0.0)
    total = present + absent + yes + no
    half = np.full(total.shape, 0.5)
    share = np.divide(present + yes, total, out=half.copy(), where=total > 0.0)
    rest = np.divide(absent + no, total, out=half, where=total > 0.0)
    return PresenceTable(np.ascontiguousarray(log_of(share).T), np.ascontiguousarray(log_of(rest).T))


def _sparse_shares(counts: sparse.csr_array, weights: Array, yes: float, no: float) -> PresenceWeights:
    n_columns = counts.shape[1]
    label, _, count = cells_of(counts)
    absent_unseen = np.log(weights + no) - np.log(weights + yes + no)
    present_unseen = np.log(yes) - np.log(weights + yes + no)
    less_absent = np.log(np.maximum(weights[label] - count, 0.0) + no) - np.log(weights[label] + no)
    bias = n_columns * absent_unseen + np.bincount(label, less_absent, len(weights))
    flat = np.zeros(len(weights)), np.zeros(n_columns)
    correction = np.log1p(count / yes) - less_absent
    odds = weights_where_seen(counts, correction, bias, present_unseen - absent_unseen, *flat)
    absent = sparse.csr_array((less_absent, counts.indices, counts.indptr), shape=counts.shape)
    return PresenceWeights(odds, absent, absent_unseen)
