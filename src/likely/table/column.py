"""One column of anything: cells of Python objects, and which cells a column has."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array, ArrowArray, ArrowStream, SupportsArray
from likely.arrow import pa
from likely.errors import DataError, SchemaError
from likely.table import cells
from likely.table.cells import (
    ArrowCells,
    CategoryCells,
    Cells,
    Codes,
    NumberCells,
    Rows,
    Storage,
    as_objects,
    factorise,
)
from likely.table.levels import is_gap, plain, written

if TYPE_CHECKING:
    import pandas as pd

_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_TRUTHS = (bool, np.bool_)
_CHANGED = frozenset({bool, np.bool_, np.float16, np.float32})
_NESTED = (list, tuple, dict, set, frozenset, np.ndarray)


class ObjectCells(Cells):
    """A column of Python objects of any types."""

    def __init__(self, values: NDArray[np.object_]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def typed(self) -> ArrowCells | None:
        """The same column in Arrow's memory, if one simple type holds it without changing any value."""
        try:
            column = pa.array(self.values, from_pandas=True)
        except (ValueError, TypeError, NotImplementedError, OverflowError):
            return None
        kind = column.type
        # Arrow reads True among floats as 1.0 and narrows to the first float's width.
        if pa.types.is_floating(kind):
            kept = _CHANGED.isdisjoint(map(type, self.values))
        else:
            kept = pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        return ArrowCells(pa.chunked_array([column])) if kept else None

    @cached_property
    def storage(self) -> Storage:
        if self.typed is not None:
            return self.typed.storage
        types = {type(value) for value in self.values if not is_gap(value)}
        if not types:
            return "empty"
        if any(issubclass(kind, (complex, np.complexfloating)) for kind in types):
            raise complex_numbers()
        return _storage_of(types)

    def numbers(self, name: str) -> Array:
        if self.typed is not None:
            return self.typed.numbers(name)
        numbers = np.full(len(self.values), np.nan)
        for row, value in enumerate(self.values):
            if is_gap(value):
                continue
            try:
                numbers[row] = cells.number_of(value)
            except (TypeError, ValueError, OverflowError):
                raise cells.not_a_number(name, row, value) from None
        return numbers

    def codes(self, name: str) -> Codes:
        if self.typed is not None:
            return self.typed.codes(name)
        levels, codes = factorise(self.values, name)
        return Codes(tuple(plain(level) for level in levels), codes)

    def strings(self, name: str) -> pa.ChunkedArray:
        if self.typed is not None:
            return self.typed.strings(name)
        texts = [None if is_gap(value) else _clean(written(value)) for value in self.values]
        return pa.chunked_array([pa.array(texts, pa.large_string())])

    def gaps(self) -> int:
        return self.typed.gaps() if self.typed is not None else sum(map(is_gap, self.values))

    def at(self, rows: Rows) -> ObjectCells:
        return ObjectCells(self.values[rows])


def _storage_of(types: set[type]) -> Storage:
    if any(kind.__hash__ is None for kind in types) or all(issubclass(kind, _NESTED) for kind in types):
        return "nested"
    if all(issubclass(kind, _DATES) or kind.__name__ == "Period" for kind in types):
        return "date"
    if all(issubclass(kind, _TRUTHS) for kind in types):
        return "boolean"
    if any(issubclass(kind, _TRUTHS) for kind in types):
        return "mixed"
    if all(issubclass(kind, (int, np.integer)) for kind in types):
        return "integer"
    if all(issubclass(kind, (int, float, Decimal, Fraction, np.number)) for kind in types):
        return "float"
    return "string" if all(issubclass(kind, (str, bytes)) for kind in types) and len(types) == 1 else "mixed"


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


NUMERIC = "biuf"


@runtime_checkable
class HasArrowArray(Protocol):
    """An array of pandas that knows how to become one of Arrow."""

    def __arrow_array__(self, type: object = None) -> object: ...


def is_a(value: object, *types: str) -> TypeGuard[Any]:
    """Whether a value is of one of these types of libraries, such as "pandas.Series".

    A library that nobody has imported has made no value, and is not imported here.
    """
    known = ((sys.modules.get(library), name) for library, _, name in (kind.rpartition(".") for kind in types))
    return any(library is not None and isinstance(value, getattr(library, name)) for library, name in known)


def complex_numbers() -> DataError:
    """The refusal of complex numbers."""
    return DataError("Complex data not supported; give real and imaginary parts as two columns.")


def no_complex(dtype: np.dtype[np.generic]) -> None:
    """Refuse complex numbers."""
    if dtype.kind == "c":
        raise complex_numbers()


def cells_of(values: object, name: str) -> Cells:
    """Cells of a 1-D column: NumPy, pandas, Polars, Arrow, or any sequence."""
    if isinstance(values, np.ndarray):
        return _array_cells(values, name)
    if is_a(values, "pandas.Series", "pandas.Index", "pandas.api.extensions.ExtensionArray"):
        return _pandas_cells(values, name)
    if is_a(values, "polars.Series"):
        is_object = str(values.dtype) == "Object"
        return ObjectCells(as_objects(values.to_list())) if is_object else ArrowCells(_chunked(values.to_arrow()))
    if isinstance(values, (ArrowArray, ArrowStream)):
        return ArrowCells(_chunked(values))
    if isinstance(values, SupportsArray):
        return _array_cells(np.asarray(values), name)
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise SchemaError(f"Column {name!r} is a single {type(values).__name__}, not a sequence of cells.")
    return ObjectCells(as_objects(values))


def masked(values: AnyArray) -> AnyArray:
    """A masked array as a plain one: NaN, or None among objects, under the mask."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind in NUMERIC:
        return np.ma.filled(values.astype(np.float64), np.nan)
    objects = np.array(np.ma.getdata(values), dtype=object)
    objects[np.ma.getmaskarray(values)] = None
    return objects


def _array_cells(values: AnyArray, name: str) -> Cells:
    values = masked(values)
    if values.ndim != 1:
        raise SchemaError(f"Column {name!r} has {values.ndim} dimensions; each column must have one.")
    no_complex(values.dtype)
    if values.dtype.kind in NUMERIC:
        return NumberCells(values)
    if values.dtype.kind == "O":
        return ObjectCells(values)
    if values.dtype.kind in "USMmT" and not _wraps_in_arrow(values):
        try:
            return ArrowCells(pa.chunked_array([pa.array(values, from_pandas=True)]))
        except (ValueError, TypeError, NotImplementedError):
            pass  # a unit such as months, or half a surrogate pair: Arrow has no place for it
    return ObjectCells(as_objects(values.tolist() if values.dtype.kind == "V" else values))


def _wraps_in_arrow(values: AnyArray) -> bool:
    """Whether there are days that Arrow, which counts days in 32 bits, would take for others."""
    if values.dtype != np.dtype("M8[D]"):
        return False
    days = values[~np.isnat(values)].view(np.int64)
    return bool((days != days.astype(np.int32)).any())


def _pandas_cells(values: pd.Series, name: str) -> Cells:
    import pandas

    series = values if type(values) is pandas.Series else pandas.Series(values, copy=False)
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _array_cells(series.to_numpy(), name)
    if isinstance(dtype, pandas.CategoricalDtype):
        places = series.cat.codes.to_numpy().astype(np.int32)
        return CategoryCells(cells.settled(list(series.cat.categories), places))
    if isinstance(dtype, pandas.SparseDtype):
        return _array_cells(np.asarray(series.sparse.to_dense()), name)
    spans = (pandas.PeriodDtype, pandas.IntervalDtype)
    if not isinstance(dtype, spans) and isinstance(series.array, HasArrowArray):
        return ArrowCells(_chunked(series.array))
    return ObjectCells(series.astype(object).to_numpy())


def _chunked(values: object) -> pa.ChunkedArray:
    """Anything that holds one Arrow column, as a ChunkedArray."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, ArrowStream):
        return pa.chunked_array(values)
    column = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
