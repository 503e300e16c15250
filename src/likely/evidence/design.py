"""The tables of a model side by side: where each begins, and the bases that its coefficients are multiplied with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.blocks import expand, pull_back
from likely.evidence.priors import ALONE, Basis

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Blocks of coefficients, each with one basis (a column) or two (a pair of columns).

    `turned` has every basis transposed, at the same place.
    """

    shape: NDArray[np.int64]
    bases: Array
    turned: Array
    n_cells: int
    n_coefficients: int

    @classmethod
    def of(cls, blocks: Sequence[tuple[Basis, Basis]]) -> Design:
        """Lay the blocks out one after another; a basis that several share is stored once."""
        places: dict[int, int] = {}
        stored: list[Array] = []
        turned: list[Array] = []
        end = 0
        for basis in (side for block in blocks for side in block):
            if basis.matrix is not None and id(basis) not in places:
                places[id(basis)] = end
                stored.append(basis.matrix.ravel())
                turned.append(basis.matrix.T.ravel())
                end += basis.matrix.size
        lines, cell, coefficient = [], 0, 0
        for a, b in blocks:
            lines.append(
                (cell, a.rows, a.rank, b.rows, b.rank, coefficient, places.get(id(a), -1), places.get(id(b), -1))
            )
            cell += a.rows * b.rows
            coefficient += a.rank * b.rank
        shape = np.array(lines, dtype=np.int64).reshape(len(lines), 8)
        return cls(shape, _flat(stored), _flat(turned), cell, coefficient)

    @classmethod
    def of_columns(cls, bases: Sequence[Basis]) -> Design:
        """One block per column."""
        return cls.of([(basis, ALONE) for basis in bases])

    @property
    def starts(self) -> NDArray[np.int32]:
        """Where the table of each block begins."""
        return np.ascontiguousarray(self.shape[:, 0].astype(np.int32))

    def tables(self, u: Array, scales: Array) -> Array:
        """Cells × classes of coefficients × classes."""
        out = np.empty((self.n_cells, u.shape[1]))
        expand(self.shape, self.bases, self.turned, scales, u, out)
        return out

    def slopes(self, slope: Array, scales: Array) -> Array:
        """Slopes of the coefficients, given those of the tables."""
        out = np.empty((self.n_coefficients, slope.shape[1]))
        pull_back(self.shape, self.bases, self.turned, scales, slope, out)
        return out

    def curvature(self, weights: Array, scales: Array) -> Array:
        """Σ weight of cell × (what one unit of a coefficient does to it)²."""
        out = np.empty((self.n_coefficients, 1))
        pull_back(self.shape, self.bases**2, self.turned**2, scales**2, weights[:, None], out)
        return out[:, 0]


def _flat(parts: list[Array]) -> Array:
    return np.concatenate([*parts, np.zeros(0)])
