"""One column as it came in, and what can be read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from likely.errors import SchemaError
from likely.table.codes import GAP, Codes
from likely.table.integers import encode_numbers, python_levels
from likely.table.levels import read_number, written

if TYPE_CHECKING:
    import pyarrow as pa

Storage = Literal["float", "integer", "boolean", "string", "category", "date", "nested", "mixed", "empty"]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp] | slice

SHOWN_TEXT = 40


class NotANumber(SchemaError, TypeError):
    """A cell holds something, such as a dict, that no rule could turn into a number."""


class Cells(Protocol):
    """What every kind of column offers; `name` is there for error messages."""

    def __len__(self) -> int: ...

    @property
    def storage(self) -> Storage: ...

    def numbers(self, name: str) -> Floats: ...

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

    def numbers(self, name: str) -> Floats:
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

    def numbers(self, name: str) -> Floats:
        return numbers_of(self.coded, name)

    def codes(self, name: str) -> Codes:
        return self.coded

    def strings(self, name: str) -> pa.ChunkedArray:
        return strings_of(self.coded)

    def gaps(self) -> int:
        return int(np.count_nonzero(self.coded.codes == GAP))

    def at(self, rows: Rows) -> CategoryCells:
        return CategoryCells(self.coded.at(rows))


def numbers_of(coded: Codes, name: str) -> Floats:
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
    where = f"Column {name!r}, row {row}"
    if isinstance(value, int):
        return SchemaError(f"{where}: a whole number of {value.bit_length()} bits is too large.")
    if isinstance(value, (str, bytes)):
        hint = f"make the column nominal (schema={{{name!r}: 'nominal'}}) or mend the cell."
        return SchemaError(f"{where}: could not convert {shortened(value)} to a number; {hint}")
    return NotANumber(
        f"{where}: the argument must be a string or a number, not {shortened(value)} ({type(value).__name__})."
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
