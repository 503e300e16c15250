"""What the columns are to a model, apart from any rows: their codes at three grains, and the beliefs about each."""

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
from likely.models.evidence.priors import ALONE, Basis, coarse_basis, fine_basis, product

TINY_RANK = 3


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Which columns speak together: pairs (k × 2) and triples (k × 3), by their places."""

    pairs: NDArray[np.int32]
    triples: NDArray[np.int32]

    @classmethod
    def none(cls) -> Terms:
        return cls(np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32))

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triples)

    def tuples(self) -> list[tuple[int, ...]]:
        """Every term as a tuple of places, pairs first."""
        return [tuple(term) for term in [*self.pairs.tolist(), *self.triples.tolist()]]


@dataclass(frozen=True, slots=True, eq=False)
class Resolution:
    """A coarser view of the columns: the code of each fine code, and how many there are."""

    lookup: UInt8
    widths: NDArray[np.int32]

    @classmethod
    def of(cls, groups: Sequence[UInt8]) -> Resolution:
        lookup = np.zeros((len(groups), max((len(group) for group in groups), default=1)), dtype=np.uint8)
        for place, group in enumerate(groups):
            lookup[place, : len(group)] = group
        widths = np.array([int(group.max()) + 1 for group in groups], dtype=np.int32)
        return cls(lookup, widths)

    def codes(self, codes: UInt8) -> UInt8:
        """Rows × columns, seen coarsely."""
        out = np.empty_like(codes)
        for place in range(codes.shape[1]):
            out[:, place] = self.lookup[place][codes[:, place]]
        return out

    def starts(self) -> tuple[NDArray[np.int32], int]:
        """Where the codes of each column begin if they stand one after another, and where the last ones end."""
        return (np.cumsum(self.widths) - self.widths).astype(np.int32), int(self.widths.sum())


@dataclass(frozen=True, eq=False)
class Encoding:
    """Columns with their own tables (fine), in pairs and weighed (coarse), in triples (tiny)."""

    columns: tuple[Column, ...]
    rank: int
    """The most that a number may have in a pair."""

    @cached_property
    def coarse(self) -> Resolution:
        """Codes in pairs."""
        return Resolution.of([column.coarse for column in self.columns])

    @cached_property
    def tiny(self) -> Resolution:
        """Codes in triples."""
        return Resolution.of([column.tiny for column in self.columns])

    @cached_property
    def _bases(self) -> tuple[list[Basis], list[Basis], list[Basis]]:
        columns = self.columns
        fine = [fine_basis(column) for column in columns]
        coarse = [coarse_basis(column, column.coarse, self.rank) for column in columns]
        return fine, coarse, [coarse_basis(column, column.tiny, TINY_RANK) for column in columns]

    @property
    def covariances(self) -> tuple[list[Array], list[Array], list[Array]]:
        """What is believed of the cells of each column beforehand, alone, in pairs and in triples: codes × codes."""
        fine, coarse, tiny = ([basis.covariance() for basis in bases] for bases in self._bases)
        return fine, coarse, tiny

    def design(self, terms: Terms) -> Design:
        """The tables of all columns, then those of pairs and triples."""
        fine, coarse, tiny = self._bases
        blocks = [(basis, ALONE) for basis in fine]
        blocks += [(coarse[a], coarse[b]) for a, b in terms.pairs.tolist()]
        blocks += [(product(tiny[a], tiny[b]), tiny[c]) for a, b, c in terms.triples.tolist()]
        return Design.of(blocks)

    def codes(self, codes: UInt8, terms: Terms) -> NDArray[np.uint16] | UInt8:
        """Codes of the columns, then those of pairs and triples; the columns alone stay as they are."""
        if not len(terms):
            return codes
        n_columns = codes.shape[1]
        out = np.empty((len(codes), n_columns + len(terms)), dtype=np.uint16)
        out[:, :n_columns] = codes
        middle = n_columns + len(terms.pairs)
        pair_codes(codes, terms.pairs, self.coarse.lookup, self.coarse.widths, out[:, n_columns:middle])
        triple_codes(codes, terms.triples, self.tiny.lookup, self.tiny.widths, out[:, middle:])
        return out
