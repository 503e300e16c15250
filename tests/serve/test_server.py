"""Real sockets and signals: slow clients are cut off, SIGTERM loses no request, and files are read again."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from likely.errors import SettingsError
from likely.serve import server
from likely.serve.options import Limits
from tests.serve.conftest import fitted, weather, without_label
from tests.serve.processes import PATIENCE, connect, forked, in_thread, post

ROWS = without_label(weather(2, seed=3))
FULL = os.environ.get("LIKELY_TORTURE") == "full"
HEAD = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
unix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks")


def until(condition: Any) -> None:
    """Wait for something that will come, however slow the machine is."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /pre",
        HEAD,
        HEAD + b"content-length: 100\r\n\r\n{",
        HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_who_sends_too_slowly_is_cut_off(sent: bytes, trained: Path) -> None:
    with in_thread(trained, limits=Limits(request_seconds=0.4)) as (port, _):
        slow = connect(port)
        slow.sendall(sent)
        with suppress(ConnectionResetError):
            assert slow.recv(100) == b""  # closed by the other side, without an answer
        slow.close()
        assert post(port, "/predict", {"rows": ROWS})[0] == 200


def test_who_does_not_take_the_answer_is_cut_off(trained: Path) -> None:
    with in_thread(trained, limits=Limits(request_seconds=0.4)) as (port, made):
        slow = connect(port, receive_buffer=2048)
        rows = json.dumps({"rows": ROWS * 20_000}).encode()
        slow.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(rows) + rows)
        until(lambda: made.service.metrics.answered == 1)
        until(lambda: not made.server_state.connections)
        slow.close()


def test_connections_that_say_nothing_more_are_closed(trained: Path) -> None:
    with in_thread(trained) as (port, made):
        made.config.timeout_keep_alive = 0
        idle = connect(port)
        body = json.dumps({"rows": ROWS}).encode()
        idle.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body)
        with idle.makefile("rb") as said:
            assert said.read().startswith(b"HTTP/1.1 200")  # to the end, which the service makes
        idle.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"400"),
        (HEAD + b"x: " + b"y" * 70_000, b"431"),
        (HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n", b"400"),
        (b"GET /schema HTTP/1.1\r\n\r\n", b"421"),
        (HEAD + b"content-length: 99000000000\r\n\r\n", b"413"),
        (b"GET /schema HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n", b"200"),
    ],
)
def test_what_is_no_sound_request(sent: bytes, status: bytes, trained: Path) -> None:
    with in_thread(trained) as (port, _):
        one = connect(port)
        one.sendall(sent)
        assert one.recv(1000).split()[1] == status
        one.close()


def test_too_many_connections_are_turned_away(trained: Path) -> None:
    with in_thread(trained, limits=Limits(connections=2)) as (port, made):
        first = [connect(port) for _ in range(2)]
        until(lambda: len(made.server_state.connections) == 2)
        third = connect(port)
        assert third.recv(1000).startswith(b"HTTP/1.1 503")
        for one in (*first, third):
            one.close()
        until(lambda: not made.server_state.connections)
        assert post(port, "/predict", {"rows": ROWS})[0] == 200


def test_an_address_that_is_taken() -> None:
    taken = server.listen("127.0.0.1", 0)
    with pytest.raises(SettingsError, match="--port"):
        server.listen("127.0.0.1", taken.getsockname()[1])
    taken.close()


def load(port: int, counts: list[int], place: int) -> None:
    """Ask until nobody answers any more; whoever gets half an answer fails."""
    content = json.dumps({"rows": ROWS})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    while True:
        try:
            connection.request("POST", "/predict", content, {"content-type": "application/json"})
            answer = connection.getresponse()
        except (TimeoutError, ConnectionError, http.client.RemoteDisconnected):
            break  # not one byte came: the request was never accepted
        body = answer.read()
        if answer.status != 200 or len(json.loads(body)["predictions"]) != 2:
            counts[place] = -(10**9)
            break
        counts[place] += 1
    connection.close()


@unix
@pytest.mark.parametrize("turn", range(200 if FULL else 3))
def test_sigterm_under_load_loses_no_request(turn: int, trained: Path) -> None:
    """Every request that the service has answered has reached its client."""
    with forked(trained) as child:
        counts = [0] * 6
        clients = [threading.Thread(target=load, args=(child.port, counts, place)) for place in range(len(counts))]
        for client in clients:
            client.start()
        until(lambda: sum(counts) >= 20 + 7 * (turn % 9))
        child.signal(signal.SIGTERM)
        log = child.ended()
        for client in clients:
            client.join(PATIENCE)
    assert min(counts) >= 0, "an answer was cut off"
    stopped = re.search(r"stopped after (\d+) requests", log)
    assert stopped is not None and int(stopped[1]) == sum(counts), log


@unix
def test_sigterm_while_learning_folds_the_journal(own: Path) -> None:
    with forked(own, learn=True) as child:
        for k, row in enumerate(weather(5, seed=4)):
            assert post(child.port, "/learn", {"rows": [row]}, {"idempotency-key": str(k)})[0] == 200
        child.signal(signal.SIGTERM)
        child.ended()
    import likely

    assert likely.load(own).summary_.n_rows == 205


@unix
def test_kill_9_while_learning_loses_nothing_acknowledged(own: Path) -> None:
    acknowledged: list[str] = []

    def learn(name: str, port: int) -> None:
        for k, row in enumerate(weather(200, seed=6)):
            try:
                status, said = post(port, "/learn", {"rows": [row]}, {"idempotency-key": f"{name}{k}"})
            except (OSError, http.client.HTTPException):
                return
            assert status == 200 and said["learned"] == 1
            acknowledged.append(f"{name}{k}")

    with forked(own, learn=True, compact_rows=7) as child:
        learners = [threading.Thread(target=learn, args=(name, child.port)) for name in "abcd"]
        for learner in learners:
            learner.start()
        until(lambda: len(acknowledged) >= 40)
        child.signal(signal.SIGKILL)
        child.ended()
        for learner in learners:
            learner.join(PATIENCE)
    rows = dict(enumerate(weather(200, seed=6)))
    with forked(own, learn=True) as child:
        for key in acknowledged:
            said = post(child.port, "/learn", {"rows": [rows[int(key[1:])]]}, {"idempotency-key": key})[1]
            assert said["repeated"], key


@unix
def test_sighup_reads_the_model_again(own: Path) -> None:
    with forked(own, watch_seconds=0.0) as child:
        before = post(child.port, "/predict", {"rows": ROWS})[1]["revision"]
        fitted(weather(80, seed=8)).save(own)
        assert post(child.port, "/predict", {"rows": ROWS})[1]["revision"] == before
        child.signal(signal.SIGHUP)
        until(lambda: post(child.port, "/predict", {"rows": ROWS})[1]["revision"] != before)


@unix
def test_the_command_serves_until_it_is_told_to_stop(trained: Path) -> None:
    command = [sys.executable, "-m", "likely", "serve", str(trained), "--port", "0", "--log-requests"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        assert address is not None and "weather" in said, said
        assert post(int(address[1]), "/predict", {"rows": ROWS})[0] == 200
        process.send_signal(signal.SIGTERM)
        log = process.stderr.read()
        assert process.wait(PATIENCE) == 143
    assert "POST /predict 200" in log and "Ulm" not in log and "Traceback" not in log
