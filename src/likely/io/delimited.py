"""A file of delimited text: how it is written, what its columns seem to hold, and its rows piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from likely.errors import About, AtLine, FileError, Message
from likely.io import parse, scan, sniff
from likely.io.blocks import Block, Blocks, count_lines, each_record, first_fault, locate, scan_text
from likely.io.dialect import Dialect, ReadOptions
from likely.io.header import COMMENT, column_names, find_header
from likely.io.parse import NUMERIC, CellType, Layout, read_text
from likely.io.sources import Piece, Place, Rejects, Source, TableFile, Wanted, empty
from likely.io.streams import RawBytes, TextBytes, find_encoding, named_encoding, packing

PROBES = 32
PROBE = 1 << 16
CHUNK = 1 << 24


@dataclass(frozen=True)
class Probes:
    """Pieces of raw bytes from evenly spaced places of a file that is not packed, each with its place.

    Types are not judged from the head of a file alone.
    """

    source: Source
    pieces: list[tuple[int, bytes]]

    @classmethod
    def of(cls, source: Source, head: int, n_files: int = 1) -> Probes:
        """The glances of one of so many files, which share them."""
        size, probes = source.size, PROBES // n_files
        if size <= head + PROBE or not probes or packing(source):
            return cls(source, [])
        few = size <= head + probes * PROBE
        places = [head] if few else np.linspace(head, size - PROBE, probes).astype(np.int64).tolist()
        pieces = []
        with source.path.open("rb") as file:
            for place in places:
                file.seek(place)
                pieces.append((place, file.read(size - head if few else PROBE)))
        return cls(source, pieces)

    def blocks(self, layout: Layout, width: int) -> Iterator[Block]:
        """The whole records of each piece; a piece that cannot be read by itself is passed over."""
        if layout.dialect.encoding != "utf-8":
            return
        size = self.source.size
        for place, piece in self.pieces:
            # A piece begins anywhere: perhaps in a cell with quotes. Then it is no witness, and the pass will judge.
            start = piece.find(b"\n") + 1
            data, final = piece[start:], place + len(piece) >= size
            found = scan_text(data, layout.dialect, width, final=final)
            if start and found.code == scan.FINE and found.records:
                end, high = found.end, found.high >= 128
                yield Block(self.source, data[:end], place + start, place + end, 0, found.records, high)

    def tables(self, layout: Layout, width: int, after: int) -> Iterator[pa.Table]:
        """The same as strings, those behind a place."""
        for block in self.blocks(layout, width):
            if block.offset < after:
                continue
            try:
                yield read_text(block, layout, layout.names)
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
    for row, text in enumerate(read_text(block, layout, [name]).column(0).to_pylist()):
        try:
            if text is not None:
                parse.read_cell(text, "number", layout.dialect)
        except ValueError:
            return locate(block, row, layout.dialect)[0], text
    return None


# The file itself.

HEAD = 1 << 18
MOST_HEAD = 1 << 26
HEAD_LINES = 4
SAMPLE_BLOCK = 1 << 20
FEWEST_BYTES = 1 << 15
HEADER_RECORDS = 200


@dataclass(frozen=True)
class TextPiece(Piece):
    """A checked block and how to read it."""

    block: Block
    layout: Layout
    wanted: Wanted
    rejects: Rejects | None

    def read(self) -> pa.Table:
        rows = parse.read_block(self.block, self.layout, self.wanted)
        return parse.leave_out(rows.bad, self.rejects, rows.table)[0]

    def where(self, row: int) -> str:
        return Message(AtLine(self.source.name, locate(self.block, row, self.layout.dialect)[0]))


class DelimitedFile(TableFile):
    """One file of delimited text."""

    dialect: Dialect

    def __init__(
        self, source: Source, options: ReadOptions, types: Mapping[str, CellType], rejects: Rejects | None, n_files: int
    ) -> None:
        self.source, self._options, self._given, self._rejects = source, options, types, rejects
        # What is looked at stays in memory, so of many files only a little of each.
        self._looked_bytes = max(SAMPLE_BLOCK // n_files, FEWEST_BYTES)
        self._probes = Probes.of(source, SAMPLE_BLOCK, n_files)
        self._head_end = 0
        encoding, note = self._encoding()
        head, whole = _head_of(source, encoding)
        dialect, self._width = sniff.sniff(head, whole, options, encoding, source.name)
        self.names, self.dialect, self._start, more = self._header(head, dialect)
        self.dialect = replace(self.dialect, decimal=options.decimal or self._decimal())
        self.notes = tuple(text for text in (note, more, *self._column_notes()) if text)

    def _column_notes(self) -> list[str]:
        return [*(kind.note for kind in self.inferred.values()), sniff.kept_note(self.inferred)]

    @property
    def layout(self) -> Layout:
        return Layout(self.names, self.dialect)

    @cached_property
    def inferred(self) -> Mapping[str, sniff.InferredType]:
        """What each column seems to hold, from all rows looked at."""
        looked = self._looked
        found = {name: sniff.infer_type(looked.column(name), name, self.dialect.decimal) for name in self.names}
        return found | {name: sniff.InferredType(kind) for name, kind in self._given.items() if name in found}

    @cached_property
    def types(self) -> Mapping[str, CellType]:
        return {name: found.type for name, found in self.inferred.items()}

    def schema(self) -> pa.Schema:
        return pa.schema([(name, parse.ARROW[kind]) for name, kind in self.types.items()])

    def sample(self) -> pa.Table:
        # What spells nothing of its kind is a gap here: the pass over the file names the line.
        looked = {name: (self._looked.column(name), kind) for name, kind in self.types.items()}
        return pa.table({
            name: column if kind == "text" else parse.read_cells(column, kind, self.dialect)[0]
            for name, (column, kind) in looked.items()
        })  # fmt: skip

    def late_changes(self) -> Mapping[str, str]:
        changed: dict[str, str] = {}
        for name, found in self.inferred.items():
            if found.type != "text" or name in self._given:
                continue
            early = sniff.infer_type(self._head.column(name), name, self.dialect.decimal)
            if early.type in NUMERIC or found.mostly_numbers:
                block = next(iter(self._head_blocks()))
                odd = first_odd(block, name, self.layout) or self._probes.first_odd(name, self.layout)
                what = "later lines hold whole numbers with leading zeros or too many digits"
                changed[name] = Message(About("late text", name), what)
                if odd:
                    changed[name] = Message(About("late cell", name, *odd), f"line {odd[0]} holds {odd[1]!r}")
        return changed

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[TextPiece]:
        settled = {name: kind or self.types[name] for name, kind in wanted.items()}
        begin = max(place, self._start, key=lambda at: at.offset)
        # What a packed file unpacks to is not known; most texts shrink to a quarter or less.
        size = max(self.source.size * (4 if packing(self.source) else 1), 1)
        for block in Blocks(self.source, self.dialect, self._width, begin.offset, begin.line, self._rejects):
            after, share = Place(place.file, block.end, block.last_line), min(block.end / size, 1.0)
            yield TextPiece(self.source, block.records, after, share, block, self.layout, settled, self._rejects)

    def _encoding(self) -> tuple[str, str]:
        if self._options.encoding is not None:
            return named_encoding(self._options.encoding), ""
        with closing(RawBytes(self.source)) as raw:
            head = raw.read(HEAD)
        if not head.strip(b"\xef\xbb\xbf \t\r\n\x1a"):
            raise empty(self.source)
        return find_encoding(head, [piece for _, piece in self._probes.pieces], self.source)

    def _header(self, head: bytes, dialect: Dialect) -> tuple[tuple[str, ...], Dialect, Place, str]:
        """Names of the columns, whether the file gives them, where the first row begins, and what to know of that."""
        skipped = sniff.after_lines(head, dialect.skip)
        body = head[skipped:]
        records = list(each_record(body, dialect, HEADER_RECORDS))
        if not records:
            raise first_fault(body, dialect, self.source.name, dialect.skip) or empty(self.source)
        found_lines = dialect.skip > 0 and self._options.skip is None
        has_header = find_header(
            records, dialect, self._options, found_lines and not _sure(head[:skipped]), self.source.name
        )
        line, first = dialect.skip + records[0][0], records[0][1] if has_header else None
        start = Place(0, skipped, dialect.skip)
        if first is not None:
            self._width = len(first)
            header = scan_text(body, dialect, room=1)
            start = Place(0, skipped + header.end, dialect.skip + header.lines)
        names, note = column_names(first, self._width, self._options, self.source.name, line + 1)
        skipped_lines = Message(self.source.name, ": ", str(dialect.skip), " lines before the header")
        more = skipped_lines if found_lines else Message()
        return names, replace(dialect, header=has_header), start, Message(note, "; " if note and more else "", more)

    def _decimal(self) -> str:
        guessed = {name: self._looked.column(name) for name in self.names if name not in self._given}
        return sniff.find_decimal(guessed, self.source.name)

    @cached_property
    def _head(self) -> pa.Table:
        """The first rows as strings."""
        for block in self._head_blocks():
            self._head_end = block.end
            return read_text(block, self.layout, self.names)
        return pa.table([pa.array([], pa.string())] * len(self.names), names=list(self.names))

    def _head_blocks(self) -> Blocks:
        rejects, at = Rejects() if self._rejects is not None else None, self._start
        return Blocks(self.source, self.dialect, self._width, at.offset, at.line, rejects, self._looked_bytes)

    @cached_property
    def _looked(self) -> pa.Table:
        """All rows looked at, none twice, as strings."""
        head = self._head
        probes = self._probes.tables(self.layout, self._width, self._head_end)
        return pa.concat_tables([head, *probes]).combine_chunks()


def _head_of(source: Source, encoding: str) -> tuple[bytes, bool]:
    """The first lines of a file, and whether that is all of it; lines may be long."""
    head, asked = b"", HEAD
    with closing(TextBytes(source, encoding)) as stream:
        while True:
            head += stream.read(asked - len(head))
            if len(head) < asked or asked >= MOST_HEAD or count_lines(head) >= HEAD_LINES:
                return head, len(head) < asked
            asked *= 2


def _sure(before: bytes) -> bool:
    """Whether lines before the header are plainly not part of the table: comments, or cut off by a blank line."""
    lines = before.decode("utf-8", "replace").splitlines()
    comments = all(not line.strip() or line.lstrip().startswith((*COMMENT, "sep=")) for line in lines)
    return comments or not lines[-1].strip()
