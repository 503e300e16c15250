"""Clients that others have published for the protocol work unchanged."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from tests.serve.conftest import weather, without_label
from tests.serve.processes import PATIENCE, in_thread

ROWS = without_label([row for row in weather(30, seed=2) if None not in row.values()])
COLUMNS = {"wind": "FP64", "town": "BYTES", "rain": "FP64"}


def test_open_inference_openapi(trained: Path) -> None:
    """The client made from the protocol's own OpenAPI page."""
    from open_inference.openapi.client import OpenInferenceClient
    from open_inference.openapi.core.api_error import ApiError
    from open_inference.openapi.types import InferenceRequest, RequestInput, TensorData

    clf = likely.load(trained)
    with in_thread(trained) as (port, _), httpx.Client(timeout=PATIENCE) as http:
        client = OpenInferenceClient(base_url=f"http://127.0.0.1:{port}", httpx_client=http)
        client.check_server_liveness()
        client.check_server_readiness()
        client.check_model_readiness("weather")
        assert client.read_server_metadata().name == "likely"
        told = client.read_model_metadata("weather")
        assert [tensor.name for tensor in told.inputs] == list(COLUMNS)
        inputs = [
            RequestInput(
                name=name, shape=[len(ROWS)], datatype=kind, data=TensorData.parse_obj([row[name] for row in ROWS])
            )
            for name, kind in COLUMNS.items()
        ]
        answer = client.model_infer("weather", request=InferenceRequest(inputs=inputs))
        labels, shares = answer.outputs
        assert list(labels.data.__root__) == clf.predict(ROWS).tolist()
        assert_allclose(np.reshape(shares.data.__root__, shares.shape), clf.predict_proba(ROWS), rtol=1e-12)
        with pytest.raises(ApiError, match="no model"):
            client.read_model_metadata("nobody")


def test_tritonclient(trained: Path) -> None:
    """Triton's client, which sends and wants its tensors as bytes."""
    triton = pytest.importorskip("tritonclient.http", reason="pip install 'tritonclient[http]'")
    clf = likely.load(trained)
    with in_thread(trained) as (port, _):
        client = triton.InferenceServerClient(f"127.0.0.1:{port}")
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("weather")
        assert client.get_model_metadata("weather")["name"] == "weather"
        for binary in (True, False):
            inputs = []
            for name, kind in COLUMNS.items():
                cells = np.array([row[name] for row in ROWS], dtype=object if kind == "BYTES" else np.float64)
                inputs.append(triton.InferInput(name, [len(ROWS)], kind))
                inputs[-1].set_data_from_numpy(cells, binary_data=binary)
            outputs = [triton.InferRequestedOutput("predict_proba", binary_data=binary)]
            for wanted in (None, outputs):
                answer = client.infer("weather", inputs, outputs=wanted)
                assert_allclose(answer.as_numpy("predict_proba"), clf.predict_proba(ROWS), rtol=1e-12)
            labels = client.infer("weather", inputs).as_numpy("predict")
            assert [label.decode() if isinstance(label, bytes) else label for label in labels] == clf.predict(
                ROWS
            ).tolist()
        client.close()
