"""The addresses of the Open Inference Protocol, version 2: health, metadata and inference."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from likely.serve import tensors
from likely.serve.answers import JSON, encode
from likely.serve.bodies import Body, read_object, refuse_cells
from likely.serve.refusals import Refusal
from likely.serve.routes import answered, body_of
from likely.serve.service import Service
from likely.serve.snapshot import Snapshot

LENGTH = "inference-header-content-length"
BINARY = "application/octet-stream"


class OpenInference:
    """Each method answers one address."""

    def __init__(self, service: Service) -> None:
        self.service, self.limits = service, service.options.limits

    def model(self, request: Request) -> Snapshot:
        """The model in the address."""
        return self.service.catalogue.find(request.path_params["name"], request.path_params.get("version"))

    async def live(self, request: Request) -> Response:
        """Whether the service runs."""
        return answered({"live": True})

    async def ready(self, request: Request) -> Response:
        """Whether the service takes requests."""
        ready = not self.service.draining
        return answered({"ready": ready}, 200 if ready else 503)

    async def server(self, request: Request) -> Response:
        """What the service is."""
        return answered({"name": "likely", "version": "2", "extensions": ["binary_tensor_data"]})

    async def model_ready(self, request: Request) -> Response:
        """Whether a model takes requests."""
        return answered({"name": self.model(request).name, "ready": True})

    async def metadata(self, request: Request) -> Response:
        """Inputs and outputs of a model."""
        model = self.model(request)
        found = tensors.metadata(model)
        return answered({**found, "versions": self.service.catalogue.versions(model.name)})

    async def infer(self, request: Request) -> Response:
        """Predictions and probabilities of the rows that tensors hold."""
        model, body = self.model(request), body_of(request)
        content, binary = _split(body, request.headers.get(LENGTH))
        request_body = read_object(Body(content, JSON))
        given = tensors.read_tensors(request_body, binary, self.limits)
        columns = tensors.columns_of(model, given, self.limits)
        refuse_cells(columns.n_rows, len(columns.cells), self.limits)
        judged = await self.service.batcher.judge(model, columns)
        found, follow = tensors.answer(model, judged, request_body)
        if not follow:
            return answered(found)
        head = encode(found)
        return Response(b"".join([head, *follow]), media_type=BINARY, headers={LENGTH: str(len(head))})


def _split(body: Body, length: str | None) -> tuple[bytes, bytes]:
    """The JSON of a request and the bytes that follow it."""
    if length is None:
        if not body.is_json:
            raise Refusal(415, f"The body must be {JSON}, or say with {LENGTH} how much of it is.")
        return body.content, b""
    if not length.isdecimal() or len(length) > 12 or int(length) > len(body.content):
        raise Refusal(400, f"The header {LENGTH} is no number of bytes of the body.")
    return body.content[: int(length)], body.content[int(length) :]
