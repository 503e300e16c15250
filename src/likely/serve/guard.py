"""What stands before every address: who may ask, how much, and what no answer ever says."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from likely.errors import LikelyError
from likely.serve.answers import encode
from likely.serve.refusals import HTTPRefusal, busy, failed, refusal_of, too_large
from likely.serve.service import Service

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG = logging.getLogger("likely.serve")
OPEN = frozenset({"/v2/health/live", "/v2/health/ready"})
"""What probes ask without a token: it says nothing but yes or no."""
BODY = "likely.body"
SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
"""What every answer says, unless it says something of its own by the same name."""


class Guard:
    """Wraps the application: checks a request, reads its body within the limit, and adds headers to the answer."""

    def __init__(self, app: App, service: Service) -> None:
        self._app, self._service = app, service
        options = service.options
        self._hosts, self._token = options.allowed_hosts(), options.token
        self._origins = frozenset(origin.lower().rstrip("/") for origin in options.origins)
        self._limits, self._log = options.limits, options.log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin, metrics, started = time.perf_counter(), self._service.metrics, [0]

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                started[0] = message["status"]
                own = list(message.get("headers", ()))
                said = {name for name, _ in own}
                headers = [*own, *(line for line in SECURITY if line[0] not in said)]
                if self._service.draining:
                    headers.append((b"connection", b"close"))
                message = {**message, "headers": headers}
            await send(message)

        metrics.in_flight += 1
        try:
            self._check(scope)
            if not await self._read_body(scope, receive):
                return
            await self._app(scope, receive, send_guarded)
        except HTTPRefusal as refusal:
            await _refuse(refusal, send_guarded)
        except LikelyError as error:
            await _refuse(refusal_of(error), send_guarded)
        except Exception as error:  # noqa: BLE001 - told in one sentence, without what was sent
            LOG.error("%s failed: %s in %s", _route(scope), type(error).__name__, _place(error))
            if not started[0]:
                await _refuse(failed(), send_guarded)
        finally:
            metrics.in_flight -= 1
            self._count(scope, started[0], time.perf_counter() - begin)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        if status:
            self._service.metrics.request(_method(scope), _route(scope), status, seconds)
            if self._log:
                LOG.info("%s %s %d %.1f ms", _method(scope), _route(scope), status, 1e3 * seconds)

    def _check(self, scope: Scope) -> None:
        headers = _named(scope["headers"])
        self._check_caller(headers)
        if self._token is not None and scope["path"] not in OPEN:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token.encode()):
                raise HTTPRefusal(401, "A token is needed: Authorization: Bearer …", {"www-authenticate": "Bearer"})
        if self._service.metrics.in_flight > self._limits.requests:
            raise busy()
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise HTTPRefusal(415, "Send the body as it is, without a content encoding.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18:
            raise HTTPRefusal(400, "The content length is no number.")
        if int(length) > self._limits.body_bytes:
            raise too_large(self._limits.body_bytes)

    def _check_caller(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host_name(host) not in self._hosts:
            raise HTTPRefusal(421, "The service does not answer under this host name; --allow-host adds one.")
        origin = headers.get(b"origin")
        if origin is not None:
            said = origin.decode("latin-1").lower().rstrip("/")
            own = said in (f"http://{host}", f"https://{host}")
            if not own and said not in self._origins:
                raise HTTPRefusal(403, "Pages from elsewhere may not ask; --allow-origin lets one.")
        elif headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise HTTPRefusal(403, "Pages from elsewhere may not ask; --allow-origin lets one.")

    async def _read_body(self, scope: Scope, receive: Receive) -> bool:
        """Put the body beside the scope; False if whoever sent it is gone."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return False
            part = message.get("body", b"")
            size += len(part)
            if size > self._limits.body_bytes:
                raise too_large(self._limits.body_bytes)
            parts.append(part)
            if not message.get("more_body", False):
                scope[BODY] = parts[0] if len(parts) == 1 else b"".join(parts)
                return True


def _named(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name; what may stand there once only is refused if it comes twice."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in found and name in (b"host", b"authorization", b"content-length", b"origin"):
            raise HTTPRefusal(400, f"The header {name.decode('latin-1')} is there twice.")
        found[name] = value
    return found


@lru_cache(maxsize=256)
def host_name(host: str) -> str:
    """A Host header without its port.

    >>> host_name("[::1]:8000"), host_name("localhost:8000"), host_name("a:b:c")
    ('::1', 'localhost', '')
    """
    try:
        return urlsplit(f"//{host}").hostname or "" if host.count(":") < 2 or host.startswith("[") else ""
    except ValueError:
        return ""


def _method(scope: Scope) -> str:
    return str(scope["method"]) if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE") else "other"


def _route(scope: Scope) -> str:
    """The address as it was declared: what was asked for may hold anything."""
    return str(getattr(scope.get("route"), "path", "other"))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"


async def _refuse(refusal: HTTPRefusal, send: Send) -> None:
    content = encode(refusal.told())
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        *((name.encode(), value.encode()) for name, value in refusal.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
