"""Support vector machines in files: made-up ones are refused or harmless."""

from __future__ import annotations

import copy
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_arrays

import likely
from likely import SVMClassifier
from likely.errors import ModelFileError
from likely.models.svm import FarWarning, Gauss, Linear
from likely.store import container
from tests.store.test_damage import STRANGE, put, refused, sealed, walked

ROWS: dict[str, list[Any]] = {"a": [0.3, None], "b": ["x", "never"], "t": ["red car", None]}
LEFT_OUT = {"created", "likely", "sources", "schema"}
"""Provenance may say anything; schemas are tried with other classifiers."""


def table(n: int = 40) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(4)
    y = rng.choice(["no", "yes", "perhaps"], n)
    a = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + (y == "yes"))
    return {"a": a, "b": rng.choice(["x", "y"], n), "t": rng.choice(["red car", "blue bike"], n)}, y


@pytest.fixture(scope="module", params=["text", "plane"])
def content(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    X, y = table()
    path = tmp_path_factory.mktemp("model") / "m.likely"
    settings: dict[str, Any] = {
        "text": {"schema": {"t": "text"}, "kernel": Gauss(2.0) + 0.5 * Linear()},
        "plane": {"kernel": "linear", "class_weight": {"no": 2.0}, "priors": "uniform"},
    }[request.param]
    clf = SVMClassifier(**settings).fit(X, y)
    if request.param == "plane":
        from likely.models.svm.solver import Problem, SolverPlan, solve_linear

        rows = clf.preparation_.rows(clf._read(X))
        codes = np.unique(y, return_inverse=True)[1].astype(np.int32)
        clf.machine_ = solve_linear(Problem(rows, codes, 3), SolverPlan(1.0, Linear()))
        clf.support_, clf.method_ = clf.machine_.rows, "plane"
    clf.save(path)
    return path.read_bytes()


def test_a_made_up_document_is_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    body, path = save_arrays(arrays), tmp_path / "m.likely"
    trails = [trail for trail in walked(document) if trail and trail[0] not in LEFT_OUT]
    refusals = 0
    for trail in trails:
        for new in STRANGE:
            changed = copy.deepcopy(document)
            put(changed, trail, new)
            path.write_bytes(sealed(json.dumps(changed).encode(), body))
            try:
                clf = likely.load(path)
            except ModelFileError:
                refusals += 1
                continue
            shares = clf.predict_proba(ROWS)
            assert np.isfinite(shares).all()
    assert refusals > 0.5 * len(trails) * len(STRANGE)


def test_made_up_arrays_are_refused(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    text, path = json.dumps(document).encode(), tmp_path / "m.likely"
    for name, array in arrays.items():
        if array.size:
            for new in (array[:0], array.astype(np.int32 if array.dtype != np.int32 else np.int64)):
                refused(path, sealed(text, save_arrays({**arrays, name: np.ascontiguousarray(new)})))
        if array.dtype == np.float64 and array.size:
            for bad in (np.nan, np.inf):
                refused(path, sealed(text, save_arrays({**arrays, name: np.full_like(array, bad)})))
        if array.dtype in (np.int32, np.int64) and array.size:
            refused(path, sealed(text, save_arrays({**arrays, name: np.full_like(array, -3)})))
        refused(path, sealed(text, save_arrays({k: v for k, v in arrays.items() if k != name})))


def test_large_numbers_do_not_become_nan(content: bytes, tmp_path: Path) -> None:
    """A file may hold any finite coefficients: then probabilities are odd, but they are probabilities."""
    document, arrays = container.unpack(content)
    text, path = json.dumps(document).encode(), tmp_path / "m.likely"
    for name, array in arrays.items():
        if array.dtype == np.float64 and array.size:
            for odd in (1e119, 1e300):
                path.write_bytes(sealed(text, save_arrays({**arrays, name: np.full_like(array, odd)})))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FarWarning)
                    try:
                        shares = likely.load(path).predict_proba(ROWS)
                    except ModelFileError:
                        continue
                assert np.isfinite(shares).all(), name
