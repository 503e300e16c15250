"""Services behind real sockets: in a thread of this process, or in a child that gets signals."""

from __future__ import annotations

import http.client
import json
import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from likely.serve import server
from likely.serve.app import app_of
from likely.serve.catalogue import read_source
from likely.serve.options import ServiceOptions
from likely.serve.server import Connection
from likely.serve.service import Service

PATIENCE = 120.0


def post(port: int, path: str, content: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", path, json.dumps(content), {"content-type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, json.loads(body)


@contextmanager
def in_thread(path: Path, **options: Any) -> Iterator[tuple[int, server.Server]]:
    """A port, and the server that listens there until the end."""
    service = Service([read_source(str(path))], ServiceOptions(watch_seconds=0.0, **options))
    listening = server.listen("127.0.0.1", 0)
    protocol = type("Limited", (Connection,), {"limits": service.options.limits})
    config = uvicorn.Config(
        app_of(service), http=protocol, ws="none", lifespan="on", log_config=None, server_header=False
    )
    made = server.Server(config, service)
    thread = threading.Thread(target=made.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()[1], made
    finally:
        made.should_exit = True
        thread.join(PATIENCE)


@dataclass
class Child:
    """A service in a process of its own."""

    port: int
    pid: int
    log: Any

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def ended(self) -> str:
        """Wait for its end; all that it has written."""
        os.waitpid(self.pid, 0)
        self.pid = 0
        with os.fdopen(self.log, "rb") as file:
            return str(file.read().decode())


@contextmanager
def forked(path: Path, **options: Any) -> Iterator[Child]:
    """A child that serves; the socket listens already, so whoever connects waits until it is ready."""
    listening = server.listen("127.0.0.1", 0)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks where threads are
        pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            os.dup2(writing, 2)
            logging.getLogger("likely.serve").addHandler(logging.StreamHandler(os.fdopen(writing, "w")))
            service = Service([read_source(str(path))], ServiceOptions(**options))
            server.run(service, listening)
        finally:
            os._exit(1)
    os.close(writing)
    child = Child(listening.getsockname()[1], pid, reading)
    listening.close()
    try:
        yield child
    finally:
        if child.pid:
            os.kill(child.pid, signal.SIGKILL)
            child.ended()


def connect(port: int, receive_buffer: int | None = None) -> socket.socket:
    """A plain connection that waits long."""
    made = socket.socket()
    if receive_buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    made.settimeout(PATIENCE)
    made.connect(("127.0.0.1", port))
    return made
