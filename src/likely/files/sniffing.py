"""How a delimited text is written, found from its head: delimiter, quotes, lines before the header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from likely.errors import FileError
from likely.files import kernels
from likely.files.dialect import GAPS, Dialect, Wishes
from likely.files.faults import first_fault
from likely.files.records import Cell, count_lines, each_record

DELIMITERS = (",", ";", "\t", "|")
MANNERS = (('"', ""), ('"', "\\"), ("'", ""))
LOOKED = 1000
"""Records that are looked at."""
HALF = 0.5
SPACED_LINES = 50
COMMENT = ("#", "%", "//")


@dataclass(frozen=True)
class Trial:
    """The head read in one way: cells of each record, and whether all of it could be read."""

    dialect: Dialect
    counts: tuple[int, ...]
    lines: tuple[int, ...]
    sound: bool

    @cached_property
    def width(self) -> int:
        """The number of columns: what most records have, if it is more than one."""
        wide = Counter(count for count in self.counts if count > 1)
        return max(wide, key=lambda count: (wide[count], count)) if wide else 1

    @cached_property
    def first(self) -> int:
        """The first record that has all columns."""
        return self.counts.index(self.width) if self.width in self.counts else 0

    @cached_property
    def share(self) -> float:
        """The part of the records from there on that have as many cells."""
        rest, width = self.counts[self.first :], self.width
        return rest.count(width) / max(len(rest), 1)

    @cached_property
    def rank(self) -> tuple[bool, bool, bool, float]:
        return self.width > 1 and self.share > HALF, self.sound, self.first == 0, self.share


def sniff(head: bytes, whole: bool, wishes: Wishes, encoding: str, name: str) -> tuple[Dialect, int]:
    """The dialect but for decimals and header, and the number of columns."""
    wishes, said = _said_in_file(head, wishes)
    skip = said if wishes.skip is None else wishes.skip
    body = head[after_lines(head, skip) :]
    if not body.strip():
        raise FileError(f"{name} holds no text after {skip} lines." if skip else f"{name} is empty; it has no header.")
    trials = sorted(_trials(body, whole, wishes, encoding), key=lambda trial: trial.rank, reverse=True)
    best = trials[0]
    if best.width == 1:
        for trial in trials:
            fault = None if trial.sound else first_fault(body, trial.dialect, name, skip)
            if fault is not None:
                raise fault
        best = _single_column(best, body, wishes, name)
    elif wishes.delimiter is None:
        _refuse_rivals(best, trials, name)
    before = best.first if wishes.skip is None and wishes.header is not False else 0
    if before and not _is_preamble(best, body):
        return replace(best.dialect, skip=skip), best.counts[0]
    return replace(best.dialect, skip=skip + (best.lines[before] if before else 0)), best.width


def _trials(body: bytes, whole: bool, wishes: Wishes, encoding: str) -> Iterator[Trial]:
    delimiters = DELIMITERS if wishes.delimiter is None else (wishes.delimiter,)
    manners = [
        (quote if wishes.quote is None else wishes.quote, escape if wishes.escape is None else wishes.escape)
        for quote, escape in MANNERS
    ]
    # Backslashes escape only where one stands before a quote; apostrophes quote only where nothing else does.
    backslashes, double = b'\\"' in body, b'"' in body
    for quote, escape in dict.fromkeys(manners):
        if wishes.escape is None and escape and not backslashes:
            continue
        if wishes.quote is None and quote == "'" and double:
            continue
        for delimiter in delimiters:
            if delimiter in (quote, escape):
                continue
            gaps = GAPS if wishes.gaps is None else wishes.gaps
            dialect = Dialect(delimiter, encoding, quote, escape, gaps=gaps, multiline=wishes.multiline, trim=False)
            trial = _try(body, whole, dialect)
            if trial.width > 1 and _spaced(body, trial.dialect):
                trial = _try(body, whole, replace(dialect, trim=True))
            yield trial


def _try(body: bytes, whole: bool, dialect: Dialect) -> Trial:
    starts, counts = np.zeros(LOOKED, dtype=np.int64), np.zeros(LOOKED, dtype=np.int64)
    array = np.frombuffer(body, dtype=np.uint8)
    answer = kernels.scan(array, *dialect.codes, -1, whole, True, dialect.trim, -1, starts, counts)
    found = int(answer[kernels.RECORDS])
    sound = bool(answer[kernels.CODE] in (kernels.FINE, kernels.NUL))
    if not whole and not found and answer[kernels.OPEN]:
        sound = False
    lines = [count_lines(body[:start]) for start in starts[: min(found, 50)].tolist()]
    return Trial(dialect, tuple(counts[:found].tolist()), tuple(lines + [0] * (found - len(lines))), sound)


def _spaced(body: bytes, dialect: Dialect) -> bool:
    """Whether every delimiter of the first records is followed by a space, as in `a, b, c`."""
    mark, quote = dialect.delimiter.encode(), dialect.quote.encode()
    lines = [line for line in body.splitlines()[:SPACED_LINES] if line.strip()]
    if quote:
        lines = [re.sub(quote + b"[^" + quote + b"]*" + quote, b"x", line) for line in lines]
    if mark == b" " or len(lines) < 2:
        return False
    return all(line.count(mark) == line.count(mark + b" ") for line in lines) and any(mark in line for line in lines)


def _refuse_rivals(best: Trial, trials: list[Trial], name: str) -> None:
    """Two delimiters that fit equally well are a question, not a guess."""
    others = [t for t in trials if t.dialect.delimiter != best.dialect.delimiter and t.rank == best.rank]
    if others:
        both = " and ".join(repr(trial.dialect.delimiter) for trial in (best, others[0]))
        raise FileError(f"{name}: {both} fit equally well as delimiters; say which it is, as in delimiter=';'.")


_SIGN = re.compile(r"[^\w\s\"'.+-]")


def _single_column(trial: Trial, body: bytes, wishes: Wishes, name: str) -> Trial:
    """One column is believed only if nothing in the file looks like a delimiter."""
    if wishes.delimiter is not None:
        return trial
    lines = [line for line in body.decode("utf-8", "replace").splitlines()[:LOOKED] if line.strip()]
    bare = [re.sub(r'"(?:[^"]|"")*"', "x", line) for line in lines]
    words = {len(line.split()) for line in bare}
    if len(words) == 1 and words.pop() > 1:
        raise FileError(f"{name}: no delimiter was found, but spaces cut every line alike; say delimiter=' ' or '\\t'.")
    for sign in sorted(set(_SIGN.findall(bare[0]))):
        if len(bare) > 1 and {line.count(sign) for line in bare} == {bare[0].count(sign)}:
            raise FileError(f"{name}: no usual delimiter was found; say delimiter={sign!r} if it is that.")
    found = [mark for mark in DELIMITERS if any(mark in line for line in bare)]
    if found:
        raise FileError(
            f"{name}: {found[0]!r} stands in some lines, but most have no delimiter; name it, as in "
            f"delimiter={found[0]!r}, or put the cells of a single column in quotes."
        )
    return trial


def _said_in_file(head: bytes, wishes: Wishes) -> tuple[Wishes, int]:
    """The line `sep=;` that spreadsheets write, and the number of lines that it takes."""
    said = re.match(rb"sep=([^\w\r\n])\r?\n", head)
    if said and wishes.skip is None and wishes.delimiter in (None, said.group(1).decode("latin-1")):
        return replace(wishes, delimiter=said.group(1).decode("latin-1")), 1
    return wishes, 0


def after_lines(head: bytes, lines: int) -> int:
    """Where the text goes on after so many lines."""
    place = 0
    for _ in range(lines):
        found = re.compile(rb"\r\n|\n|\r").search(head, place)
        if found is None:
            return len(head)
        place = found.end()
    return place


def _is_preamble(trial: Trial, body: bytes) -> bool:
    """Whether the lines before the first full record are titles or comments, and no records that lost cells."""
    records = list(each_record(body, trial.dialect, trial.first))[: trial.first]
    return all(len(cells) == 1 or _is_comment(cells) for _, cells in records)


def _is_comment(cells: list[Cell]) -> bool:
    return cells[0].text.lstrip().startswith(COMMENT) and not cells[0].quoted
