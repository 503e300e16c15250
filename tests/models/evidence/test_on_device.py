"""Rows of a GPU are scored as rows of the host are: tables, trees and the discriminant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from likely import EvidenceClassifier
from likely.errors import LikelyError
from tests.engines.gpu.device import Device, device_for_tests


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with device_for_tests(tmp_path_factory.mktemp("kernels")) as here:
        yield here


def columns_of(n_rows: int, n_classes: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numbers with gaps, categories as whole numbers, and a class that depends on four columns at once."""
    rng = np.random.default_rng(n_classes)
    a, b, c = rng.normal(size=(3, n_rows))
    kind, shift = rng.integers(0, 7, n_rows), rng.integers(0, 3, n_rows)
    parity = (a > 0) ^ (b > 0.3) ^ (c > -0.2) ^ (kind % 2 == 0)
    y = (2 * parity + (a * b > 0.5) + (rng.random(n_rows) < 0.1)) % n_classes
    a[rng.random(n_rows) < 0.05] = np.nan
    return {"a": a, "b": b, "c": c, "kind": kind, "shift": shift}, y.astype(np.int64)


def same(gpu: Device, clf: EvidenceClassifier, columns: dict[str, np.ndarray]) -> None:
    given = {name: gpu.put(column) for name, column in columns.items()}
    told = gpu.get(clf.predict_joint_log_proba(given))
    np.testing.assert_allclose(told, clf.predict_joint_log_proba(columns), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gpu.get(clf.predict_proba(given)), clf.predict_proba(columns), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(gpu.get(clf.predict(given)), clf.predict(columns))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tables_trees_and_discriminant(gpu: Device, n_classes: int) -> None:
    columns, y = columns_of(4_000, n_classes)
    clf = EvidenceClassifier(schema={"kind": "nominal", "shift": "nominal"}, max_triples=3).fit(columns, y)
    evidence = clf.model_.evidence
    assert len(evidence.trees) or len(evidence.terms)
    new = {name: column[:300].copy() for name, column in columns.items()}
    new["kind"][:20] = 99  # never seen
    new["b"][:9] = np.nan  # a gap where there was none
    new["c"][0] = evidence.encoding.columns[2].cuts[0]  # at a cut
    same(gpu, clf, new)


def test_a_discriminant(gpu: Device) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 1_500)
    mix = rng.normal(size=(3, 6, 6))
    X = np.einsum("ij,ijk->ik", rng.normal(size=(1_500, 6)), mix[y])
    clf = EvidenceClassifier().fit(X, y)
    assert len(clf.model_.evidence.discriminant)
    told = gpu.get(clf.predict_proba(gpu.put(X.astype(np.float32))))
    np.testing.assert_allclose(told, clf.predict_proba(X.astype(np.float32)), rtol=1e-9, atol=1e-12)


def test_more_classes_than_a_thread_holds(gpu: Device) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 20, 1_000)
    X = rng.normal(size=(1_000, 2)) + y[:, None]
    clf = EvidenceClassifier(depth="columns").fit(X, y)
    np.testing.assert_allclose(gpu.get(clf.predict_proba(gpu.put(X))), clf.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_what_is_not_done_there_is_told(gpu: Device) -> None:
    columns, y = columns_of(300, 2)
    texts = {"note": np.array(["good day", "bad night", "good night"])[y], "b": columns["b"]}
    clf = EvidenceClassifier(schema={"note": "text"}).fit(texts, y)
    with pytest.raises(LikelyError, match=r"'note'.* not scored on a GPU"):
        clf.predict({"note": gpu.put(columns["b"]), "b": gpu.put(columns["b"])})
    with pytest.raises(LikelyError, match="GPU"):
        EvidenceClassifier().fit({name: gpu.put(column) for name, column in columns.items()}, gpu.put(y))
    words = EvidenceClassifier().fit({"kind": np.array(["a", "b", "c"])[y], "b": columns["b"]}, y)
    with pytest.raises(LikelyError, match="'kind' was learned as 'a'"):
        words.predict({"kind": gpu.put(columns["kind"]), "b": gpu.put(columns["b"])})
    same(gpu, EvidenceClassifier().fit({"b": columns["b"]}, y), {"b": columns["b"]})
