"""Means and centred sums of squares per class, in one trip through memory."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

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
def _sum_plain(rows: Array, y: Ints, weight: Array, n: Array, total: Array) -> bool:
    """Weights and sums of rows without gaps; False if there is one."""
    n_classes, n_columns = n.shape
    class_weight = np.zeros(n_classes)
    for i in range(rows.shape[0]):
        row, of_class, w = rows[i], total[y[i]], weight[i]
        class_weight[y[i]] += w
        for j in range(n_columns):
            of_class[j] += w * row[j]
    plain = True
    for c in range(n_classes):
        n[c] = class_weight[c]
        plain &= not np.isnan(total[c]).any()
    return plain


@numba.njit(nogil=True, cache=True)
def _sum_known(rows: Array, y: Ints, weight: Array, n: Array, total: Array) -> None:
    """The same for rows with gaps; choosing a term, not skipping it, lets the compiler take many columns at once."""
    n[:] = 0.0
    total[:] = 0.0
    for i in range(rows.shape[0]):
        row, known, of_class, w = rows[i], n[y[i]], total[y[i]], weight[i]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            known[j] += 0.0 if gap else w
            of_class[j] += 0.0 if gap else w * row[j]


@numba.njit(nogil=True, cache=True)
def _square(rows: Array, y: Ints, weight: Array, plain: bool, mean: Array, squares: Array) -> None:
    """Weighted squares of the deviations from the means of the classes."""
    for i in range(rows.shape[0]):
        row, centre, of_class, w = rows[i], mean[y[i]], squares[y[i]], weight[i]
        if plain:
            for j in range(row.shape[0]):
                step = row[j] - centre[j]
                of_class[j] += w * (step * step)
        else:
            for j in range(row.shape[0]):
                gap = np.isnan(row[j])
                step = row[j] - centre[j]
                of_class[j] += 0.0 if gap else w * (step * step)


@numba.njit(nogil=True, cache=True)
def observe_moments(rows: Array, y: Ints, weight: Array, n: Array, mean: Array, squares: Array) -> bool:
    """Add the known cells of `rows` to the moments of their classes; False once a mean leaves the floats.

    A stripe of rows is averaged first and squared around its own class means afterwards, so that
    data far from zero keep their variance. A NaN is a gap and counts nowhere: a stripe that turns out
    to hold one is summed again with care.
    """
    n_rows, n_columns = rows.shape
    n_classes = n.shape[0]
    stripe = max(CACHED_CELLS // max(n_columns, 1), n_classes, 16)
    stripe_n = np.zeros((n_classes, n_columns))
    stripe_mean = np.zeros((n_classes, n_columns))
    stripe_squares = np.zeros((n_classes, n_columns))
    for start in range(0, n_rows, stripe):
        stop = min(start + stripe, n_rows)
        part, of_rows, w = rows[start:stop], y[start:stop], weight[start:stop]
        stripe_mean[:] = 0.0
        stripe_squares[:] = 0.0
        plain = _sum_plain(part, of_rows, w, stripe_n, stripe_mean)
        if not plain:
            _sum_known(part, of_rows, w, stripe_n, stripe_mean)
        for c in range(n_classes):
            for j in range(n_columns):
                if not np.isfinite(stripe_mean[c, j]):
                    return False
                if stripe_n[c, j] > 0.0:
                    stripe_mean[c, j] /= stripe_n[c, j]
        _square(part, of_rows, w, plain, stripe_mean, stripe_squares)
        _merge(n, mean, squares, stripe_n, stripe_mean, stripe_squares)
    return True
