"""Columns as small whole numbers: 0 says nothing, then the bins or categories, last the gap if there were gaps."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import BadCell
from likely.evidence.bins import atoms, cuts_between, group
from likely.evidence.kernels.codes import find_bins
from likely.numbers import INFINITE
from likely.table import Table, index_levels
from likely.threads import side_by_side

Array = NDArray[np.float64]
Small = NDArray[np.uint8]

MOST_BINS = 250
"""Bins, gap and "nothing" of a column go into one byte."""

MOST_LEVELS = 200
COARSE_LEVELS = 15
TINY_LEVELS = 6

MANY_ROWS = 3000
WORTH_THREADS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Fineness:
    """How many bins a number gets: alone, in a pair, in a triple."""

    bins: int
    coarse: int
    tiny: int = 6

    @classmethod
    def of(cls, n_rows: int) -> Fineness:
        """More rows bear more bins."""
        root = max(int(np.sqrt(n_rows)), 2)
        if n_rows < MANY_ROWS:
            return cls(min(root, 64), 8)
        return cls(min(root, 200), 12 if n_rows < 10_000 else 20)


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Cuts between bins, the mean value of each, and a coarser grouping of the bins."""

    name: str
    cuts: Array
    means: Array
    mass: Array
    coarse: Small
    tiny: Small
    gap: bool

    @classmethod
    def learn(cls, table: Table, name: str, weight: Array | None, fine: Fineness) -> NumericColumn:
        """Cut a column; labels play no part in it."""
        values = finite(table, name)
        distinct, mass = atoms(values, weight)
        bins = group(mass, fine.bins)
        for fewer in range(fine.bins, 1, -10):
            if not len(bins) or bins[-1] < MOST_BINS:
                break
            bins = group(mass, fewer)
        mass_of = np.bincount(bins, weights=mass).astype(np.float64)
        with np.errstate(over="ignore"):
            means = np.bincount(bins, weights=distinct * mass) / mass_of
        missing = np.isnan(values)
        gap = bool(missing.any())
        coarse, tiny = (_grouped(1 + group(mass_of, n), gap) for n in (fine.coarse, fine.tiny))
        if gap:
            mass_of = np.append(mass_of, missing.sum() if weight is None else weight[missing].sum())
        return cls(name, cuts_between(distinct, bins), means, mass_of, coarse, tiny, gap)

    @property
    def size(self) -> int:
        """Codes of the column, 0 included."""
        return len(self.coarse)

    def codes(self, table: Table) -> Small:
        """The code of every row."""
        out = np.empty(table.n_rows, dtype=np.uint8)
        missing = self.size - 1 if self.gap else 0
        values = np.ascontiguousarray(finite(table, self.name))
        find_bins(values, self.cuts, missing, out)
        if not len(self.means):  # no number was ever seen here
            out[~np.isnan(values)] = 0
        return out


@dataclass(frozen=True, slots=True, eq=False)
class NominalColumn:
    """The frequent categories by name; the rest of those that were seen share one code."""

    name: str
    levels: tuple[Hashable, ...]
    rare: tuple[Hashable, ...]
    mass: Array
    coarse: Small
    tiny: Small
    gap: bool

    @classmethod
    def learn(cls, table: Table, name: str, weight: Array | None, fine: Fineness) -> NominalColumn:
        """Order the categories by how often they are met."""
        column = table.codes(name)
        known = column.codes >= 0
        weights = None if weight is None else weight[known]
        counts = np.bincount(column.codes[known], weights=weights, minlength=len(column.levels)).astype(np.float64)
        order = np.argsort(-counts, kind="stable")
        often, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
        mass = counts[often]
        if len(rare):
            mass = np.append(mass, counts[rare].sum())
        places, gap = np.arange(1, len(mass) + 1), not bool(known.all())
        coarse, tiny = (_grouped(np.minimum(places, most + 1), gap) for most in (COARSE_LEVELS, TINY_LEVELS))
        if gap:
            mass = np.append(mass, (~known).sum() if weight is None else weight[~known].sum())
        levels = tuple(column.levels[k] for k in often)
        return cls(name, levels, tuple(column.levels[k] for k in rare), mass, coarse, tiny, gap)

    @property
    def size(self) -> int:
        """Codes of the column, 0 included."""
        return len(self.coarse)

    def codes(self, table: Table) -> Small:
        """The code of every row; a category never seen says nothing."""
        column = table.codes(self.name)
        found = index_levels(column.levels, (*self.levels, *self.rare))
        lookup = np.append(np.minimum(found + 1, len(self.levels) + 1), self.size - 1 if self.gap else 0)
        return np.asarray(lookup[column.codes], dtype=np.uint8)


Column = NumericColumn | NominalColumn


def _grouped(groups: NDArray[np.intp], gap: bool) -> Small:
    """Groups counted from 1, with 0 for what says nothing before them, and the gap behind them."""
    last = [int(groups.max(initial=0)) + 1] if gap else []
    return np.concatenate([[0], groups, last]).astype(np.uint8)


def finite(table: Table, name: str) -> Array:
    """The numbers of a column, NaN for gaps; what is infinite is refused."""
    values = table.numbers(name)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise BadCell(int(infinite[0]), 0, float(values[infinite[0]]), INFINITE).named((name,))
    return values


def coded(columns: tuple[Column, ...], table: Table, n_jobs: int | None = 1) -> Small:
    """Rows × columns of codes, one byte each."""
    out = np.empty((table.n_rows, len(columns)), dtype=np.uint8)

    def one(place: int) -> None:
        out[:, place] = columns[place].codes(table)

    for _ in side_by_side(one, range(len(columns)), n_jobs if out.size > WORTH_THREADS else 1):
        pass
    return out
