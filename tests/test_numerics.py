"""Minimisers and softmax: against answers that are known, where a plain step would go wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from likely.arrays import Array
from likely.numerics import lbfgs, log_normalise, newton, step_lengths


def test_softmax_and_its_logarithm_do_not_overflow() -> None:
    scores = np.random.default_rng(0).normal(size=(50, 4)) * 1000.0
    scores[0, 1] = -np.inf
    shares, logs = log_normalise(scores)
    np.testing.assert_allclose(shares, softmax(scores, axis=1), rtol=1e-12)
    np.testing.assert_allclose(logs, log_softmax(scores, axis=1), rtol=1e-12)


def test_step_lengths_are_halved_down_to_the_shortest() -> None:
    assert list(step_lengths(0.2)) == [1.0, 0.5, 0.25]


def log_cosh(x: Array) -> tuple[float, Array, Array]:
    """Newton's method without a line search runs away from beyond about 1.1."""
    return float(np.logaddexp(x, -x).sum()), np.tanh(x), np.diag(1.0 / np.cosh(x) ** 2)


def test_newton_backtracks_where_a_full_step_overshoots() -> None:
    x = newton(log_cosh, np.array([3.0, -2.0]), max_steps=50, shortest=1e-12, max_gradient=1e-10, armijo=1e-4)
    np.testing.assert_allclose(x, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_minimisers_agree_and_meet_their_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 6))
    hessian, linear = root @ root.T + 0.1 * np.eye(6), rng.normal(size=6) * 3.0

    def quadratic(x: Array) -> tuple[float, Array, Array]:
        return float(0.5 * x @ hessian @ x + linear @ x), hessian @ x + linear, hessian

    exact = newton(quadratic, np.ones(6), max_steps=200, shortest=1e-12, min_gain=1e-13, nonnegative=True)
    gradient = quadratic(exact)[1]
    assert (exact >= 0.0).all()
    assert (gradient[exact == 0.0] >= -1e-5).all()
    np.testing.assert_allclose(gradient[exact > 0.0], 0.0, atol=1e-5)
    found, evaluations = lbfgs(
        lambda x: quadratic(x)[:2], np.ones(6), 1.0 / hessian.diagonal(), 1e-15, np.ones(6, dtype=np.bool_)
    )
    assert evaluations < 200
    np.testing.assert_allclose(quadratic(found)[0], quadratic(exact)[0], atol=1e-6)
