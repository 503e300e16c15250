"""Means and centred sums of squares per class, in one trip through memory."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CACHED_CELLS = 1 << 16
"""Cells of a stripe of rows: it is read twice, the second time from the cache (512 KiB)."""


@numba.njit(nogil=True, cache=True)
def _merge(n: Array, mean: Array, squares: Array, more_n: Array, more_mean: Array, more_squares: Array) -> None:
    """Add the moments of a stripe to those of the stripes before it, by the pairwise formula."""
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if more_n[c, j] > 0.0:
                total = n[c, j] + more_n[c, j]
                share = more_n[c, j] / total
                gap = more_mean[c, j] - mean[c, j]
                mean[c, j] += gap * share
                squares[c, j] += more_squares[c, j] + gap * gap * share * n[c, j]
                n[c, j] = total


@numba.njit(nogil=True, cache=True)
def observe_moments(rows: Array, y: NDArray[np.int32], weight: Array, n: Array, mean: Array, squares: Array) -> bool:
    """Add the known cells of `rows` to the moments of their classes; False once a mean leaves the floats.

    A stripe of rows is averaged first and squared around its own class means afterwards, so that
    data far from zero keep their variance. A NaN is a gap and counts nowhere; choosing a term rather
    than skipping it lets the compiler take many columns at once.
    """
    n_rows, n_columns = rows.shape
    n_classes = n.shape[0]
    stripe = max(CACHED_CELLS // max(n_columns, 1), n_classes, 16)
    stripe_n = np.zeros((n_classes, n_columns))
    stripe_mean = np.zeros((n_classes, n_columns))
    stripe_squares = np.zeros((n_classes, n_columns))
    for start in range(0, n_rows, stripe):
        stop = min(start + stripe, n_rows)
        stripe_n[:] = 0.0
        stripe_mean[:] = 0.0
        stripe_squares[:] = 0.0
        for i in range(start, stop):
            row, known, total, w = rows[i], stripe_n[y[i]], stripe_mean[y[i]], weight[i]
            for j in range(n_columns):
                gap = np.isnan(row[j])
                known[j] += 0.0 if gap else w
                total[j] += 0.0 if gap else w * row[j]
        for c in range(n_classes):
            for j in range(n_columns):
                if not np.isfinite(stripe_mean[c, j]):
                    return False
                if stripe_n[c, j] > 0.0:
                    stripe_mean[c, j] /= stripe_n[c, j]
        for i in range(start, stop):
            row, centre, total, w = rows[i], stripe_mean[y[i]], stripe_squares[y[i]], weight[i]
            for j in range(n_columns):
                gap = np.isnan(row[j])
                step = row[j] - centre[j]
                total[j] += 0.0 if gap else w * (step * step)
        _merge(n, mean, squares, stripe_n, stripe_mean, stripe_squares)
    return True
