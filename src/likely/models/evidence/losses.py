"""The log loss of rows and its derivatives, given their scores; two classes have one score, the log odds of the second.

Most of the time goes into exponentials. These are polynomials, so that the compiler takes several rows at once.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32
from likely.jit import kernel

STRIP_ROWS = 64
STRIP_SCORES = 1024
"""Scores that are held at once, so that they stay in the first-level cache."""

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The logarithm of 2 in two parts: a product of the first with a whole number is exact."""

ROUNDING = 6755399441055744.0
"""1.5 · 2^52: a number that is added to it is rounded to a whole one, which then is in the last bits of the sum."""

LOWEST = -708.0
"""Where a double ends, in logarithms."""


@kernel(fastmath={"contract"})
def exp_below(x: float) -> float:
    """e^x for x ≤ 0, to the last digit but one; below −708 as at −708."""
    shifted = max(x, LOWEST) * LOG2_E + ROUNDING
    n = shifted - ROUNDING
    r = (max(x, LOWEST) - n * LN2_HIGH) - n * LN2_LOW  # at most ln(2) / 2
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return float(p * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64))


@kernel(fastmath={"contract"}, error_model="numpy")
def log1p_up_to_one(t: float) -> float:
    """log(1 + t) for 0 ≤ t ≤ 1, as 2 · artanh(t / (2 + t))."""
    s = t / (2.0 + t)
    z = s * s
    p = 1.0 / 31.0
    p = p * z + 1.0 / 29.0
    p = p * z + 1.0 / 27.0
    p = p * z + 1.0 / 25.0
    p = p * z + 1.0 / 23.0
    p = p * z + 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    p = p * z + 1.0
    return 2.0 * s * p


@kernel
def strip_rows(n_scores: int) -> int:
    """Rows that are held at once."""
    return max(STRIP_SCORES // n_scores, 8)


@kernel
def residuals(scores: Array, y: Int32, weight: Array) -> float:
    """Replace the scores of rows by weight · (P(class) − [class is true]); returns Σ weight · log loss."""
    if scores.shape[1] == 1:
        return _residuals_of_one(scores.reshape(-1), y, weight)
    loss, size = 0.0, strip_rows(scores.shape[1])
    for start in range(0, len(scores), size):
        strip = slice(start, min(start + size, len(scores)))
        loss += _residuals_of_many(scores[strip], y[strip], weight[strip])
    return loss


@kernel(fastmath={"reassoc", "contract"}, error_model="numpy")
def _residuals_of_one(scores: Array, y: Int32, weight: Array) -> float:
    loss = 0.0
    for i in range(len(scores)):
        score, is_second = scores[i], float(y[i])
        small = exp_below(-abs(score))
        margin = score * (1.0 - 2.0 * is_second)
        loss += weight[i] * (max(margin, 0.0) + log1p_up_to_one(small))
        probability = (1.0 if score >= 0.0 else small) / (1.0 + small)
        scores[i] = weight[i] * (probability - is_second)
    return loss


@kernel(error_model="numpy")
def _residuals_of_many(scores: Array, y: Int32, weight: Array) -> float:
    n_classes, loss = scores.shape[1], 0.0
    for i in range(len(scores)):
        peak = scores[i, 0]
        for c in range(1, n_classes):
            peak = max(peak, scores[i, c])
        for c in range(n_classes):
            scores[i, c] -= peak
        loss -= weight[i] * scores[i, y[i]]
    flat = scores.reshape(-1)
    for cell in range(len(flat)):
        flat[cell] = exp_below(flat[cell])
    for i in range(len(scores)):
        total = 0.0
        for c in range(n_classes):
            total += scores[i, c]
        loss += weight[i] * np.log(total)
        scale = weight[i] / total
        for c in range(n_classes):
            scores[i, c] *= scale
        scores[i, y[i]] -= weight[i]
    return loss


@kernel(error_model="numpy")
def row_losses(scores: Array, y: Int32, out: Array) -> None:
    """Log loss of each row, given its scores."""
    n_classes = scores.shape[1]
    if n_classes == 1:
        flat = scores.reshape(-1)
        for i in range(len(flat)):
            margin = flat[i] * (1.0 - 2.0 * float(y[i]))
            out[i] = max(margin, 0.0) + log1p_up_to_one(exp_below(-abs(flat[i])))
        return
    for i in range(scores.shape[0]):
        peak = scores[i, 0]
        for c in range(1, n_classes):
            peak = max(peak, scores[i, c])
        total = 0.0
        for c in range(n_classes):
            total += exp_below(scores[i, c] - peak)
        out[i] = np.log(total) - scores[i, y[i]] + peak


@kernel(error_model="numpy")
def fill_hessian(residual: Array, y: Int32, weight: Array, out: Array) -> None:
    """weight · p (1 − p), from weight · (p − [class is true]); a row without weight has no curvature."""
    n_rows, n_scores = residual.shape
    for i in range(n_rows):
        whole = weight[i] if weight[i] > 0.0 else 1.0
        for c in range(n_scores):
            is_true = y[i] if n_scores == 1 else int(y[i] == c)
            expected = residual[i, c] + weight[i] * is_true
            out[i, c] = expected * (1.0 - expected / whole)
