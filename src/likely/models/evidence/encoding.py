"""The encoding of a table: codes of its columns at three resolutions, and the design that a choice of terms gives.

Main effects have fine bins, pairs (and weighted naive Bayes) coarse ones, triples tiny ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, UInt8
from likely.models.evidence.columns import Column
from likely.models.evidence.design import Design
from likely.models.evidence.kernels import pair_codes, triple_codes
from likely.models.evidence.priors import UNIT_BASIS, Basis, coarse_basis, fine_basis, kronecker

TRIPLE_RANK = 3


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Interactions in a model: pairs (k × 2) and triples (k × 3) of column numbers."""

    pairs: NDArray[np.int32]
    triples: NDArray[np.int32]

    @classmethod
    def none(cls) -> Terms:
        return cls(np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32))

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triples)

    def tuples(self) -> list[tuple[int, ...]]:
        """Every interaction as a tuple of column numbers, pairs first."""
        return [tuple(term) for term in [*self.pairs.tolist(), *self.triples.tolist()]]


@dataclass(frozen=True, slots=True, eq=False)
class Resolution:
    """A coarser grouping of codes: columns × fine codes → coarse codes, and how many of these a column has."""

    lookup: UInt8
    widths: NDArray[np.int32]

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

    def starts(self) -> tuple[NDArray[np.int32], int]:
        """Where the cells of each column begin in one array of all columns, and its length."""
        return (np.cumsum(self.widths) - self.widths).astype(np.int32), int(self.widths.sum())


@dataclass(frozen=True, eq=False)
class Encoding:
    """Columns with their bins and categories; `rank` is the most that the basis of a number has in a pair."""

    columns: tuple[Column, ...]
    rank: int

    @cached_property
    def coarse(self) -> Resolution:
        """Resolution of pairs."""
        return Resolution.from_groups([column.coarse for column in self.columns])

    @cached_property
    def tiny(self) -> Resolution:
        """Resolution of triples."""
        return Resolution.from_groups([column.tiny for column in self.columns])

    @cached_property
    def _bases(self) -> tuple[list[Basis], list[Basis], list[Basis]]:
        columns = self.columns
        fine = [fine_basis(column) for column in columns]
        coarse = [coarse_basis(column, column.coarse, self.rank) for column in columns]
        return fine, coarse, [coarse_basis(column, column.tiny, TRIPLE_RANK) for column in columns]

    @property
    def prior_covariances(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Prior covariance of the codes of each column in main effects, pairs and triples: codes × codes."""
        fine, coarse, tiny = ([basis.covariance() for basis in bases] for bases in self._bases)
        return fine, coarse, tiny

    def design(self, terms: Terms) -> Design:
        """Main effects of all columns, then pairs and triples."""
        fine, coarse, tiny = self._bases
        blocks = [(basis, UNIT_BASIS) for basis in fine]
        blocks += [(coarse[a], coarse[b]) for a, b in terms.pairs.tolist()]
        blocks += [(kronecker(tiny[a], tiny[b]), tiny[c]) for a, b, c in terms.triples.tolist()]
        return Design.of(blocks)

    def codes(self, codes: UInt8, terms: Terms) -> NDArray[np.uint16] | UInt8:
        """Rows × (columns + terms): codes of columns, then cells of pairs and triples."""
        if not len(terms):
            return codes
        n_columns = codes.shape[1]
        out = np.empty((len(codes), n_columns + len(terms)), dtype=np.uint16)
        out[:, :n_columns] = codes
        middle = n_columns + len(terms.pairs)
        pair_codes(codes, terms.pairs, self.coarse.lookup, self.coarse.widths, out[:, n_columns:middle])
        triple_codes(codes, terms.triples, self.tiny.lookup, self.tiny.widths, out[:, middle:])
        return out
