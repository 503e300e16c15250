"""Asking an application without a socket: it runs in the event loop of a thread, as under a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from likely.serve.app import app_of
from likely.serve.service import Service

Result = TypeVar("Result")
PATIENCE = 120.0


class Client:
    """A service that runs for as long as the client is entered; `get` and `post` are those of httpx."""

    def __init__(self, service: Service) -> None:
        self.service, self.app = service, app_of(service)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        self.run(self.service.start())
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run(self.http.aclose())
        self.run(self.service.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, task: Coroutine[Any, Any, Result]) -> Result:
        """What a coroutine returns when it has run in the loop of the service."""
        return asyncio.run_coroutine_threadsafe(task, self._loop).result(PATIENCE)

    def run_long(self, task: Coroutine[Any, Any, Result]) -> Result:
        """The same without a limit of time."""
        return asyncio.run_coroutine_threadsafe(task, self._loop).result()

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        return self.run(self.http.request(method, path, **given))

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.request("GET", path, **given)

    def post(self, path: str, **given: Any) -> httpx.Response:
        return self.request("POST", path, **given)
