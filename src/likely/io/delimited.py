"""Glances into the middle of a file, so that types are not judged from its head alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from likely.errors import FileError, missing_columns
from likely.io import scan
from likely.io.blocks import NONE, Block, Blocks, count_lines, each_record, locate
from likely.io.dialect import Dialect, ReadOptions
from likely.io.faults import Rejects, first_fault
from likely.io.parse import ARROW, Layout, read_block, read_cell, read_text, without_bad
from likely.io.sniff import COMMENT, after_lines, column_names, find_header, sniff
from likely.io.sources import Place, Source, Wanted, empty
from likely.io.streams import RawBytes, TextBytes, find_encoding, named_encoding, packing
from likely.io.types import CellType, InferredType, find_decimal, infer_type

PROBES = 32
PROBE = 1 << 16
CHUNK = 1 << 24


@dataclass(frozen=True)
class Probes:
    """Pieces of raw bytes from evenly spaced places of a file that is not packed, each with its place."""

    source: Source
    pieces: list[tuple[int, bytes]]

    @classmethod
    def of(cls, source: Source, head: int, n_files: int = 1) -> Probes:
        """The glances of one of so many files, which share them."""
        size, probes = source.size, PROBES // n_files
        if size <= head + PROBE or not probes:
            return cls(source, [])
        pieces = []
        with source.path.open("rb") as file:
            places = (
                np.linspace(head, size - PROBE, probes).astype(np.int64) if size > head + probes * PROBE else [head]
            )
            for place in places:
                file.seek(int(place))
                pieces.append((int(place), file.read(PROBE if len(places) > 1 else size - head)))
        return cls(source, pieces)

    @property
    def raw(self) -> list[bytes]:
        return [piece for _, piece in self.pieces]

    @cached_property
    def _last(self) -> int:
        return len(self.pieces) - 1

    def blocks(self, layout: Layout, width: int) -> Iterator[Block]:
        """The whole records of each piece; a piece that cannot be read by itself is passed over."""
        if layout.dialect.encoding != "utf-8":
            return
        for number, (place, piece) in enumerate(self.pieces):
            # A piece begins anywhere: perhaps in a cell with quotes. Then it is no witness, and the pass will judge.
            start = piece.find(b"\n") + 1
            data = piece[start:]
            array = np.frombuffer(data, dtype=np.uint8)
            final = number == self._last
            codes = layout.dialect.codes
            answer = scan.scan(array, *codes, width, final, True, layout.dialect.trim, -1, NONE, NONE)
            if start and answer[scan.CODE] == scan.FINE and answer[scan.RECORDS]:
                end = int(answer[scan.END])
                high = bool(answer[scan.HIGH] >= 128)
                yield Block(self.source, data[:end], place + start, place + end, 0, int(answer[scan.RECORDS]), high)

    def tables(self, layout: Layout, width: int, after: int) -> Iterator[pa.Table]:
        """The same as strings, those behind a place."""
        for block in self.blocks(layout, width):
            if block.offset < after:
                continue
            try:
                yield read_text(block, layout, layout.names, gaps=True)
            except FileError:
                continue

    def first_odd(self, name: str, layout: Layout) -> tuple[int, str] | None:
        """The first cell of a column in these pieces that spells no number, with its line in the file."""
        for block in self.blocks(layout, len(layout.names)):
            found = first_odd(block, name, layout)
            if found is not None:
                line, text = found
                return line + self._lines_before(block.offset), text
        return None

    def _lines_before(self, place: int) -> int:
        lines = 0
        with self.source.path.open("rb") as file:
            while place > 0 and (piece := file.read(min(CHUNK, place))):
                lines += count_lines(piece)
                place -= len(piece)
        return lines


def first_odd(block: Block, name: str, layout: Layout) -> tuple[int, str] | None:
    """The first cell of a column in a block that spells no number, with its line."""
    for row, text in enumerate(read_text(block, layout, [name], gaps=True).column(0).to_pylist()):
        try:
            if text is not None:
                read_cell(text, "number", layout.dialect)
        except ValueError:
            return locate(block, row, layout.dialect)[0], text
    return None


# A file of delimited text: how it is written, what its columns seem to hold, and its rows piece by piece.

HEAD = 1 << 18
SAMPLE_BLOCK = 1 << 20
FEWEST_BYTES = 1 << 15
HEADER_RECORDS = 200


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A checked block and how to read it."""

    block: Block
    layout: Layout
    wanted: Wanted
    rejects: Rejects | None
    file: int
    size: int

    @property
    def n_rows(self) -> int:
        return self.block.records

    @property
    def after(self) -> Place:
        return Place(self.file, self.block.end, self.block.last_line)

    @property
    def share(self) -> float:
        return min(self.block.end / max(self.size, 1), 1.0)

    def read(self) -> pa.Table:
        rows = read_block(self.block, self.layout, self.wanted)
        if self.rejects is not None:
            self.rejects.extend(rows.bad.values())
        return without_bad(rows.table, rows.bad, self.rejects)

    def where(self, row: int) -> str:
        line, _ = locate(self.block, row, self.layout.dialect)
        return f"{self.block.source.name}, line {line}"


class DelimitedFile:
    """One file of delimited text."""

    def __init__(
        self,
        source: Source,
        wishes: ReadOptions,
        types: Mapping[str, CellType],
        rejects: Rejects | None,
        n_files: int = 1,
    ) -> None:
        self.source, self._wishes, self._given, self._rejects = source, wishes, types, rejects
        # What is looked at stays in memory, so of many files only a little of each.
        self._looked_bytes = max(SAMPLE_BLOCK // n_files, FEWEST_BYTES)
        self._probes = Probes.of(source, SAMPLE_BLOCK, n_files) if not packing(source) else Probes(source, [])
        self._head_end = 0
        dialect, note = self._encoding()
        with TextBytes(source, dialect.encoding) as stream:
            head = stream.read(HEAD)
        dialect, self._width = sniff(head, len(head) < HEAD, wishes, dialect.encoding, source.name)
        self.names, dialect, self._start, more = self._header(head, dialect)
        self._notes = [text for text in (note, more) if text]
        self.dialect = replace(dialect, decimal=self._decimal(dialect))
        self.notes = (*self._notes, *(found.note for found in self.inferred.values() if found.note))

    @property
    def layout(self) -> Layout:
        return Layout(self.names, self.dialect)

    @cached_property
    def inferred(self) -> Mapping[str, InferredType]:
        """What each column seems to hold, from all rows looked at."""
        looked = self._looked
        found = {name: infer_type(looked.column(name), name, self.dialect.decimal) for name in self.names}
        return found | {name: InferredType(kind) for name, kind in self._given.items() if name in found}

    @property
    def types(self) -> Mapping[str, CellType]:
        return {name: found.type for name, found in self.inferred.items()}

    def schema(self) -> pa.Schema:
        return pa.schema([(name, ARROW[kind]) for name, kind in self.types.items()])

    def sample(self) -> pa.Table:
        looked, columns = self._looked, []
        for name, kind in self.types.items():
            column = looked.column(name)
            columns.append(column if kind == "text" else _typed(column, kind, self.dialect))
        return pa.table(columns, names=list(self.names))

    def late_changes(self) -> Mapping[str, str]:
        changed: dict[str, str] = {}
        for name, found in self.inferred.items():
            if found.type != "text" or name in self._given:
                continue
            early = infer_type(self._head.column(name), name, self.dialect.decimal)
            if early.type in ("integer", "number") or found.mostly_numbers:
                block = next(iter(self._head_blocks()))
                odd = first_odd(block, name, self.layout) or self._probes.first_odd(name, self.layout)
                what = "later lines hold whole numbers with leading zeros or too many digits"
                changed[name] = f"line {odd[0]} holds {odd[1]!r}" if odd else what
        return changed

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[TextPiece]:
        unknown = [name for name in wanted if name not in self.names]
        if unknown:
            raise missing_columns(unknown, self.names)
        settled = {name: kind or self.types[name] for name, kind in wanted.items()}
        begin = max(place, self._start, key=lambda at: at.offset)
        blocks = Blocks(self.source, self.dialect, self._width, begin.offset, begin.line, self._rejects)
        for block in blocks:
            yield TextPiece(block, self.layout, settled, self._rejects, place.file, self._size)

    @cached_property
    def _size(self) -> int:
        # What a packed file unpacks to is not known; most texts shrink to a quarter or less.
        return self.source.size * (4 if packing(self.source) else 1)

    def _encoding(self) -> tuple[Dialect, str]:
        if self._wishes.encoding is not None:
            return Dialect(encoding=named_encoding(self._wishes.encoding)), ""
        with RawBytes(self.source) as raw:
            head = raw.read(HEAD)
        if not head.strip(b"\xef\xbb\xbf \t\r\n\x1a"):
            raise empty(self.source)
        encoding, note = find_encoding(head, self._probes.raw, self.source)
        return Dialect(encoding=encoding), note

    def _header(self, head: bytes, dialect: Dialect) -> tuple[tuple[str, ...], Dialect, Place, str]:
        skipped = after_lines(head, dialect.skip)
        body = head[skipped:]
        records = list(each_record(body, dialect, HEADER_RECORDS))
        if not records:
            raise first_fault(body, dialect, self.source.name, dialect.skip) or empty(self.source)
        preamble = dialect.skip > 0 and self._wishes.skip is None and not _sure(head[:skipped])
        has_header = find_header(records, dialect, self._wishes, preamble, self.source.name)
        line = dialect.skip + records[0][0]
        first = records[0][1] if has_header else None
        if first is not None:
            self._width = len(first)
        names, note = column_names(first, self._width, self._wishes, self.source.name, line + 1)
        start = Place(0, skipped, dialect.skip)
        if has_header:
            starts = np.zeros(1, dtype=np.int64)
            array = np.frombuffer(body, dtype=np.uint8)
            answer = scan.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, starts, starts.copy())
            start = Place(0, skipped + int(answer[scan.END]), dialect.skip + int(answer[scan.LINES]))
        if dialect.skip and self._wishes.skip is None:
            note = "; ".join(
                text for text in (note, f"{self.source.name}: {dialect.skip} lines before the header") if text
            )
        return names, replace(dialect, header=has_header), start, note

    def _decimal(self, dialect: Dialect) -> str:
        if self._wishes.decimal is not None:
            return self._wishes.decimal
        self.dialect = dialect
        looked = self._looked
        return find_decimal({n: looked.column(n) for n in self.names if n not in self._given}, self.source.name)

    @cached_property
    def _head(self) -> pa.Table:
        """The first rows as strings."""
        for block in self._head_blocks():
            self._head_end = block.end
            return read_text(block, self.layout, self.names, gaps=True)
        return pa.table([pa.array([], pa.string())] * len(self.names), names=list(self.names))

    def _head_blocks(self) -> Blocks:
        rejects = Rejects() if self._rejects is not None else None
        at = self._start
        return Blocks(self.source, self.dialect, self._width, at.offset, at.line, rejects, self._looked_bytes)

    @cached_property
    def _looked(self) -> pa.Table:
        """All rows looked at, none twice, as strings."""
        head = self._head
        probes = self._probes.tables(self.layout, self._width, self._head_end)
        return pa.concat_tables([head, *probes]).combine_chunks()


def _typed(column: pa.ChunkedArray, kind: str, dialect: Dialect) -> pa.ChunkedArray:
    encoded = column.combine_chunks().dictionary_encode()
    values = []
    for text in encoded.dictionary.to_pylist():
        try:
            values.append(read_cell(text, kind, dialect))
        except ValueError:  # the pass over the file names the line
            values.append(None)
    return pa.chunked_array([pa.array(values, ARROW[kind]).take(encoded.indices)], ARROW[kind])


def _sure(before: bytes) -> bool:
    """Whether lines before the header are plainly not part of the table: comments, or cut off by a blank line."""
    lines = before.decode("utf-8", "replace").splitlines()
    comments = all(not line.strip() or line.lstrip().startswith((*COMMENT, "sep=")) for line in lines)
    return comments or not lines[-1].strip()
