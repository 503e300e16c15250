"""Thousands of requests that nobody in good faith would send: never a 5xx, never a crash, and the service goes on.

A few thousand in the usual run; LIKELY_TORTURE=full sends a hundred thousand.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from tests.serve.client import Client
from tests.serve.conftest import Serve, weather, without_label

FULL = os.environ.get("LIKELY_TORTURE") == "full"
REQUESTS = 96_000 if FULL else 2_000
EXAMPLES = 250 if FULL else 10  # of an address; making one takes fifty times as long as a request does
ROWS = without_label(weather(10, seed=1))

CELLS: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, -1e308, 5e-324, 10**30, 10**400, 2**63, 2**64, "", " ", "Ulm", "nan", "inf",
    "1e400", "1_000", "\x00", "\u202e", "ä" * 1000, "=1+1", "'; drop table", "<script>", "../../etc", [], [1], {},
    {"a": 1}, [[[[]]]], "9" * 400, "-0", "0x10", "٣", "1,5",
]  # fmt: skip
RAW = [
    b"", b"{", b"null", b"[]", b'{"rows"', b'{"rows":[{"wind":NaN}]}', b'{"rows":[{"wind":1e400,"town":"x","rain":1}]}',
    b'{"rows":[{"wind":-1e400,"town":"x","rain":1}]}', b'{"rows":[{"town":"\xff"}]}', b'{"rows":[{"town":"\\ud800"}]}',
    b"[" * 50_000, b'{"rows":' + b"[" * 50_000, b'{"rows":[{"a":' * 2000, b"\x00" * 100, b"\xef\xbb\xbf{}", b"PAR1",
    b"ARROW1\0\0", b"\xff\xff\xff\xff\x10\x00\x00\x00", b"a,b\n" * 100, b'"' * 999, b"wind\n" + b"9" * 500, b"\n" * 500,
    b'{"rows":[{"wind":1,"wind":2,"town":null,"rain":3}]}', b'{"rows":[{"":1}]}', b'{"inputs":[{"name":"x"}]}',
]  # fmt: skip
TYPES = [
    "application/json",
    "text/csv",
    "application/vnd.apache.arrow.stream",
    "text/plain",
    "",
    "application/json; charset=x",
]
POSTS = ["/predict", "/decide", "/explain", "/learn", "/forget", "/v2/models/weather/infer"]
PATHS = [
    "/",
    "/schema",
    "/model",
    "/models",
    "/docs",
    "/metrics",
    "/v2",
    "/v2/models/x",
    "/%ff",
    "/a/../b",
    "/predict/",
    "/\u00e4",
]


def some_row(rng: random.Random) -> Any:
    row: dict[str, Any] = dict(rng.choice(ROWS))
    for _ in range(rng.randint(0, 3)):
        row[rng.choice(["wind", "town", "rain", "day", "", "x" * 300, "__proto__"])] = rng.choice(CELLS)
    if rng.random() < 0.2 and row:
        row.pop(rng.choice(list(row)))
    if rng.random() < 0.01:
        row |= {f"c{k}": 1 for k in range(12_000)}
    return rng.choice([row, row, row, row, row, rng.choice(CELLS)])


def some_tensor(rng: random.Random) -> Any:
    shape = rng.choice([[1], [2], [1, 3], [2, 3], [0], [-1], [10**9, 10**9], "x", [1.5], [], [1, 1, 1]])
    tensor = {
        "name": rng.choice(["wind", "town", "rain", "input-0", "", 5]), "shape": shape,
        "datatype": rng.choice(["FP64", "BYTES", "INT64", "BOOL", "FP16", "FP8", None]),
        "data": rng.choice([[1], [1, 2], ["a"], [None], [[1, 2, 3]], [1, "x", 2], {}, [[]], rng.choice(CELLS)]),
    }  # fmt: skip
    if rng.random() < 0.2:
        tensor["parameters"] = {"binary_data_size": rng.choice([0, 8, 10**9, -1, "8"])}
    return tensor


FIELDS = {
    "/predict": {"rows", "probabilities"}, "/decide": {"rows", "loss", "refuse"}, "/explain": {"rows"},
    "/learn": {"rows", "labels"}, "/forget": {"rows", "labels"},
}  # fmt: skip
"""What a body may hold; where it holds more, nothing behind that refusal is tried."""


def some_body(rng: random.Random, path: str) -> bytes:
    if rng.random() < 0.15:
        return rng.choice(RAW)
    content: dict[str, Any] = {"rows": [some_row(rng) for _ in range(rng.randint(0, 4))]}
    for name, value in (
        ("loss", rng.choice([{}, {"go": {"wet": 1, "dry": 2}}, {"go": 1}, [], {"a": {"b": 1e308}}, {"": {"": None}}])),
        ("refuse", rng.choice(CELLS)),
        ("labels", rng.choice([["wet"], ["wet"] * 4, [1], [None], "wet", [["wet"]], [True, "dry"], [1.5] * 3])),
        ("probabilities", rng.choice(CELLS)),
        ("inputs", [some_tensor(rng) for _ in range(rng.randint(0, 3))]),
        ("outputs", rng.choice([[], [{"name": "predict"}], [{"name": "x"}], 3, [None], [{"name": ["predict"]}]])),
        ("parameters", rng.choice([{}, {"binary_data_output": True}, [], "x"])),
        ("id", rng.choice(CELLS)),
    ):
        if rng.random() < 0.25 and (name in FIELDS.get(path, {name}) or rng.random() < 0.02):
            content[name] = value
    text = json.dumps(content).encode()
    if rng.random() < 0.1:
        place = rng.randrange(len(text))
        text = text[:place] + bytes([rng.randrange(256)]) + text[place + 1 :]
    return text


def some_headers(rng: random.Random) -> dict[str, str]:
    headers = {"content-type": rng.choice(TYPES) if rng.random() < 0.3 else "application/json"}
    for name, values in (
        ("accept", ["*/*", "text/csv", "application/vnd.apache.arrow.stream", "x" * 500]),
        ("idempotency-key", ["", "k", "x" * 300, "a b"]),
        ("inference-header-content-length", ["0", "5", "99999999999999", "-1", "x"]),
        ("host", ["localhost", "evil", "[", "127.0.0.1:99999999", "a:b:c"]),
        ("origin", ["null", "http://localhost", "http://["]),
        ("content-encoding", ["gzip", "identity"]),
    ):
        if rng.random() < 0.04:
            headers[name] = rng.choice(values)
    return headers


def test_hostile_requests(own: Path, serve: Serve) -> None:
    client, rng = serve(own, learn=True, compact_rows=500), random.Random(0)
    seen: Counter[int] = Counter()

    async def ask() -> None:
        if rng.random() < 0.1:
            method, path, body = rng.choice(["GET", "PUT", "HEAD", "X"]), rng.choice(PATHS), b""
        else:
            method, path = "POST", rng.choice(POSTS)
            body = some_body(rng, path)
        if rng.random() < 0.1:
            path += rng.choice(
                [
                    "?model=x",
                    "?model=weather&version=1",
                    "?&&==",
                    "?model=%ff",
                    "?probabilities=false",
                    "?" + "a=1&" * 30,
                ]
            )
        answer = await client.http.request(method, path, content=body, headers=some_headers(rng))
        seen[answer.status_code] += 1
        assert answer.status_code < 500, (method, path, body[:300], answer.text)
        if answer.status_code >= 400 and method != "HEAD":
            assert set(answer.json()) == {"error"}, answer.text
        assert "Traceback" not in answer.text and str(own.parent) not in answer.text

    async def all_of_them() -> None:
        for _ in range(REQUESTS // 20):
            await asyncio.gather(*(ask() for _ in range(20)))

    client.run_long(all_of_them())
    assert seen[200] > REQUESTS / 20, "some of them are fine, so that the others are near to it"
    assert {400, 404, 405, 415, 422} <= set(seen)
    assert client.post("/predict", json={"rows": ROWS}).status_code == 200


@pytest.fixture(scope="module")
def described(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The service as its own description has it."""
    from likely.serve.catalogue import read_source
    from likely.serve.options import ServiceOptions
    from likely.serve.service import Service

    path = tmp_path_factory.mktemp("described") / "weather.likely"
    path.write_bytes(trained.read_bytes())
    service = Service([read_source(str(path))], ServiceOptions(watch_seconds=0.0, learn=True))
    with Client(service) as client:
        yield client


def test_what_the_description_allows_is_answered(described: Client) -> None:
    """Schemathesis makes requests from the OpenAPI page, sound ones and broken ones."""
    schema = schemathesis.openapi.from_dict(described.get("/openapi.json").json())
    seen: Counter[int] = Counter()
    for operation in schema.get_all_operations():
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            _ask_all(described, operation.ok(), mode, seen)
    assert sum(seen.values()) >= 12 * EXAMPLES, seen
    assert seen[200] > 0 and max(seen) < 500, seen


def _ask_all(client: Client, operation: Any, mode: Any, seen: Counter[int]) -> None:
    """The examples of one address."""
    from hypothesis import given
    from hypothesis.errors import Unsatisfiable

    @settings(max_examples=EXAMPLES, database=None, derandomize=True, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        asked = case.as_transport_kwargs(base_url="http://localhost")
        content = asked.get("data")
        how = {"json": asked["json"]} if "json" in asked else {"content": _bytes(content)}
        headers = {str(name): str(value) for name, value in dict(asked["headers"]).items() if str(value).isascii()}
        headers = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length")}
        answer = client.request(asked["method"], asked["url"], params=asked.get("params"), headers=headers, **how)
        seen[answer.status_code] += 1
        assert answer.status_code < 500, (asked["method"], asked["url"], answer.text)

    try:
        ask()
    except Unsatisfiable:  # an address without parameters cannot be asked wrongly
        return


def _bytes(content: Any) -> bytes:
    if content is None:
        return b""
    return content if isinstance(content, bytes) else str(content).encode("utf-8", "replace")
