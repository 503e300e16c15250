"""Present or absent, column by column; absence speaks, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Index
from likely.families.kernels import add_presence, add_sparse_lines
from likely.families.leave_one_out import less, own_presence, own_presence_sparsely
from likely.families.linear import SparseWeights, lines_where_seen, own_counts
from likely.families.protocol import BlockScorer, LeftOut, Reads, Settings
from likely.numerics import log_of
from likely.stats import Presence
from likely.stats.feature_counts import csr_arrays, rows_of
from likely.stats.protocol import Matrix
from likely.table import Table
from likely.table.table import Numbers, counts_of

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
        if not np.isnan(rows.data).any() and self._is_finite():
            present = (rows.data > threshold).astype(np.float64)
            held = sparse.csr_array((present, rows.indices, rows.indptr), shape=rows.shape)
            joint += self.absent.sum(axis=0)
            add_sparse_lines(*csr_arrays(held), self.present - self.absent, joint)
            return
        for start in range(0, rows.shape[0], DENSE_ROWS):
            few = slice(start, start + DENSE_ROWS)
            add_presence(rows[few].toarray(), threshold, self.present, self.absent, joint[few])

    def _is_finite(self) -> bool:
        """Whether no share is 0 or 1: then a column's absence can be taken back where it is present."""
        return bool(np.isfinite(self.present).all() and np.isfinite(self.absent).all())

    def only(self, column: int) -> PresenceTable:
        return PresenceTable(self.present[[column]], self.absent[[column]])


@dataclass(frozen=True, slots=True, eq=False)
class PresenceWeights:
    """The same for wide sparse rows: all columns absent, corrected for those that are present.

    `odds` weighs presence against absence; `counts` (classes × columns) and pseudo counts say what
    absence alone is worth.
    """

    odds: SparseWeights
    counts: sparse.csr_array
    weights: Array
    yes: float
    no: float

    def add(self, rows: Matrix, threshold: float, joint: Array) -> None:
        held = sparse.csr_array(rows)
        present = (held.data > threshold).astype(np.float64)
        self.odds.add(sparse.csr_array((present, held.indices, held.indptr), shape=held.shape), joint)

    def only(self, column: int) -> PresenceTable:
        rest = np.maximum(self.weights - self.counts[:, [column]].toarray()[:, 0], 0.0) + self.no
        absent = (np.log(rest) - np.log(self.weights + self.yes + self.no))[None]
        return PresenceTable(absent + self.odds.only(column).lines, absent)


@dataclass(frozen=True, slots=True, eq=False)
class Bernoulli:
    """A share of presence per column and class; two values, so Laplace adds 2γ below the line."""

    name: ClassVar[str] = "bernoulli"
    statistic: ClassVar[str] = "presence"
    reads: ClassVar[Reads] = "numeric"

    columns: tuple[str, ...]
    shares: PresenceTable | PresenceWeights
    threshold: float = 0.0

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Presence, weights: Array, settings: Settings) -> Bernoulli:
        pseudo = _pseudo_counts(columns, settings)
        return cls(columns, presence_shares(seen, weights, pseudo[:, 0], pseudo[:, 1]))

    def bind(self, table: Table) -> BlockScorer:
        source = counts_of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            rows = source.rows(block) if isinstance(source, Numbers) else rows_of(source, block)
            self.shares.add(rows, self.threshold, joint)

        return score

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: Presence, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Only the row's own class knows less without it."""
        belief = cls.settle(columns, seen, rows.classes, settings)
        pseudo = _pseudo_counts(columns, settings)
        source, own = counts_of(rows.table, columns), _own_presence(belief, seen, rows, pseudo)

        def score(block: slice, joint: Array) -> None:
            held = source.rows(block) if isinstance(source, Numbers) else rows_of(source, block)
            evidence = np.zeros_like(joint)
            belief.shares.add(held, belief.threshold, evidence)
            evidence[np.arange(len(joint)), rows.y[block]] = own(block, held)
            joint += evidence

        return score

    def only(self, column: str) -> Bernoulli:
        return self.at(self.columns.index(column))

    def at(self, place: int) -> Bernoulli:
        """The same of one column by its place."""
        return Bernoulli((self.columns[place],), self.shares.only(place), self.threshold)


def _pseudo_counts(columns: tuple[str, ...], settings: Settings) -> Array:
    """Of presence and of absence, column by column; most columns share one smoothing."""
    smoothings = [settings.smoothing_of(name) for name in columns]
    different = {id(each): each for each in smoothings}
    place = {key: k for k, key in enumerate(different)}
    pairs = np.array([each.pseudo_counts((True, False)) for each in different.values()])
    return np.asarray(pairs[[place[id(each)] for each in smoothings]])


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


def _own_presence(belief: Bernoulli, seen: Presence, rows: LeftOut, pseudo: Array) -> Callable[[slice, Matrix], Array]:
    """What the own class of each row of a block says about it, without that row."""
    counts, threshold = seen.present.table, belief.threshold

    def in_full(block: slice, held: Matrix) -> Array:
        y, weight, out = rows.y[block], rows.weight[block], np.empty(held.shape[0])
        for start in range(0, len(out), DENSE_ROWS):
            few = slice(start, start + DENSE_ROWS)
            cells = held[few].toarray() if sparse.issparse(held) else held[few]
            own_presence(cells, threshold, y[few], weight[few], present, known, pseudo[:, 0], pseudo[:, 1], out[few])
        return out

    def sparsely(block: slice, held: Matrix) -> Array:
        y, weight, out = rows.y[block], rows.weight[block], np.empty(held.shape[0])
        is_present = (held.data > threshold).astype(np.float64)
        starts, _, cells = csr_arrays(sparse.csr_array(counts))
        own, classes, n = own_counts(counts, held, y), rows.classes, len(pseudo)
        held_starts = held.indptr.astype(np.int64)
        own_presence_sparsely(
            held_starts, is_present, y, weight, own, starts, cells, classes, n, pseudo[0, 0], pseudo[0, 1], out
        )
        return out

    if isinstance(belief.shares, PresenceWeights):
        return sparsely
    present, known = seen.present.dense(), less(rows.classes[:, None], seen.gaps.dense())
    return in_full


def _sparse_shares(counts: sparse.csr_array, weights: Array, yes: float, no: float) -> PresenceWeights:
    n_columns = counts.shape[1]
    absent_unseen = np.log(weights + no) - np.log(weights + yes + no)
    present_unseen = np.log(yes) - np.log(weights + yes + no)
    bias = n_columns * absent_unseen

    def correct(label: NDArray[np.int32], _: Index, count: Array) -> Array:
        less_absent = np.log(np.maximum(weights[label] - count, 0.0) + no) - np.log(weights[label] + no)
        np.add(bias, np.bincount(label, less_absent, len(weights)), out=bias)
        return np.asarray(np.log1p(count / yes) - less_absent)

    lines = lines_where_seen(counts, correct)
    flat = np.zeros(len(weights)), np.zeros(n_columns)
    odds = SparseWeights(lines, bias, present_unseen - absent_unseen, *flat)
    return PresenceWeights(odds, counts, weights, yes, no)
