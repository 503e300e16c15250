"""Small models, and a service around them that is asked without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

import likely
from likely.serve.catalogue import read_source
from likely.serve.options import ServiceOptions
from likely.serve.service import Service
from tests.serve.client import Client

TOWNS = ("Ulm", "Bonn", "Kiel")


def weather(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows with numbers, categories and gaps, and a label in the column "day"."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        wet = bool(rng.random() < 0.4)
        wind = None if rng.random() < 0.1 else round(float(rng.normal(7.0 if wet else 3.0)), 3)
        town = None if rng.random() < 0.1 else str(rng.choice(TOWNS, p=(0.6, 0.2, 0.2) if wet else (0.1, 0.3, 0.6)))
        rows.append(
            {"wind": wind, "town": town, "rain": int(rng.poisson(4 if wet else 1)), "day": "wet" if wet else "dry"}
        )
    return rows


def without_label(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: cell for name, cell in row.items() if name != "day"} for row in rows]


KINDS = {"wind": "numeric", "town": "nominal", "rain": "numeric"}


def fitted(rows: list[dict[str, Any]], model: str = "naive") -> Any:
    return likely.train(rows, "day", model=model, schema=KINDS)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file that nobody changes."""
    path = tmp_path_factory.mktemp("served") / "weather.likely"
    fitted(weather(200)).save(path)
    return path


@pytest.fixture
def own(trained: Path, tmp_path: Path) -> Path:
    """The same for a test that learns or replaces it."""
    path = tmp_path / "weather.likely"
    path.write_bytes(trained.read_bytes())
    return path


class Serve(Protocol):
    def __call__(self, *models: Path | str, **options: Any) -> Client: ...


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a service in this process, as if it listened at localhost."""
    with ExitStack() as stack:

        def start(*models: Path | str, **options: Any) -> Client:
            wanted = {"watch_seconds": 0.0, **options}
            service = Service([read_source(str(model)) for model in models], ServiceOptions(**wanted))
            return stack.enter_context(Client(service))

        yield start
