"""A studio behind a real socket, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from likely.serve import server
from likely.serve.app import app_of
from likely.serve.options import ServiceOptions
from likely.serve.server import Connection
from likely.serve.service import Service
from likely.studio.material import Material
from likely.studio.routes import StudioRoutes
from likely.studio.workbench import Workbench

PATIENCE = 120.0


@contextmanager
def studio(material: Material | None = None, rows: Any = None) -> Iterator[str]:
    """The address of a studio."""
    service = Service([], ServiceOptions(watch_seconds=0.0, may_be_empty=True, log_requests=False))
    routes = StudioRoutes(Workbench(material, rows), service)
    listening = server.listen("127.0.0.1", 0)
    protocol = type("Limited", (Connection,), {"limits": service.options.limits})
    config = uvicorn.Config(
        app_of(service, routes.add_to), http=protocol, ws="none", lifespan="on", log_config=None, server_header=False
    )
    made = server.Server(config, service)
    thread = threading.Thread(target=made.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        made.should_exit = True
        thread.join(PATIENCE)
        routes.close()
