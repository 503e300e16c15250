"""One probability per value and class: nominal columns, and whether a column of numbers is known."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import AnyArray, Array, Flags, Index, Int32, Int64
from likely.families.export import SQL, SQLNode, ValueShares
from likely.families.on_device import IntervalTerm, ValueTerm
from likely.families.outcomes import BlockScorer, Outcomes, normalised
from likely.families.protocol import Certainty, Columns, CountTable, Domain, LeftOut, Parameter, Reads, Settings
from likely.families.smoothing import log_bias, log_share, totals_without_one, trigamma
from likely.jit import kernel
from likely.stats import Moments, ValueCounts
from likely.stats.protocol import leave, less
from likely.table import Table
from likely.table.levels import index_levels
from likely.table.table import Numbers

GAP, UNSEEN, FIRST = 0, 1, 2
"""Lines of the table before those of the values."""

OTHER = object()
"""Stands for all values that were never seen, where they are given a share."""


@dataclass(frozen=True, slots=True, eq=False)
class Categorical:
    """log P(value | class): line 0 for a gap, line 1 for a value never seen, then one line per value."""

    name: ClassVar[str] = "categorical"
    statistic: ClassVar[str] = "values"
    reads: ClassVar[Reads] = "nominal"
    domain: ClassVar[Domain] = Domain.ANY
    has_density: ClassVar[bool] = True

    columns: Columns
    values: tuple[Hashable, ...]
    table: Array

    @classmethod
    def settle(cls, columns: Columns, seen: ValueCounts, weights: Array, settings: Settings) -> Categorical:
        keys, counts = keys_of(seen, weights, settings)
        log_share = log_shares(counts, settings.smoothing_of(columns[0]).pseudo_counts(keys))
        table = np.zeros((FIRST + len(seen.values), len(weights)))
        table[FIRST:] = log_share[: len(seen.values)]
        if None in keys:
            table[GAP] = log_share[len(seen.values)]
        if settings.unseen == "smooth":
            table[UNSEEN] = log_share[-1]
        return cls(columns, seen.values, table)

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: ValueCounts, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Only the row's own class changes, unless nobody else has the row's value: then that was never seen."""
        column, belief = rows.table.codes(columns[0]), cls.settle(columns, seen, rows.classes, settings)
        smoothing = settings.smoothing_of(columns[0])
        keys, counts = keys_of(seen, rows.classes, settings)
        pseudo, total, everywhere = smoothing.pseudo_counts(keys), counts.sum(axis=1), counts.sum(axis=0)
        known, gap = index_levels(column.levels, seen.values), len(seen.values) if None in keys else -1
        # A gap has the code −1 and so the last entry. A key of −1: the row changes nothing that its cell is judged by.
        key_of, line_of = np.append(known, gap), np.append(np.where(known < 0, UNSEEN, known + FIRST), GAP)

        def look_up(codes: AnyArray, y: AnyArray, weight: Array) -> tuple[AnyArray, Array]:
            """The line of the table for each row, or −1 if its value is gone, and what its own class says."""
            key, line = key_of[codes], line_of[codes]
            own = belief.table[line, y]
            if keys:
                left, rest = less(counts[y, key], weight) + pseudo[key], less(total[y], weight) + pseudo.sum()
                own = np.where(key < 0, own, log_share(left, rest, len(keys)))
                line = np.where((key >= 0) & (less(everywhere[key], weight) == 0.0), -1, line)
            return line, own

        if rows.one_weight is not None:
            code, label = np.indices((len(line_of), len(rows.classes))).reshape(2, -1)
            lines, owns = look_up(code, label, np.full(len(code), rows.one_weight))
            line_by_code, own_by_code = lines.reshape(len(line_of), -1)[:, 0], owns.reshape(len(line_of), -1)

        def score(block: slice, joint: Array) -> None:
            codes, y, weight = column.codes[block], rows.y[block], rows.weight[block]
            if rows.one_weight is not None:
                line, own = line_by_code[codes], own_by_code[codes, y]
            else:
                line, own = look_up(codes, y, weight)
            add_lines_but_own(line, belief.table, y, own, joint)
            if settings.unseen == "smooth":
                lone = np.flatnonzero((line < 0) & (codes >= 0))
                left = np.tile(total, (len(lone), 1))
                left[np.arange(len(lone)), y[lone]] = less(total[y[lone]], weight[lone])
                rest = left + totals_without_one(smoothing, keys)[key_of[codes[lone]], None]
                never_seen = np.full(rest.shape, smoothing.pseudo_counts(keys[1:])[-1])
                joint[lone] += log_share(never_seen, rest, len(keys) - 1)

        return score

    def bind(self, table: Table) -> BlockScorer:
        column = table.codes(self.columns[0])
        known = index_levels(column.levels, self.values)
        row_of_code = np.concatenate([[GAP], np.where(known < 0, UNSEEN, known + FIRST)]).astype(np.int64)

        def score(block: slice, joint: Array) -> None:
            add_rows_of_table(column.codes[block], row_of_code, self.table, joint)

        return score

    def only(self, column: str) -> Categorical:
        return self

    def unseen(self, table: Table) -> Flags:
        """Which cells hold a value that was never learned; a gap does not."""
        column = table.codes(self.columns[0])
        return np.asarray(np.append(index_levels(column.levels, self.values) < 0, False)[column.codes])

    @classmethod
    def smoothed_counts(
        cls, columns: Columns, seen: ValueCounts, weights: Array, settings: Settings
    ) -> list[CountTable]:
        return [(columns, seen.counts)]

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: ValueCounts, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        keys, counts = keys_of(seen, weights, settings)
        a = (counts + settings.smoothing_of(columns[0]).pseudo_counts(keys)).T
        column = table.codes(columns[0])
        strange = len(keys) - 1 if settings.unseen == "smooth" else -1
        known = index_levels(column.levels, seen.values)
        gap = len(seen.values) if None in keys else -1
        places = np.append(np.where(known < 0, strange, known), gap)[column.codes]
        return lambda block, *out: add_lines(a, places[block], *out)

    def parameters(self) -> Iterator[Parameter]:
        (name,), shares = self.columns, np.exp(self.table)
        for place, value in enumerate(self.values):
            yield Parameter(name, "probability", value, shares[FIRST + place])
        for line, what in ((GAP, "probability of a gap"), (UNSEEN, "probability of another value")):
            if self.table[line].any():
                yield Parameter(name, what, None, shares[line])

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        lines = range(FIRST, FIRST + len(self.values))
        yield sql.number_at(self.table[:, place].tolist(), sql.code(self.columns[0], self.values, lines, UNSEEN, GAP))

    def device_terms(self) -> list[ValueTerm]:
        return [ValueTerm(self.columns, self.values, self.table[FIRST:], self.table[GAP], self.table[UNSEEN])]

    def bayes_inputs(self) -> list[ValueShares] | None:
        """None where a gap or a value never seen speaks."""
        said = self.table[:FIRST].any()
        return None if said else [ValueShares(self.columns[0], self.values, np.exp(self.table[FIRST:]))]

    def outcomes(self, column: str, points: int) -> Outcomes:
        return Outcomes(self.values, normalised(np.exp(self.table[FIRST:])))


def keys_of(seen: ValueCounts, weights: Array, settings: Settings) -> tuple[list[Hashable], Array]:
    """All that a cell can be (a value, perhaps a gap, perhaps something never seen) and the counts of each."""
    counts, keys = seen.counts, list(seen.values)
    gaps = less(weights, seen.counts.sum(axis=1))
    if settings.missing == "value" and gaps.any():
        counts, keys = np.column_stack([counts, gaps]), [*keys, None]
    if settings.unseen == "smooth":
        counts, keys = np.column_stack([counts, np.zeros(len(weights))]), [*keys, OTHER]
    return keys, counts


def log_shares(counts: Array, pseudo: Array) -> Array:
    """log((count + pseudo) / (class count + all pseudo)), one line per value; even shares where nothing is known."""
    total = counts.sum(axis=1, keepdims=True) + pseudo.sum()
    return log_share(counts + pseudo, total, counts.shape[1]).T


@kernel(interpretable=True)
def add_rows_of_table(codes: Int32, row_of_code: Int64, table: Array, joint: Array) -> None:
    """Add the line of each row's value; the code −1 is a gap and has the first entry of `row_of_code`."""
    for i in range(codes.shape[0]):
        line = table[row_of_code[codes[i] + 1]]
        for c in range(joint.shape[1]):
            joint[i, c] += line[c]


@kernel
def add_lines_but_own(lines: Int64, table: Array, y: Int32, own: Array, joint: Array) -> None:
    """Add the line of each row's value, but for the row's own class what stands in `own`; a line of −1 adds nothing."""
    for i in range(lines.shape[0]):
        if lines[i] >= 0:
            line, total = table[lines[i]], joint[i]
            before = total[y[i]]
            for c in range(total.shape[0]):
                total[c] += line[c]
            total[y[i]] = before + own[i]


def add_lines(a: Array, places: Index, shift: Array, variance: Array) -> None:
    """Shares with the Dirichlet parameters `a` (values × classes); the row's value is `places`, −1 for none."""
    total = a.sum(axis=0)
    known = places >= 0
    shift[known] += (log_bias(a) - log_bias(total))[places[known]]
    variance[known] += (trigamma(a) - trigamma(total))[places[known]]


# Whether a number is known at all, taken as evidence: `missing="value"`.


@dataclass(frozen=True, slots=True, eq=False)
class GapFactor:
    """log P(gap | class) and log P(known | class) of each column (classes × columns)."""

    name: ClassVar[str] = "gap"

    columns: Columns
    gap: Array
    known: Array

    @classmethod
    def settle(cls, columns: Columns, known: Array, weights: Array, settings: Settings) -> GapFactor:
        counts = np.stack([less(weights[:, None], known), known])
        counts += np.array([settings.smoothing_of(name).pseudo_counts((True, False)) for name in columns]).T[:, None]
        return cls(columns, *log_share(counts, counts.sum(axis=0), 2))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Moments, rows: LeftOut, settings: Settings) -> BlockScorer:
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
                evidence[here, y] = log_share(own, total, 2)
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

    def device_terms(self) -> list[IntervalTerm]:
        told = zip(self.columns, self.gap.T, self.known.T, strict=True)
        return [IntervalTerm((name,), np.zeros(0), known[None], gap) for name, gap, known in told]

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        for column, name in enumerate(self.columns):
            gap, known = sql.number(self.gap[place, column]), sql.number(self.known[place, column])
            yield sql.case([(sql.missing(name), gap)], known)
