"""How often two values of two columns came together, for all pairs of some columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from likely.arrays import Array, Index, Int32, Int64
from likely.errors import NotMergeable
from likely.jit import kernel
from likely.measures import information_gain
from likely.numerics import together
from likely.parallel import run
from likely.stats.binning import interval_of
from likely.stats.protocol import NEVER_SEEN, as_counted, leave, matched, require, require_counts, share_of, take_rows
from likely.table import level_key
from likely.table.levels import in_order


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Where a column of numbers is cut into bins: ascending; a number at a cut belongs to the bin above it."""

    at: Array

    def validate(self) -> None:
        """Raise for cuts that are no finite numbers in their order."""
        fair = self.at.ndim == 1 and np.isfinite(self.at).all() and (self.at[1:] > self.at[:-1]).all()
        require(fair, "The cuts of a column of numbers are not in order.")

    def places(self, cells: Array) -> Int32:
        """The bin of each number, −1 for a gap."""
        return interval_of(cells, self.at)


Axis = tuple[Hashable, ...] | Cuts
"""What a column is counted by: its values in their order, or bins between cuts."""


class PairLayout(NamedTuple):
    """Where each column and each pair of columns has its cells in a line of counts."""

    sizes: Int64
    singles: Int64
    pairs: Int64
    width: int

    @classmethod
    def of(cls, sizes: Sequence[int]) -> PairLayout:
        each = np.array(sizes, dtype=np.int64)
        singles = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
        pairs = np.full((len(each), len(each)), -1, dtype=np.int64)
        upper = np.triu_indices(len(each), 1)
        cells = each[upper[0]] * each[upper[1]]
        starts = np.concatenate([[0], np.cumsum(cells)]) + singles[-1]
        pairs[upper] = starts[:-1]
        return cls(each, singles[:-1], pairs, int(starts[-1]))


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Weight of each value, and of each two values of two columns, in each class (classes × cells).

    A pair counts where both cells are known. Values without weight are not kept; bins are, and two statistics must
    have the same cuts to be added.

    >>> codes = np.array([[0, 0], [0, 1], [1, -1]], dtype=np.int32)
    >>> seen = PairCounts.observe([("x", "y"), ("u", "v")], codes, np.zeros(3, dtype=np.int32))
    >>> seen.single(0).tolist(), seen.pair(0, 1).tolist()
    ([[2.0, 1.0]], [[[1.0, 1.0], [0.0, 0.0]]])
    """

    stored_as: ClassVar[str] = "pair counts"
    by_column: ClassVar[bool] = False

    axes: tuple[Axis, ...]
    counts: Array
    layout: PairLayout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", PairLayout.of([size_of(axis) for axis in self.axes]))

    @classmethod
    def observe(
        cls,
        axes: Sequence[Axis],
        codes: Int32,
        y: Int32,
        weight: Array | None = None,
        n_classes: int | None = None,
        n_jobs: int | None = 1,
    ) -> PairCounts:
        """Count codes into the axes (rows × columns, a gap is −1) for the classes `y`."""
        heavy, n_classes = as_counted(y, weight, n_classes)
        layout = PairLayout.of([size_of(axis) for axis in axes])
        counts, rows = np.zeros((n_classes, layout.width)), np.ascontiguousarray(codes)

        def count(column: int) -> None:
            count_pairs(rows, y, heavy, column, layout.sizes, layout.singles, layout.pairs, counts)

        run(count, range(len(axes)), n_jobs)
        return cls(tuple(axes), counts)._tidy()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.counts), len(self.axes)

    @property
    def known_weights(self) -> Array:
        known = [self.single(column).sum(axis=1) for column in range(len(self.axes))]
        return np.stack(known, axis=1) if known else np.zeros(self.shape)

    def class_value_table(self, column: int) -> Array:
        return self.single(column)

    def information(self, weights: Array) -> Array:
        tables = [self.single(column) for column in range(len(self.axes))]
        return np.array([information_gain(table) * share_of(table.sum(), weights) for table in tables])

    def validate(self) -> None:
        for axis in self.axes:
            if isinstance(axis, Cuts):
                axis.validate()
            else:
                require(len(_keys(axis)) == len(axis), "A value of a column stands there twice.")
        require_counts(self.counts, len(self.counts), self.layout.width)

    def cuts(self, columns: Sequence[str]) -> dict[str, Cuts]:
        """The cuts of those columns that are numbers, by name."""
        return {name: axis for name, axis in zip(columns, self.axes, strict=True) if isinstance(axis, Cuts)}

    def single(self, column: int) -> Array:
        """Classes × values of one column."""
        start = self.layout.singles[column]
        return self.counts[:, start : start + self.layout.sizes[column]]

    def pair(self, first: int, second: int) -> Array:
        """Classes × values of one column × values of another."""
        if first > second:
            return self.pair(second, first).swapaxes(1, 2)
        start, sizes = self.layout.pairs[first, second], self.layout.sizes
        cells = self.counts[:, start : start + sizes[first] * sizes[second]]
        return cells.reshape(len(self.counts), sizes[first], sizes[second])

    def __add__(self, other: PairCounts) -> PairCounts:
        self._refuse_other_cuts(other)
        axes = tuple(_union(a, b) for a, b in zip(self.axes, other.axes, strict=True))
        counts = together(*matched(self._arranged(axes).counts, other._arranged(axes).counts))
        return PairCounts(axes, counts)._tidy()

    def __sub__(self, other: PairCounts) -> PairCounts:
        self._refuse_other_cuts(other)
        if any(_missing(b, a) for a, b in zip(self.axes, other.axes, strict=True)):
            raise NotMergeable(NEVER_SEEN)
        counts = leave(*matched(self.counts, other._arranged(self.axes).counts))
        return PairCounts(self.axes, counts)._tidy()

    def take_classes(self, source: Index) -> PairCounts:
        return PairCounts(self.axes, take_rows(self.counts, source))

    def select(self, columns: Index) -> PairCounts:
        axes, chosen = tuple(self.axes[k] for k in columns), [int(k) for k in columns]
        layout = PairLayout.of([size_of(axis) for axis in axes])
        parts = [self.single(k) for k in chosen]
        parts += [self.pair(a, b).reshape(len(self.counts), -1) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]
        counts = np.concatenate(parts, axis=1) if parts else np.zeros((len(self.counts), layout.width))
        return PairCounts(axes, counts)

    def _tidy(self) -> PairCounts:
        """Values in their one order, those without weight left out."""
        axes: list[Axis] = []
        for column, axis in enumerate(self.axes):
            if isinstance(axis, Cuts):
                axes.append(axis)
                continue
            seen = np.flatnonzero(self.single(column).any(axis=0))
            axes.append(in_order([axis[place] for place in seen]))
        return self._arranged(tuple(axes))

    def _arranged(self, axes: tuple[Axis, ...]) -> PairCounts:
        """The same counts under other values, which hold all that have weight."""
        same = [isinstance(a, Cuts) or a == b for a, b in zip(self.axes, axes, strict=True)]
        if all(same):
            return PairCounts(axes, self.counts)
        new = PairCounts(axes, np.zeros((len(self.counts), PairLayout.of([size_of(axis) for axis in axes]).width)))
        moved = [_moved(a, b) for a, b in zip(self.axes, axes, strict=True)]
        for j, (old, place) in enumerate(moved):
            new.single(j)[:, place] = self.single(j)[:, old]
            for k in range(j + 1, len(axes)):
                old_k, place_k = moved[k]
                new.pair(j, k)[:, place[:, None], place_k] = self.pair(j, k)[:, old[:, None], old_k]
        return new

    def _refuse_other_cuts(self, other: PairCounts) -> None:
        for column, (a, b) in enumerate(zip(self.axes, other.axes, strict=True)):
            if isinstance(a, Cuts) != isinstance(b, Cuts) or (
                isinstance(a, Cuts) and isinstance(b, Cuts) and not np.array_equal(a.at, b.at)
            ):
                raise NotMergeable(
                    f"Numbers of column {column + 1} of the pairs were cut at other places: "
                    "fit one classifier with `cuts=` set to the other's `cuts_`."
                )


def size_of(axis: Axis) -> int:
    """How many values or bins a column has."""
    return len(axis.at) + 1 if isinstance(axis, Cuts) else len(axis)


def _keys(axis: Axis) -> dict[Hashable, int]:
    if isinstance(axis, Cuts):
        return {place: place for place in range(size_of(axis))}
    return {level_key(value): place for place, value in enumerate(axis)}


def _missing(axis: Axis, known: Axis) -> bool:
    return not set(_keys(axis)) <= set(_keys(known))


def _union(a: Axis, b: Axis) -> Axis:
    if isinstance(a, Cuts) or isinstance(b, Cuts) or a == b:
        return a
    known = _keys(a)
    return in_order([*a, *(value for value in b if level_key(value) not in known)])


def _moved(old: Axis, new: Axis) -> tuple[Index, Index]:
    """Places of the values under the old axis and, in the same order, under the new one."""
    where = _keys(new)
    pairs = [(place, where[key]) for key, place in _keys(old).items() if key in where]
    both = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


# How often two values came together in a class, for all pairs of columns.


@kernel(interpretable=True)
def count_pairs(
    codes: Int32, y: Int32, weight: Array, column: int, sizes: Int64, singles: Int64, pairs: Int64, counts: Array
) -> None:
    """Count one column alone and with all columns behind it; a code below zero is a gap and counts nowhere.

    Value `v` of column `j` has the cell `singles[j] + v` of its class, `v` with `w` of column `k` the cell
    `pairs[j, k] + v · sizes[k] + w`.
    """
    n_columns = codes.shape[1]
    for i in range(codes.shape[0]):
        row, line, w = codes[i], counts[y[i]], weight[i]
        value = row[column]
        if value < 0:
            continue
        line[singles[column] + value] += w
        for k in range(column + 1, n_columns):
            if row[k] >= 0:
                line[pairs[column, k] + value * sizes[k] + row[k]] += w
