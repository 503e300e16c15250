"""Requests a second and times to answer, over loopback, beside MLServer in the same run.

`python benchmarks/serve.py` trains a small Gaussian model (iris), starts `likely serve` on a free port, and asks it one
row at a time over 1 and over 64 connections for a few seconds each, then sends tables as Arrow. With
`--mlserver PYTHON` (an interpreter that has mlserver and mlserver-sklearn) scikit-learn's GaussianNB is served by
MLServer and asked in the same way, in turns with ours. It never leaves this machine, and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_iris

COLUMNS = ("sepal_length", "sepal_width", "petal_length", "petal_width")
ROW = dict(zip(COLUMNS, (5.1, 3.5, 1.4, 0.2), strict=True))
INFER = {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP64", "data": list(ROW.values())}]}
PATIENCE = 120.0
GOALS = {"requests a second": 1_800, "p99 in ms": 60, "Arrow rows a second": 500_000}


class Figures(NamedTuple):
    """What one round over some connections has given."""

    per_second: float
    median_ms: float
    p99_ms: float


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, path: str, folder: Path) -> Iterator[None]:
    """A server, from its first good answer on; ended with SIGTERM."""
    with open(folder / "log.txt", "ab") as log:
        # Each server has its own interpreter, which must not find the libraries of the other.
        where = None if command[0] == sys.executable else _clean()
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True, env=where)
        try:
            end = time.monotonic() + PATIENCE
            while not _answers(port, path):
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit((folder / "log.txt").read_text()[-2000:])
                time.sleep(0.1)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


async def ask(port: int, path: str, content: object, connections: int, seconds: float) -> Figures:
    """As many requests as are answered, each connection one after the other."""
    body = json.dumps(content).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (begin := time.perf_counter()) < end:
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"{path}: {answer[:200]!r}")
            lower = answer.lower()
            start = lower.index(b"content-length:") + 15
            await reader.readexactly(int(lower[start : lower.index(b"\r", start)]))
            times.append(time.perf_counter() - begin)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    took = time.perf_counter() - began
    return Figures(len(times) / took, 1e3 * statistics.median(times), 1e3 * float(np.quantile(times, 0.99)))


def arrow_rows_per_second(port: int, seconds: float) -> float:
    """Rows of Arrow tables that are answered with an Arrow table."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    n_rows = 250_000
    table = pa.table({name: rng.normal(3.0, 1.0, n_rows) for name in COLUMNS})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    body = sink.getvalue().to_pybytes()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    rows, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        connection.request("POST", "/predict", body, {"content-type": "application/vnd.apache.arrow.stream"})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(content[:300].decode())
        rows += n_rows
    took = time.perf_counter() - began
    connection.close()
    return rows / took


@contextmanager
def ours(folder: Path) -> Iterator[int]:
    """`likely serve` with a model of iris."""
    import likely

    X, y = load_iris(return_X_y=True)
    table = {name: X[:, place] for place, name in enumerate(COLUMNS)}
    likely.train({**table, "kind": [f"k{k}" for k in y]}, "kind", model="naive").save(folder / "iris.likely")
    port = free_port()
    command = [sys.executable, "-m", "likely", "serve", "iris.likely", "--port", str(port), "--quiet"]
    with running(command, port, "/v2/health/ready", folder):
        yield port


@contextmanager
def mlserver(python: str, folder: Path) -> Iterator[int]:
    """MLServer with scikit-learn's model of the same rows."""
    fit = (
        "import joblib; from sklearn.datasets import load_iris; from sklearn.naive_bayes import GaussianNB; "
        "joblib.dump(GaussianNB().fit(*load_iris(return_X_y=True)), 'model.joblib')"
    )
    subprocess.run([python, "-c", fit], cwd=folder, check=True, env=_clean())
    port = free_port()
    settings = {
        "host": "127.0.0.1",
        "http_port": port,
        "grpc_port": free_port(),
        "metrics_port": free_port(),
        "debug": False,
    }
    model = {
        "name": "iris", "implementation": "mlserver_sklearn.SKLearnModel",
        "parameters": {"uri": "./model.joblib", "version": "1"},
    }  # fmt: skip
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "model-settings.json").write_text(json.dumps(model))
    command = [str(Path(python).with_name("mlserver")), "start", "."]
    with running(command, port, "/v2/models/iris/ready", folder):
        yield port


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--mlserver", metavar="PYTHON")
    options = parser.parse_args()
    asked: dict[str, tuple[str, object]] = {
        "likely /predict": ("/predict", {"rows": [ROW]}),
        "likely /v2 infer": ("/v2/models/iris/infer", INFER),
    }
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other, ours(Path(one)) as port:
        _rounds(asked, port, options)
        rates = [arrow_rows_per_second(port, options.seconds) for _ in range(options.turns)]
        print(f"likely, Arrow batches: {statistics.median(rates):,.0f} rows a second")
        if options.mlserver:
            with mlserver(options.mlserver, Path(other)) as peer:
                for _ in range(options.turns):  # in turns, so that a noisy machine is unfair to both
                    _rounds({"MLServer /v2 infer": ("/v2/models/iris/infer", INFER)}, peer, options, turns=1)
                    _rounds({"likely /v2 infer": asked["likely /v2 infer"]}, port, options, turns=1)
    print("goals:", ", ".join(f"{name} {goal:,}" for name, goal in GOALS.items()))


def _rounds(
    asked: dict[str, tuple[str, object]], port: int, options: argparse.Namespace, turns: int | None = None
) -> None:
    for name, (path, content) in asked.items():
        for connections in (1, 64):
            asyncio.run(ask(port, path, content, connections, 1.0))
            found = [
                asyncio.run(ask(port, path, content, connections, options.seconds))
                for _ in range(turns or options.turns)
            ]
            per_second, median_ms, p99_ms = (statistics.median(figures) for figures in zip(*found, strict=True))
            print(f"{name}, {connections:2} connections: {per_second:,.0f} a second, "
                  f"median {median_ms:.2f} ms, p99 {p99_ms:.2f} ms", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
