"""Rows of a GPU are counted and scored as rows of the host are.

The kernels run on a GPU where LIKELY_GPU asks for it (`make test-gpu`), else by the compiler of the host.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from likely import AODEClassifier, BayesClassifier, FullBayesClassifier
from likely.engines.gpu import tables
from likely.engines.gpu.rows import counter_of
from likely.errors import LikelyError
from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from tests.engines.gpu.device import Device, device_for_tests


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with device_for_tests(tmp_path_factory.mktemp("kernels")) as here:
        yield here


def numbers(n: int, d: int, k: int, *, seed: int = 0, gaps: float = 0.0, dtype: str = "float64"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = (rng.normal(size=(n, d)) + 0.7 * y[:, None] * rng.normal(size=d)).astype(dtype)
    if gaps:
        X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def same_summary(a, b) -> None:
    assert a.classes.labels.tolist() == b.classes.labels.tolist()
    np.testing.assert_array_equal(a.classes.rows, b.classes.rows)
    np.testing.assert_allclose(a.classes.weights, b.classes.weights, rtol=1e-12)
    assert set(a.parts) == set(b.parts)
    for part, seen in a.parts.items():
        other = b.parts[part]
        for name in seen.__slots__:
            mine, theirs = getattr(seen, name), getattr(other, name)
            if isinstance(mine, np.ndarray):
                np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9, err_msg=f"{part} {name}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, d, k, gaps", [(300, 3, 2, 0.0), (70_000, 2, 3, 0.1), (5, 40, 2, 0.0), (9_000, 5, 20, 0.3)])
def test_naive_bayes_of_numbers(gpu: Device, n: int, d: int, k: int, gaps: float, dtype: str) -> None:
    X, y = numbers(n, d, k, gaps=gaps, dtype=dtype)
    before = len(gpu.launched)
    host, device = BayesClassifier().fit(X, y), BayesClassifier().fit(gpu.put(X), gpu.put(y))
    same_summary(host.summary_, device.summary_)
    some = X[:500]
    told = device.predict_proba(gpu.put(some))
    assert type(told) is type(gpu.put(X))
    np.testing.assert_allclose(gpu.get(told), host.predict_proba(some), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(gpu.get(device.predict(gpu.put(some))), host.predict(some))
    np.testing.assert_allclose(
        gpu.get(device.predict_joint_log_proba(gpu.put(some))), host.predict_joint_log_proba(some), rtol=1e-8
    )
    cell = "float" if dtype == "float32" else "double"
    assert any(name.startswith(f"observe_tiles<{cell}, unsigned char, false,") for name in gpu.launched[before:])
    before, backwards = len(gpu.launched), np.asfortranarray(X)
    same_summary(host.summary_, BayesClassifier().fit(gpu.put(backwards), gpu.put(y)).summary_)
    assert f"observe_pieces<{cell}, false>" in gpu.launched[before:]


def on_gpu_in(library: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """How arrays get to a GPU in a library, and back."""
    if library == "torch":
        torch = pytest.importorskip("torch", exc_type=ImportError)
        return lambda array: torch.asarray(array, device="cuda"), lambda tensor: tensor.cpu().numpy()
    jax = pytest.importorskip("jax", exc_type=ImportError)
    jax.config.update("jax_enable_x64", True)
    return lambda array: jax.device_put(array, jax.devices("gpu")[0]), np.asarray


@pytest.mark.skipif(not os.environ.get("LIKELY_GPU"), reason="needs a real GPU: make test-gpu")
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries(library: str) -> None:
    put, get = on_gpu_in(library)
    X, y = numbers(5_000, 4, 3, gaps=0.1)
    host, device = BayesClassifier().fit(X, y), BayesClassifier().fit(put(X), put(y))
    same_summary(host.summary_, device.summary_)
    told = device.predict_proba(put(X))
    assert type(told) is type(put(X))
    np.testing.assert_allclose(get(told), host.predict_proba(X), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(get(device.predict(put(X))), host.predict(X))


@pytest.mark.parametrize("k", [2, 17, 40, 500])
def test_many_classes(gpu: Device, k: int) -> None:
    X, y = numbers(3_000, 3, k)
    host, device = BayesClassifier().fit(X, y), BayesClassifier().fit(gpu.put(X), gpu.put(y))
    same_summary(host.summary_, device.summary_)
    np.testing.assert_allclose(gpu.get(device.predict_proba(gpu.put(X))), host.predict_proba(X), rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(gpu.get(device.predict(gpu.put(X))), host.predict(X))


def test_variance_far_from_zero(gpu: Device) -> None:
    rng = np.random.default_rng(3)
    X, y = 1e8 + rng.normal(size=(20_000, 2)), rng.integers(0, 2, 20_000)
    y[:3] = 2
    X[:3] = 0.0
    host, device = BayesClassifier().fit(X, y), BayesClassifier().fit(gpu.put(X), gpu.put(y))
    same_summary(host.summary_, device.summary_)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e300])
def test_numbers_of_extreme_size(gpu: Device, size: float) -> None:
    X, y = numbers(400, 2, 2)
    X[:, 1] *= size
    host, device = BayesClassifier().fit(X, y), BayesClassifier().fit(gpu.put(X), gpu.put(y))
    for part, seen in host.summary_.parts.items():
        np.testing.assert_allclose(device.summary_.parts[part].root, seen.root, rtol=1e-9)


def test_weights(gpu: Device) -> None:
    X, y = numbers(5_000, 3, 3, gaps=0.05)
    weight = np.random.default_rng(1).random(len(y))
    host = BayesClassifier().fit(X, y, sample_weight=weight)
    device = BayesClassifier().fit(gpu.put(X), gpu.put(y), sample_weight=gpu.put(weight))
    same_summary(host.summary_, device.summary_)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
def test_categories(gpu: Device, dtype: str, weighted: bool) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 4_000)
    X = ((rng.integers(0, 6, (4_000, 4)) + y[:, None]) % 7).astype(dtype)
    if dtype == "float32":
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.random(4_000) if weighted else None
    schema = dict.fromkeys(("x0", "x1", "x2", "x3"), "nominal")
    host = BayesClassifier(schema=schema).fit(X, y, sample_weight=weight)
    device = BayesClassifier(schema=schema).fit(gpu.put(X), gpu.put(y), sample_weight=weight)
    same_summary(host.summary_, device.summary_)
    for part, seen in host.summary_.parts.items():
        assert device.summary_.parts[part].values == seen.values
        if not weighted:
            np.testing.assert_array_equal(device.summary_.parts[part].counts, seen.counts)
    new = X[:200].copy()
    if dtype in ("uint8", "int64"):
        new[0, 0] = 99
    np.testing.assert_allclose(gpu.get(device.predict_proba(gpu.put(new))), host.predict_proba(new), rtol=1e-9)


def test_a_dict_of_columns(gpu: Device) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2_000)
    columns = {"size": rng.normal(size=2_000) + y, "kind": rng.integers(0, 4, 2_000), "on": rng.random(2_000) < 0.3}
    on_device = {name: gpu.put(column) for name, column in columns.items()}
    kinds = {"kind": "nominal"}
    host, device = BayesClassifier(schema=kinds).fit(columns, y), BayesClassifier(schema=kinds).fit(on_device, y)
    same_summary(host.summary_, device.summary_)
    backwards = dict(reversed(on_device.items()))
    np.testing.assert_allclose(gpu.get(device.predict_proba(backwards)), host.predict_proba(columns), rtol=1e-9)
    with pytest.raises(LikelyError, match="size"):
        device.predict_proba({"kind": on_device["kind"], "on": on_device["on"]})


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal"])
def test_full_bayes(gpu: Device, covariance: str, gaps: float) -> None:
    X, y = numbers(3_000, 4, 3, gaps=gaps)
    host = FullBayesClassifier(covariance=covariance).fit(X, y)
    device = FullBayesClassifier(covariance=covariance).fit(gpu.put(X), gpu.put(y))
    same_summary(host.summary_, device.summary_)
    known = X[~np.isnan(X).any(axis=1)]
    np.testing.assert_allclose(
        gpu.get(device.predict_proba(gpu.put(known))), host.predict_proba(known), rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize(
    "families",
    ["bins", "lognormal", "poisson", "bernoulli", {"x0": "lognormal", "x1": "poisson", "x2": "gaussian", "x3": "bins"}],
)
@pytest.mark.parametrize("weights", [None, "learned"])
def test_other_families(gpu: Device, families: str | dict[str, str], weights: str | None) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 6_000)
    X = rng.poisson(3 + y[:, None], (6_000, 4)) + 1.0
    X[:, 3] *= rng.random(6_000) + 0.1
    if families == "bins":
        X = rng.normal(size=(6_000, 4)) * (1 + y[:, None])
    if families == "bernoulli":
        X = np.maximum(X - 4.0, 0.0)
    X[::11, 2] = np.nan
    host = BayesClassifier(families=families).fit(X, y)
    device = BayesClassifier(families=families).fit(gpu.put(X), gpu.put(y))
    same_summary(host.summary_, device.summary_)
    if weights is not None:  # learned where all rows are at hand
        host = device = BayesClassifier(families=families, weights=weights).fit(X, y)
    new = X.copy()
    new[0], new[1] = -2.0, 0.0
    told = device.predict_joint_log_proba(gpu.put(new))
    np.testing.assert_allclose(gpu.get(told), host.predict_joint_log_proba(new), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gpu.get(device.predict_proba(gpu.put(new))), host.predict_proba(new), rtol=1e-9)


def test_what_never_happened_rules_a_class_out(gpu: Device) -> None:
    y = np.arange(400) % 2
    X = np.stack([np.where(y == 0, 0.0, 1.0 + np.arange(400) % 3), np.arange(400) % 5], axis=1)
    host = BayesClassifier(families="poisson", smoothing=0.0).fit(X, y)
    told = gpu.get(host.predict_joint_log_proba(gpu.put(X)))
    assert np.isneginf(told[1, 0])
    np.testing.assert_allclose(told, host.predict_joint_log_proba(X), rtol=1e-9)


def test_pairs_of_columns(gpu: Device) -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 2_000)
    X = {"a": rng.normal(size=2_000), "b": rng.integers(0, 4, 2_000), "c": rng.integers(0, 3, 2_000)}
    X["a"][::7] = np.nan
    kinds = {"b": "nominal", "c": "nominal"}
    host = AODEClassifier(schema=kinds).fit(X, y)
    device = AODEClassifier(schema=kinds).fit({name: gpu.put(column) for name, column in X.items()}, y)
    same_summary(host.summary_, device.summary_)


def test_learning_more_forgetting_and_merging(gpu: Device) -> None:
    X, y = numbers(2_000, 3, 2)
    whole = BayesClassifier().fit(X, y)
    device = BayesClassifier().fit(gpu.put(X[:900]), gpu.put(y[:900]))
    device.partial_fit(gpu.put(X[900:]), gpu.put(y[900:]))
    same_summary(whole.summary_, device.summary_)
    device.forget(gpu.put(X[:500]), gpu.put(y[:500]))
    same_summary(BayesClassifier().fit(X[500:], y[500:]).summary_, device.summary_)
    device.merge(BayesClassifier().fit(X[:500], y[:500]))
    same_summary(whole.summary_, device.summary_)


def test_labels_of_other_kinds(gpu: Device) -> None:
    X, y = numbers(600, 2, 3)
    for labels in (y.astype(np.int64) * 1_000_000 - 7, y.astype(np.float32) * 2, y > 0):
        device = BayesClassifier().fit(gpu.put(X), gpu.put(labels))
        host = BayesClassifier().fit(X, labels)
        same_summary(host.summary_, device.summary_)
        np.testing.assert_array_equal(gpu.get(device.predict(gpu.put(X))), host.predict(X))
    words = np.array(["red", "green", "blue"])[y]
    device = BayesClassifier().fit(gpu.put(X), words)
    assert device.predict(gpu.put(X)).tolist() == BayesClassifier().fit(X, words).predict(X).tolist()


@pytest.mark.parametrize(
    "X, y, message",
    [
        (np.array([[1.0], [np.inf]]), np.array([0, 1]), r"Row 1 .*infinity"),
        (np.array([[1.0], [2.0]]), np.array([0.0, np.nan]), "Input y contains NaN"),
        (np.array([[1.0], [2.0]]), np.array([0.0, 0.5]), "continuous"),
        (np.array([[1.0], [2.0]]), np.array([0, 1, 1]), "inconsistent numbers of samples"),
        (np.array([1.0, 2.0]), np.array([0, 1]), "Expected 2D array"),
        (np.zeros((0, 2)), np.zeros(0, dtype=int), "0 sample"),
        (np.array([[1 + 2j]]), np.array([0]), "Complex data"),
    ],
)
def test_what_cannot_be_learned_is_told(gpu: Device, X, y, message: str) -> None:
    with pytest.raises(LikelyError, match=message):
        BayesClassifier().fit(gpu.put(X), gpu.put(y))


def test_an_infinite_cell_is_named_when_scored(gpu: Device) -> None:
    X, y = numbers(100, 2, 2)
    device = BayesClassifier().fit(gpu.put(X), gpu.put(y))
    X[42, 1] = -np.inf
    with pytest.raises(LikelyError, match="Row 42 of column 'x1'"):
        device.predict_proba(gpu.put(X))


# scikit-learn's classifiers.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_nb(gpu: Device, dtype: str, weighted: bool) -> None:
    X, y = numbers(4_000, 5, 3, dtype=dtype)
    weight = np.random.default_rng(0).random(4_000) if weighted else None
    host = GaussianNB().fit(X, y, sample_weight=weight)
    device = GaussianNB().fit(gpu.put(X), gpu.put(y), sample_weight=weight)
    assert device.theta_.dtype == host.theta_.dtype
    again = device.fit(gpu.put(X.astype(np.float64)), gpu.put(y)).fit(gpu.put(X), gpu.put(y), sample_weight=weight)
    assert again.theta_.dtype == host.theta_.dtype
    np.testing.assert_allclose(device.theta_, host.theta_, rtol=1e-6)
    np.testing.assert_allclose(device.var_, host.var_, rtol=1e-6)
    told = gpu.get(device.predict_proba(gpu.put(X)))
    assert told.dtype == host.predict_proba(X).dtype
    np.testing.assert_allclose(told, host.predict_proba(X), rtol=1e-4 if dtype == "float32" else 1e-8, atol=1e-7)
    more = GaussianNB().partial_fit(gpu.put(X[:999]), gpu.put(y[:999]), classes=[0, 1, 2])
    more.partial_fit(gpu.put(X[999:]), gpu.put(y[999:]))
    np.testing.assert_allclose(more.theta_, GaussianNB().fit(X, y).theta_, rtol=1e-6)
    X[3, 1] = np.nan
    with pytest.raises(LikelyError, match="NaN"):
        GaussianNB().fit(gpu.put(X), gpu.put(y))
    with pytest.raises(LikelyError, match="NaN"):
        device.predict(gpu.put(X))


@pytest.mark.parametrize("n_columns", [1, 2, 4, 6, 30, 66, 140])
@pytest.mark.parametrize("n_rows, least", [(1, 0), (2, 3), (777, 0), (6_000, 2)])
def test_bytes_are_counted_by_words(gpu: Device, n_columns: int, n_rows: int, least: int) -> None:
    rng = np.random.default_rng(n_rows + n_columns)
    y = rng.integers(0, 3, n_rows).astype(np.uint8)
    X = (rng.integers(0, 7, (n_rows, n_columns)) + least).astype(np.uint8)
    counter = counter_of(gpu.put(X), gpu.put(y), None)
    before = len(gpu.launched)
    counts = tables._count_between(counter, counter.table.block(counter.table.names), least, 7)
    classes, n_values = np.unique(y), least + 7
    expected = [[np.bincount(X[y == c, j], minlength=n_values)[least:] for c in classes] for j in range(n_columns)]
    np.testing.assert_array_equal(counts, expected)
    kernel = gpu.launched[before:][-1]
    assert kernel.startswith("count_words<" if n_columns % 2 == 0 else "count_values<")
    for cell, far in product([(0, 0), (-1, -1)], (least - 1, least + 7, 200)):
        strange = X.copy()
        strange[cell] = max(far, 0)
        counter = counter_of(gpu.put(strange), gpu.put(y), None)
        found = tables._count_between(counter, counter.table.block(counter.table.names), least, 7)
        assert (found is None) == (far >= 0)


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_categorical_nb(gpu: Device, dtype: str) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 5, 6_000)
    X = (rng.integers(0, 10, (6_000, 30)) * rng.integers(0, 2, 30) + (y[:, None] == 2)).astype(dtype)
    X[5_999, 7] = 41  # the first rows do not show it
    host, device = CategoricalNB().fit(X, y), CategoricalNB().fit(gpu.put(X), gpu.put(y))
    for mine, theirs in zip(device.category_count_, host.category_count_, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    X[:9, 3] = 77
    np.testing.assert_allclose(gpu.get(device.predict_proba(gpu.put(X))), host.predict_proba(X), rtol=1e-9)
    assert any(name.startswith("count_values<") for name in gpu.launched)
    if dtype == "int32":
        X[0, 0] = -1
        with pytest.raises(LikelyError, match=r"[Nn]egative"):
            CategoricalNB().fit(gpu.put(X), gpu.put(y))


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
@pytest.mark.parametrize("sparse", [False, True])
def test_counts_of_words(gpu: Device, kind: type[MultinomialNB] | type[ComplementNB], sparse: bool) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 1_500)
    X = rng.poisson(0.2 + 0.3 * (y[:, None] == np.arange(12) % 3), (1_500, 12)).astype(np.float64)
    given = gpu.put_sparse(scipy.sparse.csr_array(X)) if sparse else gpu.put(X)
    host, device = kind().fit(X, y), kind().fit(given, gpu.put(y))
    np.testing.assert_array_equal(device.feature_count_, host.feature_count_)
    np.testing.assert_allclose(gpu.get(device.predict_proba(given)), host.predict_proba(X), rtol=1e-9)
    assert gpu.get(device.predict(given)).tolist() == host.predict(X).tolist()
    X[0, 0] = -1.0
    with pytest.raises(LikelyError, match=r"[Nn]egative"):
        kind().fit(gpu.put_sparse(scipy.sparse.csr_array(X)) if sparse else gpu.put(X), y)


@pytest.mark.parametrize("binarize", [0.0, 1.5, None])
@pytest.mark.parametrize("sparse", [False, True])
def test_bernoulli_nb(gpu: Device, binarize: float | None, sparse: bool) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 1_500)
    X = rng.poisson(0.2 + 0.9 * (y[:, None] == np.arange(12) % 3), (1_500, 12)).astype(np.float64)
    X = np.minimum(X, 1.0) if binarize is None else X
    given = gpu.put_sparse(scipy.sparse.csr_array(X)) if sparse else gpu.put(X)
    host, device = BernoulliNB(binarize=binarize).fit(X, y), BernoulliNB(binarize=binarize).fit(given, gpu.put(y))
    np.testing.assert_array_equal(device.feature_count_, host.feature_count_)
    np.testing.assert_allclose(gpu.get(device.predict_proba(given)), host.predict_proba(X), rtol=1e-9)
    assert gpu.get(device.predict(given)).tolist() == host.predict(X).tolist()


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
def test_counts_have_no_gaps(gpu: Device, kind: type[MultinomialNB] | type[BernoulliNB]) -> None:
    X, y = np.ones((60, 2)), np.arange(60) % 2
    device = kind().fit(gpu.put(X), y)
    X[7, 1] = np.nan
    with pytest.raises(LikelyError, match="NaN"):
        kind().fit(gpu.put(X), y)
    with pytest.raises(LikelyError, match="NaN"):
        device.predict(gpu.put(X))
