"""Compiled loops for Gaussians of several columns: whitened distances, and rows with gaps or extreme values."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Flags
from likely.families.gaussian_kernels import STEEP

LOG_STEEP = float(np.log(STEEP))
LOG_ROOT_TAU = float(0.5 * np.log(2.0 * np.pi))


@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})
def find_gaps(rows: Array, out: Flags) -> None:
    """Which rows have a gap."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j]
        out[i] = total != total


@numba.njit(nogil=True, cache=True)
def standardise(rows: Array, mean: Array, precision: Array, out: Array) -> None:
    """(row − mean) · precision."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = (rows[i, j] - mean[j]) * precision[j]


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def squared_lengths(rows: Array, out: Array) -> None:
    """Σ cell² of each row."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * rows[i, j]
        out[i] = total


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def squared_distances(rows: Array, points: Array, out: Array) -> None:
    """Σ (cell − point)² of each row from each point."""
    for i in range(rows.shape[0]):
        for c in range(points.shape[0]):
            total = 0.0
            for j in range(rows.shape[1]):
                step = rows[i, j] - points[c, j]
                total += step * step
            out[i, c] = total


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def _factor(correlation: Array, known: NDArray[np.int64], least: float, out: Array) -> None:
    """Cholesky's lower factor of the correlations of some columns."""
    for a in range(known.shape[0]):
        for b in range(a + 1):
            total = correlation[known[a], known[b]]
            for k in range(b):
                total -= out[a, k] * out[b, k]
            out[a, b] = np.sqrt(max(total, least)) if a == b else total / out[b, b]


@numba.njit(nogil=True, cache=True)
def _steep_log_square(log_size: float) -> float:
    """Square of a number given by its logarithm, bent where it would overflow, as single columns do it."""
    if log_size <= LOG_STEEP:
        return float(np.exp(2.0 * log_size))
    return float(STEEP * STEEP * (1.0 + log_size - LOG_STEEP))


@numba.njit(nogil=True, cache=True)
def _standard_cells(row: Array, known: NDArray[np.int64], mean: Array, deviation: Array, out: Array) -> float:
    """Known cells in deviations from the mean, divided by e to the power of the result if one is extreme."""
    most = -np.inf
    for a in range(known.shape[0]):
        j = known[a]
        half = 0.5 * row[j] - 0.5 * mean[j]
        out[a] = half / (0.5 * deviation[j])
        if half != 0.0:
            most = max(most, np.log(abs(half)) - np.log(0.5 * deviation[j]))
    if most <= LOG_STEEP:
        return 0.0
    for a in range(known.shape[0]):
        j = known[a]
        half = 0.5 * row[j] - 0.5 * mean[j]
        if half != 0.0:
            out[a] = np.sign(half) * np.exp(np.log(abs(half)) - np.log(0.5 * deviation[j]) - most)
    return most


SAME, OTHER, INFINITE = 0, 1, 2
"""What the gaps of a row are, compared with those of the row before; or that a cell is infinite."""


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def _log_density(
    row: Array, known: NDArray[np.int64], mean: Array, deviation: Array, lower: Array, first: int, cells: Array
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
        if cells[a] != 0.0 and (log_size > 0.0 or square > STEEP * STEEP):
            square = _steep_log_square(np.log(abs(cells[a])) + log_size)
        total -= LOG_ROOT_TAU + np.log(deviation[known[a]]) + np.log(lower[a, a]) + 0.5 * square
    return total


@numba.njit(nogil=True, cache=True)
def add_marginals(
    rows: Array,
    order: NDArray[np.int64],
    mean: Array,
    deviation: Array,
    correlation: Array,
    last: bool,
    least: float,
    joint: Array,
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
