"""A file of delimited text: how it is written, what its columns seem to hold, and its rows piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from likely.errors import missing_columns
from likely.files import kernels
from likely.files.blocks import Block, Blocks
from likely.files.conversion import ARROW, Layout, read_block, read_cell, read_text, without_bad
from likely.files.dialect import Dialect, Wishes
from likely.files.encodings import find_encoding, named_encoding
from likely.files.faults import first_fault
from likely.files.guessing import CellType, Guess, find_decimal, guess_type
from likely.files.header import column_names, find_header
from likely.files.pieces import Place, Wanted
from likely.files.records import each_record, locate
from likely.files.rejects import Rejects
from likely.files.sniffing import COMMENT, after_lines, sniff
from likely.files.sources import Source, empty
from likely.files.spots import Spots, first_odd
from likely.files.streams import RawBytes, TextBytes, packing

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
        self, source: Source, wishes: Wishes, types: Mapping[str, CellType], rejects: Rejects | None, n_files: int = 1
    ) -> None:
        self.source, self._wishes, self._given, self._rejects = source, wishes, types, rejects
        # What is looked at stays in memory, so of many files only a little of each.
        self._looked_bytes = max(SAMPLE_BLOCK // n_files, FEWEST_BYTES)
        self._spots = Spots.of(source, SAMPLE_BLOCK, n_files) if not packing(source) else Spots(source, [])
        self._head_end = 0
        dialect, note = self._encoding()
        with TextBytes(source, dialect.encoding) as stream:
            head = stream.read(HEAD)
        dialect, self._width = sniff(head, len(head) < HEAD, wishes, dialect.encoding, source.name)
        self.names, dialect, self._start, more = self._header(head, dialect)
        self._notes = [text for text in (note, more) if text]
        self.dialect = replace(dialect, decimal=self._decimal(dialect))
        self.notes = (*self._notes, *(guess.note for guess in self.guesses.values() if guess.note))

    @property
    def layout(self) -> Layout:
        return Layout(self.names, self.dialect)

    @cached_property
    def guesses(self) -> Mapping[str, Guess]:
        """What each column seems to hold, from all rows looked at."""
        looked = self._looked
        found = {name: guess_type(looked.column(name), name, self.dialect.decimal) for name in self.names}
        return found | {name: Guess(kind) for name, kind in self._given.items() if name in found}

    @property
    def types(self) -> Mapping[str, CellType]:
        return {name: guess.type for name, guess in self.guesses.items()}

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
        for name, guess in self.guesses.items():
            if guess.type != "text" or name in self._given:
                continue
            early = guess_type(self._head.column(name), name, self.dialect.decimal)
            if early.type in ("integer", "number") or guess.mostly_numbers:
                block = next(iter(self._head_blocks()))
                found = first_odd(block, name, self.layout) or self._spots.first_odd(name, self.layout)
                what = "later lines hold whole numbers with leading zeros or too many digits"
                changed[name] = f"line {found[0]} holds {found[1]!r}" if found else what
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
        encoding, note = find_encoding(head, self._spots.raw, self.source)
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
            answer = kernels.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, starts, starts.copy())
            start = Place(0, skipped + int(answer[kernels.END]), dialect.skip + int(answer[kernels.LINES]))
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
        spots = self._spots.tables(self.layout, self._width, self._head_end)
        return pa.concat_tables([head, *spots]).combine_chunks()


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
