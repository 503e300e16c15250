"""From scatter to correlation matrices that can be inverted, and the distances of rows from classes under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from likely.arrays import Array, Flags, Int64
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.gaussian_kernels import STEEP
from likely.jit import kernel
from likely.stats import Scatter

ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""What sums may leave behind, relative to what went in."""

LEAST_PIVOT = 1e-16
"""What is left at least of the variance of a column given the known ones before it."""


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


def _constant(seen: Scatter) -> Flags:
    """Pairs with a column whose spread is nothing but rounding."""
    moments = seen.moments
    flat = moments.root <= ROUNDING * np.abs(moments.mean) * np.sqrt(moments.n)
    return flat[:, :, None] | flat[:, None, :]


def _unit_diagonal(correlation: Array) -> Array:
    places = np.arange(correlation.shape[-1])
    correlation[..., places, places] = 1.0
    return correlation


# Distances of rows from the classes: whitened, or with gaps and extreme values.

LOG_STEEP = float(np.log(STEEP))

TILE_CELLS = 1 << 15
"""Cells of a tile of rows: it stays in the cache while all classes look at it (256 KiB, and as much for the result)."""


@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """Means and precisions (classes × columns), one turn per class or one for all, and the log density at the mean."""

    mean: Array
    precision: Array
    turn: Array
    log_peak: Array

    @classmethod
    def of(cls, margins: Gaussian, lower: Array, *, last: bool) -> Whitening:
        """From deviations and the lower factors of correlations; `last` asks for the last column given the others.

        Row by row, the inverse of a lower factor is the chain rule: each column given the ones before it.
        """
        wanted = slice(-1, None) if last else slice(None)
        inverse = [inverse_lower(np.ascontiguousarray(factor))[wanted].T for factor in lower]
        own = np.log(margins.deviation) + np.log(np.diagonal(lower, axis1=1, axis2=2)) + LOG_ROOT_TAU
        own[np.isinf(margins.deviation)] = 0.0  # a column that is constant over all rows adds nothing
        return cls(margins.mean, 1.0 / margins.deviation, np.array(inverse, order="C"), -own[:, wanted].sum(axis=1))

    def add(self, rows: Array, joint: Array) -> Flags:
        """Add the log densities of rows; which of them are left out, because they are not plain numbers nearby."""
        odd = np.empty(len(rows), dtype=np.bool_)
        size = max(TILE_CELLS // max(rows.shape[1], 1), 16)
        cells = np.empty((min(size, len(rows)), rows.shape[1]))
        turned = np.empty((len(cells), self.turn.shape[2]))
        distances = np.empty((len(cells), len(self.mean)))
        with np.errstate(all="ignore"):  # gaps and extreme values are marked, not reported
            for start in range(0, len(rows), size):
                some = slice(start, min(start + size, len(rows)))
                n = some.stop - start
                self._measure(rows[some], cells[:n], turned[:n], distances[:n])
                add_plain(distances[:n], self.log_peak, joint[some], odd[some])
        return odd

    def _measure(self, rows: Array, cells: Array, turned: Array, distances: Array) -> None:
        """Squared distance of each row from each class; one product for all classes if they share a turn."""
        if len(self.turn) == 1:
            centre = self.mean[0]
            points = (self.mean - centre) * self.precision[0] @ self.turn[0]
            standardise(rows, centre, self.precision[0], cells)
            np.matmul(cells, self.turn[0], out=turned)
            squared_distances(turned, points, distances)
            return
        of_class = np.empty(len(rows))
        for c, turn in enumerate(self.turn):
            standardise(rows, self.mean[c], self.precision[c], cells)
            np.matmul(cells, turn, out=turned)
            squared_lengths(turned, of_class)
            distances[:, c] = of_class


# Compiled loops.


@kernel(fastmath={"reassoc"})
def find_gaps(rows: Array, out: Flags) -> None:
    """Which rows have a gap."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j]
        out[i] = total != total


@kernel
def standardise(rows: Array, mean: Array, precision: Array, out: Array) -> None:
    """(row − mean) · precision."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = (rows[i, j] - mean[j]) * precision[j]


@kernel(fastmath={"reassoc", "contract"})
def squared_lengths(rows: Array, out: Array) -> None:
    """Σ cell² of each row."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * rows[i, j]
        out[i] = total


@kernel(fastmath={"reassoc", "contract"})
def squared_distances(rows: Array, points: Array, out: Array) -> None:
    """Σ (cell − point)² of each row from each point."""
    for i in range(rows.shape[0]):
        for c in range(points.shape[0]):
            total = 0.0
            for j in range(rows.shape[1]):
                step = rows[i, j] - points[c, j]
                total += step * step
            out[i, c] = total


@kernel
def add_plain(distances: Array, log_peak: Array, joint: Array, odd: Flags) -> None:
    """Add the densities of rows at a plain distance from all classes; mark the others."""
    for i in range(distances.shape[0]):
        plain = True
        for c in range(distances.shape[1]):
            plain &= distances[i, c] <= STEEP * STEEP
        odd[i] = not plain
        if plain:
            for c in range(distances.shape[1]):
                joint[i, c] += log_peak[c] - 0.5 * distances[i, c]


@kernel
def _factor(correlation: Array, known: Int64, least: float, out: Array) -> None:
    """Cholesky's lower factor of the correlations of some columns."""
    for a in range(known.shape[0]):
        for b in range(a + 1):
            total = correlation[known[a], known[b]]
            for k in range(b):
                total -= out[a, k] * out[b, k]
            out[a, b] = np.sqrt(max(total, least)) if a == b else total / out[b, b]


@kernel
def _steep_log_square(log_size: float) -> float:
    """Square of a number given by its logarithm, bent where it would overflow, as single columns do it."""
    if log_size <= LOG_STEEP:
        return float(np.exp(2.0 * log_size))
    return float(STEEP * STEEP * (1.0 + log_size - LOG_STEEP))


@kernel
def _standard_cells(row: Array, known: Int64, mean: Array, deviation: Array, out: Array) -> float:
    """Known cells in deviations from the mean, divided by e to the power of the result if one is extreme."""
    most = -np.inf
    for a in range(known.shape[0]):
        j = known[a]
        half = 0.5 * row[j] - 0.5 * mean[j]
        out[a] = half / (0.5 * deviation[j])
        most = max(most, np.log(abs(half)) - np.log(0.5 * deviation[j]))
    if most <= LOG_STEEP:
        return 0.0
    for a in range(known.shape[0]):
        j = known[a]
        half = 0.5 * row[j] - 0.5 * mean[j]
        out[a] = np.sign(half) * np.exp(np.log(abs(half)) - np.log(0.5 * deviation[j]) - most)
    return most


SAME, OTHER, INFINITE = 0, 1, 2
"""What the gaps of a row are, compared with those of the row before; or that a cell is infinite."""


@kernel
def _compare(row: Array, pattern: Flags) -> int:
    """Note which cells of the row are known."""
    met = SAME
    for j in range(row.shape[0]):
        if np.isinf(row[j]):
            return INFINITE
        known = not np.isnan(row[j])
        if known != pattern[j]:
            pattern[j] = known
            met = OTHER
    return met


@kernel
def _log_density(
    row: Array, known: Int64, mean: Array, deviation: Array, lower: Array, first: int, cells: Array
) -> float:
    """Σ log density of each known cell given the known cells before it, from the one numbered `first` on."""
    log_size = _standard_cells(row, known, mean, deviation, cells)
    total = 0.0
    for a in range(known.shape[0]):
        step = cells[a]
        for b in range(a):
            step -= lower[a, b] * cells[b]
        cells[a] = step / lower[a, a]
        if a < first or np.isinf(deviation[known[a]]):  # a constant column adds nothing
            continue
        square = cells[a] * cells[a]
        if log_size > 0.0 or square > STEEP * STEEP:
            square = _steep_log_square(np.log(abs(cells[a])) + log_size)
        total -= LOG_ROOT_TAU + np.log(deviation[known[a]]) + np.log(lower[a, a]) + 0.5 * square
    return total


@kernel
def add_marginals(
    rows: Array, order: Int64, mean: Array, deviation: Array, correlation: Array, last: bool, least: float, joint: Array
) -> bool:
    """Add the density of the known cells of some rows, one after the other; False if a cell is infinite.

    Rows that follow each other with the same gaps share their factors. `last` asks for the last column alone,
    given the ones before it. `correlation` has one matrix per class, or one for all.
    """
    n_columns, n_factors = rows.shape[1], correlation.shape[0]
    factors = np.zeros((n_factors, n_columns, n_columns))
    cells, pattern = np.empty(n_columns), np.zeros(n_columns, dtype=np.bool_)
    known = np.flatnonzero(pattern)
    for i in order:
        met = _compare(rows[i], pattern)
        if met == INFINITE:
            return False
        if met == OTHER:
            known = np.flatnonzero(pattern)
            for g in range(n_factors):
                _factor(correlation[g], known, least, factors[g])
        if known.shape[0] == 0 or (last and not pattern[n_columns - 1]):
            continue
        first = known.shape[0] - 1 if last else 0
        for c in range(mean.shape[0]):
            lower = factors[c if n_factors > 1 else 0]
            joint[i, c] += _log_density(rows[i], known, mean[c], deviation[c], lower, first, cells)
    return True


# Inverses of lower triangular matrices. LAPACK's start threads even for 2 × 2, which wait for busy cores; a loop of
# vectors needs no compiler, which takes longer than all else where a model is only shown.


def inverse_lower(lower: Array) -> Array:
    """The inverse of a lower triangular matrix, by forward substitution.

    >>> inverse_lower(np.array([[2.0, 0.0], [1.0, 4.0]])).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """
    inverse = np.diag(1.0 / np.diagonal(lower))
    for i in range(1, len(lower)):
        inverse[i, :i] = -(lower[i, :i] @ inverse[:i, :i]) / lower[i, i]
    return inverse
