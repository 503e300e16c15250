"""The addresses of a served studio, behind the service's own guard: a page, a table, work, scores, a file."""

from __future__ import annotations

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from likely.serve.bodies import read_object
from likely.serve.guard import BODY
from likely.serve.refusals import HTTPRefusal
from likely.serve.routes import answered, body_of, query
from likely.serve.service import Service
from likely.studio.jobs import Jobs, Task
from likely.studio.page import policy
from likely.studio.read_settings import ReadSettings
from likely.studio.workbench import Workbench

MOST_CELLS = 20_000


class TrainingRequest(msgspec.Struct):
    """What a page asks for: which column is to be predicted, by what, and what columns are taken for."""

    target: str
    model: str = "auto"
    kinds: dict[str, str] = msgspec.field(default_factory=dict)
    drop_unlabelled: bool = False


class StudioRoutes:
    """Each method answers one address."""

    def __init__(self, bench: Workbench, service: Service) -> None:
        self.bench, self.service, self.jobs = bench, service, Jobs()

    def add_to(self, app: FastAPI) -> None:
        """Give an application the addresses of the studio."""
        gets = {
            "/": self.home, "/studio": self.page, "/studio/jobs/{name}": self.job, "/studio/model": self.model,
            "/favicon.ico": self.nothing,
        }  # fmt: skip
        posts = {
            "/studio/table": self.table, "/studio/train": self.train, "/studio/compare": self.compare,
            "/studio/curve": self.curve, "/studio/score": self.score, "/studio/jobs/{name}/stop": self.stop,
        }  # fmt: skip
        for method, routes in (("GET", gets), ("POST", posts)):
            for path, route in routes.items():
                app.add_api_route(path, route, methods=[method], response_class=Response, include_in_schema=False)

    def close(self) -> None:
        """Begin nothing more, and remove what was dropped."""
        self.jobs.close()
        self.bench.close()

    async def home(self, _: Request) -> Response:
        """To the page."""
        return RedirectResponse("/studio", 302)

    async def nothing(self, _: Request) -> Response:
        """Browsers ask for a picture."""
        return Response(status_code=204)

    async def page(self, _: Request) -> Response:
        """The studio as it is now."""
        text = await self.service.in_thread(self.bench.html)
        return HTMLResponse(text, headers={"content-security-policy": f"{policy(served=True)}; frame-ancestors 'none'"})

    async def job(self, request: Request) -> Response:
        """How far work has come."""
        return answered(self.jobs.find(request.path_params["name"]).told())

    async def stop(self, request: Request) -> Response:
        """End work."""
        return answered(self.jobs.stop(request.path_params["name"]).told())

    async def model(self, _: Request) -> Response:
        """The model as a file."""
        name, content = await self.service.in_thread(self.bench.saved)
        plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name)
        headers = {"content-disposition": f'attachment; filename="{plain[:100]}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def table(self, request: Request) -> Response:
        """A table that was dropped."""
        name, content = query(request).get("name", "table.csv"), request.scope[BODY]
        if not content:
            raise HTTPRefusal(422, "The file is empty.", code="empty")
        try:
            reading = msgspec.json.decode(query(request).get("reading", "{}").encode(), type=ReadSettings)
        except msgspec.DecodeError:
            raise HTTPRefusal(422, 'Say how to read it as reading={"delimiter": ";"}.') from None
        most = self.service.options.limits.columns
        return answered(await self.service.in_thread(self.bench.take_table, name, content, most, reading))

    async def train(self, request: Request) -> Response:
        """Learn the table."""
        content = read_object(body_of(request), "target", "model", "kinds", "drop_unlabelled")
        try:
            asked = msgspec.convert(content, TrainingRequest)
        except msgspec.ValidationError:
            sentence = 'Send {"target": "column", "model": "auto", "kinds": {"column": "nominal"}}.'
            raise HTTPRefusal(422, sentence) from None
        return self._begun(
            lambda job: self.bench.train(
                job, asked.target, asked.model, asked.kinds, drop_unlabelled=asked.drop_unlabelled
            )
        )

    async def compare(self, _: Request) -> Response:
        """Every kind of model on the same folds."""
        return self._begun(self.bench.compare)

    async def curve(self, _: Request) -> Response:
        """What fewer rows would have taught."""
        return self._begun(self.bench.curve)

    async def score(self, request: Request) -> Response:
        """One row, where the page cannot reckon."""
        cells = read_object(body_of(request), "cells").get("cells")
        pairs = cells if isinstance(cells, list) and len(cells) <= MOST_CELLS else None
        if pairs is None or not all(isinstance(c, list) and len(c) == 2 and isinstance(c[0], str) for c in pairs):
            raise HTTPRefusal(422, 'Send {"cells": [["column", value], …]}.')
        return answered(await self.service.in_thread(self.bench.score, dict(pairs)))

    def _begun(self, task: Task) -> Response:
        return answered({"job": self.jobs.start(task).name})
