"""Present or absent, column by column or word by word of a text; absence speaks, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from likely.arrays import Array, Flags, Index, Int32, Int64, is_sparse
from likely.families.counts import (
    SparseWeights,
    add_sparse_lines,
    leave_own_out,
    lines_where_seen,
    own_counts,
    read_counts,
)
from likely.families.export import SQL, SQLNode
from likely.families.on_device import IntervalTerm
from likely.families.outcomes import BlockScorer, Outcomes, log_likelihood, normalised
from likely.families.protocol import Certainty, Columns, CountTable, Domain, LeftOut, Parameter, Reads, Settings
from likely.families.smoothing import log_bias, log_share, trigamma
from likely.families.text_family import MOST_WRITTEN, TextFamily, WordReader
from likely.jit import kernel
from likely.stats import FeatureCounts, Presence, TokenCounts
from likely.stats.feature_counts import csr_arrays, rows_of, with_cells
from likely.stats.protocol import Matrix, less, less_one
from likely.table import Table

DENSE_ROWS = 256
"""Sparse rows that are written out at a time where a share is exactly 0 or 1."""


@dataclass(frozen=True, slots=True, eq=False)
class PresenceTable:
    """log P(present | class) and log P(absent | class), one line per column."""

    present: Array
    absent: Array

    def add(self, rows: Matrix, threshold: float, joint: Array) -> None:
        if not is_sparse(rows):
            add_presence(rows, threshold, self.present, self.absent, joint)
            return
        if not np.isnan(rows.data).any() and self._is_finite():
            held = with_cells(rows, (rows.data > threshold).astype(np.float64))
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
    counts: scipy.sparse.csr_array
    weights: Array
    yes: float
    no: float

    def add(self, rows: Matrix, threshold: float, joint: Array) -> None:
        held = scipy.sparse.csr_array(rows)
        self.odds.add(with_cells(held, (held.data > threshold).astype(np.float64)), joint)

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
    domain: ClassVar[Domain] = Domain.REAL
    has_density: ClassVar[bool] = True

    columns: Columns
    shares: PresenceTable | PresenceWeights
    threshold: float = 0.0

    @classmethod
    def settle(cls, columns: Columns, seen: Presence, weights: Array, settings: Settings) -> Bernoulli:
        pseudo = _pseudo_counts(columns, settings)
        return cls(columns, presence_shares(seen, weights, pseudo[:, 0], pseudo[:, 1]))

    def bind(self, table: Table) -> BlockScorer:
        read = read_counts(table, self.columns)
        return lambda block, joint: self.shares.add(read(block), self.threshold, joint)

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Presence, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Only the row's own class knows less without it."""
        belief = cls.settle(columns, seen, rows.classes, settings)
        own = _own_presence(belief, seen, rows, _pseudo_counts(columns, settings))

        def add(held: Matrix, evidence: Array) -> None:
            belief.shares.add(held, belief.threshold, evidence)

        return leave_own_out(read_counts(rows.table, columns), add, rows.y, own)

    def only(self, column: str) -> Bernoulli:
        return self.at(self.columns.index(column))

    def at(self, place: int) -> Bernoulli:
        """The same of one column by its place."""
        return Bernoulli((self.columns[place],), self.shares.only(place), self.threshold)

    @classmethod
    def smoothed_counts(cls, columns: Columns, seen: Presence, weights: Array, settings: Settings) -> list[CountTable]:
        present = seen.present.dense()
        absent = less(less(weights[:, None], seen.gaps.dense()), present)
        tables = np.stack([present, absent], axis=2)
        return [((name,), tables[:, place]) for place, name in enumerate(columns)]

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: Presence, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        pseudo, present = _pseudo_counts(columns, settings), seen.present.dense()
        yes = present + pseudo[:, 0]
        no = less(less(weights[:, None], seen.gaps.dense()), present) + pseudo[:, 1]
        read = read_counts(table, columns)

        def spread(block: slice, shift: Array, variance: Array) -> None:
            cells = _dense(read(block))
            known = (~np.isnan(cells)) * 1.0
            add_presence_uncertainty(yes, no, (cells > 0.0) * 1.0, known, shift, variance)

        return spread

    def parameters(self) -> Iterator[Parameter]:
        for place, name in enumerate(self.columns):
            yield Parameter(name, "probability of presence", None, np.exp(self.shares.only(place).present[0]))

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        for column, name in enumerate(self.columns):
            shares = self.shares.only(column)
            present, absent = sql.number(shares.present[0, place]), sql.number(shares.absent[0, place])
            is_absent = sql.at_most(sql.real(name), sql.number(self.threshold))
            yield sql.case([(sql.missing(name), sql.number(0.0)), (is_absent, absent)], present)

    def device_terms(self) -> list[IntervalTerm] | None:
        """None for the shares of wide sparse rows, which are not kept one by one."""
        if isinstance(self.shares, PresenceWeights):
            return None
        above, nothing = np.array([np.nextafter(self.threshold, np.inf)]), np.zeros(self.shares.present.shape[1])
        lines = np.stack([self.shares.absent, self.shares.present], axis=1)
        return [IntervalTerm((name,), above, own, nothing) for name, own in zip(self.columns, lines, strict=True)]

    def outcomes(self, column: str, points: int) -> Outcomes:
        alone = self.only(column)
        values = np.array([0.0, 1.0]) + (0.0 if 0.0 <= self.threshold < 1.0 else self.threshold)
        n_classes = self.shares.only(0).present.shape[1]
        return Outcomes(values, normalised(np.exp(log_likelihood(alone.bind, column, values, n_classes))))


def _dense(rows: Matrix) -> Array:
    return rows.toarray() if is_sparse(rows) else np.asarray(rows)


def _pseudo_counts(columns: Columns, settings: Settings) -> Array:
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
    if is_sparse(counts) and seen.gaps.is_zero() and even and yes[0] > 0.0 and no[0] > 0.0:
        return _sparse_shares(counts, weights, float(yes[0]), float(no[0]))
    present = seen.present.dense()
    absent = less(less(weights[:, None], seen.gaps.dense()), present)
    total = present + absent + yes + no
    shares = log_share(present + yes, total, 2), log_share(absent + no, total, 2)
    return PresenceTable(*(np.ascontiguousarray(share.T) for share in shares))


def _own_presence(belief: Bernoulli, seen: Presence, rows: LeftOut, pseudo: Array) -> Callable[[slice, Matrix], Array]:
    """What the own class of each row of a block says about it, without that row."""
    counts, threshold = seen.present.table, belief.threshold

    def in_full(block: slice, held: Matrix) -> Array:
        y, weight, out = rows.y[block], rows.weight[block], np.empty(held.shape[0])
        for start in range(0, len(out), DENSE_ROWS):
            few = slice(start, start + DENSE_ROWS)
            cells = _dense(held[few])
            _fill_own_presence(cells, threshold, y[few], weight[few], present, known, pseudo, out[few])
        return out

    def sparsely(block: slice, held: Matrix) -> Array:
        y, weight, out = rows.y[block], rows.weight[block], np.empty(held.shape[0])
        cells = held.indptr.astype(np.int64), held.data > threshold, own_counts(counts, held, y)
        starts, _, seen_cells = csr_arrays(scipy.sparse.csr_array(counts))
        _fill_own_presence_sparsely(*cells, y, weight, starts, seen_cells, rows.classes, pseudo, out)
        return out

    if isinstance(belief.shares, PresenceWeights):
        return sparsely
    present, known = seen.present.dense(), less(rows.classes[:, None], seen.gaps.dense())
    return in_full


def _sparse_shares(counts: scipy.sparse.csr_array, weights: Array, yes: float, no: float) -> PresenceWeights:
    n_columns = counts.shape[1]
    absent_unseen = np.log(weights + no) - np.log(weights + yes + no)
    present_unseen = np.log(yes) - np.log(weights + yes + no)
    bias = n_columns * absent_unseen

    def correct(label: Int32, _: Index, count: Array) -> Array:
        less_absent = np.log(np.maximum(weights[label] - count, 0.0) + no) - np.log(weights[label] + no)
        np.add(bias, np.bincount(label, less_absent, len(weights)), out=bias)
        return np.asarray(np.log1p(count / yes) - less_absent)

    lines = lines_where_seen(counts, correct)
    flat = np.zeros(len(weights)), np.zeros(n_columns)
    odds = SparseWeights(lines, bias, present_unseen - absent_unseen, *flat)
    return PresenceWeights(odds, counts, weights, yes, no)


@dataclass(frozen=True, slots=True, eq=False)
class TextBernoulli(TextFamily):
    """Each known word is in the text or not; absence speaks, too. A text without a known word says nothing."""

    name: ClassVar[str] = "text bernoulli"
    has_density: ClassVar[bool] = True

    shares: PresenceTable | PresenceWeights

    @classmethod
    def settle(cls, columns: Columns, seen: TokenCounts, weights: Array, settings: Settings) -> TextBernoulli:
        yes, no = settings.smoothing_of(columns[0]).pseudo_counts((True, False))
        size = len(seen.words)
        presence = Presence(seen.documents, FeatureCounts.empty(*seen.documents.shape))
        shares = presence_shares(presence, seen.texts, np.full(size, yes), np.full(size, no))
        return cls(columns, WordReader(seen.tokenizer, seen.words, None), shares)

    def bind(self, table: Table) -> BlockScorer:
        rows = self.reader.rows(table, self.columns[0])
        speaks = np.diff(rows.indptr) > 0

        def score(block: slice, joint: Array) -> None:
            evidence = np.zeros_like(joint)
            self.shares.add(rows_of(rows, block), 0.0, evidence)
            joint += np.where(speaks[block, None], evidence, 0.0)

        return score

    def line(self, place: int) -> Array:
        return np.asarray(self.shares.only(place).present[0])

    def described(self) -> Mapping[str, object] | None:
        """A line for the presence of each word and one for its absence; None where these are too many."""
        n_words = len(self.reader.words)
        tables = [self.shares.only(place) for place in range(n_words if n_words <= MOST_WRITTEN >> 6 else 0)]
        if len(tables) < n_words:
            return None
        present, absent = (np.array([lines for lines, in each]) for each in
                           ([t.present for t in tables], [t.absent for t in tables]))  # fmt: skip
        return {**self.reader.described(), "is": "presence", "present": present, "absent": absent}

    def sql_terms(self, sql: SQL, place: int) -> list[SQLNode] | None:
        """All words absent, corrected for those that are there; None where a share is 0 or 1."""
        words = self.reader.words.to_list()
        tables = [self.shares.only(k) for k in range(len(words))]
        if not all(np.isfinite(each.present).all() and np.isfinite(each.absent).all() for each in tables):
            return None
        if not words:
            return []
        odds = np.array([each.present[0] - each.absent[0] for each in tables])
        absent = float(sum(each.absent[0, place] for each in tables))
        found = sql.words(self.columns[0], self.reader.tokenizer, words, odds, distinct=True)[place]
        return [sql.known_or(sql.sum([found, sql.number(absent)]), sql.number(0.0))]

    def parameters(self) -> Iterator[Parameter]:
        for place, word in enumerate(self.reader.words.to_list()):
            yield Parameter(self.columns[0], "probability of presence", word, np.exp(self.line(place)))


def add_presence_uncertainty(
    yes: Array, no: Array, present: Matrix, known: Array | None, shift: Array, variance: Array
) -> None:
    """Shares of presence, column by column (classes × columns); `known` marks cells that are no gaps, None: all."""
    for table, out in ((log_bias, shift), (trigamma, variance)):
        absent = table(no) - table(yes + no)
        more = table(yes) - table(no)
        out += present @ more.T
        out += absent.sum(axis=1) if known is None else known @ absent.T


# Compiled loops.


@kernel(interpretable=True)
def add_presence(rows: Array, threshold: float, present: Array, absent: Array, joint: Array) -> None:
    """Add the line of presence or of absence of every column; a gap adds neither."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if not np.isnan(rows[i, j]):
                line = present[j] if rows[i, j] > threshold else absent[j]
                for c in range(joint.shape[1]):
                    joint[i, c] += line[c]


@kernel
def _fill_own_presence(
    rows: Array, threshold: float, y: Int32, weight: Array, present: Array, known: Array, pseudo: Array, out: Array
) -> None:
    """Σ log share of presence or absence of each row in its own class; `present`, `known` are classes × columns.

    The shares of a class are kept for the next row of the same weight.
    """
    yes, no = pseudo[:, 0].copy(), pseudo[:, 1].copy()
    log_yes, log_no = np.empty(present.shape), np.empty(present.shape)
    weight_of = np.full(present.shape[0], np.nan)
    for i in range(rows.shape[0]):
        c, w, row = y[i], weight[i], rows[i]
        if weight_of[c] != w:
            weight_of[c] = w
            for j in range(row.shape[0]):
                left = less_one(known[c, j], w) + yes[j] + no[j]
                met, not_met = less_one(present[c, j], w) + yes[j], less_one(known[c, j] - present[c, j], w) + no[j]
                log_yes[c, j] = np.log(met / left if left > 0.0 else 0.5)
                log_no[c, j] = np.log(not_met / left if left > 0.0 else 0.5)
        evidence = 0.0
        for j in range(row.shape[0]):
            if not np.isnan(row[j]):
                evidence += log_yes[c, j] if row[j] > threshold else log_no[c, j]
        out[i] = evidence


@kernel
def _fill_own_presence_sparsely(
    starts: Int64, is_present: Flags, counts: Array, y: Int32, weight: Array, table_starts: Int64, table_cells: Array,
    classes: Array, pseudo: Array, out: Array,
) -> None:  # fmt: skip
    """The same for sparse rows and a sparse table without gaps: all columns absent, corrected for those present.

    What absence of all columns amounts to is kept for the next row of the same class and weight.
    """
    n_columns, yes, no = pseudo.shape[0], pseudo[0, 0], pseudo[0, 1]
    base, base_weight = np.zeros(classes.shape[0]), np.full(classes.shape[0], np.nan)
    for i in range(y.shape[0]):
        c, w = y[i], weight[i]
        left = less_one(classes[c], w)
        if base_weight[c] != w:
            base_weight[c] = w
            met = table_starts[c + 1] - table_starts[c]
            base[c] = (n_columns - met) * np.log(left + no) - n_columns * np.log(left + yes + no)
            for entry in range(table_starts[c], table_starts[c + 1]):
                base[c] += np.log(less_one(classes[c] - table_cells[entry], w) + no)
        evidence = base[c]
        for k in range(starts[i], starts[i + 1]):
            if is_present[k]:
                absent = less_one(classes[c] - counts[k], w)
                evidence += np.log(less_one(counts[k], w) + yes) - np.log(absent + no)
        out[i] = evidence
