"""The description of the addresses, with examples that are rows of the model's own columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from likely.errors import LikelyError
from likely.markup import Markup, joined, tag
from likely.render.page import page
from likely.serve.answers import ARROW, CSV, JSON, encode, json_cell
from likely.serve.catalogue import Snapshot
from likely.serve.open_inference import datatype_of
from likely.stats import Histogram, Moments, ValueCounts

OpenApi: TypeAlias = Mapping[str, Any]
"""What FastAPI makes of the addresses; it has no types for it."""

SHOWN_COLUMNS = 200
ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
REFUSALS = {
    "400": "The body cannot be read.", "401": "A token is needed.", "403": "This may not be done here.",
    "404": "There is no such model.", "409": "It does not go with what was learned, or the key was used before.",
    "413": "This is more than the service takes at once.", "415": "The body has another format.",
    "421": "The service does not answer under this host name.", "422": "The rows do not fit the model.",
    "503": "Too much is waiting; ask again.",
}  # fmt: skip
_NULLABLE = {"numeric": ["number", "string", "boolean", "null"], "nominal": ["string", "number", "boolean", "null"]}


def example_row(model: Snapshot) -> dict[str, object]:
    """A row that the model might see: means of numbers, the most common values of categories."""
    return {name: example_cell(model, name) for name in model.reader.names[:SHOWN_COLUMNS]}


def example_cell(model: Snapshot, name: str) -> object:
    """What stands in an ordinary cell of a column."""
    kind = model.schema.kinds[name]
    seen = None
    if model.counts:
        try:
            seen = model.classifier.summary_[name]
        except LikelyError:
            seen = None
    if isinstance(seen, ValueCounts) and len(seen.values):
        return json_cell(seen.values[int(seen.counts.sum(axis=0).argmax())])
    if isinstance(seen, Moments):
        return float(np.format_float_positional(seen.pooled().mean[0, 0], precision=4, fractional=False))
    if isinstance(seen, Histogram) and len(seen.cells):
        return float(seen.lows()[int(seen.counts.sum(axis=0).argmax())])
    return 1.0 if kind == "numeric" else "some words" if kind == "text" else "a value"


def rows_schema(model: Snapshot) -> dict[str, object]:
    """Rows as JSON objects; null is a gap, further columns are ignored."""
    names = model.reader.names[:SHOWN_COLUMNS]
    kinds = model.schema.kinds
    properties = {name: {"type": _NULLABLE.get(kinds[name], ["string", "null"])} for name in names}
    row = {"type": "object", "properties": properties, "required": list(names), "additionalProperties": True}
    return {"type": "array", "items": row, "minItems": 1, "maxItems": 100}


def json_body(properties: Mapping[str, object], example: Mapping[str, object]) -> dict[str, object]:
    """A body that is a JSON object."""
    schema = {"type": "object", "properties": dict(properties), "required": ["rows"], "additionalProperties": False}
    return {JSON: {"schema": schema, "example": dict(example)}}


def operation(
    content: Mapping[str, object] | None, *, chooses: bool = True, paths: tuple[str, ...] = ()
) -> dict[str, object]:
    """What FastAPI does not know of an address: its body, its parameters and its refusals."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}, "description": f"The {name}."}
        for name in paths
    ]
    if chooses:
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": {"type": "string"}, "description": told}
            for name, told in (("model", "The first, if none is named."), ("version", "The newest, if none is named."))
        ]
    found: dict[str, object] = {"parameters": parameters, "responses": refusals()}
    if content is not None:
        found["requestBody"] = {"required": True, "content": dict(content)}
    return found


def refusals() -> dict[str, object]:
    """Every address may answer so."""
    return {status: {"description": told, "content": {JSON: {"schema": ERROR}}} for status, told in REFUSALS.items()}


def predict_body(model: Snapshot) -> dict[str, object]:
    """JSON, or a table as CSV or Arrow."""
    rows = [example_row(model)]
    return {
        **json_body({"rows": rows_schema(model), "probabilities": {"type": "boolean"}}, {"rows": rows}),
        CSV: {"schema": {"type": "string"}, "example": _csv(rows[0])},
        ARROW: {"schema": {"type": "string", "format": "binary"}},
    }


def decide_body(model: Snapshot) -> dict[str, object]:
    """Rows, costs by decision and class, and the price of no decision."""
    costs = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}}}
    labels = [str(label) for label in model.labels[:5]]
    loss = {decision: {truth: float(decision != truth) for truth in labels} for decision in labels}
    complete = len(labels) == len(model.labels)
    example = {"rows": [example_row(model)], "refuse": 0.3, **({"loss": loss} if complete else {})}
    return json_body({"rows": rows_schema(model), "loss": costs, "refuse": {"type": "number"}}, example)


def explain_body(model: Snapshot) -> dict[str, object]:
    """Rows alone."""
    return json_body({"rows": rows_schema(model)}, {"rows": [example_row(model)]})


def change_body(model: Snapshot) -> dict[str, object]:
    """Rows with labels."""
    labels = {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1}
    example = {"rows": [example_row(model)], "labels": model.labels[:1]}
    return json_body({"rows": rows_schema(model), "labels": labels}, example)


def infer_body(model: Snapshot) -> dict[str, object]:
    """Tensors, one for each column."""
    kinds = model.schema.kinds
    tensors = [
        {"name": name, "shape": [1], "datatype": datatype_of(kinds[name]), "data": [cell]}
        for name, cell in example_row(model).items()
    ]
    tensor = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "datatype": {"type": "string", "enum": ["BOOL", "INT64", "FP32", "FP64", "BYTES"]},
            "data": {"type": "array", "items": {}},
        },
        "required": ["name", "shape", "datatype", "data"],
    }
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "inputs": {"type": "array", "items": tensor, "minItems": 1}},
        "required": ["inputs"],
    }
    return {JSON: {"schema": schema, "example": {"id": "1", "inputs": tensors}}}


def _csv(row: Mapping[str, object]) -> str:
    def cell(value: object) -> str:
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') else text

    return "\n".join([",".join(map(cell, row)), ",".join(map(cell, row.values())), ""])


def docs_page(described: OpenApi) -> Markup:
    """A page for people that needs nothing from elsewhere: every address, and an example to copy."""
    parts: list[object] = [tag("h1", described["info"]["title"]), tag("p", described["info"].get("description", ""))]
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            parts.append(tag("h2", tag("code", f"{method.upper()} {path}")))
            parts.append(tag("p", told.get("description") or told.get("summary", "")))
            for kind, content in told.get("requestBody", {}).get("content", {}).items():
                example = content.get("example")
                if example is not None:
                    shown = example if isinstance(example, str) else encode(example).decode()
                    parts += [tag("p", kind), tag("pre", shown)]
    return page(described["info"]["title"], joined(*parts))
