"""Connections with deadlines: whoever sends a request, or takes its answer, too slowly is cut off."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from likely.serve.options import Limits


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
