"""Compiled scan of delimited text: where records end, how many cells they have, and the first thing that is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from likely.arrays import Int64, UInt8, UInt64
from likely.jit import kernel

NEWLINE, RETURN, SPACE = 10, 13, 32

FINE, CELLS, AFTER_QUOTE, UNCLOSED, NUL, SPACE_QUOTE, LOOKS_UNCLOSED, BLANK_LINE = range(8)
"""What can be wrong with a record."""

ALIKE_COLUMNS = 3
ALIKE_LINES = 2
"""So many lines inside quotes, each with as many cells as a record of so many columns, are records, not a cell."""


class Scanned(NamedTuple):
    """What a scan found.

    What is wrong; where the last good record ends; how many records and line ends lie before that; the line ends before
    the quote that was opened last; how many cells the bad record has; all bytes or-ed; whether a quote is open at the
    end; in a file of one column, the line ends before a blank line that no record follows so far, or −1; where the
    first records begin, and how many cells they have.
    """

    code: int
    end: int
    records: int
    lines: int
    quote_line: int
    cells: int
    high: int
    is_open: bool
    blank: int
    starts: Int64
    counts: Int64


@kernel
def _marks(delimiter: int, quote: int, escape: int) -> UInt8:
    """Bytes that the scan has to look at; all others are passed over."""
    marks = np.zeros(256, dtype=np.uint8)
    marks[0] = marks[NEWLINE] = marks[RETURN] = marks[delimiter] = 1
    if escape >= 0:
        marks[escape] = 1
    return marks


@kernel(interpretable=True)
def scan(  # noqa: C901, PLR0915  # one loop over the bytes; cut into functions it would lose its state, and its speed
    data: UInt8, delimiter: int, quote: int, escape: int, n_columns: int, final: bool, multiline: bool, trim: bool,
    blank: int, room: int,
) -> Scanned:  # fmt: skip
    """Scan whole records; stop at the first fault, or after as many records as there is `room` for, if there is any.

    A quote opens a cell only at its very beginning, a doubled one inside stands for itself, and after the closing
    one the cell must end. `n_columns` −1 accepts any number of cells. Blank lines are no records; in a file of one
    column they could be gaps, so that there they may only stand at the end. `trim` passes over spaces before cells.
    """
    marks = _marks(delimiter, quote, escape)
    starts, counts = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    n = len(data)
    i = line = records = 0
    found = open_line = bad_cells = 0
    is_open = False
    high = np.uint8(0)
    while i < n:
        start, start_line = i, line
        cells, code, quote_line = 1, FINE, line
        ended, opened = False, False
        while i < n:  # one cell after the other
            while trim and i < n and data[i] == SPACE:
                i += 1
            if i == n:
                break
            first = i
            if data[i] == SPACE and quote >= 0:
                k = i
                while k < n and data[k] == SPACE:
                    k += 1
                if k < n and data[k] == quote:
                    code = SPACE_QUOTE
                    break
            if data[i] == quote:
                opened, quote_line = True, line
                i += 1
                inner = alike = delimiters = 0
                newlines = 0
                while i < n:
                    c = data[i]
                    high |= c
                    if c == escape and escape >= 0:
                        i += 2
                        continue
                    if c == quote:
                        if i + 1 < n and data[i + 1] == quote:
                            i += 2
                            continue
                        if i + 1 == n and not final:
                            break
                        opened = False
                        i += 1
                        break
                    if c == NEWLINE or (c == RETURN and i + 1 < n and data[i + 1] != NEWLINE):
                        line += 1
                        if newlines > 0:
                            inner += 1
                            alike += delimiters == n_columns - 1
                        newlines += 1
                        delimiters = 0
                    elif c == delimiter:
                        delimiters += 1
                    elif c == 0:
                        code = NUL
                        break
                    i += 1
                if opened or code != FINE:
                    break
                if not multiline and n_columns >= ALIKE_COLUMNS and inner >= ALIKE_LINES and alike == inner:
                    code = LOOKS_UNCLOSED
                    break
                if i < n and data[i] != delimiter and data[i] != NEWLINE and data[i] != RETURN:
                    code = AFTER_QUOTE
                    break
            else:
                while i < n:
                    c = data[i]
                    high |= c
                    if not marks[c]:
                        i += 1
                        continue
                    if c == escape and escape >= 0 and c != delimiter:
                        i += 2
                        continue
                    break
            if i >= n:
                break
            c = data[i]
            if c == 0:
                code = NUL
                break
            if c == delimiter:
                cells += 1
                i += 1
                if i == n and final:
                    ended = True
                    break
                continue
            if c == RETURN:
                if i + 1 == n and not final:
                    break
                i += 2 if i + 1 < n and data[i + 1] == NEWLINE else 1
            else:
                i += 1
            line += 1
            ended = True
            if first == start and cells == 1 and (i - first <= 1 or (i - first == 2 and data[first] == RETURN)):
                cells = 0  # a blank line
            break
        if code == FINE and not ended:
            if not final:
                is_open, open_line = opened, quote_line
                line, i = start_line, start
                break
            if opened:
                code = UNCLOSED
        if code == FINE and cells > 0 and n_columns >= 0 and cells != n_columns:
            code = CELLS
        if n_columns == 1 and code == FINE:
            if cells == 0 and blank < 0:
                blank = start_line
            elif cells > 0 and blank >= 0:
                code = BLANK_LINE
        if code != FINE:
            found, bad_cells, open_line = code, cells, quote_line
            line, i = start_line, start
            break
        if cells > 0:
            if room > 0:
                if records == room:
                    line, i = start_line, start
                    break
                starts[records], counts[records] = start, cells
            records += 1
    return Scanned(
        found, min(i, n), records, line, open_line, bad_cells, int(high), is_open, blank,
        starts[:records], counts[:records],
    )  # fmt: skip


_ONES = np.uint64(0x0101010101010101)
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_SEVEN, _TOP = np.uint64(7), np.uint64(56)
_NOTHING = np.uint64(0)
WORD = 8


@kernel(inline="always")
def _places(word: np.uint64, pattern: np.uint64) -> np.uint64:
    """The top bit of every byte of a word that equals the byte repeated in the pattern."""
    other = word ^ pattern
    return ~(((other & _LOW) + _LOW) | other | _LOW)


@kernel(interpretable=True)
def scan_plain(data: UInt8, words: UInt64, delimiter: int, n_columns: int) -> Scanned:
    """The same for text of two or more columns without quotes, escapes, NULs and lone returns; eight bytes at a time.

    `words` are the same bytes as whole words. At a record with another number of cells it stops, for `scan` to say
    what is wrong.
    """
    delimiters, newlines = _ONES * np.uint64(delimiter), _ONES * np.uint64(NEWLINE)
    start = line = records = 0
    cells = np.uint64(1)
    expected = np.uint64(n_columns)
    high = _NOTHING
    fine = True
    for w in range(len(words)):
        word = words[w]
        high |= word
        if _places(word, newlines) == _NOTHING:
            cells += ((_places(word, delimiters) >> _SEVEN) * _ONES) >> _TOP  # how many there are
            continue
        for i in range(WORD * w, WORD * w + WORD):
            c = data[i]
            cells += np.uint64(c == delimiter)
            if c == NEWLINE:
                blank = i == start or (i == start + 1 and data[start] == RETURN)
                if cells != expected and not blank:
                    fine = False
                    break
                records += not blank
                line += 1
                start, cells = i + 1, np.uint64(1)
        if not fine:
            break
    code, top = FINE if fine else CELLS, 128 if high & ~(_LOW) else 0
    nothing = np.zeros(0, dtype=np.int64)
    return Scanned(code, start, records, line, 0, 0, top, False, -1, nothing, nothing)


@kernel(interpretable=True)
def without_leading_spaces(data: UInt8, delimiter: int, quote: int, out: UInt8) -> int:
    """Copy text without the spaces at the beginning of cells; the new length."""
    size = 0
    fresh, inside, closed = True, False, False
    for c in data:
        if inside:
            inside = c != quote
            closed = not inside
        elif fresh and c == SPACE:
            continue
        elif c == quote and (fresh or closed):  # right after a closing quote it opens again: it was doubled
            inside, fresh = True, False
        else:
            fresh = c in (delimiter, NEWLINE, RETURN)
            closed = False
        out[size] = c
        size += 1
    return size


# How deep JSON is nested: judged by a flat scan before a parser that calls itself gets to see it.


MOST_DEEP = 100
"""Objects and lists inside one another: far above any real table or model, far below what ends a process."""

QUOTE, BACKSLASH = 34, 92
OPENING, CLOSING = (91, 123), (93, 125)

TOO_DEEP = f"lists and objects are nested more than {MOST_DEEP} deep"


def is_deep(text: bytes) -> bool:
    """Whether a JSON text, or lines of it, are nested deeper than is read.

    >>> is_deep(b'{"a": [[1]]}'), is_deep(b"[" * 100_000)
    (False, True)
    """
    if len(text) <= SHORT:  # loading the compiled loop would take longer than the whole command
        return nesting(text) > MOST_DEEP
    return bool(_is_deep(np.frombuffer(text, dtype=np.uint8), MOST_DEEP))


SHORT = 1 << 20
_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"?', re.DOTALL)  # without a way back, which would take memory


def nesting(text: bytes) -> int:
    """How deep a JSON text, or lines of it, are nested, without a compiled loop."""
    bare = np.frombuffer(_STRING.sub(b"", text), dtype=np.uint8)
    step = np.isin(bare, OPENING).astype(np.int64) - np.isin(bare, CLOSING)
    open_so_far = np.cumsum(step)
    return int((open_so_far - np.minimum(np.minimum.accumulate(open_so_far), 0)).max(initial=0)) if len(bare) else 0


@kernel(interpretable=True)
def _is_deep(text: UInt8, most: int) -> bool:
    """A text ends at its line at the latest, and what is open stays open in the next one, as parsers take it."""
    depth, at, n = 0, 0, len(text)
    while at < n:
        byte = text[at]
        if byte == QUOTE:
            at += 1
            while at < n and text[at] != QUOTE and text[at] != NEWLINE:
                at += 2 if text[at] == BACKSLASH else 1
        elif byte == OPENING[0] or byte == OPENING[1]:
            depth += 1
            if depth > most:
                return True
        elif byte == CLOSING[0] or byte == CLOSING[1]:
            depth = max(depth - 1, 0)
        at += 1
    return False
