"""How a delimited text is written, found from its head: delimiter, quotes, lines before the header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from likely.errors import FileError, SchemaError, Setting, listed
from likely.io import scan
from likely.io.blocks import Cell, count_lines, each_record
from likely.io.dialect import GAPS, NUMBER_GAPS, Dialect, ReadOptions
from likely.io.faults import first_fault

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


def sniff(head: bytes, whole: bool, wishes: ReadOptions, encoding: str, name: str) -> tuple[Dialect, int]:
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


def _trials(body: bytes, whole: bool, wishes: ReadOptions, encoding: str) -> Iterator[Trial]:
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
    answer = scan.scan(array, *dialect.codes, -1, whole, True, dialect.trim, -1, starts, counts)
    found = int(answer[scan.RECORDS])
    sound = bool(answer[scan.CODE] in (scan.FINE, scan.NUL))
    if not whole and not found and answer[scan.OPEN]:
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
        raise FileError(
            f"{name}: {both} fit equally well as delimiters; say which it is, as in ", Setting("delimiter", ";"), "."
        )


_SIGN = re.compile(r"[^\w\s\"'.+-]")


def _single_column(trial: Trial, body: bytes, wishes: ReadOptions, name: str) -> Trial:
    """One column is believed only if nothing in the file looks like a delimiter."""
    if wishes.delimiter is not None:
        return trial
    lines = [line for line in body.decode("utf-8", "replace").splitlines()[:LOOKED] if line.strip()]
    if not lines:  # nothing but signs that are no letters, such as NEL
        return trial
    bare = [re.sub(r'"(?:[^"]|"")*"', "x", line) for line in lines]
    words = {len(line.split()) for line in bare}
    if len(words) == 1 and words.pop() > 1:
        raise FileError(
            f"{name}: no delimiter was found, but spaces cut every line alike; say ",
            Setting("delimiter", " "),
            " or '\\t'.",
        )
    for sign in sorted(set(_SIGN.findall(bare[0]))):
        if len(bare) > 1 and {line.count(sign) for line in bare} == {bare[0].count(sign)}:
            raise FileError(
                f"{name}: no usual delimiter was found; say ", Setting("delimiter", sign), " if it is that."
            )
    found = [mark for mark in DELIMITERS if any(mark in line for line in bare)]
    if found:
        raise FileError(
            f"{name}: {found[0]!r} stands in some lines, but most have no delimiter; name it, as in ",
            Setting("delimiter", found[0]),
            ", or put the cells of a single column in quotes.",
        )
    return trial


def _said_in_file(head: bytes, wishes: ReadOptions) -> tuple[ReadOptions, int]:
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


# Whether the first record holds the names of the columns, and which names these are.

NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")

Records = list[tuple[int, list[Cell]]]


def find_header(records: Records, dialect: Dialect, wishes: ReadOptions, preamble: bool, name: str) -> bool:
    """Whether the first record is a header; refuses where that would be a guess."""
    if wishes.header is not None:
        return wishes.header
    line = records[0][0] + dialect.skip + 1
    if preamble:
        raise FileError(
            f"{name}, line {line}: whether this is the header cannot be told, because the lines before it are no "
            "records; say ",
            Setting("skip"),
            " with the number of lines before the header.",
        )
    first, body = records[0][1], [cells for _, cells in records[1:] if len(cells) == len(records[0][1])]
    evidence = _evidence(first, body, dialect)
    if evidence > 0:
        return True
    if evidence < 0:
        if wishes.names is not None:
            return False
        raise FileError(
            f"{name}, line {line}: the first record looks like data and not like names of columns "
            f"({listed([cell.text for cell in first])}); say ",
            Setting("header", False),
            " or ",
            Setting("names", ...),
            ", or ",
            Setting("header", True),
            " if so.",
        )
    if wishes.names is not None:
        raise FileError(
            f"{name}: whether its first record is a header cannot be told; say ",
            Setting("header", True),
            " or ",
            Setting("header", False),
            ".",
        )
    if first[0].text.startswith(COMMENT):
        raise FileError(
            f"{name}, line {line}: this may be the header or a comment; say ",
            Setting("skip"),
            " with the number of lines before the header.",
        )
    return True


def _evidence(first: list[Cell], body: list[list[Cell]], dialect: Dialect) -> int:
    """1 if some column of numbers has a word on top, −1 if the top is just like the rest, else 0."""
    numbers, repeated, known = 0, 0, 0
    missing = {*dialect.gaps, *NUMBER_GAPS}
    for place, top in enumerate(first):
        below = [cells[place].text for cells in body if cells[place].text not in missing]
        if below and all(NUMBER.fullmatch(text) for text in below):
            if top.text not in missing and not NUMBER.fullmatch(top.text):
                return 1
            numbers += bool(NUMBER.fullmatch(top.text))
        elif not body:
            numbers += bool(NUMBER.fullmatch(top.text))
        elif below:
            known += 1
            repeated += top.text in below
    if numbers or (repeated and repeated >= max(2, HALF * known)):
        return -1
    return 0


def column_names(
    first: list[Cell] | None, width: int, wishes: ReadOptions, name: str, line: int
) -> tuple[tuple[str, ...], str]:
    """The names of the columns, and a note where one had to be made up."""
    if wishes.names is not None:
        names, note = wishes.names, ""
        if len(names) != width:
            raise SchemaError(
                f"{name} has {width} columns, but ", Setting("names"), f" gives {len(names)}; give one for each."
            )
    elif first is None:
        names, note = tuple(f"x{place}" for place in range(width)), ""
    else:
        names = tuple(cell.text.strip() or f"x{place}" for place, cell in enumerate(first))
        made_up = [given for given, cell in zip(names, first, strict=True) if not cell.text.strip()]
        note = f"{name}: columns without a name are called {listed(made_up)}" if made_up else ""
        if len(made_up) == width:
            raise SchemaError(f"{name}, line {line}: no column has a name; give them with ", Setting("names", ...), ".")
    double = [given for given, times in Counter(names).items() if times > 1]
    if double:
        raise SchemaError(
            f"{name}, line {line}: several columns are called {listed(double)}; rename them in the file, or give all "
            "names with ",
            Setting("names", ...),
            ".",
        )
    return names, note
