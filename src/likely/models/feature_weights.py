"""Weighted naive Bayes: the problem that feature weights solve, whatever the likelihoods of columns are.

score_c = b_c + Σ_j w_j · log P(x_j | c). Weights w ≥ 0 and intercepts b minimise the log loss of rows, each scored
without itself, plus a ridge ½ · 4 · |w − w₀|² towards w₀ = min(1, 3/√d): of many columns most repeat what others say.

Each model has its own pass over the rows and its own minimiser. Tables of codes are passed over by a compiled loop,
maybe from disk, so evaluations are dear, and `numerics.lbfgs` with its preconditioner takes few of them. Likelihoods
of any family are one matrix in memory, so SciPy's L-BFGS-B is used, which is more exact where classes are separable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likely.arrays import Array

RIDGE = 4.0

Loss = Callable[[Array, Array], tuple[float, Array, Array]]
"""Of feature weights and intercepts: Σ weight · log loss of the rows, and its gradients by both."""


def default_feature_weight(n_weights: int) -> float:
    """Prior mean of a feature weight, min(1, 3/√n)."""
    return min(1.0, 3.0 / float(np.sqrt(max(n_weights, 1))))


def penalised(
    loss: Loss, n_weights: int, intercept: Array, intercept_ridge: float = 0.0
) -> tuple[Callable[[Array], tuple[float, Array]], Array]:
    """The objective, of weights and intercepts in one array, with its gradient; and where to start.

    `intercept` is the start of the intercepts, towards which their own ridge draws them.
    """
    default = default_feature_weight(n_weights)

    def objective(x: Array) -> tuple[float, Array]:
        weights, intercepts = x[:n_weights], x[n_weights:]
        value, gradient, intercept_gradient = loss(weights, intercepts)
        shift, drift = weights - default, intercepts - intercept
        value += 0.5 * RIDGE * float(shift @ shift) + 0.5 * intercept_ridge * float(drift @ drift)
        return value, np.concatenate([gradient + RIDGE * shift, intercept_gradient + intercept_ridge * drift])

    return objective, np.concatenate([np.full(n_weights, default), intercept])
