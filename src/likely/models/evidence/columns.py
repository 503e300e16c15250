"""Columns as codes of one byte: 0 has no table entry, 1 … are bins or categories, the last one is the gap.

A category that was never seen has code 0 and adds nothing; a gap (missing cell) has a code of its own if gaps were
seen.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, UInt8
from likely.errors import BadCell
from likely.models.evidence.kernels import find_bins
from likely.parallel import run
from likely.table import Table, index_levels
from likely.table.table import INFINITE

MIN_PARALLEL_CELLS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """A number in bins: cuts between them, mean and weight (`mass`) of each, and the coarser groups of codes."""

    name: str
    cuts: Array
    means: Array
    mass: Array
    coarse: UInt8
    tiny: UInt8
    gap: bool

    @property
    def size(self) -> int:
        """Codes of the column, 0 included."""
        return len(self.coarse)

    def codes(self, table: Table) -> UInt8:
        """The code of every row."""
        return self.codes_of(finite_numbers(table, self.name))

    def codes_of(self, numbers: Array) -> UInt8:
        """The code of every number; NaN is a gap."""
        values, out = np.ascontiguousarray(numbers), np.empty(len(numbers), dtype=np.uint8)
        missing = self.size - 1 if self.gap else 0
        find_bins(values, self.cuts, missing, out)
        if not len(self.means):  # no number was ever seen here
            out[~np.isnan(values)] = 0
        return out


@dataclass(frozen=True, slots=True, eq=False)
class NominalColumn:
    """Categories: the frequent ones have a code each, those that are `rare` share one."""

    name: str
    levels: tuple[Hashable, ...]
    rare: tuple[Hashable, ...]
    mass: Array
    coarse: UInt8
    tiny: UInt8
    gap: bool

    @property
    def size(self) -> int:
        """Codes of the column, 0 included."""
        return len(self.coarse)

    def codes(self, table: Table) -> UInt8:
        """The code of every row; 0 for a category that was never seen."""
        column = table.codes(self.name)
        lookup = np.append(self.codes_of(column.levels), np.uint8(self.size - 1 if self.gap else 0))
        return np.asarray(lookup[column.codes], dtype=np.uint8)

    def codes_of(self, levels: Sequence[Hashable]) -> UInt8:
        """The code of every category."""
        found = index_levels(levels, (*self.levels, *self.rare))
        return np.minimum(found + 1, len(self.levels) + 1).astype(np.uint8)


Column = NumericColumn | NominalColumn


def finite_numbers(table: Table, name: str) -> Array:
    """The numbers of a column, NaN for gaps; infinite ones are refused."""
    values = table.numbers(name)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise BadCell(int(infinite[0]), 0, float(values[infinite[0]]), INFINITE).named((name,))
    return values


def encode_table(columns: tuple[Column, ...], table: Table, n_jobs: int | None = 1) -> UInt8:
    """Rows × columns of codes."""
    out = np.empty((table.n_rows, len(columns)), dtype=np.uint8)

    def encode(k: int) -> None:
        out[:, k] = columns[k].codes(table)

    run(encode, range(len(columns)), n_jobs if out.size > MIN_PARALLEL_CELLS else 1)
    return out
