"""Whether the first record of a delimited text holds the names of the columns, and which names these are."""

from __future__ import annotations

import re
from collections import Counter

from likely.errors import SHOWN_NAMES, About, AtLine, FileError, Message, SchemaError, Setting, listed, one_of
from likely.io.blocks import TextCell
from likely.io.dialect import NUMBER_GAPS, Dialect, ReadOptions

COMMENT = ("#", "%", "//")
HALF = 0.5

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")

Records = list[tuple[int, list[TextCell]]]


def find_header(records: Records, dialect: Dialect, options: ReadOptions, preamble: bool, name: str) -> bool:
    """Whether the first record is a header; refuses where that would be a guess."""
    if options.header is not None:
        return options.header
    where = AtLine(name, records[0][0] + dialect.skip + 1)
    count = " with the number of lines before the header."
    if preamble:
        why = ": whether this is the header cannot be told, because the lines before it are no records; say "
        raise FileError(About("preamble"), where, why, Setting("skip"), count)
    first, body = records[0][1], [cells for _, cells in records[1:] if len(cells) == len(records[0][1])]
    evidence = _evidence(first, body, dialect)
    if evidence > 0 or (evidence < 0 and options.names is not None):
        return evidence > 0
    if evidence < 0:
        texts = [cell.text for cell in first]
        why = f": the first record looks like data and not like names of columns ({listed(texts)})"
        no_header = Setting("header", False), " or ", Setting("names", ...)
        about = About("no header", tuple(texts[:SHOWN_NAMES]))
        raise FileError(about, where, why, "; say ", *no_header, ", or ", Setting("header", True), " if so.")
    if options.names is not None:
        why = f"{name}: whether its first record is a header cannot be told; say "
        raise FileError(About("header"), why, one_of("header", True, False), ".")
    if first[0].text.startswith(COMMENT):
        why = ": this may be the header or a comment; say "
        raise FileError(About("comment"), where, why, Setting("skip"), count)
    return True


def _evidence(first: list[TextCell], body: list[list[TextCell]], dialect: Dialect) -> int:
    """1 if some column of numbers has a word on top, −1 if the top is just like the rest, else 0."""
    numbers = repeated = known = 0
    missing = {*dialect.gaps, *NUMBER_GAPS}
    for place, top in enumerate(first):
        below = [cells[place].text for cells in body if cells[place].text not in missing]
        is_number = _NUMBER.fullmatch(top.text) is not None
        if not body:
            numbers += is_number
        elif below and all(_NUMBER.fullmatch(text) for text in below):
            if top.text not in missing and not is_number:
                return 1
            numbers += is_number
        elif below:
            known += 1
            repeated += top.text in below
    if numbers or (repeated and repeated >= max(2, HALF * known)):
        return -1
    return 0


def column_names(
    first: list[TextCell] | None, width: int, options: ReadOptions, name: str, line: int
) -> tuple[tuple[str, ...], Message]:
    """The names of the columns, and a note where one had to be made up."""
    if options.names is not None:
        names, note = options.names, Message()
        if len(names) != width:
            raise SchemaError(f"{name} has {width} columns, but ", Setting("names"), f" gives {len(names)}; give all.")
    elif first is None:
        names, note = tuple(f"x{place}" for place in range(width)), Message()
    else:
        names = tuple(cell.text.strip() or f"x{place}" for place, cell in enumerate(first))
        made_up = [made for made, cell in zip(names, first, strict=True) if not cell.text.strip()]
        note = Message(name, ": columns without a name are called ", listed(made_up)) if made_up else Message()
        if len(made_up) == width:
            why = ": no column has a name; give them with "
            raise SchemaError(About("no names"), AtLine(name, line), why, Setting("names", ...), ".")
    double = [called for called, times in Counter(names).items() if times > 1]
    if double:
        why = f": several columns are called {listed(double)}; rename them in the file, or give all names with "
        about = About("names twice", tuple(double[:SHOWN_NAMES]))
        raise SchemaError(about, AtLine(name, line), why, Setting("names", ...), ".")
    return names, note
