"""The description of the addresses is true: its examples are answered, and it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from likely.serve.catalogue import Snapshot
from likely.serve.metrics import Metrics, escaped
from likely.serve.openapi import example_row
from tests.serve.conftest import TOWNS, Serve, fitted, weather


def test_every_example_is_answered(own: Path, serve: Serve) -> None:
    client = serve(own, learn=True)
    described = client.get("/openapi.json").json()
    asked = 0
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            assert told["description"]
            where = path.replace("{name}", "weather").replace("{version}", "1")
            for kind, content in told.get("requestBody", {"content": {None: {}}})["content"].items():
                if kind is not None and "example" not in content:
                    continue
                example = content.get("example")
                how: dict[str, Any] = {"json": example} if kind == "application/json" else {"content": example or b""}
                headers = {} if kind is None else {"content-type": kind}
                answer = client.request(method.upper(), where, headers=headers, **how)
                wanted = 409 if path == "/forget" else 200  # that row was learned just before, unless its parts are new
                assert answer.status_code in (200, wanted), (path, answer.text)
                asked += 1
    assert asked >= 18


@pytest.mark.parametrize("model", ["naive", "evidence", "tree", "full"])
def test_examples_are_ordinary_rows(model: str) -> None:
    row = example_row(Snapshot("m", "1", "r", fitted(weather(60), model)))
    assert set(row) == {"wind", "town", "rain"}
    if model != "tree":
        assert row["town"] in TOWNS and 0.0 < row["wind"] < 9.0


def test_the_page_for_people_needs_nothing_from_elsewhere(trained: Path, serve: Serve) -> None:
    page = serve(trained).get("/docs").text
    assert "POST /predict" in page and "wind" in page and "/v2/models/{name}/infer" in page
    assert "http://" not in page and "https://" not in page and "script" not in page
    assert "/learn" not in page


def test_metrics_are_what_prometheus_reads(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    for _ in range(3):
        client.get("/schema")
    client.get("/wp-admin.php")
    text = client.get("/metrics").text
    assert 'likely_requests_total{method="GET",route="/schema",status="200"} 3' in text
    assert 'likely_requests_total{method="GET",route="other",status="404"} 1' in text and "wp-admin" not in text
    assert 'likely_request_seconds_count{route="/schema"} 3' in text
    line = re.compile(r'(# TYPE \w+ (counter|gauge|histogram))|(\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+)')
    assert all(line.fullmatch(each) for each in text.splitlines())


def test_times_fall_into_buckets_that_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.0, 0.001, 0.0011, 99.0):
        metrics.request("GET", "/", 200, seconds)
    text = metrics.text()
    assert 'le="0.001"} 2' in text and 'le="0.0025"} 3' in text and 'le="10.0"} 3' in text and 'le="+Inf"} 4' in text
    assert escaped('a"b\\c\n') == 'a\\"b\\\\c\\n'
