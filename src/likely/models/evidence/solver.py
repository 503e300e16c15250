"""The two penalised logistic regressions of a fit: coefficients of all tables at once, and weights of stacked experts.

Coefficients: minimise over U
    Σ_i weight_i · log loss(y_i, intercept + offset_i + Σ_terms T[cell_i]) + ½ |U|²,  T = scale · A U Bᵀ

which is the posterior mode under t ~ N(0, scale² · M Mᵀ). The intercept is fixed at the log prior of the classes. A
pass over the rows yields the gradient by table cells only, so rows may be divided and the results added.

Stacking: minimise over a ≥ 0 the mean log loss of Σ_k a_k · (out-of-fold scores of expert k) + 0.01 · |a − e|², with e
the weights of the best single expert alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.design import Design
from likely.models.evidence.row_source import RowSource
from likely.numerics import dot, lbfgs, log_normalise, newton

STACKING_RIDGE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients, their scales (√variance per term), the intercept, and how many passes over rows they took."""

    coefficients: Array
    scales: Array
    intercept: Array
    passes: int

    def tables(self, design: Design) -> Array:
        return design.tables(self.coefficients, self.scales)


def log_prior(class_weights: Array) -> Array:
    """Intercept of a model: log odds of the second of two classes, else log shares; a class without rows is rare."""
    floor = 1e-3 * class_weights.max() / len(class_weights)
    logs = np.log(np.maximum(class_weights, floor) / class_weights.sum())
    return np.asarray(logs[1:] - logs[:1] if len(logs) == 2 else logs)


def solve(rows: RowSource, design: Design, scales: Array, start: Array, tolerance: float) -> Fit:
    """Minimise from `start` until a step gains less than `tolerance` per unit of weight.

    The preconditioner is 1 / (1 + p_c (1 − p_c) · diag(Mᵀ N M)), with N the weight of each cell and p the class shares.
    """
    class_weights = rows.class_weights()
    intercept, total = log_prior(class_weights), float(class_weights.sum())
    p = class_weights / total
    variance = (p * (1.0 - p))[1:] if rows.n_scores == 1 else p * (1.0 - p)
    starts = design.starts
    cell_weights = rows.cell_weights(starts, design.n_cells)
    preconditioner = 1.0 / (1.0 + design.hessian_diagonal(cell_weights, scales)[:, None] * variance)

    def objective(u: Array) -> tuple[float, Array]:
        loss, table_gradient, _ = rows.loss_and_gradient(starts, design.tables(u, scales), intercept)
        flat = u.ravel()
        return loss + 0.5 * dot(flat, flat), design.coefficient_gradient(table_gradient, scales) + u

    coefficients, passes = lbfgs(objective, start, preconditioner, tolerance * total)
    return Fit(coefficients, scales, intercept, passes)


def stack(scores: list[Array], y: NDArray[np.int32], weight: Array, best: int) -> Array:
    """Stacking weights of experts, given rows × scores of each; shrunk towards the expert `best` alone."""
    stacked = np.stack(scores)
    if stacked.shape[2] == 1:
        stacked = np.concatenate([np.zeros_like(stacked), stacked], axis=2)
    target = np.zeros(len(scores))
    target[best] = 1.0
    row_shares = weight / max(float(weight.sum()), 1e-300)
    rows = np.arange(len(y))

    def objective(a: Array) -> tuple[float, Array, Array]:
        p, log_p = log_normalise(np.tensordot(a, stacked, axes=1))
        loss = float(row_shares @ -log_p[rows, y])
        expected = np.einsum("knc,nc->kn", stacked, p)
        gradient = (expected - stacked[:, rows, y]) @ row_shares
        second = np.einsum("knc,lnc,nc,n->kl", stacked, stacked, p, row_shares, optimize=True)
        hessian = second - (expected * row_shares) @ expected.T
        shift = a - target
        return (
            loss + STACKING_RIDGE * float(shift @ shift),
            gradient + 2 * STACKING_RIDGE * shift,
            hessian + 2 * STACKING_RIDGE * np.eye(len(a)),
        )

    return newton(objective, target, max_steps=50, shortest=1e-6, min_gain=1e-7, nonnegative=True)
