"""The encoding of a table: codes of its columns at three resolutions, and the design that a choice of terms gives.

A column has codes of one byte: 0 has no table entry, 1 … are bins or categories, the last one is the gap. A category
that was never seen has code 0 and adds nothing; a gap (missing cell) has a code of its own if gaps were seen.

Main effects have fine bins, pairs (and weighted naive Bayes) coarse ones, triples tiny ones. Tables have Gaussian
priors with covariance v · M Mᵀ: categories are independent (M is the identity); the bins of a number have the
covariance of a straight line plus a Brownian motion plus a nugget, so that neighbouring bins are alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likely.arrays import Array, Index, Int32, UInt8, UInt16
from likely.errors import BadCell
from likely.models.evidence.design import UNIT_BASIS, Basis, Design
from likely.models.evidence.kernels import find_bins, term_codes
from likely.parallel import ALONE, WorkerPool, run
from likely.table import Table, index_levels
from likely.table.table import INFINITE

MIN_PARALLEL_CELLS = 1 << 16
N_CODES = 256
"""Codes that one byte can name."""

FEW_NUMBERS = 1 << 12
"""So many numbers are found in their bins without a compiled loop: to import the compiler would take longer."""

TRIPLE_RANK = 3
NUGGET = 0.05
MAX_Z = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class BinnedNumber:
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
        if len(values) <= FEW_NUMBERS:
            out[:] = np.where(np.isnan(values), missing, 1 + np.searchsorted(self.cuts, values))
        else:
            find_bins(values, self.cuts, missing, out)
        if not len(self.means):  # no number was ever seen here
            out[~np.isnan(values)] = 0
        return out


@dataclass(frozen=True, slots=True, eq=False)
class CodedCategories:
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


Column = BinnedNumber | CodedCategories


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


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Interactions in a model: pairs (k × 2) and triples (k × 3) of column numbers."""

    pairs: Int32
    triples: Int32

    @classmethod
    def none(cls) -> Terms:
        return cls(np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32))

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triples)

    def tuples(self, n_columns: int = 0) -> list[tuple[int, ...]]:
        """Every interaction as a tuple of column numbers, pairs first; before them, so many single columns."""
        single = [(k,) for k in range(n_columns)]
        return [*single, *(tuple(term) for term in [*self.pairs.tolist(), *self.triples.tolist()])]


@dataclass(frozen=True, slots=True, eq=False)
class Resolution:
    """A coarser grouping of codes: columns × fine codes → coarse codes, and how many of these a column has."""

    lookup: UInt8
    widths: Int32

    @classmethod
    def from_groups(cls, groups: Sequence[UInt8]) -> Resolution:
        lookup = np.zeros((len(groups), max((len(group) for group in groups), default=1)), dtype=np.uint8)
        for k, group in enumerate(groups):
            lookup[k, : len(group)] = group
        widths = np.array([int(group.max()) + 1 for group in groups], dtype=np.int32)
        return cls(lookup, widths)

    def codes(self, codes: UInt8) -> UInt8:
        """Rows × columns of coarse codes."""
        out = np.empty_like(codes)
        for k in range(codes.shape[1]):
            out[:, k] = self.lookup[k][codes[:, k]]
        return out

    def starts(self) -> tuple[Int32, int]:
        """Where the cells of each column begin in one array of all columns, and its length."""
        return (np.cumsum(self.widths) - self.widths).astype(np.int32), int(self.widths.sum())


@dataclass(frozen=True, eq=False)
class Encoding:
    """Columns with their bins and categories; `rank` is the most that the basis of a number has in a pair."""

    columns: tuple[Column, ...]
    rank: int

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def coarse(self) -> Resolution:
        """Resolution of pairs."""
        return Resolution.from_groups([column.coarse for column in self.columns])

    @cached_property
    def tiny(self) -> Resolution:
        """Resolution of triples."""
        return Resolution.from_groups([column.tiny for column in self.columns])

    def table_shape(self, term: tuple[int, ...]) -> tuple[int, ...]:
        """How many codes each column has in the table of a term."""
        if len(term) == 1:
            return (self.columns[term[0]].size,)
        return tuple((self.coarse if len(term) == 2 else self.tiny).widths[list(term)].tolist())

    def _bases(self, pool: WorkerPool = ALONE) -> tuple[list[Basis], list[Basis], list[Basis]]:
        """Bases of main effects, pairs and triples: made once, by the threads of the first who asks."""

        def bases(column: Column) -> tuple[Basis, Basis, Basis]:
            coarse = coarse_basis(column, column.coarse, self.rank)
            return fine_basis(column), coarse, coarse_basis(column, column.tiny, TRIPLE_RANK)

        if "bases" not in vars(self):
            vars(self)["bases"] = pool.do(bases, self.columns)
        fine, coarse, tiny = ([of_column[k] for of_column in vars(self)["bases"]] for k in range(3))
        return fine, coarse, tiny

    @property
    def prior_covariances(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Prior covariance of the codes of each column in main effects, pairs and triples: codes × codes."""
        fine, coarse, tiny = ([basis.covariance() for basis in bases] for bases in self._bases())
        return fine, coarse, tiny

    def design(self, terms: Terms, pool: WorkerPool = ALONE) -> Design:
        """Main effects of all columns, then pairs and triples."""
        fine, coarse, tiny = self._bases(pool)
        blocks = [(basis, UNIT_BASIS) for basis in fine]
        blocks += [(coarse[a], coarse[b]) for a, b in terms.pairs.tolist()]
        blocks += [(kronecker(tiny[a], tiny[b]), tiny[c]) for a, b, c in terms.triples.tolist()]
        return Design.of(blocks)

    def codes(self, codes: UInt8, terms: Terms) -> UInt16 | UInt8:
        """Rows × (columns + terms): codes of columns, then cells of pairs and triples."""
        if not len(terms):
            return codes
        n_columns = codes.shape[1]
        out = np.empty((len(codes), n_columns + len(terms)), dtype=np.uint16)
        out[:, :n_columns] = codes
        middle = n_columns + len(terms.pairs)
        cells = out[:, n_columns:middle], out[:, middle:]
        for chosen, grid, own in zip((terms.pairs, terms.triples), (self.coarse, self.tiny), cells, strict=True):
            if own.size:  # an array without cells would be a type of its own, and compiled for
                term_codes(codes, chosen, grid.lookup, grid.widths, own)
        return out


# Priors of tables.


def numeric_covariance(means: Array, mass: Array) -> Array:
    """Prior covariance of the bins of a number, with mean variance about 1.

    (z zᵀ + B + ν I)/(2 + ν): z are the standardised bin means, clipped to ±4 (a linear effect is cheap); B is the
    covariance of a Brownian motion over cumulated √(share of rows), centred, with mean diagonal 1 (a smooth effect);
    ν = 0.05 (a jump is possible).
    """
    share = _weights(mass, np.zeros(len(mass), dtype=np.int64))
    share = share / share.sum()
    z = standard_means(means, share)
    position = np.cumsum(np.sqrt(share))
    brownian = np.minimum(position[:, None], position[None, :])
    brownian = brownian - brownian.mean(axis=0) - brownian.mean(axis=1)[:, None] + brownian.mean()
    diagonal = np.trace(brownian) / len(brownian)
    if diagonal > 0.0:
        brownian /= diagonal
    return np.asarray((np.outer(z, z) + brownian + NUGGET * np.eye(len(z))) / (2.0 + NUGGET))


def standard_means(means: Array, share: Array) -> Array:
    """Means of bins as standard scores, given the share of rows in each bin; clipped to ±4."""
    means = _rescaled(means)
    centred = means - share @ means
    deviation = np.sqrt(share @ centred**2)
    return np.clip(centred / deviation, -MAX_Z, MAX_Z) if deviation > 0.0 else np.zeros_like(means)


def fine_basis(column: Column) -> Basis:
    """Basis of a main effect, of full rank."""
    if not isinstance(column, BinnedNumber) or len(column.means) < 2:
        return Basis.identity(column.size)
    return _eigenbasis(numeric_covariance(column.means, column.mass[: len(column.means)]), None, column.gap)


def coarse_basis(column: Column, groups: UInt8, rank: int) -> Basis:
    """Basis of one side of a pair or triple, over groups of the codes.

    A number has at most the given rank, and one more for its gap.
    """
    if not isinstance(column, BinnedNumber) or len(column.means) < 2:
        return Basis.identity(int(groups.max()) + 1)
    n = len(column.means)
    mass, group = column.mass[:n], groups[1 : n + 1].astype(np.intp) - 1
    total = np.bincount(group, weights=mass).astype(np.float64)
    if len(total) < 2:
        return Basis.identity(int(groups.max()) + 1)
    weights = _weights(mass, group)
    means = np.bincount(group, weights=weights * _rescaled(column.means)) / np.bincount(group, weights=weights)
    return _eigenbasis(numeric_covariance(means, total), rank, column.gap)


def kronecker(a: Basis, b: Basis) -> Basis:
    """A ⊗ B: two columns of a triple as one side of it."""
    matrix = np.kron(a.dense(), b.dense())
    return Basis(matrix.shape[0], matrix.shape[1], np.ascontiguousarray(matrix))


def _weights(mass: Array, group: Index) -> Array:
    """What bins weigh within their groups: those of a group without any rows weigh the same."""
    return np.where(np.bincount(group, weights=mass)[group] > 0.0, mass, 1.0)


def _rescaled(means: Array) -> Array:
    """Divided by a power of two, which is exact and leaves standard scores as they are, so that no square overflows."""
    _, exponent = np.frexp(np.abs(means).max())
    return np.asarray(np.ldexp(means, -int(exponent)))


def _eigenbasis(matrix: Array, rank: int | None, gap: bool) -> Basis:
    """Eigenvectors × root of eigenvalues, largest first, below a zero row; a gap is independent, with variance 1."""
    values, vectors = np.linalg.eigh(matrix)
    rank_kept = len(values) if rank is None else min(rank, len(values))
    scaled = vectors[:, ::-1][:, :rank_kept] * np.sqrt(np.maximum(values[::-1][:rank_kept], 0.0))
    basis = np.zeros((len(matrix) + 1 + gap, rank_kept + gap))
    basis[1 : len(matrix) + 1, :rank_kept] = scaled
    if gap:
        basis[-1, -1] = 1.0
    return Basis(*basis.shape, np.ascontiguousarray(basis))
