"""The Open Inference Protocol, version 2: health, metadata, and inference by tensors.

A request has one tensor for each column (of shape [n] or [n, 1]), or a single one of shape [n, columns] whose columns
stand in the order of the schema. Data is JSON, or follows the JSON as bytes (the protocol's binary extension).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from likely.arrays import AnyArray, Json
from likely.serve.answers import JSON, encode
from likely.serve.bodies import Body, read_object, refuse_cells
from likely.serve.catalogue import Judged, Snapshot
from likely.serve.options import Limits
from likely.serve.refusals import HTTPRefusal
from likely.serve.routes import answered, body_of
from likely.serve.rows import Columns
from likely.serve.service import Service

NUMBERS = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
BYTES = "BYTES"
PREDICTION, PROBABILITIES = "predict", "predict_proba"
LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A named block of cells, flat, with its shape."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    cells: list[object]


def datatype_of(kind: str) -> str:
    """The type of a column's tensor."""
    return "FP64" if kind == "numeric" else BYTES


def metadata(model: Snapshot) -> dict[str, object]:
    """Inputs and outputs of a model, as the protocol lists them."""
    kinds = model.schema.kinds
    inputs = [{"name": name, "datatype": datatype_of(kinds[name]), "shape": [-1]} for name in model.reader.names]
    labels = label_type(model)
    outputs = [
        {"name": PREDICTION, "datatype": labels, "shape": [-1]},
        {"name": PROBABILITIES, "datatype": "FP64", "shape": [-1, len(model.labels)]},
    ]
    return {
        "name": model.name, "versions": [model.version], "platform": "likely", "inputs": inputs, "outputs": outputs,
        "parameters": {"classes": [str(label) for label in model.labels], "revision": model.revision},
    }  # fmt: skip


def label_type(model: Snapshot) -> str:
    """The type of the tensor of predictions."""
    kinds = set(map(type, model.labels))
    return {frozenset({int}): "INT64", frozenset({bool}): "BOOL", frozenset({float}): "FP64"}.get(
        frozenset(kinds), BYTES
    )


def read_tensors(content: Mapping[str, object], binary: bytes, limits: Limits) -> list[Tensor]:
    """The inputs of a request."""
    given = content.get("inputs")
    if not isinstance(given, list) or not given:
        raise HTTPRefusal(400, 'A request has "inputs": a list of tensors with name, shape, datatype and data.')
    if len(given) > limits.columns:
        raise HTTPRefusal(413, f"There are {len(given):,} tensors; at most {limits.columns:,} are taken.")
    tensors, start = [], 0
    for entry in given:
        tensor, start = _read(entry, binary, start, limits)
        tensors.append(tensor)
    if start != len(binary):
        raise HTTPRefusal(400, "The sizes of the tensors do not add up to the bytes that follow the JSON.")
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise HTTPRefusal(400, "Two tensors have the same name.")
    return tensors


def _read(entry: object, binary: bytes, start: int, limits: Limits) -> tuple[Tensor, int]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise HTTPRefusal(400, "Every tensor is an object with a name.")
    name, datatype, shape = entry["name"], entry.get("datatype"), entry.get("shape")
    if datatype not in NUMBERS and datatype != BYTES:
        raise HTTPRefusal(400, f"The tensor {name[:40]!r} has no datatype of the protocol, such as FP64 or BYTES.")
    if not isinstance(shape, list) or not 0 < len(shape) <= 2 or not all(type(n) is int and n > 0 for n in shape):
        raise HTTPRefusal(400, f"The tensor {name[:40]!r} needs a shape of one or two numbers from 1 up.")
    n_cells = math.prod(shape)
    if n_cells > limits.cells or shape[0] > limits.rows:
        raise HTTPRefusal(413, f"The tensor {name[:40]!r} is larger than the service takes.")
    parameters = entry.get("parameters") or {}
    size = parameters.get("binary_data_size") if isinstance(parameters, dict) else None
    if size is not None:
        if type(size) is not int or not 0 <= size <= len(binary) - start or "data" in entry:
            raise HTTPRefusal(400, f"The bytes of the tensor {name[:40]!r} are not there.")
        cells = _from_bytes(name, datatype, n_cells, binary[start : start + size])
        return Tensor(name, datatype, tuple(shape), cells), start + size
    cells = _flat(entry.get("data"), len(shape))
    if len(cells) != n_cells:
        raise HTTPRefusal(400, f"The tensor {name[:40]!r} has {len(cells):,} cells, but its shape says {n_cells:,}.")
    return Tensor(name, datatype, tuple(shape), cells), start


def _flat(data: object, dimensions: int) -> list[object]:
    """Cells one after the other, also from nested lists."""
    if not isinstance(data, list):
        raise HTTPRefusal(400, "A tensor has data: a list.")
    if dimensions == 2 and data and all(isinstance(line, list) for line in data):
        data = [cell for line in data for cell in line]
    cells: list[object] = data
    if any(isinstance(cell, list | dict) for cell in cells):
        raise HTTPRefusal(400, "The data of a tensor is nested deeper than its shape says.")
    return cells


def _from_bytes(name: str, datatype: str, n_cells: int, content: bytes) -> list[object]:
    if datatype == BYTES:
        return _texts(name, n_cells, content)
    dtype = np.dtype(NUMBERS[datatype]).newbyteorder("<")
    if len(content) != n_cells * dtype.itemsize:
        raise HTTPRefusal(
            400, f"The tensor {name[:40]!r} has {len(content):,} bytes, which is not what its shape says."
        )
    numbers: AnyArray = np.frombuffer(content, dtype)
    return [None if cell != cell else cell for cell in numbers.tolist()]


def _texts(name: str, n_cells: int, content: bytes) -> list[object]:
    """Texts, each after its length."""
    cells: list[object] = []
    place = 0
    for _ in range(n_cells):
        start = place + LENGTH_BYTES
        length = int.from_bytes(content[place:start], "little")
        if start + length > len(content):
            raise HTTPRefusal(400, f"The texts of the tensor {name[:40]!r} are cut off.")
        cells.append(_decoded(name, content[start : start + length]))
        place = start + length
    if place != len(content):
        raise HTTPRefusal(400, f"The tensor {name[:40]!r} has more bytes than texts.")
    return cells


def _decoded(name: str, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise HTTPRefusal(400, f"A text of the tensor {name[:40]!r} is not in UTF-8.") from None


def columns_of(model: Snapshot, tensors: Sequence[Tensor], limits: Limits) -> Columns:
    """The rows that tensors hold."""
    names = model.reader.names
    if len(tensors) == 1 and (len(names) > 1 or tensors[0].name not in names):
        return _from_matrix(model, tensors[0])
    for tensor in tensors:
        if len(tensor.shape) == 2 and tensor.shape[1] != 1:
            raise HTTPRefusal(400, f"The tensor {tensor.name[:40]!r} of one column has the shape {list(tensor.shape)}.")
    lengths = {tensor.shape[0] for tensor in tensors}
    if len(lengths) > 1:
        raise HTTPRefusal(400, f"The tensors have different numbers of rows: {sorted(lengths)[:5]}.")
    n_rows = lengths.pop()
    return model.reader.from_columns({tensor.name: tensor.cells for tensor in tensors}, n_rows)


def _from_matrix(model: Snapshot, tensor: Tensor) -> Columns:
    names = model.reader.names
    if len(tensor.shape) == 1 and len(names) != 1 and tensor.name in names:
        model.reader.from_columns({tensor.name: tensor.cells}, tensor.shape[0])  # it says which columns are missing
    width = tensor.shape[1] if len(tensor.shape) == 2 else 1
    if width != len(names):
        raise HTTPRefusal(
            400, f"The tensor {tensor.name[:40]!r} has {width:,} columns, but the model reads {len(names):,}."
        )
    cells = {name: tensor.cells[place::width] for place, name in enumerate(names)}
    return model.reader.from_columns(cells, tensor.shape[0])


# The answer.


def answer(model: Snapshot, judged: Judged, content: Mapping[str, object]) -> tuple[dict[str, object], list[bytes]]:
    """The JSON of an answer, and the bytes that follow it where they were asked for."""
    parameters = content.get("parameters")
    all_binary = isinstance(parameters, dict) and parameters.get("binary_data_output") is True
    outputs, follow = [], []
    for name, binary in _wanted(content, all_binary):
        if name == PREDICTION:
            labels = [model.labels[place] for place in judged.chosen.tolist()]
            datatype = label_type(model)
            one: dict[str, object] = {"name": name, "datatype": datatype, "shape": [len(labels)]}
            data: Sequence[Json] = labels if datatype != BYTES else [str(label) for label in labels]
            packed = _pack(data, datatype) if binary else b""
        else:
            one = {"name": name, "datatype": "FP64", "shape": list(judged.posterior.shape)}
            data = [] if binary else judged.posterior.ravel().tolist()
            packed = judged.posterior.astype("<f8").tobytes() if binary else b""
        if binary:
            outputs.append({**one, "parameters": {"binary_data_size": len(packed)}})
            follow.append(packed)
        else:
            outputs.append({**one, "data": data})
    found: dict[str, object] = {"model_name": model.name, "model_version": model.version}
    if isinstance(content.get("id"), str):
        found["id"] = content["id"]
    found |= {"parameters": {"revision": model.revision}, "outputs": outputs}
    return found, follow


def _wanted(content: Mapping[str, object], all_binary: bool) -> list[tuple[str, bool]]:
    given = content.get("outputs")
    if given is None or given == []:
        return [(PREDICTION, all_binary), (PROBABILITIES, all_binary)]
    if not isinstance(given, list) or len(given) > 2:
        raise HTTPRefusal(400, f'"outputs" names {PREDICTION!r}, {PROBABILITIES!r} or both.')
    wanted: list[tuple[str, bool]] = []
    for entry in given:
        name = entry.get("name") if isinstance(entry, dict) else None
        if name not in (PREDICTION, PROBABILITIES) or any(name == other for other, _ in wanted):
            raise HTTPRefusal(400, f'"outputs" names {PREDICTION!r}, {PROBABILITIES!r} or both.')
        parameters = entry.get("parameters")
        binary = isinstance(parameters, dict) and parameters.get("binary_data") is True
        wanted.append((name, binary))
    return wanted


def _pack(data: Sequence[Json], datatype: str) -> bytes:
    if datatype != BYTES:
        return np.array(data, dtype=NUMBERS[datatype]).tobytes()
    texts = [str(text).encode() for text in data]
    return b"".join(len(text).to_bytes(LENGTH_BYTES, "little") + text for text in texts)


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
        found = metadata(model)
        return answered({**found, "versions": self.service.catalogue.versions(model.name)})

    async def infer(self, request: Request) -> Response:
        """Predictions and probabilities of the rows that tensors hold."""
        model, body = self.model(request), body_of(request)
        content, binary = _split(body, request.headers.get(LENGTH))
        request_body = read_object(Body(content, JSON))
        given = read_tensors(request_body, binary, self.limits)
        columns = columns_of(model, given, self.limits)
        refuse_cells(columns.n_rows, len(columns.cells), self.limits)
        judged = await self.service.batcher.judge(model, columns)
        found, follow = answer(model, judged, request_body)
        if not follow:
            return answered(found)
        head = encode(found)
        return Response(b"".join([head, *follow]), media_type=BINARY, headers={LENGTH: str(len(head))})


def _split(body: Body, length: str | None) -> tuple[bytes, bytes]:
    """The JSON of a request and the bytes that follow it."""
    if length is None:
        if not body.is_json:
            raise HTTPRefusal(415, f"The body must be {JSON}, or say with {LENGTH} how much of it is.")
        return body.content, b""
    if not length.isdecimal() or len(length) > 12 or int(length) > len(body.content):
        raise HTTPRefusal(400, f"The header {LENGTH} is no number of bytes of the body.")
    return body.content[: int(length)], body.content[int(length) :]
