"""Whether the first record holds the names of the columns, and which names these are."""

from __future__ import annotations

import re
from collections import Counter

from likely.errors import FileError, SchemaError, listed
from likely.files.dialect import NUMBER_GAPS, Dialect, Wishes
from likely.files.records import Cell
from likely.files.sniffing import COMMENT

NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
HALF = 0.5

Records = list[tuple[int, list[Cell]]]


def find_header(records: Records, dialect: Dialect, wishes: Wishes, preamble: bool, name: str) -> bool:
    """Whether the first record is a header; refuses where that would be a guess."""
    if wishes.header is not None:
        return wishes.header
    line = records[0][0] + dialect.skip + 1
    if preamble:
        raise FileError(
            f"{name}, line {line}: whether this is the header cannot be told, because the lines before it are no "
            "records; say skip= with the number of lines before the header."
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
            f"({listed([cell.text for cell in first])}); say header=False or names=[…], or header=True if so."
        )
    if wishes.names is not None:
        raise FileError(
            f"{name}: whether its first record is a header cannot be told; say header=True or header=False."
        )
    if first[0].text.startswith(COMMENT):
        raise FileError(
            f"{name}, line {line}: this may be the header or a comment; say skip= with the number of lines before the "
            "header."
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
    first: list[Cell] | None, width: int, wishes: Wishes, name: str, line: int
) -> tuple[tuple[str, ...], str]:
    """The names of the columns, and a note where one had to be made up."""
    if wishes.names is not None:
        names, note = wishes.names, ""
        if len(names) != width:
            raise SchemaError(f"{name} has {width} columns, but names= gives {len(names)}; give one for each.")
    elif first is None:
        names, note = tuple(f"x{place}" for place in range(width)), ""
    else:
        names = tuple(cell.text.strip() or f"x{place}" for place, cell in enumerate(first))
        made_up = [given for given, cell in zip(names, first, strict=True) if not cell.text.strip()]
        note = f"{name}: columns without a name are called {listed(made_up)}" if made_up else ""
        if len(made_up) == width:
            raise SchemaError(f"{name}, line {line}: no column has a name; give them with names=[…].")
    double = [given for given, times in Counter(names).items() if times > 1]
    if double:
        raise SchemaError(
            f"{name}, line {line}: several columns are called {listed(double)}; rename them in the file, or give all "
            "names with names=[…]."
        )
    return names, note
