"""One pass over some rows: scores, log loss, and expected minus observed weight per table cell and class."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.uint16]
Starts = NDArray[np.int32]


@numba.njit(nogil=True, cache=True)
def one_score(codes: Codes, starts: Starts, tables: Array, i: int) -> float:
    """Σ of a row's cells where there is one score; four sums side by side, so that no addition waits for another."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = len(starts) - len(starts) % 4
    for j in range(0, n, 4):
        s0 += tables[starts[j] + codes[i, j], 0]
        s1 += tables[starts[j + 1] + codes[i, j + 1], 0]
        s2 += tables[starts[j + 2] + codes[i, j + 2], 0]
        s3 += tables[starts[j + 3] + codes[i, j + 3], 0]
    for j in range(n, len(starts)):
        s0 += tables[starts[j] + codes[i, j], 0]
    return (s0 + s1) + (s2 + s3)


@numba.njit(nogil=True, cache=True)
def add_scores(codes: Codes, starts: Starts, tables: Array, first: int, last: int, out: Array) -> None:
    """Add what every code of a row says to its scores."""
    n_classes = tables.shape[1]
    for i in range(first, last):
        if n_classes == 1:
            out[i, 0] += one_score(codes, starts, tables, i)
        else:
            for j in range(len(starts)):
                cell = starts[j] + codes[i, j]
                for c in range(n_classes):
                    out[i, c] += tables[cell, c]


@numba.njit(nogil=True, cache=True)
def residuals(scores: Array, y: NDArray[np.int32], weight: Array) -> float:
    """Turn the scores of rows into weight × (P(class) − truth); the sum of weighted log losses comes back."""
    n_classes = scores.shape[1]
    loss = 0.0
    for i in range(scores.shape[0]):
        if n_classes == 1:
            score = scores[i, 0]
            sign = score if y[i] == 0 else -score
            small = np.exp(-abs(score))
            loss += weight[i] * (max(sign, 0.0) + np.log1p(small))
            share = 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)
            scores[i, 0] = weight[i] * (share - y[i])
        else:
            peak = scores[i, 0]
            for c in range(1, n_classes):
                peak = max(peak, scores[i, c])
            own = scores[i, y[i]] - peak
            total = 0.0
            for c in range(n_classes):
                scores[i, c] = np.exp(scores[i, c] - peak)
                total += scores[i, c]
            loss += weight[i] * (np.log(total) - own)
            scale = weight[i] / total
            for c in range(n_classes):
                scores[i, c] *= scale
            scores[i, y[i]] -= weight[i]
    return loss


@numba.njit(nogil=True, cache=True)
def row_losses(scores: Array, y: NDArray[np.int32], out: Array) -> None:
    """The log loss of each row by its scores."""
    n_classes = scores.shape[1]
    for i in range(scores.shape[0]):
        if n_classes == 1:
            score = scores[i, 0]
            sign = score if y[i] == 0 else -score
            out[i] = max(sign, 0.0) + np.log1p(np.exp(-abs(score)))
        else:
            peak = scores[i, 0]
            for c in range(1, n_classes):
                peak = max(peak, scores[i, c])
            total = 0.0
            for c in range(n_classes):
                total += np.exp(scores[i, c] - peak)
            out[i] = np.log(total) - scores[i, y[i]] + peak


STRIP = 64
"""Rows whose scores are held at once: they stay in the nearest cache."""


@numba.njit(nogil=True, cache=True)
def pass_over(
    codes: Codes, starts: Starts, tables: Array, base: Array, offset: Array, y: NDArray[np.int32], weight: Array,
    first: int, last: int, slope: Array, base_slope: Array,
) -> float:  # fmt: skip
    """Log loss of the rows from `first` to `last`; what is expected too much goes to `slope`, cell by cell.

    `offset` holds scores that rows have beforehand, and has no rows where they have none.
    """
    n_classes = tables.shape[1]
    scores = np.empty((STRIP, n_classes))
    slope[:] = 0.0
    base_slope[:] = 0.0
    loss = 0.0
    for start in range(first, last, STRIP):
        size = min(STRIP, last - start)
        for i in range(size):
            for c in range(n_classes):
                scores[i, c] = base[c] if len(offset) == 0 else base[c] + offset[start + i, c]
        strip = codes[start : start + size]
        add_scores(strip, starts, tables, 0, size, scores)
        loss += residuals(scores[:size], y[start : start + size], weight[start : start + size])
        _give_back(strip, starts, scores, slope, base_slope)
    return loss


@numba.njit(nogil=True, cache=True)
def _give_back(codes: Codes, starts: Starts, wrong: Array, slope: Array, base_slope: Array) -> None:
    """Add what is wrong with each row to the cells that it has."""
    n_classes = slope.shape[1]
    for i in range(codes.shape[0]):
        for c in range(n_classes):
            base_slope[c] += wrong[i, c]
        if n_classes == 1:
            for j in range(len(starts)):
                slope[starts[j] + codes[i, j], 0] += wrong[i, 0]
        else:
            for j in range(len(starts)):
                cell = starts[j] + codes[i, j]
                for c in range(n_classes):
                    slope[cell, c] += wrong[i, c]


@numba.njit(nogil=True, cache=True)
def cell_weights(codes: Codes, starts: Starts, weight: Array, n_cells: int) -> Array:
    """The weight of the rows in each cell of each table."""
    out = np.zeros(n_cells)
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j]] += weight[i]
    return out


@numba.njit(nogil=True, cache=True)
def class_counts(codes: Codes, starts: Starts, y: NDArray[np.int32], weight: Array, out: Array) -> None:
    """Add the weight of the rows of each class to each cell."""
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j], y[i]] += weight[i]
