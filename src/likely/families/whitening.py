"""Distances of rows from the classes of a Gaussian of several columns: whitened, or with gaps and extreme values."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Flags
from likely.families.covariance import inverse_lower
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.gaussian_kernels import STEEP

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

    def add(self, rows: Array, joint: Array) -> NDArray[np.bool_]:
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
