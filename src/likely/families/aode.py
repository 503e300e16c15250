"""Averaged one-dependence estimators: every column depends on the class and on one other column, in turn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Flags, Int32, Int64
from likely.families.aode_export import PairTables, aode_density, aode_terms
from likely.families.categorical import log_shares
from likely.families.export import Graph, Tensor
from likely.families.outcomes import BlockScorer
from likely.families.protocol import SQL, Columns, Domain, LeftOut, Reads, Settings, SQLNode
from likely.jit import kernel
from likely.numerics import log_of
from likely.stats.pair_counts import Axis, Cuts, PairCounts, PairLayout, size_of
from likely.stats.protocol import less_one
from likely.table import Table
from likely.table.levels import index_levels
from likely.table.table import Numbers

WHOLE = -1

CELLS_AT_ONCE = 1 << 16
"""Scores of rows that are held at once: these rows take turns with each parent, whose lines stay near by meanwhile."""


@kernel
def _log_mean(scores: Array, n_parents: int, out: Array) -> None:
    """log of the mean of exp(score) over the parents, for each class."""
    for c in range(out.shape[0]):
        peak = -np.inf
        for j in range(n_parents):
            peak = max(peak, scores[j, c])
        if peak == -np.inf:
            out[c] = -np.inf
            continue
        total = 0.0
        for j in range(n_parents):
            total += np.exp(scores[j, c] - peak)
        out[c] = peak + np.log(total / n_parents)


@kernel
def _share(
    row: Int32, shown: int, singles: Int64, sizes: Int64, pairs: Int64, single: Array, given: Array,
    parents: Int64, n_parents: int, scores: Array, mean: Array, out: Array,
) -> None:  # fmt: skip
    """One column's part of the log mean: its evidence averaged over the parents, and its share of what mixing costs."""
    known = 0
    for k in range(row.shape[0]):
        known += 1 if row[k] >= 0 else 0
    for c in range(out.shape[0]):
        if mean[c] == -np.inf:
            out[c] -= np.inf
            continue
        own, mixing = 0.0, -np.log(n_parents)
        for place in range(n_parents):
            j = parents[place]
            share = np.exp(scores[place, c] - mean[c]) / n_parents
            if share > 0.0:
                if j == shown:
                    own += share * single[singles[j] + row[j], c]
                else:
                    own += share * given[pairs[j, shown] + row[j] * sizes[shown] + row[shown], c]
                mixing -= share * np.log(share)
        out[c] += own + mixing / known


@kernel
def _with_parent(
    row: Int32, j: int, singles: Int64, sizes: Int64, pairs: Int64, single: Array, given: Array, line: Array
) -> None:
    """log P(x_j | c) + Σ log P(x_k | x_j, c) of each class."""
    alone = single[singles[j] + row[j]]
    for c in range(line.shape[0]):
        line[c] = alone[c]
    for k in range(row.shape[0]):
        if k != j and row[k] >= 0:
            more = given[pairs[j, k] + row[j] * sizes[k] + row[k]]
            for c in range(line.shape[0]):
                line[c] += more[c]


@kernel
def _one_by_one(row: Int32, shown: int, singles: Int64, single: Array, out: Array) -> None:
    """The evidence of all columns, or of one, without any parent."""
    for k in range(row.shape[0]):
        if row[k] >= 0 and (shown < 0 or k == shown):
            out += single[singles[k] + row[k]]


@kernel
def add_aode(
    codes: Int32, singles: Int64, sizes: Int64, pairs: Int64, single: Array, given: Array, is_parent: NDArray[np.uint8],
    shown: int, joint: Array,
) -> None:  # fmt: skip
    """Add log mean over parents j of P(x_j | c) · Π P(x_k | x_j, c); of all columns, or one column's share of it.

    `given` has the cell `pairs[j, k] + x_j · sizes[k] + x_k` for each ordered pair. A row in which no value may be a
    parent is judged by the columns one by one.
    """
    n_columns, n_classes = codes.shape[1], joint.shape[1]
    n_held = max(min(CELLS_AT_ONCE // max(n_columns * n_classes, 1), codes.shape[0]), 1)
    scores, mean = np.empty((n_held, n_columns, n_classes)), np.empty(n_classes)
    parents, n_parents = np.empty((n_held, n_columns), dtype=np.int64), np.empty(n_held, dtype=np.int64)
    for first in range(0, codes.shape[0], n_held):
        here = codes[first : first + n_held]
        n_parents[:] = 0
        for j in range(n_columns):
            for i in range(here.shape[0]):
                row = here[i]
                if row[j] >= 0 and is_parent[singles[j] + row[j]] and (shown < 0 or row[shown] >= 0):
                    _with_parent(row, j, singles, sizes, pairs, single, given, scores[i, n_parents[i]])
                    parents[i, n_parents[i]] = j
                    n_parents[i] += 1
        for i in range(here.shape[0]):
            row, out = here[i], joint[first + i]
            if n_parents[i] == 0:
                _one_by_one(row, shown, singles, single, out)
                continue
            _log_mean(scores[i], n_parents[i], mean)
            if shown < 0:
                out += mean
            else:
                _share(
                    row, shown, singles, sizes, pairs, single, given, parents[i], n_parents[i], scores[i], mean, out
                )  # fmt: skip


@kernel
def _own(count: float, total: float, weight: float, pseudo: float, all_pseudo: float, size: int) -> float:
    rest = less_one(total, weight) + all_pseudo
    return float(np.log((less_one(count, weight) + pseudo) / rest) if rest > 0.0 else -np.log(size))


@kernel
def _drop_lone(codes: Int32, weight: float, singles: Int64, pooled: Array, is_bin: Flags, row: Int32) -> None:
    """The row as it would be read had it not been learned: a value that nobody else has is one never seen."""
    for k in range(row.shape[0]):
        row[k] = codes[k]
        if row[k] >= 0 and not is_bin[k] and less_one(pooled[singles[k] + row[k]], weight) == 0.0:
            row[k] = -1


@kernel
def add_aode_without(
    codes: Int32, y: Int32, weight: Array, singles: Int64, sizes: Int64, pairs: Int64, single: Array, given: Array,
    n_single: Array, n_known: Array, n_pair: Array, pooled: Array, is_bin: Flags, pseudo: Array, all_pseudo: Array,
    fewest: float, joint: Array,
) -> None:  # fmt: skip
    """The same for rows that were learned, each without itself: `n_…` are the counts behind `single` and `given`.

    A value that nobody else has is one never seen; a bin stays a bin.
    """
    n_columns, n_classes = codes.shape[1], joint.shape[1]
    scores, mean, row = np.empty((n_columns, n_classes)), np.empty(n_classes), np.empty(n_columns, dtype=np.int32)
    for i in range(codes.shape[0]):
        w, own, n_parents = weight[i], y[i], 0
        _drop_lone(codes[i], w, singles, pooled, is_bin, row)
        for turn in range(n_columns + 1):
            # The last turn is for a row without parents: all columns one by one.
            j = turn if turn < n_columns else -1
            if j < 0 and n_parents > 0:
                break
            if j >= 0 and (row[j] < 0 or less_one(pooled[singles[j] + row[j]], w) < fewest):
                continue
            line = scores[n_parents]
            line[:] = 0.0
            for k in range(n_columns):
                if row[k] < 0:
                    continue
                if j < 0 or k == j:
                    cell = singles[k] + row[k]
                    more = single[cell]
                    mine = _own(n_single[cell, own], n_known[k, own], w, pseudo[cell], all_pseudo[k], sizes[k])
                else:
                    cell = pairs[j, k] + row[j] * sizes[k] + row[k]
                    more = given[cell]
                    both = n_pair[cell - row[k] : cell - row[k] + sizes[k], own].sum()
                    mine = _own(n_pair[cell, own], both, w, pseudo[singles[k] + row[k]], all_pseudo[k], sizes[k])
                for c in range(n_classes):
                    line[c] += mine if c == own else more[c]
            n_parents += 1
        _log_mean(scores, n_parents, mean)
        joint[i] += mean


@dataclass(frozen=True, slots=True, eq=False)
class Aode:
    """log of the mean over parents j of P(x_j | class) · Π P(x_k | x_j, class).

    `single` holds log P(value | class) and `given` log P(value | other column's value, class), a line for each; a value
    is a parent if it was seen often enough. A gap and a value never seen are no parents and in no product.
    """

    name: ClassVar[str] = "aode"
    statistic: ClassVar[str] = "pairs"
    reads: ClassVar[Reads] = "any"
    domain: ClassVar[Domain] = Domain.ANY
    has_density: ClassVar[bool] = True
    chained: ClassVar[bool] = True

    columns: Columns
    axes: tuple[Axis, ...]
    single: Array
    given: Array
    is_parent: NDArray[np.uint8]
    shown: int = WHOLE

    @property
    def work(self) -> int:
        """Cells that are looked at for a row: every column given every other."""
        return len(self.columns) ** 2

    @classmethod
    def settle(cls, columns: Columns, seen: PairCounts, weights: Array, settings: Settings) -> Aode:
        pseudo = pseudo_counts(columns, seen.axes, settings)
        single = [log_shares(seen.single(k), pseudo[k]) for k in range(len(columns))]
        given = _direct(seen)
        _as_log_given(given, pseudo)
        pooled = seen.counts[:, : sum(map(len, single))].sum(axis=0)
        lines = np.concatenate([np.zeros((0, len(weights))), *single])
        return cls(columns, seen.axes, lines, given, (pooled >= settings.fewest).astype(np.uint8))

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: PairCounts, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Only what the row's own class says changes, in closed form."""
        belief = cls.settle(columns, seen, rows.classes, settings)
        sizes, singles, pairs = directed(seen.axes)
        smoothed = pseudo_counts(columns, seen.axes, settings)
        pseudo, all_pseudo = np.concatenate([np.zeros(0), *smoothed]), np.array([each.sum() for each in smoothed])
        places = range(len(columns))
        counts = _direct(seen)
        n_single = np.ascontiguousarray(seen.counts[:, : len(belief.single)].T)
        n_known = np.array([seen.single(k).sum(axis=1) for k in places]).reshape(len(columns), -1)
        is_bin = np.array([isinstance(axis, Cuts) for axis in seen.axes], dtype=np.bool_)
        codes, pooled = codes_of(rows.table, columns, seen.axes), np.ascontiguousarray(n_single.sum(axis=1))

        def score(block: slice, joint: Array) -> None:
            add_aode_without(
                codes[block], rows.y[block], rows.weight[block], singles, sizes, pairs, belief.single, belief.given,
                n_single, n_known, counts, pooled, is_bin, pseudo, all_pseudo, float(settings.fewest), joint,
            )  # fmt: skip

        return score

    def bind(self, table: Table) -> BlockScorer:
        codes = codes_of(table, self.columns, self.axes)
        sizes, singles, pairs = directed(self.axes)

        def score(block: slice, joint: Array) -> None:
            cells = codes[block]
            add_aode(cells, singles, sizes, pairs, self.single, self.given, self.is_parent, self.shown, joint)

        return score

    def graph_terms(self, graph: Graph) -> list[Tensor]:
        """The whole of it, as it is in a model."""
        sizes, singles, pairs = directed(self.axes)
        parts = (singles, sizes, pairs, self.single, self.given, self.is_parent)
        return [aode_density(graph, self.columns, self.axes, *parts)]

    def described(self) -> Mapping[str, object]:
        """Both tables, and how columns become codes."""
        axes = [{"cuts": axis.at} if isinstance(axis, Cuts) else {"levels": axis} for axis in self.axes]
        return {"is": "aode", "axes": axes, "single": self.single, "given": self.given, "parents": self.is_parent}

    def sql_terms(self, sql: SQL, place: int) -> list[SQLNode]:
        tables = self.columns, self.axes, self.single, self.given, self.is_parent
        return aode_terms(sql, PairTables(*tables, *directed(self.axes)), place, self.shown)

    def only(self, column: str) -> Aode:
        """A column's share: its evidence given each parent, averaged as the parents count in that row and class, and an
        equal part of what mixing costs, which is between 0 and the logarithm of the number of parents."""
        return replace(self, shown=self.columns.index(column))


def codes_of(table: Table, columns: Columns, axes: tuple[Axis, ...]) -> Int32:
    """Rows × columns: the place of each cell on its axis, −1 for a gap or a value never seen."""
    codes = np.empty((table.n_rows, len(columns)), dtype=np.int32)
    for place, (name, axis) in enumerate(zip(columns, axes, strict=True)):
        if isinstance(axis, Cuts):
            cells = table.numbers(name)
            if np.isinf(cells).any():
                Numbers.of(table, (name,)).refuse_infinite(slice(0, table.n_rows))
            codes[:, place] = axis.places(cells)
        else:
            column = table.codes(name)
            codes[:, place] = np.append(index_levels(column.levels, axis), -1)[column.codes]
    return codes


def directed(axes: tuple[Axis, ...]) -> tuple[Int64, Int64, Int64]:
    """Sizes, first cells of the columns, and first cells of the ordered pairs of columns."""
    layout = PairLayout.of([size_of(axis) for axis in axes])
    cells = np.outer(layout.sizes, layout.sizes)
    np.fill_diagonal(cells, 0)
    starts = np.concatenate([[0], np.cumsum(cells.ravel())])[:-1].reshape(cells.shape)
    return layout.sizes, layout.singles, starts.astype(np.int64)


def pseudo_counts(columns: Columns, axes: tuple[Axis, ...], settings: Settings) -> list[Array]:
    """What smoothing adds to each value or bin of each column."""
    each = zip(columns, axes, strict=True)
    return [
        settings.smoothing_of(name).pseudo_counts(range(size_of(axis)) if isinstance(axis, Cuts) else axis)
        for name, axis in each
    ]


def _direct(seen: PairCounts) -> Array:
    """Counts of all ordered pairs of columns, a line for each two values."""
    n_classes, n_columns = seen.shape
    pairs = [(j, k) for j in range(n_columns) for k in range(n_columns) if j != k]
    lines = [table.reshape(n_classes, math.prod(table.shape[1:])).T for table in (seen.pair(j, k) for j, k in pairs)]
    return np.ascontiguousarray(np.concatenate([np.zeros((0, n_classes)), *lines]))


def _as_log_given(lines: Array, pseudo: list[Array]) -> None:
    """Turn counts of ordered pairs into log P(second value | first value, class), in place, a first column at a time.

    Where a first value was not seen, all second values are as likely. Compiling would take longer than this, if a model
    is only shown.
    """
    start = 0
    for j, n_values in enumerate(map(len, pseudo)):
        others = [own for k, own in enumerate(pseudo) if k != j and len(own)]
        each = np.concatenate([np.zeros(0), *(np.tile(own, n_values) for own in others)])
        if not len(each):
            continue
        block = lines[start : start + len(each)]
        start += len(each)
        lengths = np.repeat([len(own) for own in others], n_values)
        totals = np.add.reduceat(block, np.cumsum(lengths) - lengths, axis=0)
        totals += np.repeat([own.sum() for own in others], n_values)[:, None]
        seen = np.repeat(totals > 0.0, lengths, axis=0)
        block += each[:, None]
        np.divide(block, np.repeat(totals, lengths, axis=0), out=block, where=seen)
        np.copyto(block, np.repeat(1.0 / lengths, lengths)[:, None], where=~seen)
        block[:] = log_of(block)
