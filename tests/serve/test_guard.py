"""Who may ask, how much, and what no answer ever says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely.errors import SettingsError
from likely.serve.guard import host_name
from likely.serve.options import Limits, ServiceOptions
from tests.serve.conftest import Serve, weather, without_label

ROWS = without_label(weather(3, seed=5))
TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "127.0.0.1:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "LOCALHOST"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "evil.example@localhost"}, 200),  # what stands before @ is no host
        ({"host": ""}, 421),
        ({"origin": "http://localhost"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"content-encoding": "gzip"}, 415),
    ],
)
def test_only_who_means_this_service_is_answered(
    headers: dict[str, str], status: int, trained: Path, serve: Serve
) -> None:
    answer = serve(trained).post("/predict", json={"rows": ROWS}, headers=headers)
    assert answer.status_code == status, answer.text


def test_names_and_pages_can_be_allowed(trained: Path, serve: Serve) -> None:
    client = serve(trained, hosts=("models.example",), origins=("https://pages.example",))
    asked = {"host": "models.example:80", "origin": "https://pages.example"}
    assert client.get("/schema", headers=asked).status_code == 200


def test_a_form_of_another_page_is_no_request(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        for path in ("/predict", "/explain", "/decide", "/v2/models/weather/infer"):
            assert client.post(path, content=b'{"rows": []}', headers={"content-type": kind}).status_code == 415


def test_a_token_is_asked_for_everywhere_but_by_probes(trained: Path, serve: Serve) -> None:
    client = serve(trained, token=TOKEN)
    for path in (
        "/schema",
        "/model",
        "/models",
        "/metrics",
        "/docs",
        "/openapi.json",
        "/v2",
        "/v2/models/weather",
        "/nothing",
    ):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"authorization": f"Bearer {TOKEN[:-1]}"}).status_code == 401
        answer = client.get(path, headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == (404 if path == "/nothing" else 200)
    for path in ("/v2/health/live", "/v2/health/ready"):
        assert client.get(path).status_code == 200


def test_another_address_needs_a_token() -> None:
    with pytest.raises(SettingsError, match="token"):
        ServiceOptions(host="0.0.0.0")
    with pytest.raises(SettingsError, match="characters"):
        ServiceOptions(token="short")
    assert "10.1.2.3" in ServiceOptions(host="10.1.2.3", token=TOKEN).allowed_hosts()
    assert "::1" in ServiceOptions(host="::1").allowed_hosts()


def test_a_body_beyond_the_limit(trained: Path, serve: Serve) -> None:
    client = serve(trained, limits=Limits(body_bytes=2000))
    json = {"content-type": "application/json"}
    assert client.post("/predict", content=b"x" * 2001, headers=json).status_code == 413

    async def pieces() -> Any:
        for _ in range(30):
            yield b" " * 100

    assert client.post("/predict", content=pieces(), headers=json).status_code == 413
    assert client.post("/predict", json={"rows": ROWS}).status_code == 200


def test_the_header_of_a_length_that_is_none(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    for length in ("-5", "1e3", "9" * 30):
        headers = {"content-length": length, "content-type": "application/json"}
        assert client.post("/predict", content=b"{}", headers=headers).status_code == 400


def test_too_many_at_once_are_told_to_come_again(trained: Path, serve: Serve) -> None:
    answer = serve(trained, limits=Limits(requests=0)).get("/schema")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("path", ["/schema", "/nothing", "/docs", "/metrics"])
def test_security_headers_are_on_every_answer(path: str, trained: Path, serve: Serve) -> None:
    headers = serve(trained).get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "server" not in headers


def test_a_fault_of_ours_says_nothing_but_that(
    trained: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from likely.serve import answers

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"secret Ulm in {trained}")

    monkeypatch.setattr(answers, "predictions", fail)
    answer = serve(trained).post("/predict", json={"rows": ROWS})
    assert answer.status_code == 500
    assert answer.json() == {"error": "The service failed to answer; its log says why."}
    assert "RuntimeError" in caplog.text and "secret" not in caplog.text


def test_no_answer_names_a_file_or_a_release(trained: Path, serve: Serve) -> None:
    import likely

    client = serve(trained)
    texts = [
        client.get(path).text for path in ("/schema", "/model", "/models", "/v2", "/openapi.json", "/metrics", "/x")
    ]
    texts.append(client.post("/predict", content=b"{", headers={"content-type": "application/json"}).text)
    assert not any(str(trained.parent) in text or likely.__version__ in text or "Traceback" in text for text in texts)


def test_other_ways_to_ask(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    assert client.get("/predict").status_code == 405
    assert client.request("PUT", "/predict", content=b"{}").status_code == 405
    assert client.request("BREW", "/predict").status_code == 405
    assert client.get("/").status_code == 302
    for path in ("/no", "/v2/", "/predict/", "/%00", "/..%2f..%2fetc"):
        assert client.get(path).status_code == 404
    assert client.post("/learn", json={"rows": ROWS}).status_code == 403


@pytest.mark.parametrize("host", ["", ":80", "[", "[::1", "a:b:c", "a b", "\x00"])
def test_hosts_that_are_none(host: str) -> None:
    assert host_name(host) in ("", "a b", "\x00")
