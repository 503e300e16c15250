"""A delimited text as blocks of whole records, each of them checked byte by byte before anything is read from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from likely.arrays import UInt8
from likely.errors import About, FileError, Message, Setting
from likely.io import scan
from likely.io.dialect import Dialect
from likely.io.scan import Scanned
from likely.io.sources import REJECTING, Fault, Rejects, Source
from likely.io.streams import TextBytes

BLOCK = 1 << 24
LONGEST_RECORD = 1 << 27
MOST_REJECTS = 0.5
"""If more than this part of the first block is bad, it is not the lines that are wrong but how they are read."""
SHOWN_BYTES = 400


def scan_text(
    text: UInt8 | bytes, dialect: Dialect, n_columns: int = -1, *, final: bool = True, multiline: bool = True,
    blank: int = -1, room: int = 0,
) -> Scanned:  # fmt: skip
    """Check text from the beginning of a record on; see `scan.scan` for what is asked and answered."""
    cells = np.frombuffer(text, dtype=np.uint8) if isinstance(text, bytes) else text
    return scan.scan(cells, *dialect.codes, n_columns, final, multiline, dialect.trim, blank, room)


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


@dataclass(slots=True, eq=False)
class Blocks:
    """Reads a file from a place on and hands out checked blocks."""

    source: Source
    dialect: Dialect
    n_columns: int
    offset: int
    line: int
    rejects: Rejects | None
    size: int = field(default_factory=lambda: BLOCK)
    _blank: int = -1

    def __iter__(self) -> Iterator[Block]:
        first = True
        with closing(TextBytes(self.source, self.dialect.encoding, self.offset)) as stream:
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
        start_offset, start_line = self.offset, self.line
        text, cells, plain = memoryview(data), np.frombuffer(data, dtype=np.uint8), is_plain(data, self.dialect)
        used, records, high = 0, 0, 0
        good: list[memoryview] = []
        left_out: list[tuple[int, int]] = []
        while True:
            found = scan_records(
                cells[used:], self.dialect, self.n_columns, final, self._blank, plain=plain and not used
            )
            good.append(text[used : used + found.end])
            records, high = records + found.records, high | found.high
            line_before, used = self.line, used + found.end
            self.line += found.lines
            self._blank = -1 if found.blank < 0 else 0
            length = line_length(data, used)
            if found.code == scan.FINE or (
                self.rejects is not None and not final and not line_ends(data, used + length)
            ):
                break
            reason, remedy = structural(found, self.dialect, self.n_columns, line_before)
            self._refuse(reason, remedy, data[used : used + length], self.rejects)
            left_out.append((records, 1))
            used, self.line, self._blank = used + length, self.line + 1, -1
        self.offset += used
        if not records:
            return None, used
        whole = data if len(good) == 1 and used == len(data) else b"".join(good)
        place = (start_offset, self.offset, start_line, records, high >= 128, self.line, tuple(left_out))
        return Block(self.source, whole, *place), used

    def _leave_out_endless(self, rest: bytes) -> int:
        """Leave out the line in which a record begins that does not end within all reason."""
        length = line_length(rest, 0)
        rejects = self.rejects if line_ends(rest, length) else None  # without its end, the line cannot be left out
        why = f"a record is longer than {LONGEST_RECORD >> 20} MiB, as after a quote that is never closed"
        reason = Message(About("endless record", LONGEST_RECORD >> 20), why)
        self._refuse(reason, REJECTING, rest[:length], rejects)
        self.offset += length
        self.line += 1
        return length

    def _refuse(self, reason: str, remedy: str, text: bytes, rejects: Rejects | None) -> None:
        fault = Fault(self.source.name, self.line + 1, reason, text.decode("utf-8", "replace"), remedy)
        if rejects is None:
            raise fault.error()
        rejects.add(fault)

    def _refuse_mostly_bad(self, block: Block) -> None:
        bad = len(block.left_out)
        if bad > MOST_REJECTS * (bad + block.records):
            many = f"{self.source.name}: {bad:,} of the first {bad + block.records:,} lines are bad"
            why = f", so the file is probably not {self.dialect.describe()}; say how it is written, as in "
            about = About("mostly bad", bad, bad + block.records)
            raise FileError(about, many, why, Setting("delimiter", ";"), ".")


def is_plain(data: bytes, dialect: Dialect) -> bool:
    """Whether the text holds no quotes, escapes, NULs or lone returns, so that the quick scan will do."""
    if dialect.escape or dialect.trim or b"\0" in data or (dialect.quote and dialect.quote.encode() in data):
        return False
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def scan_records(
    cells: UInt8, dialect: Dialect, n_columns: int, final: bool, blank: int = -1, *, plain: bool
) -> Scanned:
    """Check text from the beginning of a record on: quickly where it is plain, with care otherwise."""
    end = lines = 0
    if plain and n_columns >= 2:
        words = cells[: len(cells) // scan.WORD * scan.WORD].view(np.uint64)
        quick = scan.scan_plain(cells, words, dialect.codes[0], n_columns)
        end, lines = quick.end, quick.lines
        if end == len(cells):
            return quick
    rest = scan_text(cells[end:], dialect, n_columns, final=final, multiline=dialect.multiline, blank=blank)
    if not end:
        return rest
    return rest._replace(
        end=end + rest.end, records=quick.records + rest.records, lines=lines + rest.lines,
        quote_line=lines + rest.quote_line, high=quick.high | rest.high,
    )  # fmt: skip


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


# What is wrong with a record, and what to do.


def structural(found: Scanned, dialect: Dialect, n_columns: int, line: int) -> tuple[str, str]:
    """Reason and remedy for a fault that the scan found; `line` is the line before the block."""
    quote_line = line + found.quote_line + 1
    delimiter = {"\t": "tab", " ": "space"}.get(dialect.delimiter, repr(dialect.delimiter))
    length = "short" if found.cells < n_columns else "long"
    cells = f"{found.cells} cell{'s' * (found.cells != 1)} where the header has {n_columns}, so it is too {length}"
    no_quotes = Message("close it, or say ", Setting("quote", ""))
    doubled = "close the cell, double a quote inside it, or say "
    records = "holds whole lines with as many cells as there are columns, as if a quote was never closed"
    damaged = "the file is damaged, binary, or in another encoding, such as "
    reason, remedy = {
        scan.CELLS: (cells, REJECTING),
        scan.AFTER_QUOTE: (
            f"text follows the quote that closes a cell (opened in line {quote_line})",
            Message(doubled, Setting("escape", "\\"), " if backslashes escape"),
        ),
        scan.UNCLOSED: (f"the quote opened in line {quote_line} is never closed", no_quotes),
        scan.NUL: ("there is a NUL byte", Message(damaged, Setting("encoding", "utf-16"))),
        scan.SPACE_QUOTE: (
            f"spaces stand before a quote after the {delimiter}",
            Message("remove them, or say ", Setting("quote", ""), " if quotes are ordinary characters"),
        ),
        scan.LOOKS_UNCLOSED: (
            f"the cell in quotes from line {quote_line} on {records}",
            Message("close it, or say ", Setting("multiline", True), " if that is one cell"),
        ),
        scan.BLANK_LINE: (
            "a blank line stands among the lines of a single column: it may be a gap or nothing",
            'write "" for a gap, or remove the blank lines',
        ),
    }[found.code]
    about = {
        scan.CELLS: About(f"too {length}", found.cells, n_columns), scan.AFTER_QUOTE: About("after quote", quote_line),
        scan.UNCLOSED: About("unclosed", quote_line), scan.NUL: About("nul"), scan.SPACE_QUOTE: About("space quote"),
        scan.LOOKS_UNCLOSED: About("swallowed", quote_line), scan.BLANK_LINE: About("blank line"),
    }[found.code]  # fmt: skip
    return Message(about, reason), remedy


def first_fault(body: bytes, dialect: Dialect, name: str, skip: int) -> FileError | None:
    """What the scan of a text finds wrong first, whatever the number of its columns."""
    found = scan_text(body, dialect)
    if found.code == scan.FINE:
        return None
    reason, remedy = structural(found, dialect, -1, skip)
    text = body[found.end :][:SHOWN_BYTES].decode("utf-8", "replace").splitlines()[0]
    return Fault(name, skip + found.lines + 1, reason, text, remedy).error()


# Single records of a checked text: where they stand, and what their cells say.


@dataclass(frozen=True, slots=True)
class TextCell:
    """What a cell says, and whether it stood in quotes."""

    text: str
    quoted: bool


def split_record(record: str, dialect: Dialect) -> list[TextCell]:
    """The cells of one record, which is known to be well formed.

    >>> [cell.text for cell in split_record('1,"a ""b"", c",', Dialect())]
    ['1', 'a "b", c', '']
    """
    cells: list[TextCell] = []
    i, record = 0, record.rstrip("\r\n")
    while True:
        while dialect.trim and record[i : i + 1] == " ":
            i += 1
        quoted = bool(dialect.quote) and record[i : i + 1] == dialect.quote
        text, i = _cell(record, i + quoted, dialect.quote if quoted else dialect.delimiter, dialect, quoted)
        cells.append(TextCell(text, quoted))
        if i >= len(record):
            return cells
        i += 1


def _cell(record: str, i: int, end: str, dialect: Dialect, quoted: bool) -> tuple[str, int]:
    """The text from a place up to a mark that ends it, and the place behind the cell; a doubled quote is one."""
    stop = re.compile("|".join(re.escape(mark) for mark in (end, dialect.escape) if mark))
    text = ""
    while True:
        found = stop.search(record, i)
        if found is None:
            return text + record[i:], len(record)
        text, i = text + record[i : found.start()], found.end()
        if found.group() == end and not (quoted and record[i : i + 1] == end):
            return text, i if quoted else i - 1
        text, i = text + record[i : i + 1], i + 1


def each_record(data: bytes, dialect: Dialect, most: int) -> Iterator[tuple[int, list[TextCell]]]:
    """The line (counted from 0) and the cells of the first records, up to the first that is not well formed."""
    found = scan_text(data, dialect, room=most + 1)
    line = at = 0
    for start, end in pairwise([*found.starts.tolist(), found.end]):
        line += count_lines(data[at:start])
        at = start
        # Blank lines after a record belong to none.
        yield line, split_record(data[start:end].decode("utf-8", "replace"), dialect)


def count_lines(data: bytes) -> int:
    """How many lines end in this text."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def locate(block: Block, record: int, dialect: Dialect) -> tuple[int, str]:
    """The line in the file and the text of a record of a block."""
    found = scan_text(block.data, dialect, room=record + 1)
    start, end = int(found.starts[record]), found.end
    gone = sum(lines_out for before, lines_out in block.left_out if before <= record)
    return block.line + count_lines(block.data[:start]) + gone + 1, block.data[start:end].decode("utf-8", "replace")
