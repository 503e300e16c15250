"""Averaged one-dependence estimators: every column depends on the class and on one other column, in turn on each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likely.families.aode_kernels import WHOLE, add_aode, add_aode_without, direct_counts, log_given
from likely.families.categorical import log_shares
from likely.families.protocol import Array, LeftOut, Reads, Scorer, Settings
from likely.numbers import Numbers
from likely.stats.pairs import Axis, Cuts, Layout, PairCounts, size_of
from likely.table import Table
from likely.table.levels import index_levels

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Aode:
    """log of the mean over parents j of P(x_j | class) · Π P(x_k | x_j, class).

    `single` holds log P(value | class) and `given` log P(value | other column's value, class), a line for each; a value
    is a parent if it was seen often enough. A gap and a value never seen are no parents and in no product.
    """

    name: ClassVar[str] = "aode"
    statistic: ClassVar[str] = "pairs"
    reads: ClassVar[Reads] = "any"
    chained: ClassVar[bool] = True

    columns: tuple[str, ...]
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
    def settle(cls, columns: tuple[str, ...], seen: PairCounts, weights: Array, settings: Settings) -> Aode:
        pseudo = pseudo_counts(columns, seen.axes, settings)
        single = [log_shares(seen.single(k), pseudo[k]) for k in range(len(columns))]
        sizes, singles, starts = directed(seen.axes)
        given = _direct(seen)
        each, total = np.concatenate([np.zeros(0), *pseudo]), np.array([one.sum() for one in pseudo])
        log_given(given, sizes, singles, starts, each, total)
        pooled = seen.counts[:, : sum(map(len, single))].sum(axis=0)
        lines = np.concatenate([np.zeros((0, len(weights))), *single])
        return cls(columns, seen.axes, lines, given, (pooled >= settings.fewest).astype(np.uint8))

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: PairCounts, rows: LeftOut, settings: Settings) -> Scorer:
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

    def bind(self, table: Table) -> Scorer:
        codes = codes_of(table, self.columns, self.axes)
        sizes, singles, pairs = directed(self.axes)

        def score(block: slice, joint: Array) -> None:
            cells = codes[block]
            add_aode(cells, singles, sizes, pairs, self.single, self.given, self.is_parent, self.shown, joint)

        return score

    def only(self, column: str) -> Aode:
        """A column's share: its evidence given each parent, averaged as the parents count in that row and class, and an
        equal part of what mixing costs, which is between 0 and the logarithm of the number of parents."""
        return replace(self, shown=self.columns.index(column))


def codes_of(table: Table, columns: tuple[str, ...], axes: tuple[Axis, ...]) -> NDArray[np.int32]:
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


def directed(axes: tuple[Axis, ...]) -> tuple[Longs, Longs, Longs]:
    """Sizes, first cells of the columns, and first cells of the ordered pairs of columns."""
    layout = Layout.of([size_of(axis) for axis in axes])
    cells = np.outer(layout.sizes, layout.sizes)
    np.fill_diagonal(cells, 0)
    starts = np.concatenate([[0], np.cumsum(cells.ravel())])[:-1].reshape(cells.shape)
    return layout.sizes, layout.singles, starts.astype(np.int64)


def pseudo_counts(columns: tuple[str, ...], axes: tuple[Axis, ...], settings: Settings) -> list[Array]:
    """What smoothing adds to each value or bin of each column."""
    each = zip(columns, axes, strict=True)
    return [
        settings.smoothing_of(name).pseudo_counts(range(size_of(axis)) if isinstance(axis, Cuts) else axis)
        for name, axis in each
    ]


def _direct(seen: PairCounts) -> Array:
    """Counts of all ordered pairs of columns, a line for each two values."""
    sizes, _, starts = directed(seen.axes)
    lines = np.zeros((int(np.outer(sizes, sizes).sum() - (sizes**2).sum()), len(seen.counts)))
    direct_counts(seen.counts, sizes, seen.layout.pairs, starts, lines)
    return lines
