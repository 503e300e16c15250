"""Log loss and its derivatives, against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from likely.models.evidence.losses import exp_below, fill_hessian, log1p_up_to_one, residuals, row_losses


def test_exponential_and_logarithm_to_the_last_digits() -> None:
    x = np.concatenate([-np.geomspace(1e-300, 708.0, 3000), -np.linspace(0.0, 50.0, 3001)])
    assert max(abs(exp_below(v) / np.exp(v) - 1.0) for v in x.tolist()) < 1e-13
    assert exp_below(-1e6) == exp_below(-708.0) < 1e-307
    t = np.concatenate([np.geomspace(1e-300, 1.0, 3000), np.linspace(1e-9, 1.0, 3001)])
    assert max(abs(log1p_up_to_one(v) / np.log1p(v) - 1.0) for v in t.tolist()) < 1e-14
    assert log1p_up_to_one(0.0) == 0.0


@pytest.mark.parametrize("n_scores", [1, 3, 11])
def test_losses_and_derivatives(n_scores: int) -> None:
    rng = np.random.default_rng(n_scores)
    n, n_classes = 1500, max(n_scores, 2)
    scores = 20.0 * rng.normal(size=(n, n_scores)) * rng.random((n, 1)) ** 4
    scores[0] = 0.0
    y, weight = rng.integers(0, n_classes, n).astype(np.int32), rng.random(n)
    weight[5] = 0.0
    both = np.hstack([np.zeros((n, 1)), scores]) if n_scores == 1 else scores
    log_p = scipy.special.log_softmax(both, axis=1)
    losses = -log_p[np.arange(n), y]
    out = np.empty(n)
    row_losses(scores, y, out)
    np.testing.assert_allclose(out, losses, rtol=1e-12, atol=1e-14)
    residual, curvature = scores.copy(), np.empty_like(scores)
    assert residuals(residual, y, weight) == pytest.approx(weight @ losses, rel=1e-12)
    p = np.exp(log_p)
    truth = (np.arange(n_classes) == y[:, None]).astype(float)
    mine = slice(1, None) if n_scores == 1 else slice(None)
    np.testing.assert_allclose(residual, weight[:, None] * (p - truth)[:, mine], rtol=1e-9, atol=1e-13)
    fill_hessian(residual, y, weight, curvature)
    np.testing.assert_allclose(curvature, weight[:, None] * (p * (1.0 - p))[:, mine], rtol=1e-6, atol=1e-13)
