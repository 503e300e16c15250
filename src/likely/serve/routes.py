"""The plain addresses: predict, decide, explain, learn, forget, and what there is to know of a model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from likely.decide import Loss
from likely.errors import SettingsError
from likely.serve import answers
from likely.serve.answers import ARROW, CSV, JSON
from likely.serve.bodies import Body, media_type, read_columns, read_object, read_table
from likely.serve.catalogue import Judged, Snapshot
from likely.serve.changes import Kind, read_change
from likely.serve.guard import BODY
from likely.serve.refusals import HTTPRefusal
from likely.serve.service import Service

MOST_PROBABILITIES = 5_000_000
"""Rows × classes of one answer."""


def answered(content: object, status: int = 200) -> Response:
    """JSON."""
    return Response(answers.encode(content), status, media_type=JSON)


def query(request: Request) -> Mapping[str, str]:
    """What stands after the question mark; the last value of each name."""
    text: bytes = request.scope.get("query_string", b"")
    if not text:
        return {}
    try:
        return {name: values[-1] for name, values in parse_qs(text.decode("ascii"), max_num_fields=20).items()}
    except ValueError:
        raise HTTPRefusal(400, "The query of the address cannot be read.") from None


def body_of(request: Request) -> Body:
    """The body that the guard has read."""
    return Body(request.scope[BODY], media_type(request.headers.get("content-type")))


class Routes:
    """Each method answers one address."""

    def __init__(self, service: Service) -> None:
        self.service, self.limits = service, service.options.limits

    def model(self, request: Request) -> Snapshot:
        """The model that is asked for: ?model=NAME&version=V, or the first."""
        asked = query(request)
        return self.service.catalogue.find(asked.get("model"), asked.get("version"))

    async def predict(self, request: Request) -> Response:
        """The most probable class of each row, and P(class)."""
        model, body = self.model(request), body_of(request)
        probabilities = query(request).get("probabilities", "true") != "false"
        wanted = request.headers.get("accept", "")
        if not body.is_json:
            return await self.service.in_thread(self._predict_table, model, body, probabilities, wanted)
        content = read_object(body, "rows", "probabilities")
        probabilities = probabilities and content.get("probabilities", True) is not False
        columns = read_columns(model, content, self.limits)
        self._refuse_answer(model, columns.n_rows, probabilities)
        judged = await self.service.batcher.judge(model, columns)
        if columns.n_rows > 1_000 or CSV in wanted or ARROW in wanted:
            return await self.service.in_thread(_written, model, judged, probabilities, JSON, wanted)
        return answered(answers.predictions(model, judged, probabilities=probabilities))

    def _predict_table(self, model: Snapshot, body: Body, probabilities: bool, wanted: str) -> Response:
        table = read_table(model, body, self.limits)
        self._refuse_answer(model, table.num_rows, probabilities)
        return _written(model, model.judge(table), probabilities, body.media_type, wanted)

    def _refuse_answer(self, model: Snapshot, n_rows: int, probabilities: bool) -> None:
        if probabilities and n_rows * len(model.labels) > MOST_PROBABILITIES:
            raise HTTPRefusal(
                413, f"Rows × classes are more than {MOST_PROBABILITIES:,}; ask with probabilities=false."
            )

    async def decide(self, request: Request) -> Response:
        """The decision of least expected cost for each row; none where refusing is cheaper."""
        model, content = self.model(request), read_object(body_of(request), "rows", "loss", "refuse")
        columns = read_columns(model, content, self.limits)
        loss = _loss(model, content)

        def decided() -> dict[str, object]:
            return answers.decisions(model, model.classifier.decisions(model.table([columns]), loss))

        return answered(await self.service.in_thread(decided))

    async def explain(self, request: Request) -> Response:
        """Prior and one factor for each column, which add up to the log joint."""
        model, content = self.model(request), read_object(body_of(request), "rows")
        columns = read_columns(model, content, self.limits)
        cells = columns.n_rows * len(columns.cells) * max(len(model.labels), 1)
        if cells > self.limits.explained_cells:
            raise HTTPRefusal(
                413, f"Rows × columns × classes are more than {self.limits.explained_cells:,}: ask for fewer."
            )
        if not hasattr(model.classifier, "explain"):
            raise HTTPRefusal(422, "This model does not explain its rows.")

        def explained() -> dict[str, object]:
            return answers.explanations(model, model.classifier.explain(model.table([columns])))

        return answered(await self.service.in_thread(explained))

    async def learn(self, request: Request) -> Response:
        """Learn rows with their labels: on the disk before this answers."""
        return await self._change("learn", request)

    async def forget(self, request: Request) -> Response:
        """Take rows out again that were learned: on the disk before this answers."""
        return await self._change("forget", request)

    async def _change(self, kind: Kind, request: Request) -> Response:
        model = self.model(request)
        self.service.writer_of(model)
        content, key = read_object(body_of(request), "rows", "labels"), request.headers.get("idempotency-key")
        change = read_change(kind, content, model.schema, key, self.limits.rows, self.limits.columns)
        outcome = await self.service.change(model, change)
        told = {"model": model.name, "version": model.version, "revision": outcome.revision}
        done = "learned" if kind == "learn" else "forgotten"
        return answered({**told, done: outcome.rows, "repeated": outcome.repeated})

    async def schema(self, request: Request) -> Response:
        """The columns that a model reads, and what it predicts."""
        model = self.model(request)
        columns = [
            {"name": name, "kind": model.schema[name].kind, "stored_as": model.schema[name].storage}
            for name in model.reader.names
        ]
        return answered({**model.about, "target": model.schema.target, "classes": model.labels, "columns": columns})

    async def about(self, request: Request) -> Response:
        """What a model is, and how common its classes are to it."""
        model = self.model(request)
        return answered(_about(self.service, model))

    async def models(self, request: Request) -> Response:
        """All models that are served."""
        return answered({"models": [model.about for model in self.service.catalogue.all()]})

    async def metrics(self, request: Request) -> Response:
        """Counters for Prometheus."""
        return Response(self.service.metrics.text(), media_type="text/plain; version=0.0.4")


def _about(service: Service, model: Snapshot) -> dict[str, object]:
    classifier = model.classifier
    try:
        shares: list[object] = classifier._prior_shares().tolist()
    except SettingsError:
        shares = [None] * len(model.labels)
    learns = (model.name, model.version) in service.learning
    return {
        **model.about,
        "kind": type(classifier).__name__,
        "classes": [{"class": label, "share": share} for label, share in zip(model.labels, shares, strict=True)],
        "rows": int(classifier._rows_learned()),
        "columns": len(model.reader.names),
        "learns": learns,
        "versions": service.catalogue.versions(model.name),
    }


def _loss(model: Snapshot, content: Mapping[str, object]) -> Loss:
    """Costs by decision and truth, under the names that JSON gives them; every mistake costs 1 if none are given."""
    given, asked = content.get("loss"), content.get("refuse")
    price = None if asked is None else _finite(asked, "The price of no decision")
    if given is None:
        return Loss.zero_one(model.classifier.classes_, refuse=price)
    if not isinstance(given, dict) or not all(isinstance(costs, dict) for costs in given.values()):
        raise HTTPRefusal(422, 'Send {"loss": {"decision": {"class": cost, …}}}.')
    by_name = {str(label): raw for label, raw in zip(model.labels, model.classifier.classes_.tolist(), strict=True)}
    costs = {
        by_name.get(decision, decision): {
            by_name.get(truth, truth): _finite(cost, "A cost") for truth, cost in line.items()
        }
        for decision, line in given.items()
    }
    return Loss(costs, refuse=price)


def _finite(given: object, what: str) -> float:
    """A number of JSON as a float."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        with suppress(OverflowError):  # hundreds of digits
            return float(given)
    raise HTTPRefusal(422, f"{what} is a number that a float can hold.")


def _written(model: Snapshot, judged: Judged, probabilities: bool, sent: str, wanted: str) -> Response:
    """An answer in the format that is accepted, else in that of the rows."""
    kind = next((known for known in (ARROW, CSV, JSON) if known in wanted), sent)
    if kind == JSON:
        return answered(answers.predictions(model, judged, probabilities=probabilities))
    table = answers.columns(model, judged, probabilities=probabilities)
    content = answers.as_arrow(table) if kind == ARROW else answers.as_csv(table)
    return Response(content, media_type=kind, headers=dict(answers.headers_of(model)))
