"""A file of JSON lines: one object per line, one column per key."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.json as pjson

from likely.errors import About, AtLine, FileError, Message, Setting
from likely.io.blocks import count_lines
from likely.io.scan import TOO_DEEP, is_deep
from likely.io.sources import Fault, Piece, Place, Rejects, Source, TableFile, Wanted, shown
from likely.io.streams import RawBytes, TextBytes, find_encoding, named_encoding

HEAD = 1 << 22
BLOCK = 1 << 23
LONGEST_LINE = 1 << 27
MOST_BAD = 100
SHOWN_BYTES = 1000


@dataclass(frozen=True)
class JsonPiece(Piece):
    """Whole lines of a file."""

    data: bytes
    types: pa.Schema
    every_key: bool
    line: int
    rejects: Rejects | None

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
        return Message(AtLine(self.source.name, self.line + numbers[row] + 1))

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
            text = line[:SHOWN_BYTES].decode("utf-8", "replace")
            fault = Fault(self.source.name, self.line + number + 1, reason, text)
            if self.rejects is None:
                raise fault.error()
            self.rejects.add(fault)
        if not good:
            return self.types.empty_table()
        return parse(b"\n".join(good) + b"\n", self.types, "ignore").select(self.types.names)

    def _fault(self, line: bytes) -> str:
        if is_deep(line):
            return DEEP
        try:
            found = json.loads(line, object_pairs_hook=_distinct)
        except UnicodeDecodeError as error:
            return Message(About("json bytes"), f"the bytes are no UTF-8 ({error.reason})")
        except (ValueError, RecursionError) as error:
            return Message(About("no json"), f"this is no JSON ({error})")
        if not isinstance(found, dict):
            return Message(About("no object"), f"an object {{…}} is needed, not {shown(str(found))}")
        strange = [key for key in found if key not in self.types.names]
        if strange and self.every_key:
            why = f"the key {strange[0]!r} is in no line looked at before; name the keys that you want with "
            return Message(About("late key", strange[0]), why, Setting("columns"))
        try:
            rows = parse(line + b"\n", self.types, "ignore").num_rows
        except pa.ArrowInvalid as error:
            why = f"a value does not fit those looked at before ({_plain(error)})"
            return Message(About("late value"), why)
        return "" if rows == 1 else Message(About("two objects"), "one line must hold one object")


class JsonFile(TableFile):
    """One file of JSON lines."""

    def __init__(self, source: Source, encoding: str | None, rejects: Rejects | None, columns: tuple[str, ...] | None):
        self.source, self._rejects, self._columns = source, rejects, columns
        with closing(RawBytes(source)) as raw:
            start = raw.read(1 << 16)
        if not start.strip():
            why = f"{source.name} is empty; a table of JSON lines needs at least one object."
            raise FileError(About("empty"), why)
        if start.lstrip().startswith(b"["):
            why = f"{source.name} is a JSON array; write one object per line (JSON lines), without brackets."
            raise FileError(About("json array"), why)
        named = None if encoding is None else named_encoding(encoding)
        self._encoding, note = (named, "") if named else find_encoding(start, [], source)
        self.notes = (note,) if note else ()
        self.names = tuple(self.schema().names)

    def schema(self) -> pa.Schema:
        return pa.schema([(field.name, _widened(field.type)) for field in self._sample.schema])

    def sample(self) -> pa.Table:
        return self._sample

    @cached_property
    def _sample(self) -> pa.Table:
        with closing(TextBytes(self.source, self._encoding)) as stream:
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
                    text = lines[bad][:SHOWN_BYTES].decode("utf-8", "replace")
                    reason = DEEP if is_deep(lines[bad]) else Message(About("no json"), _plain(error))
                    raise Fault(self.source.name, bad + 1, reason, text).error() from None
                lines[bad] = b""  # lines keep their numbers
        why = f"{self.source.name}: too many of the first lines are no JSON objects of one kind."
        raise FileError(About("no json lines"), why)

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[JsonPiece]:
        known = {field.name: field.type for field in self.schema()}
        numbers = {
            name for name, kind in wanted.items() if kind == "number" and known[name] in (pa.int64(), pa.float64())
        }
        types = {name: pa.float64() if name in numbers else known[name] for name in wanted}
        # Keys that were not asked for must still be known ones, unless the user chose columns.
        every_key = self._columns is None
        types = types | {name: kind for name, kind in known.items() if every_key and name not in types}
        schema, size = pa.schema(types), max(self.source.size, 1)
        offset, line, rest, final = place.offset, place.line, b"", False
        with closing(TextBytes(self.source, self._encoding, offset)) as stream:
            while not final:
                more = stream.read(BLOCK)
                final = len(more) < BLOCK
                data = rest + more
                cut = len(data) if final else data.rfind(b"\n") + 1
                if not final and cut == 0 and len(data) > LONGEST_LINE:
                    about, where = About("long line", LONGEST_LINE >> 20), AtLine(self.source.name, line + 1)
                    raise FileError(about, where, f" is longer than {LONGEST_LINE >> 20} MiB.")
                data, rest = data[:cut], data[cut:]
                offset += len(data)
                after = Place(place.file, offset, line + count_lines(data))
                rows = sum(map(bool, map(bytes.strip, data.splitlines())))
                if rows:
                    share = min(offset / size, 1.0)
                    yield JsonPiece(self.source, rows, after, share, data, schema, every_key, line, self._rejects)
                line = after.line


DEEP = Message(About("deep"), TOO_DEEP)


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


def _widened(kind: pa.DataType) -> pa.DataType:
    """Nothing may be followed by text, and a time by other words."""
    return pa.string() if pa.types.is_null(kind) or pa.types.is_timestamp(kind) else kind


def _first_bad(lines: list[bytes]) -> int:
    """The first line with which the lines up to it cannot be read."""

    def fails(last: int) -> bool:
        try:
            parse(b"\n".join(lines[: last + 1]) + b"\n", None, "infer")
        except pa.ArrowInvalid:
            return True
        return False

    return bisect_left(range(len(lines) - 1), True, key=fails)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _plain(error: Exception) -> str:
    words = str(error).removeprefix("JSON parse error: ").split("\n")[0]
    return re.sub(r"\.? in row \d+", "", words)
