"""Weighted naive Bayes: one pass over rows, each judged without its own count."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.passes import residuals

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Starts = NDArray[np.int32]


@numba.njit(nogil=True, cache=True)
def weigh(
    codes: Codes, starts: Starts, tables: Array, without: Array, texts: Array, y: NDArray[np.int32], weight: Array,
    by_column: Array, base: Array, first: int, last: int, slope: Array, base_slope: Array,
) -> float:  # fmt: skip
    """Log loss, and its slope by the weight of each column and by each class's base.

    `tables` and `without` are cells × classes: log shares, and the same without one row of the class. `texts` is
    rows × (texts × scores), what texts say; their weights stand behind those of the columns.
    """
    n_said, n_scores = len(by_column), len(base)
    said = np.empty((n_said, n_scores))
    scores = np.empty((1, n_scores))
    slope[:] = 0.0
    base_slope[:] = 0.0
    loss = 0.0
    for i in range(first, last):
        _listen(codes[i], starts, tables, without, texts[i], y[i], said)
        for c in range(n_scores):
            scores[0, c] = base[c]
        for j in range(n_said):
            for c in range(n_scores):
                scores[0, c] += by_column[j] * said[j, c]
        loss += residuals(scores, y[i : i + 1], weight[i : i + 1])
        for c in range(n_scores):
            base_slope[c] += scores[0, c]
        for j in range(n_said):
            for c in range(n_scores):
                slope[j] += scores[0, c] * said[j, c]
    return loss


@numba.njit(nogil=True, cache=True)
def _listen(codes: Codes, starts: Starts, tables: Array, without: Array, texts: Array, own: int, out: Array) -> None:
    """What each column and each text of a row says, the row's own count taken out."""
    n_columns, n_scores = len(starts), out.shape[1]
    for j in range(n_columns):
        cell = starts[j] + codes[j]
        if n_scores == 1:
            out[j, 0] = without[cell, 1] - tables[cell, 0] if own == 1 else tables[cell, 1] - without[cell, 0]
        else:
            for c in range(n_scores):
                out[j, c] = tables[cell, c]
            out[j, own] = without[cell, own]
    for t in range(len(out) - n_columns):
        for c in range(n_scores):
            out[n_columns + t, c] = texts[t * n_scores + c]
