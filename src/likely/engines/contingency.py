"""How an engine counts values: of categories, of numbers on the grid of floats, and of pairs of columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from likely.arrays import Int32, Int64
from likely.engines.cell_counts import CellCounts, CountedColumns
from likely.engines.group_by import Grouping
from likely.engines.relation import Cell, Expression, ibis_module
from likely.errors import DataError
from likely.stats import Cuts, Histogram, PairCounts, ValueCounts
from likely.stats.histogram import places_of
from likely.stats.pair_counts import Axis, size_of
from likely.table import level_key
from likely.table.cells import ArrowCells
from likely.table.levels import in_order

FINEST_BITS = 51
"""Bits that the trick below can drop."""


def value_counts(name: str, cell: Cell, cells: CellCounts, n_classes: int) -> ValueCounts:
    """How often each value of a column came with each class."""
    coded = ArrowCells(cells.decoded(cell)).codes(name)
    return ValueCounts.observe(coded.levels, coded.codes, cells.y, cells.weight, n_classes)


# Numbers on the grid of floats.


def rounded(grouping: Grouping, name: str, shift: int) -> CountedColumns:
    """The numbers of a column on the grid that drops some bits."""
    return CountedColumns(name, (grouping.relation.known_numbers(name),), min(shift, FINEST_BITS))


def histogram(name: str, where: str, shift: int, cells: CellCounts, n_classes: int) -> Histogram:
    """Counts on the finest grid that all numbers allow; that of a sample of them is never coarser."""
    near = cells.decoded("float").to_numpy()
    if np.isinf(near).any():
        raise DataError(f"{where}: column {name!r} holds an infinite number; make it a gap or a number.")
    below = cells.decoded("boolean", 1).to_numpy(zero_copy_only=False).astype(np.int64)
    bits = min(shift, FINEST_BITS)
    places: Int64 = (places_of(near) - below) >> bits
    weighty = cells.weight > 0.0
    found, codes = np.unique(places[weighty], return_inverse=True)
    counts = np.zeros((n_classes, len(found)))
    np.add.at(counts, (cells.y[weighty], codes), cells.weight[weighty])
    none = Histogram(shift, np.zeros(0, dtype=np.int64), np.zeros((n_classes, 0)))
    return none + Histogram(bits, found, counts)


# Pairs of columns.


def bin_of(grouping: Grouping, name: str, cuts: Cuts) -> Expression:
    """The bin of each number between cuts, found by halves; a gap as null."""
    ibis, relation = ibis_module(), grouping.relation
    x, at = relation.numbers(name), cuts.at.tolist()

    def between(low: int, high: int) -> Expression:
        if low == high:
            return ibis.literal(low, "int64")
        half = (low + high) // 2
        return (x >= at[half]).ifelse(between(half + 1, high), between(low, half))

    return relation.known_numbers(name).isnull().ifelse(ibis.null("int64"), between(0, len(at)))


def pair_tables(grouping: Grouping, columns: Sequence[str], cuts: Mapping[str, Cuts]) -> list[CountedColumns]:
    """What is counted for all pairs: each column alone, then each two of them."""
    relation = grouping.relation
    values = {name: bin_of(grouping, name, cuts[name]) if name in cuts else relation.values(name) for name in columns}
    alone = [CountedColumns(name, (values[name],)) for name in columns]
    both = [
        CountedColumns(first, (values[first], values[second]))
        for i, first in enumerate(columns)
        for second in columns[i + 1 :]
    ]
    return alone + both


def pair_counts(
    grouping: Grouping, columns: Sequence[str], cuts: Mapping[str, Cuts], cells: Sequence[CellCounts]
) -> PairCounts:
    """How often two values came together, from the tables above."""
    kinds: list[Cell] = ["integer" if name in cuts else grouping.relation.cell(name) or "string" for name in columns]
    n, n_classes = len(columns), grouping.n_classes
    axes: list[Axis] = []
    for name, kind, found in zip(columns, kinds, cells[:n], strict=True):
        axes.append(cuts[name] if name in cuts else in_order(_levels(name, kind, found)))
    empty = PairCounts(tuple(axes), np.zeros((n_classes, 0)))
    seen = PairCounts(tuple(axes), np.zeros((n_classes, empty.layout.width)))
    known = [None if isinstance(axis, Cuts) else {level_key(v): k for k, v in enumerate(axis)} for axis in axes]
    for j, found in enumerate(cells[:n]):
        np.add.at(seen.single(j), (found.y, _codes(columns[j], kinds[j], known[j], found, 0)), found.weight)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for (i, j), found in zip(pairs, cells[n:], strict=True):
        first, second = (_codes(columns[k], kinds[k], known[k], found, place) for place, k in enumerate((i, j)))
        fits = (first >= 0) & (second >= 0)  # a value without weight has no cell
        at = first[fits] * size_of(axes[j]) + second[fits]
        width = size_of(axes[i]) * size_of(axes[j])
        start = seen.layout.pairs[i, j]
        np.add.at(seen.counts[:, start : start + width], (found.y[fits], at), found.weight[fits])
    return seen


def _levels(name: str, kind: Cell, cells: CellCounts) -> list[Hashable]:
    coded = ArrowCells(cells.decoded(kind)).codes(name)
    weight = np.bincount(coded.codes, weights=cells.weight, minlength=len(coded.levels))
    return [level for level, heavy in zip(coded.levels, weight > 0.0, strict=True) if heavy]


def _codes(name: str, kind: Cell, known: Mapping[Hashable, int] | None, cells: CellCounts, place: int) -> Int32:
    if known is None:
        return np.asarray(cells.decoded("integer", place).to_numpy(), dtype=np.int32)
    coded = ArrowCells(cells.decoded(kind, place)).codes(name)
    table = np.array([known.get(level_key(level), -1) for level in coded.levels], dtype=np.int32)
    return table[coded.codes] if len(table) else coded.codes
