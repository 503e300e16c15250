"""How a file of delimited text is written: nothing is left to a reader's guess."""

from __future__ import annotations

import re
from dataclasses import dataclass

from likely.arrow import pa, pc
from likely.errors import SettingsError

GAPS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "\\N")
"""Cells that are gaps in every column, unless they stand in quotes; an empty cell is one in quotes, too."""

NUMBER_GAPS = ("None", "none", "n/a", "na", "?", "-", ".")
"""Cells that are gaps in columns of numbers only: elsewhere they may be categories, and stay as they are written."""

TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Every option of a delimited text, settled.

    `quote` and `escape` are empty where there is none; `skip` counts lines before the header or the first record;
    `multiline` accepts cells in quotes that look like whole records; `trim` drops spaces before cells.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    quote: str = '"'
    escape: str = ""
    decimal: str = "."
    header: bool = True
    skip: int = 0
    gaps: tuple[str, ...] = GAPS
    multiline: bool = False
    trim: bool = False

    @property
    def codes(self) -> tuple[int, int, int]:
        """Delimiter, quote and escape as bytes, −1 for none."""
        return ord(self.delimiter), ord(self.quote) if self.quote else -1, ord(self.escape) if self.escape else -1

    def describe(self) -> str:
        """In a few words."""
        name = {"\t": "tab", " ": "space"}.get(self.delimiter, self.delimiter)
        header = "with a header" if self.header else "without a header"
        return f"{self.encoding}, {header}, {name!r} between cells, decimal point {self.decimal!r}"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about a file; None where it is to be found out."""

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    escape: str | None = None
    decimal: str | None = None
    header: bool | None = None
    names: tuple[str, ...] | None = None
    skip: int | None = None
    gaps: tuple[str, ...] | None = None
    multiline: bool = False
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name, given in (("delimiter", self.delimiter), ("quote", self.quote), ("escape", self.escape)):
            if given is None or (given == "" and name != "delimiter"):
                continue
            if len(given) != 1 or not given.isascii() or given in "\r\n\0" or given.isalnum():
                raise SettingsError(f"{name} is {given!r}, but it is one character, such as ';' or '\\t'.")
        marks = [mark for mark in (self.delimiter, self.quote, self.escape) if mark]
        if len(set(marks)) < len(marks):
            raise SettingsError("delimiter, quote and escape must be different characters.")
        if self.decimal not in (None, ".", ","):
            raise SettingsError(f"decimal is {self.decimal!r}, but it is '.' or ','.")
        if self.skip is not None and self.skip < 0:
            raise SettingsError(f"skip is {self.skip}, but it is a number of lines from 0 up.")


# Cells that a spreadsheet would take for formulas.


DANGER = "=+-@\t\r"
GUARD = "'"
HARMLESS_PATTERN = r"^([+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?|[+-])$"
"""Numbers, and a sign by itself, which may be a class."""
_HARMLESS = re.compile(HARMLESS_PATTERN)
DANGER_PATTERN = r"^[=+\-@\t\r]"


def guarded(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would take it for a formula; numbers and signs are none.

    >>> guarded("=1+1"), guarded("-3.5"), guarded("- none")
    ("'=1+1", '-3.5', "'- none")
    """
    return GUARD + text if text[:1] in DANGER and text and not _HARMLESS.fullmatch(text) else text


def guarded_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same for a column of strings."""
    risky = pc.and_not(
        pc.match_substring_regex(column, DANGER_PATTERN), pc.match_substring_regex(column, HARMLESS_PATTERN)
    )
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(
        risky, pc.binary_join_element_wise(pa.scalar(GUARD, column.type), column, pa.scalar("", column.type)), column
    )
