"""The application: addresses, their description, and the guard before them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from likely.errors import LikelyError
from likely.serve import openapi
from likely.serve.catalogue import ModelSource, read_source
from likely.serve.guard import Guard
from likely.serve.open_inference import OpenInference
from likely.serve.options import ServiceOptions
from likely.serve.refusals import HTTPRefusal, failed, refusal_of
from likely.serve.routes import Routes, answered
from likely.serve.service import Service

TITLE = "likely"
Route = Callable[[Request], Awaitable[Response]]
ABOUT = "Models that answer, explain themselves, learn and forget. Rows are JSON objects by column; null is a gap."


def create_app(models: Sequence[str | ModelSource], options: ServiceOptions | None = None) -> Guard:
    """An ASGI application that serves model files: PATH, NAME=PATH or NAME@VERSION=PATH."""
    sources = [read_source(model) if isinstance(model, str) else model for model in models]
    return app_of(Service(sources, options or ServiceOptions()))


def app_of(service: Service, add: Callable[[FastAPI], None] | None = None) -> Guard:
    """The application of a service; `add` gives it further addresses, which come first."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title=TITLE, description=ABOUT, version="2", lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url=None, redirect_slashes=False,
    )  # fmt: skip
    app.add_exception_handler(HTTPRefusal, _refused)
    app.add_exception_handler(LikelyError, _refused)
    app.add_exception_handler(HTTPException, _not_found)
    app.add_exception_handler(Exception, _failed)
    if add is not None:
        add(app)
    if service.catalogue:
        _add_plain(app, Routes(service), service)
        _add_open_inference(app, OpenInference(service), service)
    _add_description(app)
    return Guard(app, service)


def _add_plain(app: FastAPI, routes: Routes, service: Service) -> None:
    model = service.catalogue.find()
    posts: list[tuple[str, Route, dict[str, object]]] = [
        ("/predict", routes.predict, openapi.predict_body(model)),
        ("/decide", routes.decide, openapi.decide_body(model)),
        ("/explain", routes.explain, openapi.explain_body(model)),
    ]
    if service.options.learn:
        posts += [
            ("/learn", routes.learn, openapi.change_body(model)),
            ("/forget", routes.forget, openapi.change_body(model)),
        ]
    else:  # said in one sentence, but not offered
        for path, unoffered in (("/learn", routes.learn), ("/forget", routes.forget)):
            app.add_api_route(path, unoffered, methods=["POST"], response_class=Response, include_in_schema=False)
    for path, route, content in posts:
        app.add_api_route(
            path, route, methods=["POST"], response_class=Response, openapi_extra=openapi.operation(content)
        )
    for path, route in (("/schema", routes.schema), ("/model", routes.about)):
        app.add_api_route(path, route, methods=["GET"], response_class=Response, openapi_extra=openapi.operation(None))
    for path, route in (("/models", routes.models), ("/metrics", routes.metrics)):
        extra = openapi.operation(None, chooses=False)
        app.add_api_route(path, route, methods=["GET"], response_class=Response, openapi_extra=extra)


def _add_open_inference(app: FastAPI, routes: OpenInference, service: Service) -> None:
    body = openapi.infer_body(service.catalogue.find())
    for path, route in (("/v2/health/live", routes.live), ("/v2/health/ready", routes.ready), ("/v2", routes.server)):
        extra = openapi.operation(None, chooses=False)
        app.add_api_route(path, route, methods=["GET"], response_class=Response, openapi_extra=extra)
    for base, names in (
        ("/v2/models/{name}", ("name",)), ("/v2/models/{name}/versions/{version}", ("name", "version"))
    ):  # fmt: skip
        for path, route, method, content in (
            (base, routes.metadata, "GET", None),
            (f"{base}/ready", routes.model_ready, "GET", None),
            (f"{base}/infer", routes.infer, "POST", body),
        ):
            extra = openapi.operation(content, chooses=False, paths=names)
            app.add_api_route(path, route, methods=[method], response_class=Response, openapi_extra=extra)


def _add_description(app: FastAPI) -> None:
    async def described(_: Request) -> Response:
        return answered(app.openapi())

    async def docs(_: Request) -> Response:
        return HTMLResponse(openapi.docs_page(app.openapi()))

    async def home(_: Request) -> Response:
        return RedirectResponse("/docs", 302)

    for path, route in (("/openapi.json", described), ("/docs", docs), ("/", home)):
        app.add_api_route(path, route, methods=["GET"], response_class=Response, include_in_schema=False)


async def _refused(_: Request, error: Exception) -> Response:
    refusal = error if isinstance(error, HTTPRefusal) else refusal_of(error) if isinstance(error, LikelyError) else None
    if refusal is None:
        raise error
    response = answered(refusal.told(), refusal.status)
    response.headers.update(refusal.headers)
    return response


async def _failed(request: Request, _: Exception) -> Response:
    return await _refused(request, failed())


async def _not_found(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    told = {404: "There is no such address; see /docs.", 405: "This address is asked in another way; see /docs."}
    response = answered({"error": told.get(status, "This cannot be answered.")}, status)
    headers = getattr(error, "headers", None)
    response.headers.update(headers or {})
    return response
