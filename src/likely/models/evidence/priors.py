"""Gaussian priors of tables: the covariance of the entries of a column, factored as M Mᵀ.

Categories are independent (M is the identity). The bins of a number have the covariance of a straight line plus a
Brownian motion plus a nugget, so that neighbouring bins are alike. With t = √v · M u and u ~ N(0, I), the entries t
have covariance v · M Mᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, UInt8
from likely.models.evidence.columns import Column, NumericColumn

NUGGET = 0.05
MAX_Z = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """M, codes × rank; a matrix of None stands for the identity below the zero row of code 0."""

    rows: int
    rank: int
    matrix: Array | None

    @classmethod
    def identity(cls, rows: int) -> Basis:
        return cls(rows, rows - 1, None)

    def covariance(self) -> Array:
        """Codes × codes: M Mᵀ."""
        matrix = _dense(self)
        return np.asarray(matrix @ matrix.T)


UNIT_BASIS = Basis(1, 1, np.ones((1, 1)))
"""The second side of a term of one column."""


def numeric_covariance(means: Array, mass: Array) -> Array:
    """Prior covariance of the bins of a number, with mean variance about 1.

    (z zᵀ + B + ν I)/(2 + ν): z are the standardised bin means, clipped to ±4 (a linear effect is cheap); B is the
    covariance of a Brownian motion over cumulated √(share of rows), centred, with mean diagonal 1 (a smooth effect);
    ν = 0.05 (a jump is possible).
    """
    share = mass / mass.sum()
    means = _rescaled(means)
    centred = means - share @ means
    deviation = np.sqrt(share @ centred**2)
    z = np.clip(centred / deviation, -MAX_Z, MAX_Z) if deviation > 0.0 else np.zeros_like(means)
    position = np.cumsum(np.sqrt(share))
    brownian = np.minimum(position[:, None], position[None, :])
    brownian = brownian - brownian.mean(axis=0) - brownian.mean(axis=1)[:, None] + brownian.mean()
    diagonal = np.trace(brownian) / len(brownian)
    if diagonal > 0.0:
        brownian /= diagonal
    return np.asarray((np.outer(z, z) + brownian + NUGGET * np.eye(len(z))) / (2.0 + NUGGET))


def fine_basis(column: Column) -> Basis:
    """Basis of a main effect, of full rank."""
    if not isinstance(column, NumericColumn) or len(column.means) < 2:
        return Basis.identity(column.size)
    return _eigenbasis(numeric_covariance(column.means, column.mass[: len(column.means)]), None, column.gap)


def coarse_basis(column: Column, groups: UInt8, rank: int) -> Basis:
    """Basis of one side of a pair or triple, over groups of the codes.

    A number has at most the given rank, and one more for its gap.
    """
    if not isinstance(column, NumericColumn) or len(column.means) < 2:
        return Basis.identity(int(groups.max()) + 1)
    n = len(column.means)
    mass, group = column.mass[:n], groups[1 : n + 1] - 1
    total = np.bincount(group, weights=mass).astype(np.float64)
    if len(total) < 2:
        return Basis.identity(int(groups.max()) + 1)
    means = np.bincount(group, weights=mass * _rescaled(column.means)) / total
    return _eigenbasis(numeric_covariance(means, total), rank, column.gap)


def kronecker(a: Basis, b: Basis) -> Basis:
    """A ⊗ B: two columns of a triple as one side of it."""
    matrix = np.kron(_dense(a), _dense(b))
    return Basis(matrix.shape[0], matrix.shape[1], np.ascontiguousarray(matrix))


def _rescaled(means: Array) -> Array:
    """Divided by a power of two, which is exact and leaves standard scores as they are, so that no square overflows."""
    _, exponent = np.frexp(np.abs(means).max())
    return np.asarray(np.ldexp(means, -int(exponent)))


def _dense(basis: Basis) -> Array:
    return np.eye(basis.rows, basis.rank, k=-1) if basis.matrix is None else basis.matrix


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
