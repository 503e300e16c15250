"""Dates as what can be learned from them: year, month, weekday, hour, and the days that have gone by.

A date column has *parts*, which a table hands out under names of their own ("signup: month") as if they were columns;
whoever reads tables by names needs to know nothing of dates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from likely.arrow import pa, pc
from likely.errors import About, AtRow, SchemaError, say_kind
from likely.table.cells import GAP, ArrowCells, Cells, Storage, shortened

Part = Literal["year", "month", "weekday", "hour", "days since 1970"]
ELAPSED: Part = "days since 1970"
PARTS: Mapping[Part, tuple[Literal["numeric", "nominal"], Storage]] = {
    "year": ("nominal", "integer"), "month": ("nominal", "integer"), "weekday": ("nominal", "string"),
    "hour": ("numeric", "integer"), ELAPSED: ("numeric", "float"),
}  # fmt: skip
"""What each part is taken for, and how it is held."""

MARK = ": "
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAY = 86_400_000_000
"""Microseconds of a day."""

INFINITE = (1 << 63) - 1
"""How databases write an infinite point in time, later or, as a number below zero, earlier than all others."""

SECONDS: Mapping[str, float] = {
    "Y": 31_556_952.0, "M": 2_629_746.0, "W": 604_800.0, "D": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3,
    "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "as": 1e-18,
}  # fmt: skip
"""Of each unit of NumPy and Arrow."""

MOST_SECONDS = 9.2e12
"""Before or after 1970: some 290,000 years, which 64 bits can count in microseconds."""

ISO = r"^\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?\s*$"
ZONE = r"(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\d*(?:Z|[+-]\d{2}:?\d{2})?$"
WRITTEN = r"^\s*(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?)\d*(?:Z|[+-]\d{2}:?\d{2})?\s*$"
"""The same, where its first group is the time by the clock on the wall; zones are left out."""


def name_of_part(column: str, part: Part) -> str:
    """What the part of a date column is called."""
    return f"{column}{MARK}{part}"


def part_of(name: str) -> tuple[str, Part] | None:
    """The date column and the part that a name may mean."""
    column, mark, called = name.rpartition(MARK)
    return next(((column, part) for part in PARTS if mark and part == called), None)


def is_date(cells: Cells) -> bool:
    """Whether cells of the storage "date" are points in time, and neither spans nor times of day."""
    try:
        kind = cells.column.type if isinstance(cells, ArrowCells) else _as_arrow(cells, "").type
    except SchemaError:  # too far: told with the name of the column, where it is read
        return True
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def spells_dates(levels: tuple[object, ...]) -> bool:
    """Whether all values are strings of the form 2025-01-31 or 2025-01-31 17:05:00."""
    import re

    pattern = re.compile(ISO)
    if not levels or not all(isinstance(level, str) and pattern.match(level) for level in levels):
        return False
    try:
        _parsed(pa.chunked_array([pa.array(levels, pa.string())]))
    except pa.ArrowInvalid:
        return False
    return True


def moments_of(cells: Cells, name: str) -> pa.ChunkedArray:
    """A column as points in time, by the clock of its own zone; what is none is an error that names the row."""
    column = cells.column if isinstance(cells, ArrowCells) else _as_arrow(cells, name)
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        _refuse_endless(column, name)
        _refuse_far(column, name)
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        return (pc.local_timestamp(column) if zoned else column).cast(pa.timestamp("us"), safe=False)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise SchemaError(
            About("no dates", name, str(kind)),
            f"Column {name!r} holds {kind} and cannot be read as dates; leave it out (", say_kind(name, "ignored"),
            ") or write it as 2025-01-31.",
        )  # fmt: skip
    try:
        return _parsed(column)
    except pa.ArrowInvalid:
        raise _no_date(column, name) from None


def endless(name: str, where: str = "") -> SchemaError:
    """The error for a column with dates that are infinite, or so far away that they might be."""
    return SchemaError(
        About("endless dates", name),
        f"{where}Column {name!r} holds an infinite date, or one beyond all calendars; make it a gap, or leave the "
        "column out (", say_kind(name, "ignored"), ").",
    )  # fmt: skip


def part_cells(moments: pa.ChunkedArray, part: Part) -> Cells:
    """One part of points in time; a gap stays one."""
    if part == ELAPSED:
        days = pc.divide(moments.cast(pa.int64()).cast(pa.float64(), safe=False), float(DAY))
        return ArrowCells(days)
    if part == "weekday":
        places = pc.day_of_week(moments).combine_chunks()
        return ArrowCells(pa.chunked_array([pa.array(WEEKDAYS).take(places)]))
    return ArrowCells(getattr(pc, part)(moments))


def parts_in(moments: pa.ChunkedArray) -> tuple[Part, ...]:
    """The parts that tell something: hours if there are any, and the year if there are several."""
    known = moments.drop_null()
    clock = (np.asarray(known.cast("int64")) % DAY != 0).any() if len(known) else False
    years = pc.min_max(pc.year(known)).as_py()
    left_out = {"hour": not clock, "year": years["min"] == years["max"]}
    return tuple(part for part in PARTS if not left_out.get(part))


def _refuse_endless(column: pa.ChunkedArray, name: str) -> None:
    """Refuse the first and the last point in time that there are: the infinite ones of databases."""
    if not pa.types.is_timestamp(column.type):
        return  # days are too far from our time long before the last one
    ends = pc.min_max(column.cast(pa.int64())).as_py().values()
    if any(end is not None and abs(end) >= INFINITE for end in ends):
        raise endless(name)


def _refuse_far(column: pa.ChunkedArray, name: str) -> None:
    """Refuse a point in time that microseconds of 64 bits cannot count to: it would wrap round to another date."""
    ticks = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    unit = "D" if pa.types.is_date32(column.type) else "ms" if pa.types.is_date64(column.type) else column.type.unit
    most = min(int(MOST_SECONDS / SECONDS[unit]), np.iinfo(np.int64).max)
    far = pc.or_(pc.greater(ticks, most), pc.less(ticks, -most))
    if pc.any(far).as_py():
        row = far.index(True).as_py()
        raise _too_far(name, row, f"{ticks[row].as_py():,} {unit} after 1970")


def _too_far(name: str, row: int, told: str) -> SchemaError:
    return SchemaError(
        About("far date", name), f"Column {name!r}", AtRow(row, f", row {row}"),
        f": {told} is too far from our time to be a date; mend the "
        "cell or leave the column out (", say_kind(name, "ignored"), ").",
    )  # fmt: skip


def _as_arrow(cells: Cells, name: str) -> pa.ChunkedArray:
    """Any other cells: their distinct values in Arrow's memory, and which of them each row has."""
    coded = cells.codes(name)
    try:
        levels = pa.array([_as_microseconds(level) for level in coded.levels], from_pandas=True)
    except OverflowError:
        far = next(place for place, level in enumerate(coded.levels) if _is_far(level))
        raise _too_far(name, int(np.argmax(coded.codes == far)), str(coded.levels[far])) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        levels = pa.array([str(level) for level in coded.levels])
    places = pa.array(coded.codes, mask=coded.codes == GAP)
    return pa.chunked_array([levels.take(places)])


def _is_far(level: object) -> bool:
    if not isinstance(level, np.datetime64) or np.isnat(level):
        return False
    unit, count = np.datetime_data(level.dtype)
    return abs(int(level.astype(np.int64))) * count * SECONDS[unit] > MOST_SECONDS


def _as_microseconds(level: object) -> object:
    """A point in time of NumPy in the one unit that all of them fit; anything else as it is."""
    if _is_far(level):
        raise OverflowError
    return level.astype("M8[us]") if isinstance(level, np.datetime64) else level


def _parsed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    bare = pc.replace_substring_regex(pc.utf8_trim_whitespace(column.cast(pa.string())), ZONE, r"\1")
    return bare.cast(pa.timestamp("us"))


def _no_date(column: pa.ChunkedArray, name: str) -> SchemaError:
    def fails(cell: object) -> bool:
        try:
            _parsed(pa.chunked_array([pa.array([cell], pa.string())]))
        except pa.ArrowInvalid:
            return True
        return False

    row, cell = next((row, cell) for row, cell in enumerate(column.to_pylist()) if fails(cell))
    return SchemaError(
        About("no date", name, str(cell)), f"Column {name!r}", AtRow(row, f", row {row}"),
        f": {shortened(cell)} is no date such as 2025-01-31 or "
        "2025-01-31 17:05; mend the cell, make the column nominal (", say_kind(name, "nominal"), ") or leave it out (",
        say_kind(name, "ignored"), ").",
    )  # fmt: skip
