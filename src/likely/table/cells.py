"""One column as it came in, and what can be read from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import AtRow, SchemaError, say_kind
from likely.table.encode import encode_numbers, python_levels
from likely.table.levels import level_key, plain, read_number, written

if TYPE_CHECKING:
    import pyarrow as pa

Storage = Literal["float", "integer", "boolean", "string", "category", "date", "nested", "mixed", "empty"]
Rows = NDArray[np.intp] | slice

SHOWN_TEXT = 40


class NotANumber(SchemaError, TypeError):
    """A cell holds something, such as a dict, that no rule could turn into a number."""


class Cells(Protocol):
    """What every kind of column offers; `name` is there for error messages."""

    def __len__(self) -> int: ...

    @property
    def storage(self) -> Storage: ...

    def numbers(self, name: str) -> Array: ...

    def codes(self, name: str) -> Codes: ...

    def strings(self, name: str) -> pa.ChunkedArray: ...

    def gaps(self) -> int: ...

    def at(self, rows: Rows) -> Cells: ...


class NumberCells:
    """A column of NumPy numbers or truth values; NaN is a gap."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def storage(self) -> Storage:
        kind = self.values.dtype.kind
        if kind != "f":
            return "boolean" if kind == "b" else "integer"
        # Most columns are settled by their first cell.
        if len(self.values) and np.isnan(self.values[0]) and np.isnan(self.values).all():
            return "empty"
        return "float"

    def numbers(self, name: str) -> Array:
        return self.values.astype(np.float64, copy=False)

    def codes(self, name: str) -> Codes:
        levels, codes = encode_numbers(self.values)
        return Codes(python_levels(levels), codes)

    def strings(self, name: str) -> pa.ChunkedArray:
        return strings_of(self.codes(name))

    def gaps(self) -> int:
        return int(np.count_nonzero(np.isnan(self.values))) if self.values.dtype.kind == "f" else 0

    def at(self, rows: Rows) -> NumberCells:
        return NumberCells(self.values[rows])


class CategoryCells:
    """A column whose values were already listed: pandas categories."""

    def __init__(self, coded: Codes) -> None:
        self.coded = coded

    def __len__(self) -> int:
        return len(self.coded)

    @property
    def storage(self) -> Storage:
        return "category" if self.coded.levels or not len(self) else "empty"

    def numbers(self, name: str) -> Array:
        return numbers_of(self.coded, name)

    def codes(self, name: str) -> Codes:
        return self.coded

    def strings(self, name: str) -> pa.ChunkedArray:
        return strings_of(self.coded)

    def gaps(self) -> int:
        return int(np.count_nonzero(self.coded.codes == GAP))

    def at(self, rows: Rows) -> CategoryCells:
        return CategoryCells(self.coded.at(rows))


def numbers_of(coded: Codes, name: str) -> Array:
    """Numbers from a column of any values: those that spell no number are an error naming the row."""
    table = np.full(len(coded.levels) + 1, np.nan)
    for place, level in enumerate(coded.levels):
        try:
            table[place] = number_of(level)
        except (TypeError, ValueError, OverflowError):
            row = int(np.argmax(coded.codes == place))
            raise not_a_number(name, row, level) from None
    return table[coded.codes]


def number_of(value: Any) -> float:
    """One value as a float; ValueError, TypeError or OverflowError if it is none."""
    if isinstance(value, str):
        number = read_number(value)
        if number is None:
            raise ValueError(value)
        return number
    if isinstance(value, (bytes, bytearray)):
        raise ValueError(value)
    return float(value)


def not_a_number(name: str, row: int, value: object) -> SchemaError:
    """The error for a cell that cannot be read as a number."""
    where = (f"Column {name!r}", AtRow(row, f", row {row}"))
    if isinstance(value, int):
        return SchemaError(*where, f": a whole number of {value.bit_length()} bits is too large.")
    if isinstance(value, (str, bytes)):
        return SchemaError(
            *where, f": could not convert {shortened(value)} to a number; make the column nominal (",
            say_kind(name, "nominal"), ") or mend the cell.",
        )  # fmt: skip
    return NotANumber(
        *where, f": the argument must be a string or a number, not {shortened(value)} ({type(value).__name__})."
    )


def shortened(value: object) -> str:
    """The value as written in Python, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"


def strings_of(coded: Codes) -> pa.ChunkedArray:
    """A coded column as text."""
    import pyarrow as pa

    levels = pa.array([written(level) for level in coded.levels], pa.large_string())
    codes = pa.array(coded.codes, mask=coded.codes == GAP)
    return pa.chunked_array([levels.take(codes)], pa.large_string())


# A column as codes into a short list of its values.

GAP = -1


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """The distinct values of a column, all of them in use, and the place of each row's value; −1 is a gap."""

    levels: tuple[Hashable, ...]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: NDArray[np.intp] | slice) -> Codes:
        """These rows only, with the levels that occur in them."""
        return used(self.levels, self.codes[rows])


def used(levels: tuple[Hashable, ...], codes: NDArray[np.int32]) -> Codes:
    """Codes without the levels that no row has."""
    seen = np.zeros(len(levels) + 1, dtype=np.bool_)
    seen[codes] = True  # a gap, −1, marks the last cell, which belongs to no level
    if seen[:-1].all():
        return Codes(levels, codes)
    table = (np.cumsum(seen, dtype=np.int32) - 1).astype(np.int32)
    table[-1] = GAP
    return Codes(tuple(level for level, is_used in zip(levels, seen, strict=False) if is_used), table[codes])


def settled(levels: Sequence[Any], codes: NDArray[np.int32]) -> Codes:
    """Codes from any dictionary: gaps, repeated and unused entries in it are taken out."""
    index: dict[Hashable, int] = {}
    kept: list[Hashable] = []
    table = np.full(len(levels) + 1, GAP, dtype=np.int32)
    for place, level in enumerate(levels):
        value = plain(level)
        if value is None:
            continue
        key = level_key(value)
        if key not in index:
            index[key] = len(kept)
            kept.append(value)
        table[place] = index[key]
    if len(kept) < len(levels):
        codes = table[codes]
    return used(tuple(kept), codes)
