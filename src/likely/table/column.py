"""One column, from any library, as cells."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SchemaError
from likely.table.arrow_cells import ArrowCells
from likely.table.cells import CategoryCells, Cells, NumberCells, settled
from likely.table.object_cells import ObjectCells, as_objects

NUMERIC = "biuf"


def module(name: str) -> Any:
    """A library if someone has already imported it: otherwise no object of its types can be here."""
    return sys.modules.get(name)


def no_complex(dtype: np.dtype[Any]) -> None:
    """Refuse complex numbers."""
    if dtype.kind == "c":
        raise DataError("Complex data not supported; give real and imaginary parts as two columns.")


def cells_of(values: Any, name: str) -> Cells:
    """Cells of a 1-D column: NumPy, pandas, Polars, Arrow, or any sequence."""
    if isinstance(values, np.ndarray):
        return _array_cells(values, name)
    pandas, polars = module("pandas"), module("polars")
    if pandas is not None and isinstance(values, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)):
        return _pandas_cells(pandas.Series(values, copy=False), pandas, name)
    if polars is not None and isinstance(values, polars.Series):
        return _polars_cells(values, polars)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return ArrowCells(_chunked(values))
    if hasattr(values, "__array__"):
        return _array_cells(np.asarray(values), name)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise SchemaError(f"Column {name!r} is a single {type(values).__name__}, not a sequence of cells.")
    return ObjectCells(as_objects(values))


def masked(values: Any) -> NDArray[Any]:
    """A masked array as a plain one: NaN, or None among objects, under the mask."""
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    if values.dtype.kind in NUMERIC:
        return np.asarray(values.astype(np.float64).filled(np.nan))
    cells = np.array(values.data, dtype=object)
    cells[np.ma.getmaskarray(values)] = None
    return cells


def _array_cells(values: NDArray[Any], name: str) -> Cells:
    if isinstance(values, np.ma.MaskedArray):
        values = masked(values)
    if values.ndim != 1:
        raise SchemaError(f"Column {name!r} has {values.ndim} dimensions; each column must have one.")
    no_complex(values.dtype)
    if values.dtype.kind in NUMERIC:
        return NumberCells(values)
    if values.dtype.kind == "O":
        return ObjectCells(values)
    if values.dtype.kind in "USMmT":
        import pyarrow as pa

        try:
            return ArrowCells(pa.chunked_array([pa.array(values, from_pandas=True)]))
        except (ValueError, TypeError, NotImplementedError):
            pass  # a unit such as months, or half a surrogate pair: Arrow has no place for it
    return ObjectCells(as_objects(values.tolist() if values.dtype.kind == "V" else values))


def _pandas_cells(series: Any, pandas: Any, name: str) -> Cells:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _array_cells(series.to_numpy(), name)
    if isinstance(dtype, pandas.CategoricalDtype):
        places = series.cat.codes.to_numpy().astype(np.int32)
        return CategoryCells(settled(list(series.cat.categories), places))
    if isinstance(dtype, pandas.SparseDtype):
        return _array_cells(np.asarray(series.sparse.to_dense()), name)
    spans = (pandas.PeriodDtype, pandas.IntervalDtype)
    if not isinstance(dtype, spans) and hasattr(series.array, "__arrow_array__"):
        return ArrowCells(_chunked(series.array))
    return ObjectCells(series.astype(object).to_numpy())


def _polars_cells(series: Any, polars: Any) -> Cells:
    if series.dtype == polars.Object:
        return ObjectCells(as_objects(series.to_list()))
    return ArrowCells(_chunked(series.to_arrow()))


def _chunked(values: Any) -> Any:
    """Anything that holds one Arrow column, as a ChunkedArray."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    column = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
