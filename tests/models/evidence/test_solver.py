"""Tables and slopes against plain matrices and finite differences; the solution against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from likely.models.evidence.design import UNIT_BASIS, Basis, Design
from likely.models.evidence.encoding import kronecker, numeric_covariance
from likely.models.evidence.fitter import solve
from likely.models.evidence.row_source import RowsInMemory, log_prior
from likely.numerics import lbfgs
from likely.parallel import WorkerPool

rng = np.random.default_rng(3)


def basis(rows: int, rank: int) -> Basis:
    matrix = rng.normal(size=(rows, rank))
    matrix[0] = 0.0
    return Basis(rows, rank, matrix)


def written_out(one: Basis) -> np.ndarray:
    return np.eye(one.rows, one.rank, k=-1) if one.matrix is None else one.matrix


BLOCKS = [
    (basis(5, 3), UNIT_BASIS),
    (Basis.identity(4), UNIT_BASIS),
    (basis(5, 2), basis(3, 2)),
    (Basis.identity(3), basis(4, 2)),
    (basis(3, 2), Basis.identity(4)),
    (Basis.identity(3), Basis.identity(3)),
    (kronecker(basis(3, 2), Basis.identity(3)), basis(3, 2)),
]


@pytest.mark.parametrize("n_scores", [1, 3])
def test_tables_are_products_of_bases(n_scores: int) -> None:
    design = Design.of(BLOCKS)
    scales = rng.random(len(BLOCKS)) + 0.5
    u = rng.normal(size=(design.n_coefficients, n_scores))
    slope = rng.normal(size=(design.n_cells, n_scores))
    whole = np.zeros((design.n_cells, design.n_coefficients))
    cell = coefficient = 0
    for scale, (a, b) in zip(scales, BLOCKS, strict=True):
        block = scale * np.kron(written_out(a), written_out(b))
        whole[cell : cell + block.shape[0], coefficient : coefficient + block.shape[1]] = block
        cell, coefficient = cell + block.shape[0], coefficient + block.shape[1]
    np.testing.assert_allclose(design.tables(u, scales), whole @ u, atol=1e-12)
    np.testing.assert_allclose(design.coefficient_gradient(slope, scales), whole.T @ slope, atol=1e-12)
    weights = rng.random(design.n_cells)
    np.testing.assert_allclose(design.hessian_diagonal(weights, scales), (whole**2).T @ weights, atol=1e-12)


def rows_of(n_classes: int, offset: bool, n: int = 90) -> tuple[RowsInMemory, np.ndarray]:
    sizes = [4, 3, 6]
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.uint16)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    n_scores = 1 if n_classes == 2 else n_classes
    before = rng.normal(size=(n, n_scores)) if offset else np.zeros((0, n_scores))
    y = rng.integers(0, n_classes, n).astype(np.int32)
    return RowsInMemory(codes, y, rng.random(n), n_classes, before, WorkerPool(1)), starts


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_slopes_are_those_of_finite_differences(n_classes: int, offset: bool) -> None:
    rows, starts = rows_of(n_classes, offset)
    tables, base = rng.normal(size=(13, rows.n_scores)), rng.normal(size=rows.n_scores)
    _, slope, base_slope = rows.loss_and_gradient(starts, tables, base)
    step = 1e-6
    for cell in range(13):
        for c in range(rows.n_scores):
            up, down = tables.copy(), tables.copy()
            up[cell, c] += step
            down[cell, c] -= step
            found = (rows.loss_and_gradient(starts, up, base)[0] - rows.loss_and_gradient(starts, down, base)[0]) / (
                2 * step
            )
            assert found == pytest.approx(slope[cell, c], abs=1e-6)
    for c in range(rows.n_scores):
        more = base.copy()
        more[c] += step
        found = (
            rows.loss_and_gradient(starts, tables, more)[0] - rows.loss_and_gradient(starts, tables, base)[0]
        ) / step
        assert found == pytest.approx(base_slope[c], abs=1e-4)


def test_the_least_is_found() -> None:
    """One-hot ridge regression by scikit-learn has the same loss; its intercept is given to ours as an offset."""
    n = 400
    codes = np.stack([rng.integers(1, 5, n), rng.integers(1, 4, n)], axis=1).astype(np.uint8)
    hot = np.concatenate([np.eye(5)[codes[:, 0]][:, 1:], np.eye(4)[codes[:, 1]][:, 1:]], axis=1)
    y = (rng.random(n) < 1 / (1 + np.exp(-hot @ rng.normal(size=7)))).astype(np.int32)
    oracle = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000)
    prior = log_prior(np.bincount(y).astype(float))
    design = Design.of([(Basis.identity(5), UNIT_BASIS), (Basis.identity(4), UNIT_BASIS)])
    rows = RowsInMemory(codes, y, np.ones(n), 2, np.tile(-prior, (n, 1)), WorkerPool(1))
    coefficients, _, _ = solve(rows, design, np.full(2, np.sqrt(0.5)), np.zeros((7, 1)), 1e-12)
    found = coefficients[:, 0] * np.sqrt(0.5)
    np.testing.assert_allclose(found, oracle.fit(hot, y).coef_[0], atol=1e-4)


def test_floored_coordinates_stay_above_zero() -> None:
    target = np.array([1.0, -2.0, 3.0])

    def look(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(((x - target) ** 2).sum()), 2 * (x - target)

    found, _ = lbfgs(look, np.ones(3), np.full(3, 0.3), 1e-14, np.array([True, True, False]))
    np.testing.assert_allclose(found, [1.0, 0.0, 3.0], atol=1e-6)


def test_the_prior_covariance_is_one_on_average_and_definite() -> None:
    matrix = numeric_covariance(np.array([0.0, 1.0, 2.0, 10.0]), np.array([10.0, 20.0, 5.0, 5.0]))
    assert np.linalg.eigvalsh(matrix).min() > 0.02
    np.testing.assert_allclose(matrix, matrix.T)
    assert 0.5 < np.trace(matrix) / 4 < 2.5


def test_threads_change_nothing() -> None:
    n = 90_000
    codes = rng.integers(0, 50, (n, 30)).astype(np.uint8)
    starts = (50 * np.arange(30)).astype(np.int32)
    y, weight = rng.integers(0, 2, n).astype(np.int32), np.ones(n)
    tables = rng.normal(size=(1500, 1))
    found = []
    for n_jobs in (1, 2, 5):
        rows = RowsInMemory(codes, y, weight, 2, np.zeros((0, 1)), WorkerPool(n_jobs))
        assert len(rows.partition(1500)) > 1
        found.append(rows.loss_and_gradient(starts, tables, np.zeros(1)))
    for other in found[1:]:
        assert other[0] == found[0][0]
        assert (other[1] == found[0][1]).all()
