"""The largest variance that rows do not refuse: Laplace's approximation beside integrals, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from likely.models.evidence.laplace import laplace_mode, largest_supported_variance
from likely.models.evidence.predictor import LaplaceRows
from likely.models.evidence.search import VARIANCE_GRID


@pytest.mark.parametrize(("variance", "before", "truth"), [(0.1, 0.0, 1.0), (0.5, -1.0, 1.0), (1.0, 2.0, 0.0)])
def test_how_probable_one_row_is(variance: float, before: float, truth: float) -> None:
    found = laplace_mode(np.array([[variance]]), np.array([truth]), np.array([before]), np.ones(1), np.zeros(1))
    sign = 2.0 * truth - 1.0
    exact = quad(lambda f: norm.pdf(f, scale=np.sqrt(variance)) * expit(sign * (before + f)), -20.0, 20.0)[0]
    assert found.log_marginal_likelihood == pytest.approx(np.log(exact), abs=0.02)


def test_the_peak_is_where_a_general_solver_finds_it() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(12, 5))
    covariance, truth = 0.7 * root @ root.T, rng.integers(0, 2, 12).astype(float)
    before, weight = rng.normal(size=12), rng.uniform(0.5, 3.0, 12)

    def loss(u: np.ndarray) -> float:
        odds = before + np.sqrt(0.7) * root @ u
        return float(0.5 * u @ u + weight @ np.logaddexp(0.0, np.where(truth > 0.0, -odds, odds)))

    scores = np.sqrt(0.7) * root @ minimize(loss, np.zeros(5), tol=1e-10).x
    for start in (np.zeros(12), 50.0 * rng.normal(size=12)):
        found = laplace_mode(covariance, truth, before, weight, start)
        np.testing.assert_allclose(covariance @ found.alpha, scores, atol=0.02)


def seen(n: int, slope: float, n_classes: int = 2) -> tuple[np.ndarray, LaplaceRows]:
    """A straight line that speaks for the last class."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    y = np.where(rng.random(n) < expit(slope * x), n_classes - 1, rng.integers(0, n_classes - 1, n)).astype(np.int32)
    n_scores = 1 if n_classes == 2 else n_classes
    nothing = np.zeros((n, n_scores))
    return np.outer(x, x), LaplaceRows(np.zeros((n, 1), dtype=np.uint8), nothing, y, np.ones(n), nothing)


def test_more_rows_refuse_more() -> None:
    few, some, many = (largest_supported_variance(*seen(n, 0.0), start=0.1) for n in (0, 20, 400))
    assert few == 0.1  # nothing was seen
    assert VARIANCE_GRID[-1] >= some > many
    assert largest_supported_variance(*seen(400, 2.0), start=0.1) > many


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_where_it_begins_does_not_matter(n_classes: int) -> None:
    assert (
        len(
            {
                largest_supported_variance(*seen(200, 1.0, n_classes), start)
                for start in (VARIANCE_GRID[0], 0.3, VARIANCE_GRID[-1])
            }
        )
        == 1
    )


def test_a_row_of_weight_two_is_two_rows() -> None:
    believed, rows = seen(60, 1.0)
    twice = np.repeat(np.arange(60), 2)
    doubled = LaplaceRows(
        rows.codes[twice], rows.hessian[twice], rows.y[twice], np.ones(120), rows.prior_log_odds[twice]
    )
    heavy = LaplaceRows(rows.codes, rows.hessian, rows.y, np.full(60, 2.0), rows.prior_log_odds)
    truth = rows.y.astype(float)
    one = laplace_mode(believed, truth, heavy.prior_log_odds[:, 0], heavy.weight, np.zeros(60))
    two = laplace_mode(
        believed[np.ix_(twice, twice)], truth[twice], doubled.prior_log_odds[:, 0], doubled.weight, np.zeros(120)
    )
    assert one.log_marginal_likelihood == pytest.approx(two.log_marginal_likelihood, abs=1e-3)
    assert largest_supported_variance(believed, heavy, 0.3) == largest_supported_variance(
        believed[np.ix_(twice, twice)], doubled, 0.3
    )
