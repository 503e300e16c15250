"""One column as it came in, and what can be read from it: numbers, categories, and columns in Arrow's memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array, Index, Int32
from likely.arrow import pa, pc
from likely.errors import About, AtRow, SchemaError, say_kind
from likely.table.encode import encode_numbers, python_levels
from likely.table.levels import is_gap, level_key, plain, read_number, written

Storage = Literal["float", "integer", "boolean", "string", "category", "date", "nested", "mixed", "empty"]
Rows = Index | slice

SHOWN_TEXT = 40


class NotANumber(SchemaError, TypeError):
    """A cell holds something, such as a dict, that no rule could turn into a number."""


class Cells(ABC):
    """What every kind of column offers; `name` is there for error messages."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def storage(self) -> Storage: ...

    @abstractmethod
    def codes(self, name: str) -> Codes: ...

    @abstractmethod
    def at(self, rows: Rows) -> Cells: ...

    def numbers(self, name: str) -> Array:
        return numbers_of(self.codes(name), name)

    def strings(self, name: str) -> pa.ChunkedArray:
        coded = self.codes(name)
        levels = pa.array([written(level) for level in coded.levels], pa.large_string())
        return pa.chunked_array([levels.take(pa.array(coded.codes, mask=coded.codes == GAP))], pa.large_string())

    def gaps(self) -> int:
        return int(np.count_nonzero(self.codes("").codes == GAP))


@dataclass(frozen=True, slots=True, eq=False)
class NumberCells(Cells):
    """A column of NumPy numbers or truth values; NaN is a gap."""

    values: AnyArray

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
        return _coded(self.values)

    def gaps(self) -> int:
        return int(np.count_nonzero(np.isnan(self.values))) if self.values.dtype.kind == "f" else 0

    def at(self, rows: Rows) -> NumberCells:
        return NumberCells(self.values[rows])


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCells(Cells):
    """A column whose values were already listed: pandas categories."""

    coded: Codes

    def __len__(self) -> int:
        return len(self.coded)

    @property
    def storage(self) -> Storage:
        return "category" if self.coded.levels or not len(self) else "empty"

    def codes(self, name: str) -> Codes:
        return self.coded

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


def number_of(value: object) -> float:
    """One value as a float; ValueError, TypeError or OverflowError if it is none."""
    if isinstance(value, str):
        number = read_number(value)
        if number is None:
            raise ValueError(value)
        return number
    if isinstance(value, (bytes, bytearray)):
        raise ValueError(value)
    return float(value)  # type: ignore[arg-type]  # what is no number is a TypeError


def not_a_number(name: str, row: int, value: object) -> SchemaError:
    """The error for a cell that cannot be read as a number."""
    where = (f"Column {name!r}", AtRow(row, f", row {row}"))
    if isinstance(value, int):
        about = About("too many bits", name, value.bit_length())
        return SchemaError(about, *where, f": a whole number of {value.bit_length()} bits is too large.")
    if isinstance(value, (str, bytes)):
        return SchemaError(
            About("no number", name, str(value)), *where,
            f": could not convert {shortened(value)} to a number; make the column nominal (",
            say_kind(name, "nominal"), ") or mend the cell.",
        )  # fmt: skip
    return NotANumber(
        About("no number", name, str(value)),
        *where,
        f": the argument must be a string or a number, not {shortened(value)} ({type(value).__name__}).",
    )


def shortened(value: object) -> str:
    """The value as written in Python, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"


# A column as codes into a short list of its values.

GAP = -1


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """The distinct values of a column, all of them in use, and the place of each row's value; −1 is a gap."""

    levels: tuple[Hashable, ...]
    codes: Int32

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: Rows) -> Codes:
        """These rows only, with the levels that occur in them."""
        return used(self.levels, self.codes[rows])


def used(levels: tuple[Hashable, ...], codes: Int32) -> Codes:
    """Codes without the levels that no row has."""
    seen = np.zeros(len(levels) + 1, dtype=np.bool_)
    seen[codes] = True  # a gap, −1, marks the last cell, which belongs to no level
    if seen[:-1].all():
        return Codes(levels, codes)
    table = (np.cumsum(seen, dtype=np.int32) - 1).astype(np.int32)
    table[-1] = GAP
    return Codes(tuple(level for level, is_used in zip(levels, seen, strict=False) if is_used), table[codes])


def settled(levels: Sequence[object], codes: Int32) -> Codes:
    """Codes from any dictionary: gaps, repeated and unused entries in it are taken out."""
    kept, places = factorise(as_objects(map(plain, levels)))
    return used(tuple(kept), codes if len(kept) == len(levels) else np.append(places, np.int32(GAP))[codes])


def factorise(values: NDArray[np.object_], name: str = "") -> tuple[list[Hashable], Int32]:
    """Distinct values as they first came, and the place of each row's value; −1 is a gap."""
    index: dict[Hashable, int] = {}
    levels: list[Hashable] = []
    codes = np.full(len(values), GAP, dtype=np.int32)
    for row, value in enumerate(values):
        if is_gap(value):
            continue
        try:
            place = index.setdefault(level_key(value), len(levels))
        except TypeError:
            what = f": {type(value).__name__} {shortened(value)} cannot be a category, since it is unhashable"
            where = f"Column {name!r}", AtRow(row, f", row {row}")
            raise SchemaError(
                About("nested", name, type(value).__name__),
                *where,
                what,
                "; make it a string or a tuple, or leave it out.",
            ) from None
        if place == len(levels):
            levels.append(value)
        codes[row] = place
    return levels, codes


def as_objects(values: Iterable[object]) -> NDArray[np.object_]:
    """A 1-D array of the given objects, whatever they are; tuples and lists stay cells."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


# Columns in Arrow's memory: pandas strings and nullable numbers, Polars, pyarrow, DuckDB.


class ArrowCells(Cells):
    """An Arrow column; null and NaN are gaps."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.column = _simple(column)
        self.held = _held_as(self.column.type)

    def __len__(self) -> int:
        return len(self.column)

    @cached_property
    def storage(self) -> Storage:
        gaps = self.gaps() if self.held == "float" else self.column.null_count
        return "empty" if len(self) and gaps == len(self) else self.held

    def numbers(self, name: str) -> Array:
        if self.held in ("float", "integer", "boolean", "empty"):
            return _to_numpy(self.column.cast(pa.float64(), safe=False))
        if self.held == "string":
            try:
                return _to_numpy(self.column.cast(pa.large_string()).cast(pa.float64()))
            except pa.ArrowInvalid:
                pass  # spaces, or no numbers: read with care and name the row
        elif self.held != "category":
            why = f"Column {name!r} holds {self.column.type} and cannot be read as numbers; leave it out ("
            rest = say_kind(name, "ignored"), ") or compute a number from it first."
            raise SchemaError(About("no numbers", name, str(self.column.type)), why, *rest)
        return super().numbers(name)

    def codes(self, name: str) -> Codes:
        kind = self.column.type
        if self.held == "empty":
            return Codes((), np.full(len(self), GAP, dtype=np.int32))
        if self.held == "float":
            return _coded(self.numbers(name))
        if self.held in ("integer", "boolean"):
            return self._coded_exactly()
        if self.held == "nested":
            why = f"Column {name!r} holds {kind}, which cannot be a category; leave it out or turn it into strings."
            raise SchemaError(About("nested", name, str(kind)), why)
        if self.held == "category":
            # Chunks may together have more values than their own indices, of 8 bits perhaps, can tell apart.
            wide = self.column.cast(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))
            return settled(*_dictionary(wide.unify_dictionaries()))
        try:
            column = roomy(self.column) if self.column.nbytes > MAX_NARROW else self.column
            levels, codes = _dictionary(column.dictionary_encode())
        except OverflowError:  # dates that are infinite, or in the year 5,000,000
            raise SchemaError(
                About("endless dates", name),
                f"Column {name!r} holds dates that are beyond all calendars; make them gaps, or leave the column out (",
                say_kind(name, "ignored"), ").",
            ) from None  # fmt: skip
        return Codes(tuple(levels), codes) if self.held == "string" else settled(levels, codes)

    def _coded_exactly(self) -> Codes:
        """Integers past 2⁵³ must not pass through floats on their way round the gaps."""
        if self.column.null_count == 0:
            return _coded(_to_numpy(self.column))
        filled = _coded(_to_numpy(self.column.fill_null(pa.scalar(0).cast(self.column.type))))
        known = _to_numpy(self.column.is_valid())
        return used(filled.levels, np.where(known, filled.codes, np.int32(GAP)))

    def strings(self, name: str) -> pa.ChunkedArray:
        column = spelled_out(self.column) if self.held == "category" else self.column
        if _held_as(column.type) != "string":
            return super().strings(name)
        try:
            return column.cast(pa.large_string())
        except pa.ArrowInvalid as error:
            why = f"Column {name!r} holds bytes that are no UTF-8 text: {error}."
            raise SchemaError(About("no text", name), why) from None

    def gaps(self) -> int:
        if self.held == "category":
            return super().gaps()
        if pa.types.is_floating(self.column.type):
            return int(np.count_nonzero(np.isnan(self.numbers(""))))
        return int(self.column.null_count)

    def at(self, rows: Rows) -> ArrowCells:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            return ArrowCells(self.column.slice(start, max(stop - start, 0)))
        return ArrowCells(roomy(self.column).take(pa.array(rows)))


MAX_NARROW = 1 << 30
"""Bytes of a column up to which its texts may keep offsets of 32 bits."""


def roomy(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts with offsets of 64 bits, whose letters stay where they are: rows of them may come to more than 2 GiB."""
    wider = {pa.types.is_string: pa.large_string(), pa.types.is_binary: pa.large_binary()}
    return next((column.cast(wide) for test, wide in wider.items() if test(column.type)), column)


def spelled_out(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The value of every row of a dictionary column."""
    values = [roomy(pa.chunked_array([chunk.dictionary])).take(chunk.indices) for chunk in column.chunks]
    parts = [part for value in values for part in value.chunks]
    return pa.chunked_array(parts, parts[0].type if parts else column.type.value_type)


def _simple(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without extension types and runs, which hold a plain type inside."""
    while True:
        if isinstance(column.type, pa.BaseExtensionType):
            storage = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(storage, column.type.storage_type)
        elif pa.types.is_run_end_encoded(column.type):
            column = pa.chunked_array([pc.run_end_decode(c) for c in column.chunks], column.type.value_type)
        else:
            return column


def _held_as(kind: pa.DataType) -> Storage:
    """How a type holds cells, whether or not any of them is known."""
    test = pa.types
    tests: dict[Storage, tuple[Callable[[pa.DataType], bool], ...]] = {
        "string": (
            test.is_string, test.is_large_string, test.is_string_view,
            test.is_binary, test.is_large_binary, test.is_binary_view, test.is_fixed_size_binary,
        ),
        "float": (test.is_floating, test.is_decimal),
        "integer": (test.is_integer,),
        "boolean": (test.is_boolean,),
        "category": (test.is_dictionary,),
        "date": (test.is_temporal,),
        "empty": (test.is_null,),
    }  # fmt: skip
    return next((held for held, ways in tests.items() if any(is_so(kind) for is_so in ways)), "nested")


def _coded(values: AnyArray) -> Codes:
    levels, codes = encode_numbers(values)
    return Codes(python_levels(levels), codes)


def _dictionary(encoded: pa.ChunkedArray) -> tuple[list[Hashable], Int32]:
    """Levels and codes of a dictionary column whose chunks share one dictionary."""
    if encoded.num_chunks == 0:
        return [], np.empty(0, dtype=np.int32)
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks]).cast(pa.int32())
    return encoded.chunk(0).dictionary.to_pylist(), _to_numpy(indices.fill_null(GAP))


def _to_numpy(column: pa.ChunkedArray) -> AnyArray:
    """One array; no copy where there is one chunk without nulls."""
    if column.num_chunks == 1:
        return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy())
