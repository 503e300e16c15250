"""Running the service: sockets, signals, deadlines, and an end at which nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from likely.errors import SettingsError
from likely.serve.app import app_of
from likely.serve.options import Limits
from likely.serve.service import Service


class Connection(HttpToolsProtocol):
    """One connection, which knows since when it has been waiting for the rest of a request."""

    limits = Limits()

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._reading_since: float | None = None
        self._writing_since: float | None = None
        self._unsent = 0
        self._head = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._reading_since = time.monotonic()
        if len(self.connections) > self.limits.connections:
            self._turn_away(b"503 Service Unavailable", b"retry-after: 1\r\n", "Too many connections are open.")

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > self.limits.header_bytes and not self.transport.is_closing():
            self._turn_away(b"431 Request Header Fields Too Large", b"", "The headers of the request are too long.")

    def on_message_begin(self) -> None:
        self._reading_since = time.monotonic()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._head = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._reading_since = None
        self._in_head = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is told so, as everything is told."""
        self._turn_away(b"400 Bad Request", b"", "This is no HTTP request.")

    def _turn_away(self, status: bytes, header: bytes, sentence: str) -> None:
        content = b'{"error":"' + sentence.encode() + b'"}'
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%bconnection: close\r\n\r\n"
        self.transport.write(head % (status, len(content), header) + content)
        self.transport.close()

    def sweep(self, now: float) -> None:
        """Cut the connection if it has been too slow."""
        longest = self.limits.request_seconds
        if self._reading_since is not None and now - self._reading_since > longest:
            self.transport.abort()
            return
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._writing_since = unsent, now if unsent else None
        elif self._writing_since is not None and now - self._writing_since > longest:
            self.transport.abort()


LOG = logging.getLogger("likely.serve")
GRACE_SECONDS = 0.3
"""Time for requests that are on their way over connections that stay open."""
SWEEP_TICKS = 5


class Server(uvicorn.Server):
    """Uvicorn with deadlines for connections, reloading, and a gentler end."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service
        self._reloading: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and read models again on SIGHUP."""
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP"):
            loop = asyncio.get_running_loop()
            with suppress(NotImplementedError, RuntimeError):  # not in the main thread, as in tests
                loop.add_signal_handler(signal.SIGHUP, self._reload)

    def _reload(self) -> None:
        task = asyncio.ensure_future(self.service.reload(even_unchanged=True))
        self._reloading.add(task)
        task.add_done_callback(self._reloading.discard)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second; connections are looked at twice a second."""
        if counter % SWEEP_TICKS == 0:
            self._sweep()
        return await super().on_tick(counter)

    def _sweep(self) -> None:
        now = time.monotonic()
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.sweep(now)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take what has come, answer it, say on every answer that the connection ends, and only then close."""
        self.service.draining = True
        await self._accept_last(sockets or [])
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        end = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < end and self.server_state.connections:
            await asyncio.sleep(0.02)
            self._sweep()
        sweeping = asyncio.ensure_future(self._keep_sweeping())
        try:
            await super().shutdown(None)
        finally:
            sweeping.cancel()
        LOG.warning("stopped after %d requests", self.service.metrics.answered)

    async def _accept_last(self, sockets: list[socket.socket]) -> None:
        """Let the loop accept connections that the system has completed already."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self._sweep()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or a sentence that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio turns Nagle's delay off: without that an answer waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"Nothing can listen at {host}:{port} ({why}); choose another with --host and --port."
        ) from None
    listening.setblocking(False)
    return listening


def run(
    service: Service,
    listening: socket.socket,
    started: Callable[[], None] | None = None,
    add: Callable[[FastAPI], None] | None = None,
) -> None:
    """Serve until a signal ends it; `add` gives the application further addresses."""
    limits = service.options.limits
    protocol = type("LimitedConnection", (Connection,), {"limits": limits})
    config = uvicorn.Config(
        app_of(service, add), http=protocol, ws="none", lifespan="on", loop=loop_name(), log_config=None,
        access_log=False, server_header=False, proxy_headers=False, timeout_keep_alive=int(limits.idle_seconds),
        timeout_graceful_shutdown=int(limits.shutdown_seconds), backlog=1024,
    )  # fmt: skip
    server = Server(config, service)
    # What is there now stays: the collector need not walk through a million objects of libraries, 100 ms each time.
    gc.collect()
    gc.freeze()
    if started is not None:
        started()
    server.run([listening])


def loop_name() -> str:
    """uvloop where it is installed: it answers more requests a second."""
    if sys.platform == "win32":
        return "asyncio"
    return "asyncio" if find_spec("uvloop") is None else "uvloop"
