"""Tables from frames: pandas, Polars, Arrow, and dicts of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely.errors import SchemaError
from likely.table.arrow_cells import ArrowCells
from likely.table.names import unique_names
from likely.table.reading import cells_of
from likely.table.shapes import not_two_dimensional
from likely.table.table import Table


def from_pandas(frame: Any) -> Table:
    """A pandas frame, column by column, in its own memory."""
    names = unique_names(frame.columns)
    return Table(names, len(frame), lambda j: cells_of(frame.iloc[:, j], names[j]), named=True)


def from_polars(frame: Any) -> Table:
    """A Polars frame."""
    names = unique_names(frame.columns)
    return Table(names, frame.height, lambda j: cells_of(frame.to_series(j), names[j]), named=True)


def from_arrow(data: Any) -> Table:
    """A pyarrow table, batch or reader, or anything that hands out an Arrow stream or array of structs."""
    import pyarrow as pa

    if isinstance(data, (pa.Array, pa.ChunkedArray)) and not pa.types.is_struct(data.type):
        raise not_two_dimensional(np.asarray(data.to_pylist(), dtype=object))
    try:
        table = _arrow_table(data, pa)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(
            f"The Arrow data of {type(data).__name__} is no table of named columns ({error}). "
            "Expected 2D array, got 1D array instead: Reshape your data into a table."
        ) from None
    names = unique_names(table.column_names)
    return Table(names, table.num_rows, lambda j: ArrowCells(table.column(j)), named=True)


def from_columns(columns: Mapping[Any, Any]) -> Table:
    """A dict of columns of one length."""
    names = unique_names(columns)
    cells = [cells_of(values, name) for name, values in zip(names, columns.values(), strict=True)]
    n_rows = len(cells[0]) if cells else 0
    for name, column in zip(names, cells, strict=True):
        if len(column) != n_rows:
            raise SchemaError(f"Column {name!r} has {len(column)} rows, column {names[0]!r} has {n_rows}.")
    return Table(names, n_rows, cells.__getitem__, named=True)


def _arrow_table(data: Any, pa: Any) -> Any:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pa.ChunkedArray):
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in data.chunks])
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    batch = data if isinstance(data, pa.RecordBatch) else pa.record_batch(data)
    return pa.Table.from_batches([batch])
