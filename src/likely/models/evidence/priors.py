"""What is believed of a table beforehand: how its cells go together, as a basis M with covariance M Mᵀ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, UInt8
from likely.models.evidence.columns import Column, NumericColumn

NUGGET = 0.05
STEEPEST = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Codes × rank; None for the identity, in which every code but 0 goes its own way."""

    rows: int
    rank: int
    matrix: Array | None

    @classmethod
    def identity(cls, rows: int) -> Basis:
        return cls(rows, rows - 1, None)

    def covariance(self) -> Array:
        """Codes × codes: M Mᵀ."""
        whole = _written_out(self)
        return np.asarray(whole @ whole.T)


ALONE = Basis(1, 1, np.ones((1, 1)))
"""The second side of a block that has only one."""


def covariance(means: Array, mass: Array) -> Array:
    """Bins of a number: a straight line is cheap, a bend costs by the rows between, a jump is possible.

    (z zᵀ + Brownian motion + nugget)/(2 + nugget): z is the standardised mean of each bin, the motion runs over
    cumulated √mass, is centred, and has mean variance 1.
    """
    share = mass / mass.sum()
    means = _within_reach(means)
    centred = means - share @ means
    spread = np.sqrt(share @ centred**2)
    z = np.clip(centred / spread, -STEEPEST, STEEPEST) if spread > 0.0 else np.zeros_like(means)
    path = np.cumsum(np.sqrt(share))
    motion = np.minimum(path[:, None], path[None, :])
    motion = motion - motion.mean(axis=0) - motion.mean(axis=1)[:, None] + motion.mean()
    diagonal = np.trace(motion) / len(motion)
    if diagonal > 0.0:
        motion /= diagonal
    return np.asarray((np.outer(z, z) + motion + NUGGET * np.eye(len(z))) / (2.0 + NUGGET))


def fine_basis(column: Column) -> Basis:
    """The basis of a column's own table."""
    if not isinstance(column, NumericColumn) or len(column.means) < 2:
        return Basis.identity(column.size)
    return _with_gap(covariance(column.means, column.mass[: len(column.means)]), None, column.gap)


def coarse_basis(column: Column, groups: UInt8, rank: int) -> Basis:
    """The basis of one side of a pair or triple, on groups of the codes.

    A number has at most this rank, and one more for its gap.
    """
    if not isinstance(column, NumericColumn) or len(column.means) < 2:
        return Basis.identity(int(groups.max()) + 1)
    n = len(column.means)
    mass, places = column.mass[:n], groups[1 : n + 1] - 1
    total = np.bincount(places, weights=mass).astype(np.float64)
    if len(total) < 2:
        return Basis.identity(int(groups.max()) + 1)
    means = np.bincount(places, weights=mass * _within_reach(column.means)) / total
    return _with_gap(covariance(means, total), rank, column.gap)


def product(a: Basis, b: Basis) -> Basis:
    """Two columns as one side of a block: every cell of the two, every product of their coefficients."""
    both = np.kron(_written_out(a), _written_out(b))
    return Basis(both.shape[0], both.shape[1], np.ascontiguousarray(both))


def _within_reach(means: Array) -> Array:
    """Divided by a power of two, which loses nothing and leaves a standard score as it is: no square is infinite."""
    _, exponent = np.frexp(np.abs(means).max())
    return np.asarray(np.ldexp(means, -int(exponent)))


def _written_out(basis: Basis) -> Array:
    return np.eye(basis.rows, basis.rank, k=-1) if basis.matrix is None else basis.matrix


def _with_gap(matrix: Array, rank: int | None, gap: bool) -> Basis:
    """Eigenvectors × root of eigenvalues, largest first, below a row of zeros; a gap stands alone."""
    values, vectors = np.linalg.eigh(matrix)
    kept = len(values) if rank is None else min(rank, len(values))
    scaled = vectors[:, ::-1][:, :kept] * np.sqrt(np.maximum(values[::-1][:kept], 0.0))
    basis = np.zeros((len(matrix) + 1 + gap, kept + gap))
    basis[1 : len(matrix) + 1, :kept] = scaled
    if gap:
        basis[-1, -1] = 1.0
    return Basis(*basis.shape, np.ascontiguousarray(basis))
