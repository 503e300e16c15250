"""How often each code of many nominal columns came with each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event

import numpy as np

from likely.arrays import AnyArray, Array, Int32, Int64
from likely.parallel import pipeline, row_blocks, run
from likely.stats.kernels import code_bounds, count_code_matrix

CODES_PER_ROW = 4
FEW_CODES = 256
"""Codes up to `FEW_CODES` + `CODES_PER_ROW` for each row are all given room; beyond that, only those that occur."""


GLANCE = 4096
GLANCE_CODES = FEW_CODES
"""The first rows mostly show how large codes are: then one pass over the matrix does. A larger code needs a second."""


class NegativeCode(Exception):
    """A code below zero was met."""


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Weight of each level of each column in each class; the columns' cells stand one after the other.

    The levels of a column are 0, 1, … unless its codes lie so far apart that most would stay empty.
    """

    levels: tuple[Int64, ...]
    counts: Array

    @cached_property
    def width(self) -> Int64:
        """Number of levels of each column."""
        return np.array([len(own) for own in self.levels], dtype=np.int64)

    @cached_property
    def first(self) -> Int64:
        """Where the cells of each column begin."""
        return np.cumsum(self.width) - self.width

    @cached_property
    def size(self) -> Int64:
        """The largest code of each column, plus one."""
        return np.array([own[-1] + 1 for own in self.levels], dtype=np.int64)

    @classmethod
    def observe(cls, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> CodeCounts:
        """Count a matrix of codes (whole numbers from 0 up, of any dtype) for the classes `y`."""
        weight = np.ones(len(y)) if weight is None else weight
        few = np.arange(GLANCE_CODES)
        glanced = cls._counted(tuple(few[: high + 1] for high in _largest(rows[:GLANCE])), rows, y, weight, n_classes)
        if glanced is not None:
            return glanced
        most = FEW_CODES + CODES_PER_ROW * len(rows)
        levels = tuple(
            np.arange(high + 1) if high < most else np.unique(as_codes(rows[:, [column]]))
            for column, high in enumerate(_largest(rows))
        )
        seen = cls._counted(levels, rows, y, weight, n_classes)
        assert seen is not None, "the levels hold all codes"
        return seen

    @classmethod
    def _counted(
        cls, levels: tuple[Int64, ...], rows: AnyArray, y: Int32, weight: Array, n_classes: int
    ) -> CodeCounts | None:
        """Count codes into these levels; None if one is not among them."""
        seen = cls(levels, np.zeros((n_classes, sum(map(len, levels)))))
        stop = Event()

        def count(block: slice) -> Array:
            counts = np.zeros_like(seen.counts)
            codes = places_among(seen.levels, as_codes(rows[block]), seen.size)
            if stop.is_set() or not count_code_matrix(codes, y[block], weight[block], seen.first, seen.width, counts):
                stop.set()
            return counts

        fewest = 4 * seen.counts.size // max(rows.shape[1], 1)
        for _, counts in pipeline(count, row_blocks(len(rows), rows.shape[1], fewest), None):
            np.add(seen.counts, counts, out=seen.counts)
        return None if stop.is_set() else seen

    def __add__(self, other: CodeCounts) -> CodeCounts:
        levels = tuple(
            a if np.array_equal(a, b) else np.union1d(a, b) for a, b in zip(self.levels, other.levels, strict=True)
        )
        total = CodeCounts(levels, np.zeros((len(self.counts), sum(map(len, levels)))))
        for part in (self, other):
            places = [np.searchsorted(whole, own) for whole, own in zip(levels, part.levels, strict=True)]
            cells = np.concatenate(places) + np.repeat(total.first, part.width)
            total.counts[:, cells] += part.counts
        return total

    def by_column(self, size: Int64) -> list[Array]:
        """One table (classes × codes below `size`) per column."""
        return spread(self.levels, size, np.split(self.counts, self.first[1:], axis=1))


def spread(
    levels: Sequence[Int64], size: Int64, tables: Sequence[Array], elsewhere: Sequence[Array] | None = None
) -> list[Array]:
    """Tables of levels (classes × levels) as tables of all codes; `elsewhere` fills the codes without a level."""
    full = []
    for column, (own, table) in enumerate(zip(levels, tables, strict=True)):
        if len(own) == size[column]:
            full.append(table)
            continue
        wide = np.zeros((len(table), size[column]))
        if elsewhere is not None:
            wide += elsewhere[column][:, None]
        wide[:, own] = table
        full.append(wide)
    return full


def as_codes(rows: AnyArray) -> Int64:
    """A block of rows as the kernels read it; fractions are cut off as scikit-learn does."""
    return np.ascontiguousarray(rows, dtype=np.int64)


def places_among(levels: Sequence[Int64], codes: Int64, size: Int64) -> Int64:
    """Codes as places among the levels of their column; next to the last place for a code without a level.

    From `size` on a code is a stranger and stays one. Most columns have all levels, so there is nothing to do.
    """
    scattered = [column for column, own in enumerate(levels) if own[-1] + 1 != len(own)]
    if not scattered:
        return codes
    places = codes.copy()
    for column in scattered:
        own, cells = levels[column], codes[:, column]
        place = np.searchsorted(own, cells)
        known = own[np.minimum(place, len(own) - 1)] == cells
        strange = np.where(cells < size[column], len(own), cells)
        places[:, column] = np.where(known | (cells < 0), np.where(cells < 0, cells, place), strange)
    return places


def _largest(rows: AnyArray) -> list[int]:
    """The largest code of each column."""

    def bounds(block: slice) -> tuple[Int64, Int64]:
        low, high = np.zeros(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64)
        code_bounds(as_codes(rows[block]), low, high)
        return low, high

    largest = np.zeros(rows.shape[1], dtype=np.int64)
    for low, high in run(bounds, row_blocks(len(rows), rows.shape[1]), None):
        if low.min(initial=0) < 0:
            raise NegativeCode
        np.maximum(largest, high, out=largest)
    return [int(high) for high in largest]
