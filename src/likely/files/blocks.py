"""A delimited text as blocks of whole records, each of them checked byte by byte before anything is read from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from likely.errors import FileError
from likely.files import kernels
from likely.files.dialect import Dialect
from likely.files.faults import REJECTING, Fault, structural
from likely.files.rejects import Rejects
from likely.files.sources import Source
from likely.files.streams import TextBytes

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
            answer = scan(cells[used:], self.dialect, self.n_columns, final, at.blank, plain=plain and not used)
            end = used + int(answer[kernels.END])
            good.append(text[used:end])
            records, high = records + int(answer[kernels.RECORDS]), high | int(answer[kernels.HIGH])
            line_before, used = at.line, end
            at.line += int(answer[kernels.LINES])
            at.blank = -1 if answer[kernels.BLANK] < 0 else 0
            code = int(answer[kernels.CODE])
            length = line_length(data, used)
            if code == kernels.FINE or (self.rejects is not None and not final and not line_ends(data, used + length)):
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
                f"probably not one with {self.dialect.describe()}; say how it is written, as in delimiter=';'."
            )


def is_plain(data: bytes, dialect: Dialect) -> bool:
    """Whether the text holds no quotes, escapes, NULs or lone returns, so that the quick scan will do."""
    if dialect.escape or dialect.trim or b"\0" in data or (dialect.quote and dialect.quote.encode() in data):
        return False
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def scan(
    cells: kernels.Bytes, dialect: Dialect, n_columns: int, final: bool, blank: int = -1, *, plain: bool
) -> kernels.Ints:
    """Check text from the beginning of a record on: quickly where it is plain, with care otherwise."""
    if not plain or n_columns < 2:
        return _careful(cells, dialect, n_columns, final, blank)
    words = cells[: len(cells) // kernels.WORD * kernels.WORD].view(np.uint64)
    quick = kernels.scan_plain(cells, words, dialect.codes[0], n_columns)
    end = int(quick[kernels.END])
    if end == len(cells):
        return quick
    rest = _careful(cells[end:], dialect, n_columns, final, blank)
    for place in (kernels.END, kernels.RECORDS, kernels.LINES):
        rest[place] += quick[place]
    rest[kernels.QUOTE_LINE] += quick[kernels.LINES]
    rest[kernels.HIGH] |= quick[kernels.HIGH]
    return rest


def _careful(cells: kernels.Bytes, dialect: Dialect, n_columns: int, final: bool, blank: int) -> kernels.Ints:
    return kernels.scan(cells, *dialect.codes, n_columns, final, dialect.multiline, dialect.trim, blank, NONE, NONE)


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
