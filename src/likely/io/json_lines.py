"""A file of JSON lines: one object per line, one column per key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.json as pjson

from likely.errors import FileError, Message, Setting, missing_columns
from likely.io.blocks import count_lines
from likely.io.faults import REJECTING, Fault, Rejects, shown
from likely.io.scan import TOO_DEEP, is_deep
from likely.io.sources import Place, Source, Wanted
from likely.io.streams import RawBytes, TextBytes, find_encoding, named_encoding

HEAD = 1 << 22
BLOCK = 1 << 23
LONGEST_LINE = 1 << 27
MOST_BAD = 100


@dataclass(frozen=True, slots=True)
class JsonPiece:
    """Whole lines of a file."""

    source: Source
    data: bytes
    types: pa.Schema
    every_key: bool
    line: int
    after: Place
    share: float
    rejects: Rejects | None

    @property
    def n_rows(self) -> int:
        return sum(1 for line in self.data.splitlines() if line.strip())

    def read(self) -> pa.Table:
        try:
            table = parse(self.data, self.types, "error" if self.every_key else "ignore")
            if table.num_rows == self.n_rows:
                return table.select(self.types.names)
        except pa.ArrowInvalid:
            pass
        return self._with_care()

    def where(self, row: int) -> str:
        numbers = [number for number, line in enumerate(self.data.split(b"\n")) if line.strip()]
        return f"{self.source.name}, line {self.line + numbers[row] + 1}"

    def _with_care(self) -> pa.Table:
        """Line by line: the first bad one is named, or left out."""
        good = []
        for number, line in enumerate(self.data.split(b"\n")):
            if not line.strip():
                continue
            reason = self._fault(line)
            if not reason:
                good.append(line)
                continue
            text = line[:1000].decode("utf-8", "replace")
            fault = Fault(self.source.name, self.line + number + 1, reason, text, REJECTING)
            if self.rejects is None:
                raise fault.error()
            self.rejects.add(fault)
        if not good:
            return self.types.empty_table()
        return parse(b"\n".join(good) + b"\n", self.types, "ignore").select(self.types.names)

    def _fault(self, line: bytes) -> str:
        if is_deep(line):
            return TOO_DEEP
        try:
            found = json.loads(line, object_pairs_hook=_distinct)
        except UnicodeDecodeError as error:
            return f"the bytes are no UTF-8 ({error.reason})"
        except (ValueError, RecursionError) as error:
            return f"this is no JSON ({error})"
        if not isinstance(found, dict):
            return f"an object {{…}} is needed, not {shown(str(found))}"
        strange = [key for key in found if key not in self.types.names]
        if strange and self.every_key:
            return Message(
                f"the key {strange[0]!r} is in no line looked at before; name the keys that you want with ",
                Setting("columns"),
            )
        try:
            rows = parse(line + b"\n", self.types, "ignore").num_rows
        except pa.ArrowInvalid as error:
            return f"a value does not fit those looked at before ({_plain(error)})"
        return "" if rows == 1 else "one line must hold one object"


class JsonFile:
    """One file of JSON lines."""

    def __init__(self, source: Source, encoding: str | None, rejects: Rejects | None, columns: tuple[str, ...] | None):
        self.source, self._rejects, self._columns = source, rejects, columns
        with RawBytes(source) as raw:
            start = raw.read(1 << 16)
        if not start.strip():
            raise FileError(f"{source.name} is empty; a table of JSON lines needs at least one object.")
        if start.lstrip().startswith(b"["):
            raise FileError(f"{source.name} is a JSON array; write one object per line (JSON lines), without brackets.")
        named = None if encoding is None else named_encoding(encoding)
        self._encoding, note = (named, "") if named else find_encoding(start, [], source)
        self.notes: tuple[str, ...] = (note,) if note else ()
        self.names = tuple(self.schema().names)

    @property
    def types(self) -> Mapping[str, str]:
        return {field.name: str(field.type) for field in self.schema()}

    def schema(self) -> pa.Schema:
        return pa.schema([_widened(field) for field in self.sample().schema])

    def late_changes(self) -> Mapping[str, str]:
        return {}

    def sample(self) -> pa.Table:
        return self._sample

    @cached_property
    def _sample(self) -> pa.Table:
        with TextBytes(self.source, self._encoding) as stream:
            head = stream.read(HEAD)
        if len(head) == HEAD:
            head = head[: head.rfind(b"\n") + 1] or head
        lines = head.split(b"\n")
        for _ in range(MOST_BAD):
            try:
                return parse(b"\n".join(lines), None, "infer")
            except pa.ArrowInvalid as error:
                bad = _first_bad(lines)
                if self._rejects is None:
                    text = lines[bad][:1000].decode("utf-8", "replace")
                    reason = TOO_DEEP if is_deep(lines[bad]) else _plain(error)
                    raise Fault(self.source.name, bad + 1, reason, text, REJECTING).error() from None
                lines[bad] = b""  # lines keep their numbers
        raise FileError(f"{self.source.name}: too many of the first lines are no JSON objects of one kind.")

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[JsonPiece]:
        unknown = [name for name in wanted if name not in self.names]
        if unknown:
            raise missing_columns(unknown, self.names)
        fields = {field.name: field for field in self.schema()}
        types = pa.schema([pa.field(n, pa.float64() if k == "number" and _is_number(fields[n]) else fields[n].type)
                           for n, k in wanted.items()])  # fmt: skip
        # Keys that were not asked for must still be known ones, unless the user chose columns.
        types = types if self._columns is not None else _with_others(types, fields)
        offset, line = place.offset, place.line
        with TextBytes(self.source, self._encoding, offset) as stream:
            rest = b""
            while True:
                more = stream.read(BLOCK)
                final = len(more) < BLOCK
                data = rest + more
                cut = len(data) if final else data.rfind(b"\n") + 1
                if not final and cut == 0 and len(data) > LONGEST_LINE:
                    raise FileError(f"{self.source.name}, line {line + 1} is longer than {LONGEST_LINE >> 20} MiB.")
                data, rest = data[:cut], data[cut:]
                offset += len(data)
                after = Place(place.file, offset, line + count_lines(data))
                if data.strip():
                    share = min(offset / max(self.source.size, 1), 1.0)
                    every = self._columns is None
                    piece = JsonPiece(self.source, data, types, every, line, after, share, self._rejects)
                    yield piece
                line = after.line
                if final:
                    return


def parse(data: bytes, types: pa.Schema | None, others: str) -> pa.Table:
    """Lines as a table; keys that are not among the types are an error, ignored, or columns of their own."""
    if is_deep(data):  # the parser would call itself until the process dies
        raise pa.ArrowInvalid(TOO_DEEP)
    return pjson.read_json(
        pa.BufferReader(data),
        read_options=pjson.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pjson.ParseOptions(
            explicit_schema=types, unexpected_field_behavior=others, newlines_in_values=False
        ),
    )


def _with_others(types: pa.Schema, fields: Mapping[str, pa.Field]) -> pa.Schema:
    return pa.schema([*types, *(field for name, field in fields.items() if name not in types.names)])


def _widened(field: pa.Field) -> pa.Field:
    """Whole numbers may be followed by broken ones, and nothing by text."""
    if pa.types.is_null(field.type):
        return pa.field(field.name, pa.string())
    if pa.types.is_timestamp(field.type):
        return pa.field(field.name, pa.string())
    return field


def _is_number(field: pa.Field) -> bool:
    return bool(pa.types.is_integer(field.type) or pa.types.is_floating(field.type))


def _first_bad(lines: list[bytes]) -> int:
    """The first line with which the lines up to it cannot be read."""
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            parse(b"\n".join(lines[:middle]) + b"\n", None, "infer")
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _plain(error: Exception) -> str:
    words = str(error).removeprefix("JSON parse error: ").split("\n")[0]
    return re.sub(r"\.? in row \d+", "", words)
