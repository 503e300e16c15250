"""From scatter to correlation matrices that can be inverted: own, within classes, shrunk, repaired."""

from __future__ import annotations

from typing import Literal

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.stats import Scatter

ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""What sums may leave behind, relative to what went in."""


def own_correlations(seen: Scatter, *, unbiased: bool) -> Array:
    """Correlation of each pair of columns in each class (classes × columns × columns).

    A pair that a class has seen together in one row at most borrows the correlation within classes.
    """
    own = np.clip(seen.cross * _balance(seen.moments.n, seen.pair_n, unbiased), -1.0, 1.0)
    own = np.where(_constant(seen), 0.0, own)
    borrows = np.broadcast_to(seen.pair_n <= 1.0, own.shape)
    if borrows.any():
        own = np.where(borrows, within_correlation(seen, unbiased=unbiased), own)
    return _unit_diagonal(own)


def within_correlation(seen: Scatter, *, unbiased: bool) -> Array:
    """Correlation around the class means, all classes together (columns × columns)."""
    root = seen.moments.root
    largest = root.max(axis=0, initial=0.0)
    share = root / np.where(largest > 0.0, largest, 1.0)
    products = np.where(_constant(seen), 0.0, seen.cross) * (share[:, :, None] * share[:, None, :])
    spread = np.sqrt(np.square(share).sum(axis=0))
    spread[spread == 0.0] = 1.0
    pooled = products.sum(axis=0) / (spread[:, None] * spread[None, :])
    rows = _degrees(seen.moments.n, unbiased).sum(axis=0), _degrees(seen.pair_n, unbiased).sum(axis=0)
    balance = np.sqrt(rows[0][:, None] * rows[0][None, :])
    balance = np.divide(balance, rows[1], out=np.zeros_like(pooled), where=rows[1] > 0.0)
    return _unit_diagonal(np.clip(pooled * balance, -1.0, 1.0))


def shrinkage_of(correlation: Array, n: Array, given: float | Literal["auto"]) -> float:
    """How far to pull a correlation matrix towards independence: a number in [0, 1].

    "auto" is the share that makes the expected squared error least (Ledoit and Wolf's argument for the
    target of Schäfer and Strimmer): Σ Var(r) / Σ r² over all pairs, where a Gaussian has
    Var(r) = (1 − r²)² / (n − 1). So it needs nothing but the correlations and the number of rows.
    """
    if given != "auto":
        return float(given)
    pairs = ~np.eye(len(correlation), dtype=bool)
    squares = np.square(correlation[pairs])
    if squares.sum() <= 0.0:
        return 1.0
    rows = np.broadcast_to(n, correlation.shape)[pairs] - 1.0
    noise = np.divide(np.square(1.0 - squares), rows, out=np.ones_like(rows), where=rows > 0.0)
    return float(min(noise.sum() / squares.sum(), 1.0))


def shrink(correlation: Array, share: float) -> Array:
    """(1 − share) · correlation + share · identity."""
    return (1.0 - share) * correlation + share * np.eye(len(correlation))


def lower_factor(correlation: Array, floor: float) -> Array:
    """L with L Lᵀ = correlation, after raising every eigenvalue to the floor.

    A combination of columns that never varied in a class, or one that gaps have made vary less than nothing,
    so gets the share `floor` of the variance of a single column; the variances themselves stay as they are.
    """
    least = max(floor, ROUNDING * len(correlation))
    try:
        lower = np.asarray(np.linalg.cholesky(correlation), dtype=np.float64)
        if far_from_singular(lower, least):
            return lower
    except np.linalg.LinAlgError:
        pass  # not positive definite
    values, vectors = np.linalg.eigh(correlation)
    half = np.sqrt(np.maximum(values, least))[:, None] * vectors.T
    half /= np.sqrt(np.square(half).sum(axis=0))
    upper = np.asarray(np.linalg.qr(half, mode="r"))
    return np.asarray(upper.T * np.where(np.diagonal(upper) < 0.0, -1.0, 1.0))


def far_from_singular(lower: Array, least: float) -> bool:
    """Whether all eigenvalues of L Lᵀ are above `least` for certain."""
    return bool(np.square(inverse_lower(lower)).sum() * max(least, ROUNDING * len(lower)) <= 1.0)


def _degrees(n: Array, unbiased: bool) -> Array:
    return np.maximum(n - 1.0, 0.0) if unbiased else n


def _balance(n: Array, pair_n: Array, unbiased: bool) -> Array:
    """A column's variance rests on all rows that know it, a pair's covariance on those that know both."""
    rows, both = np.sqrt(_degrees(n, unbiased)), _degrees(pair_n, unbiased)
    balance = np.zeros((*n.shape, n.shape[1]))
    np.divide(rows[:, :, None] * rows[:, None, :], both, out=balance, where=both > 0.0)
    return balance


def _constant(seen: Scatter) -> NDArray[np.bool_]:
    """Pairs with a column whose spread is nothing but rounding."""
    moments = seen.moments
    flat = moments.root <= ROUNDING * np.abs(moments.mean) * np.sqrt(moments.n)
    return flat[:, :, None] | flat[:, None, :]


def _unit_diagonal(correlation: Array) -> Array:
    places = np.arange(correlation.shape[-1])
    correlation[..., places, places] = 1.0
    return correlation


# Inverses of lower triangular matrices. LAPACK's start threads even for 2 × 2, which wait for busy cores.


@numba.njit(nogil=True, cache=True)
def inverse_lower(lower: Array) -> Array:
    """The inverse of a lower triangular matrix, by forward substitution.

    >>> inverse_lower(np.array([[2.0, 0.0], [1.0, 4.0]])).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """
    size = lower.shape[0]
    inverse = np.zeros((size, size))
    for i in range(size):
        line = inverse[i]
        for k in range(i):
            factor = lower[i, k]
            if factor != 0.0:
                for j in range(k + 1):
                    line[j] -= factor * inverse[k, j]
        for j in range(i):
            line[j] /= lower[i, i]
        line[i] = 1.0 / lower[i, i]
    return inverse
