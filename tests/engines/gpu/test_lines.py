"""Values are looked up on a GPU as they are on the host, however the rows lie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from likely import BayesClassifier
from tests.engines.gpu.device import Device, device_for_tests


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with device_for_tests(tmp_path_factory.mktemp("kernels")) as here:
        yield here


@pytest.mark.parametrize(
    "n_columns, kept, dtype",
    [(1, 1, "bool"), (7, 7, "uint8"), (30, 30, "uint8"), (16, 16, "int16"), (24, 13, "int16"), (64, 5, "int64")],
)
def test_values_are_looked_up_however_rows_lie(gpu: Device, n_columns: int, kept: int, dtype: str) -> None:
    before = len(gpu.launched)
    rng = np.random.default_rng(n_columns)
    y = rng.integers(0, 3, 700)
    X = ((rng.integers(-5 if dtype[0] == "i" else 0, 6, (700, n_columns)) + y[:, None]) % 7).astype(dtype)[:, :kept]
    there = gpu.put(X)
    host = BayesClassifier(families="categorical").fit(X, y)
    device = BayesClassifier(families="categorical").fit(there, gpu.put(y))
    X = X.copy()
    X[3, 0] = 100  # never seen
    for rows in (there, gpu.put(X)):
        for told in (device.predict_proba, device.predict_log_proba, device.predict_joint_log_proba):
            same = getattr(host, told.__name__)(gpu.get(rows))
            np.testing.assert_allclose(gpu.get(told(rows)), same, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(gpu.get(device.predict(rows)), host.predict(gpu.get(rows)))
    assert any(name.startswith("add_held_lines<") for name in gpu.launched[before:])
