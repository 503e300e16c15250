"""What the cells of a text column spell: whole numbers, numbers, truths, dates, or just text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from likely.errors import FileError, Message, Setting, SettingsError, did_you_mean, say_type
from likely.io.dialect import FALSE, NUMBER_GAPS, TRUE

CellType = Literal["integer", "number", "truth", "date", "time", "text"]
CELL_TYPES: tuple[CellType, ...] = get_args(CellType)

INTEGER = r"^\s*-?(0|[1-9][0-9]{0,18})\s*$"
DIGITS = r"^\s*[+-]?[0-9]+\s*$"
PADDED = r"^\s*[+-]?0[0-9]+\s*$"
NUMBER = r"^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|Inf|INF|infinity|Infinity))\s*$"
COMMA_NUMBER = r"^\s*[+-]?([0-9]+,?[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
THOUSANDS = r"^\s*[+-]?[0-9]{1,3}(,[0-9]{3})+\s*$"
GROUPED = r"^\s*[+-]?[0-9]{1,3}(\.[0-9]{3})+\s*$"
PARTS = r"^\s*[+-]?([0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?)\s*$"
PARTED = rf"({PARTS})|({NUMBER})|({COMMA_NUMBER})"
FRACTION = r"[.][0-9]|[0-9][.]"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
MOSTLY = 0.9
ENOUGH = 20
"""Of so many cells nine in ten must be numbers to make the others look like slips."""


@dataclass(frozen=True, slots=True)
class InferredType:
    """A type, and a note where the reader should know of something."""

    type: CellType
    note: str = ""
    empty: bool = False
    mostly_numbers: bool = False


def infer_type(column: pa.ChunkedArray, name: str, decimal: str) -> InferredType:
    """The type of a column of strings (null for a gap) that were looked at."""
    known = column.drop_null()
    words = known.filter(pc.invert(pc.is_in(known, pa.array(NUMBER_GAPS, column.type))))
    if not len(known):
        return InferredType("text", empty=True)
    if len(words) and _all(words, NUMBER if decimal == "." else COMMA_NUMBER):
        return _number(words, name)
    soft = pc.unique(known.filter(pc.is_in(known, pa.array(NUMBER_GAPS, column.type)))).to_pylist()
    note = ""
    if soft:
        what = f"column {name!r}: {_quoted(soft)} is a category there, not a gap; "
        note = Message(what, Setting("na"), " can say otherwise")
    if len(words) == len(known) and bool(pc.all(pc.is_in(known, pa.array(TRUE + FALSE, column.type))).as_py()):
        return InferredType("truth")
    if _all(known, DATE) and _casts(known, pa.date32()):
        return InferredType("date")
    if _all(known, TIME) and _casts(known, pa.timestamp("us")):
        return InferredType("time")
    odd = _mostly_numbers(words, name, decimal)
    return InferredType("text", odd or note, mostly_numbers=bool(odd) and len(words) >= ENOUGH)


def find_decimal(columns: dict[str, pa.ChunkedArray], file: str) -> str:
    """The decimal mark of a file, from columns of strings; refuses where comma and point both make sense."""
    commas: list[str] = []
    unclear: list[str] = []
    points: list[str] = []
    for name, column in columns.items():
        known = column.drop_null()
        known = known.filter(pc.invert(pc.is_in(known, pa.array(NUMBER_GAPS, column.type))))
        if not len(known):
            continue
        if _all(known, NUMBER):
            if _any(known, FRACTION):
                points.append(name)
        elif _all(known, COMMA_NUMBER):
            with_comma = known.filter(pc.match_substring(known, ","))
            (unclear if _all(with_comma, THOUSANDS) else commas).append(name)
        elif _all(known, PARTED):
            raise FileError(
                f"{file}: column {name!r} parts thousands, as in {_first(known, PARTS)}; remove these marks from the "
                f"file, or say ",
                say_type(name, "text"),
                " to keep it as written.",
            )
    if commas and points:
        if all(_all(columns[name].drop_null(), GROUPED) for name in points):
            raise FileError(
                f"{file}: column {points[0]!r} has points as in 1.500 and column {commas[0]!r} has commas; remove the "
                "points between thousands, or say ",
                Setting("decimal", "."),
                " or ",
                Setting("decimal", ","),
                ".",
            )
        raise FileError(
            f"{file}: column {commas[0]!r} has decimal commas and column {points[0]!r} decimal points; say which it is "
            "with ",
            Setting("decimal", ","),
            " or ",
            Setting("decimal", "."),
            ", then the other column is read as text.",
        )
    if unclear and not commas:
        raise FileError(
            f"{file}: the commas of column {unclear[0]!r} may be decimal or part thousands; say ",
            Setting("decimal", ","),
            " for the first, or ",
            say_type(unclear[0], "text"),
            " to keep it as written.",
        )
    return "," if commas else "."


def checked_types(given: dict[str, str]) -> dict[str, CellType]:
    """Types as a user names them."""
    found: dict[str, CellType] = {}
    for name, kind in given.items():
        known = next((cell_type for cell_type in CELL_TYPES if cell_type == kind), None)
        if known is None:
            hint = did_you_mean(str(kind), CELL_TYPES)
            raise SettingsError(f"types gives {name!r} the type {kind!r}; they are {', '.join(CELL_TYPES)}.{hint}")
        found[name] = known
    return found


def _number(known: pa.ChunkedArray, name: str) -> InferredType:
    if not _all(known, DIGITS):
        return InferredType("number")
    if _any(known, PADDED):
        why = f"column {name!r} is text, because leading zeros as in 007 would be lost in numbers"
        return InferredType("text", Message(f"{why}; ", say_type(name, "number"), " reads it as numbers"))
    if not _all(known, INTEGER):
        return InferredType(
            "number" if _casts(known, pa.int64()) else "text", f"column {name!r} has very long whole numbers"
        )
    if not _casts(known, pa.int64()):
        return InferredType(
            "text", f"column {name!r} is text, because its whole numbers are too long to be kept exactly"
        )
    return InferredType("integer")


def _mostly_numbers(known: pa.ChunkedArray, name: str, decimal: str) -> str:
    fits = pc.match_substring_regex(known, NUMBER if decimal == "." else COMMA_NUMBER)
    if not len(known) or pc.mean(fits).as_py() < MOSTLY:
        return ""
    odd = pc.unique(known.filter(pc.invert(fits))).to_pylist()
    what = f"column {name!r} is text: mostly numbers, but also {_quoted(odd)}; "
    return Message(what, Setting("na"), " makes such cells gaps")


def _quoted(values: list[Any]) -> str:
    return ", ".join(repr(value) for value in values[:3]) + (", …" if len(values) > 3 else "")


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _any(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _first(column: pa.ChunkedArray, pattern: str) -> str:
    return repr(column.filter(pc.match_substring_regex(column, pattern))[0].as_py())


def _casts(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        pc.utf8_trim_whitespace(column).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
