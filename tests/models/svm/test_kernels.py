"""Kernels are scalar products: identities by hand, laws for sums and products, a warning for what is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from likely.errors import DataError, SettingsError
from likely.models.svm import Gauss, Kernel, KernelWarning, Linear, Polynomial, Sigmoid, smallest_eigenvalue
from likely.models.svm.kernels import as_kernel
from likely.models.svm.machine import gram_matrix, warn_if_not_psd

POINT = st.tuples(*[st.floats(-50.0, 50.0)] * 2)
ROOT = np.sqrt(2.0)

SIMPLE = st.sampled_from([Linear(), Polynomial(2, 1.0), Polynomial(3, 0.0, 0.1), Gauss(0.7), Gauss(3.0)])
KERNELS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, k: a * k, st.floats(0.1, 5.0), inner),
    ),
    max_leaves=4,
)


@given(POINT, POINT)
def test_the_inhomogeneous_square_is_a_product_of_six_features(x: tuple[float, float], y: tuple[float, float]) -> None:
    """(x·y + 1)² = (a², b², √2 a, √2 b, √2 ab, 1) · (…)."""

    def features(a: float, b: float) -> np.ndarray:
        return np.array([a * a, b * b, ROOT * a, ROOT * b, ROOT * a * b, 1.0])

    wanted = float(features(*x) @ features(*y))
    scale = float(np.abs(features(*x)) @ np.abs(features(*y)))
    assert Polynomial(degree=2, offset=1.0)([x], [y])[0, 0] == pytest.approx(wanted, abs=1e-12 * scale)


@given(POINT, POINT)
def test_the_plain_square_is_a_product_of_three_features(x: tuple[float, float], y: tuple[float, float]) -> None:
    """(x·y)² = (a², √2 ab, b²) · (…)."""

    def features(a: float, b: float) -> np.ndarray:
        return np.array([a * a, ROOT * a * b, b * b])

    wanted = float(features(*x) @ features(*y))
    scale = float(np.abs(features(*x)) @ np.abs(features(*y)))
    assert Polynomial(degree=2, offset=0.0)([x], [y])[0, 0] == pytest.approx(wanted, abs=1e-12 * scale + 1e-300)


@given(KERNELS, KERNELS, st.floats(0.01, 100.0), st.integers(0, 99))
def test_kernels_add_scale_and_multiply(first: Kernel, second: Kernel, factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose((first + second)(A, B), first(A, B) + second(A, B))
    np.testing.assert_allclose((first * second)(A, B), first(A, B) * second(A, B))
    np.testing.assert_allclose((factor * first)(A, B), factor * first(A, B))
    np.testing.assert_allclose((first * factor)(A, B), factor * first(A, B))


@given(KERNELS, st.integers(0, 99))
def test_what_is_made_of_scalar_products_is_one(kernel: Kernel, seed: int) -> None:
    assert kernel.is_positive
    assert smallest_eigenvalue(kernel, np.random.default_rng(seed).normal(size=(12, 3))) > -1e-9


@given(KERNELS, st.integers(0, 99))
def test_blocks_give_the_whole_matrix(kernel: Kernel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(150, 3)), rng.normal(size=(7, 3))
    np.testing.assert_allclose(gram_matrix(kernel, A, B, 2), kernel(A, B), rtol=1e-9, atol=1e-12)


def test_against_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    np.testing.assert_allclose(Gauss(2.0)(A, B), rbf_kernel(A, B, gamma=1.0 / 8.0))
    np.testing.assert_allclose(Polynomial(3, 2.0, 0.5)(A, B), polynomial_kernel(A, B, 3, 0.5, 2.0))
    np.testing.assert_allclose(Sigmoid(0.3, -0.2)(A, B), sigmoid_kernel(A, B, 0.3, -0.2))
    np.testing.assert_allclose(Linear()(A, B), A @ B.T)


def test_an_open_width_is_settled_from_the_data() -> None:
    settled = Gauss().settled(8.0)
    assert isinstance(settled, Gauss)
    assert settled.sigma == 2.0
    assert settled.gamma == 1.0 / 8.0  # what scikit-learn calls "scale"
    assert (Gauss() + Linear()).is_open
    assert not (Gauss() + Linear()).settled(8.0).is_open


def test_far_apart_is_zero_and_never_nan() -> None:
    far = np.array([[1e100, 0.0]])
    for kernel in (Gauss(1.0), Polynomial(9, 1.0), Polynomial(9, 1.0) * Polynomial(9, 1.0), Sigmoid(1.0)):
        assert np.isfinite(kernel(far, -far)).all()
        assert np.isfinite(kernel(far)).all()


def test_a_kernel_that_is_none_is_warned_of() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(KernelWarning, match="not positive semidefinite"):
        warn_if_not_psd(Sigmoid(1.0, -1.0), rows)
    with pytest.warns(KernelWarning, match="not positive semidefinite"):
        warn_if_not_psd(Polynomial(2, -3.0), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_not_psd(Gauss(1.0), rows)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Gauss(0.0), "sigma"),
        (lambda: Gauss(float("nan")), "sigma"),
        (lambda: Polynomial(0), "degree"),
        (lambda: Polynomial(2, float("inf")), "offset"),
        (lambda: -1.0 * Linear(), "factor"),
        (lambda: as_kernel("rbf"), "'gauss'"),
        (lambda: as_kernel(3), "Kernel"),
    ],
)
def test_bad_kernels_are_refused(make: object, told: str) -> None:
    assert callable(make)
    with pytest.raises(SettingsError, match=told):
        make()


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [3.0]], [["a", "b"]], [[np.nan, 1.0]], [[1.0]], np.ones((2, 2, 2))])
def test_rows_that_have_no_product_are_refused(rows: object) -> None:
    with pytest.raises(DataError):
        Gauss(1.0)(rows, [[1.0, 2.0]])


def test_a_kernel_may_be_looked_at_by_name() -> None:
    rows = [[0.1, 0.0], [1.0, 0.2], [4.0, 5.0]]
    assert smallest_eigenvalue("linear", rows) == pytest.approx(smallest_eigenvalue(Linear(), np.array(rows)))
    assert smallest_eigenvalue("linear", sparse.csr_array(rows)) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(DataError, match="finite"):
        smallest_eigenvalue("linear", [[np.inf, 1.0]])


def test_kernels_are_written_as_they_are_made() -> None:
    assert repr(0.7 * Gauss(sigma=2) + 0.3 * Polynomial(degree=2, offset=1)) == (
        "0.7 * Gauss(sigma=2) + 0.3 * Polynomial(degree=2, offset=1)"
    )
    assert repr((Gauss(1.0) + Linear()) * Linear()) == "(Gauss(sigma=1.0) + Linear()) * Linear()"
    assert repr(2.0 * (Linear() + Sigmoid(1.0))) == "2.0 * (Linear() + Sigmoid(slope=1.0, offset=0.0))"
