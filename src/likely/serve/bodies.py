"""What a request carries: JSON, CSV or Arrow, read within the limits."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from likely.errors import listed
from likely.io import open_table
from likely.serve.answers import ARROW, CSV, JSON
from likely.serve.arrow_bodies import read_arrow
from likely.serve.options import Limits
from likely.serve.refusals import Refusal
from likely.serve.rows import Columns, checked_rows
from likely.serve.snapshot import Snapshot

_DECODER = msgspec.json.Decoder()
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a request and what they are said to be."""

    content: bytes
    media_type: str

    @property
    def is_json(self) -> bool:
        return self.media_type == JSON

    @property
    def is_table(self) -> bool:
        return self.media_type in (CSV, ARROW)


class _Stream(io.BytesIO):
    name = "the body"


def media_type(header: str | None) -> str:
    """The type without its parameters; JSON if nothing is said."""
    return JSON if header is None else header.partition(";")[0].strip().lower()


def read_object(body: Body, *fields: str) -> dict[str, Any]:
    """A JSON object, of these fields only if any are named: a misspelt one must not be passed over in silence."""
    if not body.is_json:
        raise Refusal(415, f"The body must be {JSON}.")
    try:
        content = _DECODER.decode(body.content)
    except RecursionError:
        raise Refusal(400, "The JSON of the body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(400, f"The body is no JSON: {str(error)[:100]}.") from None
    if type(content) is not dict:
        raise Refusal(422, "The body must be a JSON object.")
    if fields and not content.keys() <= set(fields):
        raise Refusal(422, f"The body may hold {listed(fields)}, and nothing else.")
    return content


def read_columns(model: Snapshot, content: dict[str, Any], limits: Limits) -> Columns:
    """The rows of a JSON body, by the columns of a model."""
    rows = checked_rows(content.get("rows"), limits.rows, limits.columns)
    refuse_cells(len(rows), len(model.reader.names), limits)
    return model.reader.columns(rows)


def read_table(model: Snapshot, body: Body, limits: Limits) -> Any:
    """The rows of a CSV or Arrow body as an Arrow table."""
    if body.media_type == ARROW:
        table = read_arrow(body.content, limits.rows, limits.columns)
    elif body.media_type == CSV:
        table = _read_csv(model, body.content, limits)
    else:
        raise Refusal(415, f"The body must be {JSON}, {CSV} or {ARROW}.")
    refuse_cells(table.num_rows, len(model.reader.names), limits)
    return table


def _read_csv(model: Snapshot, content: bytes, limits: Limits) -> Any:
    if content.startswith(_PACKED):
        raise Refusal(415, "Send CSV as plain text, not packed.")
    if content.count(b"\n") > limits.rows + 1:
        raise Refusal(413, f"There are more than {limits.rows:,} rows; send them in several requests.")
    if content[:1_000_000].partition(b"\n")[0].count(b",") >= limits.columns:
        raise Refusal(413, f"There are more than {limits.columns:,} columns.")
    kinds = model.schema.kinds
    types = {name: "number" if kinds[name] == "numeric" else "text" for name in model.reader.names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes about encodings are for people at a terminal
        try:
            with open_table(_Stream(content), format="delimited", header=True, types=types) as source:
                table = source.read()
        except pa.ArrowInvalid:
            raise Refusal(400, "The CSV of the body cannot be read as a table.") from None
    if not table.num_rows:
        raise Refusal(422, "There are no rows in the table that was sent.")
    return table


def refuse_cells(n_rows: int, n_columns: int, limits: Limits) -> None:
    """Refuse more cells than a request may have."""
    if n_rows * n_columns > limits.cells:
        raise Refusal(413, f"Rows × columns are more than {limits.cells:,}; send the rows in several requests.")
