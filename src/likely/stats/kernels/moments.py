"""Means and centred sums of squares per class, in one trip through memory."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

CACHED_CELLS = 1 << 16
"""Cells of a stripe of rows: where it has to be read twice, the second time is from the cache (512 KiB)."""

KNOWN_SHARE = 0.25
"""A mean of this many times a stripe's weight may stand for the stripe's own: half a digit is lost at most."""


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
def _well_known(n: Array, class_weight: Array) -> bool:
    """Whether all classes of a stripe have means already that are worth something beside it."""
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if n[c, j] < KNOWN_SHARE * class_weight[c]:
                return False
    return True


@numba.njit(nogil=True, cache=True)
def _sum_steps(rows: Array, y: Ints, weight: Array, mean: Array, steps: Array, squares: Array) -> bool:
    """Weighted deviations from the means so far and their squares; False if a cell is no plain number."""
    steps[:] = 0.0
    squares[:] = 0.0
    for i in range(rows.shape[0]):
        row, centre, of_class, of_squares, w = rows[i], mean[y[i]], steps[y[i]], squares[y[i]], weight[i]
        for j in range(row.shape[0]):
            step = row[j] - centre[j]
            of_class[j] += w * step
            of_squares[j] += w * step * step
    return bool(np.isfinite(steps).all())


@numba.njit(nogil=True, cache=True)
def _move(n: Array, mean: Array, squares: Array, class_weight: Array, steps: Array, more_squares: Array) -> None:
    """Bring the means to where the deviations from them cancel."""
    for c in range(n.shape[0]):
        if class_weight[c] > 0.0:
            for j in range(n.shape[1]):
                n[c, j] += class_weight[c]
                shift = steps[c, j] / n[c, j]
                mean[c, j] += shift
                squares[c, j] += more_squares[c, j] - steps[c, j] * shift


@numba.njit(nogil=True, cache=True)
def _average(rows: Array, y: Ints, weight: Array, n: Array, mean: Array) -> bool:
    """Weight and mean of the known cells of a stripe; False if a mean leaves the floats.

    Choosing a term rather than skipping it lets the compiler take many columns at once.
    """
    n[:] = 0.0
    mean[:] = 0.0
    for i in range(rows.shape[0]):
        row, known, total, w = rows[i], n[y[i]], mean[y[i]], weight[i]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            known[j] += 0.0 if gap else w
            total[j] += 0.0 if gap else w * row[j]
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if not np.isfinite(mean[c, j]):
                return False
            if n[c, j] > 0.0:
                mean[c, j] /= n[c, j]
    return True


@numba.njit(nogil=True, cache=True)
def _square(rows: Array, y: Ints, weight: Array, mean: Array, squares: Array) -> None:
    """Weighted squares of the deviations of the known cells from the means of their classes."""
    squares[:] = 0.0
    for i in range(rows.shape[0]):
        row, centre, total, w = rows[i], mean[y[i]], squares[y[i]], weight[i]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            step = row[j] - centre[j]
            total[j] += 0.0 if gap else w * (step * step)


@numba.njit(nogil=True, cache=True)
def observe_moments(rows: Array, y: Ints, weight: Array, n: Array, mean: Array, squares: Array) -> bool:
    """Add the known cells of `rows` to the moments of their classes; False once a mean leaves the floats.

    A stripe of rows is averaged first and squared around its own class means afterwards, so that data
    far from zero keep their variance. Once its classes are well known, it is squared around their means
    so far instead, in one go. A NaN is a gap and counts nowhere; a stripe with gaps goes the first way.
    """
    n_rows, n_columns = rows.shape
    n_classes = n.shape[0]
    stripe = max(CACHED_CELLS // max(n_columns, 1), n_classes, 16)
    class_weight = np.zeros(n_classes)
    stripe_n = np.zeros((n_classes, n_columns))
    stripe_mean = np.zeros((n_classes, n_columns))
    stripe_squares = np.zeros((n_classes, n_columns))
    for start in range(0, n_rows, stripe):
        stop = min(start + stripe, n_rows)
        part, of_rows, w = rows[start:stop], y[start:stop], weight[start:stop]
        class_weight[:] = 0.0
        for i in range(stop - start):
            class_weight[of_rows[i]] += w[i]
        if _well_known(n, class_weight) and _sum_steps(part, of_rows, w, mean, stripe_mean, stripe_squares):
            _move(n, mean, squares, class_weight, stripe_mean, stripe_squares)
            continue
        if not _average(part, of_rows, w, stripe_n, stripe_mean):
            return False
        _square(part, of_rows, w, stripe_mean, stripe_squares)
        _merge(n, mean, squares, stripe_n, stripe_mean, stripe_squares)
    return True
