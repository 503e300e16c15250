"""Arrow IPC streams from strangers: looked through before Arrow makes anything of them.

A few bytes may promise any number of rows, and compressed buffers any number of bytes, so the messages of a stream
are read first for what they promise (flatbuffers; the fields that matter are few), and tables are checked to the last
offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likely.serve.refusals import Refusal

if TYPE_CHECKING:
    import pyarrow as pa

_SCHEMA, _DICTIONARY, _RECORDS = 1, 2, 3
_LENGTH, _COMPRESSION = 0, 3


def read_arrow(body: bytes, most_rows: int, most_columns: int) -> pa.Table:
    """The table in an Arrow IPC stream."""
    import pyarrow as pa

    try:
        rows = _promised_rows(body, most_rows)
        with pa.ipc.open_stream(body) as reader:
            names = reader.schema.names
            if len(names) > most_columns:
                raise Refusal(413, f"There are {len(names):,} columns; at most {most_columns:,} are taken.")
            for field in reader.schema:
                _refuse_type(field, pa)
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, IndexError, ValueError, OverflowError, UnicodeDecodeError) as error:
        raise Refusal(400, "The body is no sound Arrow IPC stream.") from error
    if table.num_rows != rows:
        raise Refusal(400, "The body is no sound Arrow IPC stream.")
    if not rows:
        raise Refusal(422, "There are no rows in the table that was sent.")
    return table


def _refuse_type(field: pa.Field, pa: Any) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    types = pa.types
    plain = (
        types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)
        or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        or types.is_decimal(kind) or types.is_temporal(kind)
    )  # fmt: skip
    if not plain:
        raise Refusal(
            422, f"Column {field.name!r} has the type {kind}; send numbers, truth values, text or categories."
        )


def _promised_rows(body: bytes, most: int) -> int:
    """Rows of all batches, by their messages."""
    import pyarrow as pa

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
            raise Refusal(415, "The Arrow stream holds something else than a table.")
        batch = header if kind == _RECORDS else header.table(1)
        if batch is None:
            raise ValueError("a batch without its header")
        if batch.has(_COMPRESSION):
            raise Refusal(415, "Send Arrow buffers without compression.")
        length = batch.int64(_LENGTH)
        if length < 0 or length > most or rows + length > most:
            raise Refusal(413, f"There are more than {most:,} rows; send them in several requests.")
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
