"""A delimited text as blocks of whole records, each of them checked byte by byte before anything is read from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from likely.arrays import Int64, UInt8
from likely.errors import FileError, Setting
from likely.io import scan
from likely.io.dialect import Dialect
from likely.io.faults import REJECTING, Fault, Rejects, structural
from likely.io.sources import Source
from likely.io.streams import TextBytes

BLOCK = 1 << 24
LONGEST_RECORD = 1 << 27
NONE = np.zeros(0, dtype=np.int64)
MOST_REJECTS = 0.5
"""If more than this part of the first block is bad, it is not the lines that are wrong but how they are read."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records: their text, their number, and where they stand in the file.

    `offset` and `end` are places in the UTF-8 text of the file; `line` counts the lines before the block; `left_out`
    holds (records before it, lines) of what was left out, so that line numbers stay right.
    """

    source: Source
    data: bytes
    offset: int
    end: int
    line: int
    records: int
    high: bool
    last_line: int = 0
    left_out: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Position:
    """How far the text has been read."""

    offset: int
    line: int
    blank: int = -1


class Blocks:
    """Reads a file from a place on and hands out checked blocks."""

    def __init__(
        self, source: Source, dialect: Dialect, n_columns: int, offset: int, line: int, rejects: Rejects | None,
        size: int | None = None,
    ) -> None:  # fmt: skip
        self.source, self.dialect, self.n_columns, self.rejects = source, dialect, n_columns, rejects
        self.size = size or BLOCK
        self._at = Position(offset, line)

    def __iter__(self) -> Iterator[Block]:
        first = True
        with TextBytes(self.source, self.dialect.encoding, self._at.offset) as stream:
            rest, wanted = b"", self.size
            while True:
                more = stream.read(wanted)
                data = rest + more if rest else more
                if not data:
                    return
                final = len(more) < wanted
                block, used = self._check(data, final)
                if block is not None:
                    if first and self.rejects is not None:
                        self._refuse_mostly_bad(block)
                    first = False
                    yield block
                if final:
                    return
                rest = data[used:]
                if used == 0 and len(rest) > LONGEST_RECORD:
                    rest = rest[self._leave_out_endless(rest) :]
                # A record longer than a block: twice as much is read each time, so that it is not scanned too often.
                wanted = max(self.size, len(rest)) if used == 0 else self.size

    def _check(self, data: bytes, final: bool) -> tuple[Block | None, int]:
        """The whole records at the beginning of the data, and how many bytes they and what was left out take."""
        at, start_offset, start_line = self._at, self._at.offset, self._at.line
        text, cells, plain = memoryview(data), np.frombuffer(data, dtype=np.uint8), is_plain(data, self.dialect)
        used, records, high = 0, 0, 0
        good: list[memoryview] = []
        left_out: list[tuple[int, int]] = []
        while True:
            answer = scan_records(cells[used:], self.dialect, self.n_columns, final, at.blank, plain=plain and not used)
            end = used + int(answer[scan.END])
            good.append(text[used:end])
            records, high = records + int(answer[scan.RECORDS]), high | int(answer[scan.HIGH])
            line_before, used = at.line, end
            at.line += int(answer[scan.LINES])
            at.blank = -1 if answer[scan.BLANK] < 0 else 0
            code = int(answer[scan.CODE])
            length = line_length(data, used)
            if code == scan.FINE or (self.rejects is not None and not final and not line_ends(data, used + length)):
                break
            reason, remedy = structural(code, answer, self.dialect, self.n_columns, line_before)
            self._refuse(reason, remedy, data[used : used + length], self.rejects)
            left_out.append((records, 1))
            used, at.line, at.blank = used + length, at.line + 1, -1
        at.offset += used
        if not records:
            return None, used
        whole = data if len(good) == 1 and used == len(data) else b"".join(good)
        place = (start_offset, at.offset, start_line, records, high >= 128, at.line, tuple(left_out))
        return Block(self.source, whole, *place), used

    def _leave_out_endless(self, rest: bytes) -> int:
        """Leave out the line in which a record begins that does not end within all reason."""
        length = line_length(rest, 0)
        rejects = self.rejects if line_ends(rest, length) else None  # without its end, the line cannot be left out
        reason = f"a record is longer than {LONGEST_RECORD >> 20} MiB, as after a quote that is never closed"
        self._refuse(reason, REJECTING, rest[:length], rejects)
        self._at.offset += length
        self._at.line += 1
        return length

    def _refuse(self, reason: str, remedy: str, text: bytes, rejects: Rejects | None) -> None:
        fault = Fault(self.source.name, self._at.line + 1, reason, text.decode("utf-8", "replace"), remedy)
        if rejects is None:
            raise fault.error()
        rejects.add(fault)

    def _refuse_mostly_bad(self, block: Block) -> None:
        bad = len(block.left_out)
        if bad > MOST_REJECTS * (bad + block.records):
            raise FileError(
                f"{self.source.name}: {bad:,} of the first {bad + block.records:,} lines are bad, so the file is "
                f"probably not one with {self.dialect.describe()}; say how it is written, as in ",
                Setting("delimiter", ";"),
                ".",
            )


def is_plain(data: bytes, dialect: Dialect) -> bool:
    """Whether the text holds no quotes, escapes, NULs or lone returns, so that the quick scan will do."""
    if dialect.escape or dialect.trim or b"\0" in data or (dialect.quote and dialect.quote.encode() in data):
        return False
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def scan_records(cells: UInt8, dialect: Dialect, n_columns: int, final: bool, blank: int = -1, *, plain: bool) -> Int64:
    """Check text from the beginning of a record on: quickly where it is plain, with care otherwise."""
    if not plain or n_columns < 2:
        return _careful(cells, dialect, n_columns, final, blank)
    words = cells[: len(cells) // scan.WORD * scan.WORD].view(np.uint64)
    quick = scan.scan_plain(cells, words, dialect.codes[0], n_columns)
    end = int(quick[scan.END])
    if end == len(cells):
        return quick
    rest = _careful(cells[end:], dialect, n_columns, final, blank)
    for place in (scan.END, scan.RECORDS, scan.LINES):
        rest[place] += quick[place]
    rest[scan.QUOTE_LINE] += quick[scan.LINES]
    rest[scan.HIGH] |= quick[scan.HIGH]
    return rest


def _careful(cells: UInt8, dialect: Dialect, n_columns: int, final: bool, blank: int) -> Int64:
    return scan.scan(cells, *dialect.codes, n_columns, final, dialect.multiline, dialect.trim, blank, NONE, NONE)


def line_length(data: bytes, start: int) -> int:
    """How long the line is that begins at `start`, its end included."""
    newline = data.find(b"\n", start)
    stop = len(data) if newline < 0 else newline
    back = data.find(b"\r", start, stop)
    if back >= 0:
        return back - start + (2 if data[back + 1 : back + 2] == b"\n" else 1)
    return (newline + 1 if newline >= 0 else len(data)) - start


def line_ends(data: bytes, end: int) -> bool:
    """Whether a line that stops here is whole; after a lone return at the very end a newline may follow."""
    return end < len(data) or data[end - 1 : end] == b"\n"


# Single records of a checked text: where they stand, and what their cells say.


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, and whether it stood in quotes."""

    text: str
    quoted: bool


def split_record(record: str, dialect: Dialect) -> list[Cell]:
    """The cells of one record, which is known to be well formed.

    >>> [cell.text for cell in split_record('1,"a ""b"", c",', Dialect())]
    ['1', 'a "b", c', '']
    """
    cells: list[Cell] = []
    i, record = 0, record.rstrip("\r\n")
    while True:
        while dialect.trim and record[i : i + 1] == " ":
            i += 1
        quoted = bool(dialect.quote) and record[i : i + 1] == dialect.quote
        text, i = _quoted(record, i + 1, dialect) if quoted else _bare(record, i, dialect)
        cells.append(Cell(text, quoted))
        if i >= len(record):
            return cells
        i += 1


def _bare(record: str, i: int, dialect: Dialect) -> tuple[str, int]:
    if not dialect.escape:
        end = record.find(dialect.delimiter, i)
        end = len(record) if end < 0 else end
        return record[i:end], end
    text = ""
    while i < len(record) and record[i] != dialect.delimiter:
        i += record[i] == dialect.escape
        text += record[i : i + 1]
        i += 1
    return text, i


def _quoted(record: str, i: int, dialect: Dialect) -> tuple[str, int]:
    text = ""
    while i < len(record):
        char = record[i]
        if dialect.escape and char == dialect.escape:
            text += record[i + 1 : i + 2]
            i += 2
        elif char == dialect.quote and record[i + 1 : i + 2] == dialect.quote:
            text += char
            i += 2
        elif char == dialect.quote:
            return text, i + 1
        else:
            text += char
            i += 1
    return text, i


def each_record(data: bytes, dialect: Dialect, most: int) -> Iterator[tuple[int, list[Cell]]]:
    """The line (counted from 0) and the cells of the first records, up to the first that is not well formed."""
    starts, counts = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    array = np.frombuffer(data, dtype=np.uint8)
    answer = scan.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, starts, counts)
    found = int(answer[scan.RECORDS])
    if not found:
        return
    ends = [*starts[1:found].tolist(), int(answer[scan.END])]
    line = at = 0
    for start, end in zip(starts[:found].tolist(), ends, strict=True):
        line += count_lines(data[at:start])
        at = start
        # Blank lines after a record belong to none.
        yield line, split_record(data[start:end].decode("utf-8", "replace"), dialect)


def count_lines(data: bytes) -> int:
    """How many lines end in this text."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def locate(block: Block, record: int, dialect: Dialect) -> tuple[int, str]:
    """The line in the file and the text of a record of a block."""
    data = np.frombuffer(block.data, dtype=np.uint8)
    starts = np.zeros(record + 1, dtype=np.int64)
    answer = scan.scan(data, *dialect.codes, -1, True, True, dialect.trim, -1, starts, starts.copy())
    start, end = int(starts[record]), int(answer[scan.END])
    lines = count_lines(block.data[:start])
    gone = sum(lines_out for before, lines_out in block.left_out if before <= record)
    return block.line + lines + gone + 1, block.data[start:end].decode("utf-8", "replace")
