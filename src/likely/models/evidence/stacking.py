"""Stacking: minimise over a ≥ 0 the mean log loss of Σ_k a_k · (out-of-fold scores of expert k) + 0.01 · |a − e|².

e are the weights of the best single expert alone. A pass over the rows yields the derivatives by `a`, block by block.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32
from likely.jit import kernel
from likely.numerics import newton
from likely.parallel import ALONE, WorkerPool

STACKING_RIDGE = 0.01

STACKED_ROWS = 1 << 13
"""Rows that a thread sums at once."""


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
    if stacked.shape[2] == 1:
        stacked = np.concatenate([np.zeros_like(stacked), stacked], axis=2)
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
    """Log loss of Σ_k a_k · scores of expert k, given rows × experts × classes; adds its derivatives by `a`."""
    n_experts, n_classes = stacked.shape[1:]
    p, expected = np.empty(n_classes), np.empty(n_experts)
    loss = 0.0
    for i in range(len(stacked)):
        of_row, share = stacked[i], shares[i]
        own_loss, total = _softmax(a, of_row, y[i], p)
        loss += share * own_loss
        for k in range(n_experts):
            expected[k] = 0.0
            for c in range(n_classes):
                expected[k] += of_row[k, c] * p[c]
            expected[k] /= total
            gradient[k] += share * (expected[k] - of_row[k, y[i]])
        for k in range(n_experts):
            for other in range(k + 1):
                second = 0.0
                for c in range(n_classes):
                    second += of_row[k, c] * of_row[other, c] * p[c]
                term = share * (second / total - expected[k] * expected[other])
                hessian[k, other] += term
                if other < k:
                    hessian[other, k] += term
    return loss


@kernel
def _softmax(a: Array, of_row: Array, own: int, p: Array) -> tuple[float, float]:
    """Log loss of a row; P(class) times the second number goes to `p`."""
    n_experts, n_classes = of_row.shape
    peak = -np.inf
    for c in range(n_classes):
        p[c] = 0.0
        for k in range(n_experts):
            p[c] += a[k] * of_row[k, c]
        peak = max(peak, p[c])
    total, score = 0.0, p[own]
    for c in range(n_classes):
        p[c] = np.exp(p[c] - peak)
        total += p[c]
    return np.log(total) + peak - score, total
