"""Stacking: minimise over a ≥ 0 the mean log loss of Σ_k a_k · (out-of-fold scores of expert k) + 0.01 · |a − e|².

e are the weights of the best single expert alone. A pass over the rows yields the derivatives by `a`, block by block.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32
from likely.jit import kernel
from likely.models.evidence.losses import fill_hessian, residuals
from likely.numerics import newton
from likely.parallel import ALONE, WorkerPool

STACKING_RIDGE = 0.01

STACKED_ROWS = 1 << 13
"""Rows that a thread sums at once."""

TINY = 1e-300
"""A row without weight has no share of it to divide by."""


def stack(
    scores: list[Array],
    y: Int32,
    weight: Array,
    best: int,
    ridge: float = STACKING_RIDGE,
    pool: WorkerPool = ALONE,
) -> Array:
    """Stacking weights of experts, given rows × scores of each; shrunk towards the expert `best` alone."""
    stacked = np.stack(scores)
    target = np.zeros(len(scores))
    target[best] = 1.0
    row_shares = weight / max(float(weight.sum()), 1e-300)
    by_row = np.ascontiguousarray(stacked.transpose(1, 0, 2))
    blocks = [slice(at, at + STACKED_ROWS) for at in range(0, max(len(y), 1), STACKED_ROWS)]

    def objective(a: Array) -> tuple[float, Array, Array]:
        gradient, hessian = np.zeros((len(blocks), len(a))), np.zeros((len(blocks), len(a), len(a)))

        def add(k: int) -> float:
            own = blocks[k]
            return stacked_loss(a, by_row[own], y[own], row_shares[own], gradient[k], hessian[k])

        loss, gradient, hessian = sum(pool.do(add, range(len(blocks)))), gradient.sum(axis=0), hessian.sum(axis=0)
        shift = a - target
        return (
            loss + ridge * float(shift @ shift),
            gradient + 2 * ridge * shift,
            hessian + 2 * ridge * np.eye(len(a)),
        )

    return newton(objective, target, max_steps=50, shortest=1e-6, min_gain=1e-7, nonnegative=True)


@kernel
def stacked_loss(a: Array, stacked: Array, y: Int32, shares: Array, gradient: Array, hessian: Array) -> float:
    """Log loss of Σ_k a_k · scores of expert k, given rows × experts × scores; adds its derivatives by `a`."""
    n_rows, n_experts, n_scores = stacked.shape
    residual = np.zeros((n_rows, n_scores))
    for i in range(n_rows):
        for k in range(n_experts):
            for c in range(n_scores):
                residual[i, c] += a[k] * stacked[i, k, c]
    loss = residuals(residual, y, shares)
    if n_scores == 1:
        _derivatives_of_one(residual, stacked.reshape((n_rows, n_experts)), y, shares, gradient, hessian)
    else:
        _derivatives_of_many(residual, stacked, y, shares, gradient, hessian)
    return loss


@kernel
def _derivatives_of_one(
    residual: Array, stacked: Array, y: Int32, shares: Array, gradient: Array, hessian: Array
) -> None:
    """Gradient Σ r x and Hessian Σ h x xᵀ, with h the curvature of a row."""
    curvature = np.empty_like(residual)
    fill_hessian(residual, y, shares, curvature)
    for i in range(len(stacked)):
        for k in range(stacked.shape[1]):
            gradient[k] += residual[i, 0] * stacked[i, k]
            own = curvature[i, 0] * stacked[i, k]
            for other in range(k):
                hessian[k, other] += own * stacked[i, other]
                hessian[other, k] += own * stacked[i, other]
            hessian[k, k] += own * stacked[i, k]


@kernel
def _derivatives_of_many(
    residual: Array, stacked: Array, y: Int32, shares: Array, gradient: Array, hessian: Array
) -> None:
    """The same, where the curvature of a row is that of a softmax, share · (diag(p) − p pᵀ)."""
    _, n_experts, n_scores = stacked.shape
    weighted, expected, p = np.empty((n_experts, n_scores)), np.empty(n_experts), np.empty(n_scores)
    for i in range(len(stacked)):
        of_row, share = stacked[i], max(shares[i], TINY)
        for c in range(n_scores):
            p[c] = residual[i, c] / share
        p[y[i]] += shares[i] / share
        for k in range(n_experts):
            first, mean = 0.0, 0.0
            for c in range(n_scores):
                first += residual[i, c] * of_row[k, c]
                weighted[k, c] = of_row[k, c] * p[c]
                mean += weighted[k, c]
            gradient[k] += first
            expected[k] = mean
        for k in range(n_experts):
            for other in range(k + 1):
                second = 0.0
                for c in range(n_scores):
                    second += of_row[k, c] * weighted[other, c]
                term = shares[i] * (second - expected[k] * expected[other])
                hessian[k, other] += term
                if other < k:
                    hessian[other, k] += term
