"""What a request carries: JSON, CSV or Arrow, read within the limits."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from likely.errors import listed
from likely.io import open_table
from likely.serve.answers import ARROW, CSV, JSON
from likely.serve.catalogue import Snapshot
from likely.serve.options import Limits
from likely.serve.refusals import HTTPRefusal
from likely.serve.rows import Columns, checked_rows

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


def read_object(body: Body, *fields: str) -> dict[str, object]:
    """A JSON object, of these fields only if any are named: a misspelt one must not be passed over in silence."""
    if not body.is_json:
        raise HTTPRefusal(415, f"The body must be {JSON}.")
    try:
        content = _DECODER.decode(body.content)
    except RecursionError:
        raise HTTPRefusal(400, "The JSON of the body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HTTPRefusal(400, f"The body is no JSON: {str(error)[:100]}.") from None
    if type(content) is not dict:
        raise HTTPRefusal(422, "The body must be a JSON object.")
    if fields and not content.keys() <= set(fields):
        raise HTTPRefusal(422, f"The body may hold {listed(fields)}, and nothing else.")
    return content


def read_columns(model: Snapshot, content: dict[str, object], limits: Limits) -> Columns:
    """The rows of a JSON body, by the columns of a model."""
    rows = checked_rows(content.get("rows"), limits.rows, limits.columns)
    refuse_cells(len(rows), len(model.reader.names), limits)
    return model.reader.columns(rows)


def read_table(model: Snapshot, body: Body, limits: Limits) -> pa.Table:
    """The rows of a CSV or Arrow body as an Arrow table."""
    if body.media_type == ARROW:
        table = read_arrow(body.content, limits.rows, limits.columns)
    elif body.media_type == CSV:
        table = _read_csv(model, body.content, limits)
    else:
        raise HTTPRefusal(415, f"The body must be {JSON}, {CSV} or {ARROW}.")
    refuse_cells(table.num_rows, len(model.reader.names), limits)
    return table


def _read_csv(model: Snapshot, content: bytes, limits: Limits) -> pa.Table:
    if content.startswith(_PACKED):
        raise HTTPRefusal(415, "Send CSV as plain text, not packed.")
    if content.count(b"\n") > limits.rows + 1:
        raise HTTPRefusal(413, f"There are more than {limits.rows:,} rows; send them in several requests.")
    if content[:1_000_000].partition(b"\n")[0].count(b",") >= limits.columns:
        raise HTTPRefusal(413, f"There are more than {limits.columns:,} columns.")
    kinds = model.schema.kinds
    types = {name: "number" if kinds[name] == "numeric" else "text" for name in model.reader.names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes about encodings are for people at a terminal
        try:
            with open_table(_Stream(content), format="delimited", header=True, types=types) as source:
                table = source.read()
        except pa.ArrowInvalid:
            raise HTTPRefusal(400, "The CSV of the body cannot be read as a table.") from None
    if not table.num_rows:
        raise HTTPRefusal(422, "There are no rows in the table that was sent.")
    return table


def refuse_cells(n_rows: int, n_columns: int, limits: Limits) -> None:
    """Refuse more cells than a request may have."""
    if n_rows * n_columns > limits.cells:
        raise HTTPRefusal(413, f"Rows × columns are more than {limits.cells:,}; send the rows in several requests.")


_SCHEMA, _DICTIONARY, _RECORDS = 1, 2, 3
_LENGTH, _COMPRESSION = 0, 3


def read_arrow(body: bytes, most_rows: int, most_columns: int) -> pa.Table:
    """The table in an Arrow IPC stream."""
    try:
        rows = _promised_rows(body, most_rows)
        with pa.ipc.open_stream(body) as reader:
            names = reader.schema.names
            if len(names) > most_columns:
                raise HTTPRefusal(413, f"There are {len(names):,} columns; at most {most_columns:,} are taken.")
            for field in reader.schema:
                _refuse_type(field)
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, IndexError, ValueError, OverflowError, UnicodeDecodeError) as error:
        raise HTTPRefusal(400, "The body is no sound Arrow IPC stream.") from error
    if table.num_rows != rows:
        raise HTTPRefusal(400, "The body is no sound Arrow IPC stream.")
    if not rows:
        raise HTTPRefusal(422, "There are no rows in the table that was sent.")
    return table


def _refuse_type(field: pa.Field) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    types = pa.types
    plain = (
        types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)
        or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        or types.is_decimal(kind) or types.is_temporal(kind)
    )  # fmt: skip
    if not plain:
        raise HTTPRefusal(
            422, f"Column {field.name!r} has the type {kind}; send numbers, truth values, text or categories."
        )


def _promised_rows(body: bytes, most: int) -> int:
    """Rows of all batches, by their messages."""
    rows = 0
    reader = pa.ipc.MessageReader.open_stream(body)
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return rows
        kind, header = _header(message.metadata.to_pybytes())
        if kind == _SCHEMA:
            continue
        if kind not in (_RECORDS, _DICTIONARY):
            raise HTTPRefusal(415, "The Arrow stream holds something else than a table.")
        batch = header if kind == _RECORDS else header.table(1)
        if batch is None:
            raise ValueError("a batch without its header")
        if batch.has(_COMPRESSION):
            raise HTTPRefusal(415, "Send Arrow buffers without compression.")
        length = batch.int64(_LENGTH)
        if length < 0 or length > most or rows + length > most:
            raise HTTPRefusal(413, f"There are more than {most:,} rows; send them in several requests.")
        rows += length if kind == _RECORDS else 0


class _FlatTable:
    """A table of a flatbuffer: fields by their number, absent ones are None or 0."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content, self.place = content, place
        self.fields = place - self._number(place, 4, signed=True)
        if not 0 <= self.fields <= len(content) - 4:
            raise ValueError("a table outside of its buffer")

    def _number(self, place: int, size: int, *, signed: bool = False) -> int:
        if not 0 <= place <= len(self.content) - size:
            raise ValueError("a field outside of its buffer")
        return int.from_bytes(self.content[place : place + size], "little", signed=signed)

    def _field(self, number: int) -> int:
        offset = 4 + 2 * number
        return self._number(self.fields + offset, 2) if offset < self._number(self.fields, 2) else 0

    def has(self, number: int) -> bool:
        return self._field(number) != 0

    def byte(self, number: int) -> int:
        at = self._field(number)
        return self._number(self.place + at, 1) if at else 0

    def int64(self, number: int) -> int:
        at = self._field(number)
        return self._number(self.place + at, 8, signed=True) if at else 0

    def table(self, number: int) -> _FlatTable | None:
        at = self._field(number)
        return _FlatTable(self.content, self.place + at + self._number(self.place + at, 4)) if at else None


def _header(metadata: bytes) -> tuple[int, _FlatTable]:
    """Kind and header of a message: fields 1 and 2 of its root."""
    root = _FlatTable(metadata, int.from_bytes(metadata[:4], "little"))
    header = root.table(2)
    if header is None:
        raise ValueError("a message without a header")
    return root.byte(1), header
