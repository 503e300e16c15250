"""The Open Inference Protocol: six addresses, tensors in JSON and in bytes, and clients that others have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from likely.serve.open_inference import _pack, _texts
from tests.serve.conftest import Serve, weather, without_label

ROWS = without_label(weather(5, seed=2))
BY_COLUMN = [
    {"name": "wind", "shape": [5], "datatype": "FP64", "data": [row["wind"] for row in ROWS]},
    {"name": "town", "shape": [5, 1], "datatype": "BYTES", "data": [row["town"] for row in ROWS]},
    {"name": "rain", "shape": [5], "datatype": "INT64", "data": [row["rain"] for row in ROWS]},
]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of an array, whose columns have no names."""
    path = tmp_path_factory.mktemp("matrix") / "m.likely"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    likely.BayesClassifier().fit(rng.normal(size=(90, 4)) + y[:, None], y).save(path)
    return path


def test_health_and_metadata(trained: Path, serve: Serve) -> None:
    client = serve(trained, f"weather@2={trained}")
    for path in (
        "/v2/health/live",
        "/v2/health/ready",
        "/v2/models/weather/ready",
        "/v2/models/weather/versions/1/ready",
    ):
        assert client.get(path).status_code == 200
    assert set(client.get("/v2").json()) == {"name", "version", "extensions"}
    told = client.get("/v2/models/weather").json()
    assert [(t["name"], t["datatype"], t["shape"]) for t in told["inputs"]] == [
        ("wind", "FP64", [-1]), ("town", "BYTES", [-1]), ("rain", "FP64", [-1]),
    ]  # fmt: skip
    assert [(t["name"], t["datatype"], t["shape"]) for t in told["outputs"]] == [
        ("predict", "BYTES", [-1]), ("predict_proba", "FP64", [-1, 2]),
    ]  # fmt: skip
    assert told["versions"] == ["1", "2"]
    missing = client.get("/v2/models/nobody/ready")
    assert missing.status_code == 404 and set(missing.json()) == {"error"}


def test_a_tensor_for_each_column(trained: Path, serve: Serve) -> None:
    client, clf = serve(trained), likely.load(trained)
    said = client.post("/v2/models/weather/infer", json={"id": "x1", "inputs": BY_COLUMN}).json()
    assert said["id"] == "x1" and said["model_name"] == "weather"
    labels, shares = said["outputs"]
    assert labels["data"] == clf.predict(ROWS).tolist() and labels["shape"] == [5]
    assert_allclose(np.reshape(shares["data"], shares["shape"]), clf.predict_proba(ROWS), rtol=1e-12)
    only = client.post("/v2/models/weather/infer", json={"inputs": BY_COLUMN, "outputs": [{"name": "predict"}]}).json()
    assert only["outputs"] == [labels]


@pytest.mark.parametrize("nested", [False, True])
def test_one_tensor_for_all_columns(nested: bool, matrix: Path, serve: Serve) -> None:
    X = np.round(np.random.default_rng(1).normal(size=(6, 4)), 3)
    data = X.tolist() if nested else X.ravel().tolist()
    tensor = {"name": "input-0", "shape": [6, 4], "datatype": "FP64", "data": data}
    said = serve(matrix).post("/v2/models/m/versions/1/infer", json={"inputs": [tensor]}).json()
    labels, shares = said["outputs"]
    assert labels["datatype"] == "INT64" and labels["data"] == likely.load(matrix).predict(X).tolist()
    assert_allclose(np.reshape(shares["data"], shares["shape"]), likely.load(matrix).predict_proba(X), rtol=1e-12)


def test_tensors_as_bytes(trained: Path, serve: Serve) -> None:
    clf = likely.load(trained)
    wind = np.array([np.nan if row["wind"] is None else row["wind"] for row in ROWS], dtype="<f8").tobytes()
    towns = _pack([row["town"] or "" for row in ROWS], "BYTES")
    rain = np.array([row["rain"] for row in ROWS], dtype="<i8").tobytes()
    inputs = [
        {
            **{key: value for key, value in tensor.items() if key != "data"},
            "parameters": {"binary_data_size": len(content)},
        }
        for tensor, content in zip(BY_COLUMN, (wind, towns, rain), strict=True)
    ]
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    headers = {"inference-header-content-length": str(len(head)), "content-type": "application/octet-stream"}
    client = serve(trained)
    answer = client.post("/v2/models/weather/infer", content=head + wind + towns + rain, headers=headers)
    length = int(answer.headers["inference-header-content-length"])
    labels, shares = json.loads(answer.content[:length])["outputs"]
    size = labels["parameters"]["binary_data_size"]
    rows = [{**row, "town": row["town"] or ""} for row in ROWS]
    assert _texts("predict", 5, answer.content[length : length + size]) == clf.predict(rows).tolist()
    found = np.frombuffer(answer.content[length + size :], "<f8").reshape(shares["shape"])
    assert_allclose(found, clf.predict_proba(rows), rtol=1e-12)
    cut = client.post("/v2/models/weather/infer", content=head + wind + towns + rain[:-1], headers=headers)
    assert cut.status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": []}, {"inputs": {}}, {"inputs": [1]}, {"inputs": [{"name": 3}]}, {},
        {"inputs": [{**BY_COLUMN[0], "shape": [4]}]}, {"inputs": [{**BY_COLUMN[0], "shape": [-5]}]},
        {"inputs": [{**BY_COLUMN[0], "shape": [10**12]}]}, {"inputs": [{**BY_COLUMN[0], "datatype": "FP63"}]},
        {"inputs": [{**BY_COLUMN[0], "data": [[[1]]]}]}, {"inputs": [BY_COLUMN[0], BY_COLUMN[0]]},
        {"inputs": BY_COLUMN[:2]}, {"inputs": BY_COLUMN[:1]}, {"inputs": [{**BY_COLUMN[0], "shape": [5, 1, 1]}]},
        {"inputs": BY_COLUMN, "outputs": [{"name": "other"}]}, {"inputs": BY_COLUMN, "outputs": "predict"},
        {"inputs": [{**BY_COLUMN[0], "parameters": {"binary_data_size": 40}}]},
        {"inputs": [*BY_COLUMN[:2], {**BY_COLUMN[2], "shape": [4], "data": [1, 2, 3, 4]}]},
        {"inputs": [{**BY_COLUMN[0], "data": ["much", 1, 2, 3, 4]}, *BY_COLUMN[1:]]},
    ],
)  # fmt: skip
def test_tensors_that_make_no_sense(change: dict[str, Any], trained: Path, serve: Serve) -> None:
    answer = serve(trained).post("/v2/models/weather/infer", json=change)
    assert answer.status_code in (400, 413, 422), answer.text
    assert set(answer.json()) == {"error"}
