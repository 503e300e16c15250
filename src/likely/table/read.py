"""The door: any table a user may hold becomes a `Table`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy

from likely.arrays import AnyArray, ArrowArray, ArrowStream, SupportsArray, TableLike, is_on_device, is_sparse
from likely.arrow import pa
from likely.errors import DataError, SchemaError
from likely.table.cells import ArrowCells, NumberCells, as_objects
from likely.table.column import NUMERIC, ObjectCells, cells_of, is_a, masked, no_complex
from likely.table.sparse import as_csr
from likely.table.table import Numbered, Table, unique_names

if TYPE_CHECKING:
    import pandas as pd


def as_table(X: TableLike | Table, *, allow_empty: bool = True) -> Table:
    """A table from a frame, an array, a sparse matrix, Arrow data, a dict of columns, or a list of rows.

    With `allow_empty=False` a table without rows is an error; one without columns always is.

    >>> table = as_table({"age": [31, None], "town": ["Ulm", "Bonn"]})
    >>> table.numbers("age").tolist(), table.codes("town").levels
    ([31.0, nan], ('Ulm', 'Bonn'))
    """
    if is_on_device(X):
        raise DataError(
            "These rows lie on a GPU, where they are not read for this: bring them to the host, as by .get() or .cpu()."
        )
    table = X if isinstance(X, Table) else _texts(X) or _read(X)
    if table.n_columns == 0:
        raise _too_small("feature", (table.n_rows, 0))
    if table.n_rows == 0 and not allow_empty:
        raise _too_small("sample", (0, table.n_columns))
    return table


def as_rows(X: Any, names: Container[str]) -> Any:
    """A single row as a table of one: a dict of scalars, or a series of pandas with the names of columns in its index.

    Anything else stays as it is.

    >>> as_rows({"age": 31, "town": "Ulm"}, ("age", "town"))
    [{'age': 31, 'town': 'Ulm'}]
    """
    if isinstance(X, Mapping):
        named = len(X) > 0 and all(isinstance(name, str) for name in X)  # some sparse matrices are dicts, too
        scalars = named and all(isinstance(cell, str | bytes) or not isinstance(cell, Iterable) for cell in X.values())
        return [X] if scalars else X
    if is_a(X, "pandas.Series") and len(X) and isinstance(X.index[0], str) and any(name in names for name in X.index):
        return [dict(X.items())]
    return X


TEXT_COLUMN = "text"
"""What the only column of a plain list of strings is called."""


def _texts(X: TableLike) -> Table | None:
    """A list, array or series of strings (or gaps) is a table with one text column; None for anything else."""
    if isinstance(X, (list, tuple)):
        types = set(map(type, X))
        is_text = str in types and types <= {str, type(None)}
    elif isinstance(X, np.ndarray) and X.ndim == 1 and len(X):
        strings = X.dtype.kind == "O" and all(cell is None or isinstance(cell, str) for cell in X)
        is_text = X.dtype.kind == "U" or (strings and any(cell is not None for cell in X))
    elif is_a(X, "pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray"):
        is_text = len(X) > 0 and cells_of(X, TEXT_COLUMN).storage == "string"
    else:
        return None
    if not is_text:
        return None
    cells = cells_of(np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X, TEXT_COLUMN)
    return Table((TEXT_COLUMN,), len(cells), lambda _: cells, named=True, is_text=True)


def _read(X: TableLike) -> Table:
    if isinstance(X, np.ndarray):
        return _from_array(X)
    return _from_library(X) or _from_python(X)


def _from_library(X: object) -> Table | None:
    """Objects of pandas, Polars, SciPy, and all that speak Arrow; each column in its own memory."""
    if is_sparse(X):
        return _from_sparse(X)
    if is_a(X, "pandas.Series", "pandas.Index"):
        raise not_two_dimensional(X.to_numpy())
    if is_a(X, "polars.LazyFrame"):
        X = X.collect()
    if is_a(X, "pandas.DataFrame", "polars.DataFrame"):
        names = unique_names(X.columns)
        column = X.to_series if is_a(X, "polars.DataFrame") else _columns_of_pandas(X)
        return Table(names, len(X), lambda j: cells_of(column(j), names[j]), named=True)
    return _from_arrow(X) if isinstance(X, (ArrowStream, ArrowArray)) else None


def _columns_of_pandas(X: pd.DataFrame) -> Callable[[int], pd.Series]:
    """Each column by its number. One turn over all of them takes a fifth of the time of asking for each by `iloc`."""
    columns = cache(lambda: [column for _, column in X.items()])
    return lambda j: columns()[j]


def _from_python(X: object) -> Table:
    if isinstance(X, Mapping):
        return _from_columns(X)
    if isinstance(X, (list, tuple)):
        rows = _from_rows(X)
        return rows if isinstance(rows, Table) else _from_array(rows)
    if X is None or isinstance(X, (str, bytes)) or not (isinstance(X, SupportsArray) or np.isscalar(X)):
        what = "A table is needed, such as a frame, a 2-D array or a list of dicts"
        raise SchemaError(f"{what}, not {type(X).__name__}.")
    return _from_array(np.asarray(X))


def _from_array(X: AnyArray) -> Table:
    no_complex(X.dtype)
    if X.dtype.names is not None and X.ndim == 1:
        fields = unique_names(X.dtype.names)
        return Table(fields, len(X), lambda j: cells_of(X[fields[j]], fields[j]), named=True)
    if X.ndim != 2:
        raise not_two_dimensional(X)
    X = masked(X)
    names = Numbered(X.shape[1])
    if X.dtype.kind in NUMERIC:
        return Table(names, len(X), lambda j: NumberCells(X[:, j]), named=False, matrix=X)
    return Table(names, len(X), lambda j: cells_of(X[:, j], names[j]), named=False)


def _from_sparse(X: scipy.sparse.spmatrix) -> Table:
    """Canonical CSR: a matrix that is so already keeps its memory."""
    no_complex(X.dtype)
    if X.ndim != 2:
        raise not_two_dimensional(X.toarray())
    if X.dtype.kind not in NUMERIC:
        raise DataError(f"A sparse matrix must hold numbers, not {X.dtype}.")
    X = as_csr(X)
    rows = X if isinstance(X, scipy.sparse.csr_array) else scipy.sparse.csr_array(X)
    # Asking the caller's own object lets it remember the answer for the next time.
    rows.has_canonical_format = bool(X.has_canonical_format)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    by_column: list[scipy.sparse.csc_array] = []

    def read(j: int) -> NumberCells:
        if not by_column:
            by_column.append(rows.tocsc())
        return NumberCells(by_column[0][:, [j]].toarray().ravel())

    return Table(Numbered(rows.shape[1]), rows.shape[0], read, named=False, sparse=rows)


def _from_arrow(data: ArrowStream | ArrowArray) -> Table:
    """A pyarrow table, batch or reader, or anything that hands out an Arrow stream or array of structs."""
    if isinstance(data, (pa.Array, pa.ChunkedArray)) and not pa.types.is_struct(data.type):
        raise not_two_dimensional(np.asarray(data.to_pylist(), dtype=object))
    try:
        if isinstance(data, pa.Table):
            table = data
        elif isinstance(data, pa.ChunkedArray):
            table = pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in data.chunks])
        elif isinstance(data, ArrowStream):
            table = pa.RecordBatchReader.from_stream(data).read_all()
        else:
            table = pa.Table.from_batches([pa.record_batch(data)])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(
            f"The Arrow data of {type(data).__name__} is no table of named columns ({error}). "
            "Expected 2D array, got 1D array instead: Reshape your data into a table."
        ) from None
    names = unique_names(table.column_names)
    return Table(names, table.num_rows, lambda j: ArrowCells(table.column(j)), named=True)


def _from_columns(columns: Mapping[object, object]) -> Table:
    """A dict of columns of one length."""
    names = unique_names(columns)
    cells = [cells_of(values, name) for name, values in zip(names, columns.values(), strict=True)]
    n_rows = len(cells[0]) if cells else 0
    for name, column in zip(names, cells, strict=True):
        if len(column) != n_rows:
            raise SchemaError(f"Column {name!r} has {len(column)} rows, column {names[0]!r} has {n_rows}.")
    return Table(names, n_rows, cells.__getitem__, named=True)


# Tables from rows: lists of dicts and lists of lists.

_NUMBER = (int, float, complex, np.number)
_ROW = (list, tuple, np.ndarray)
Row: TypeAlias = Any
"""A row as it came, perhaps none: what it is, is asked for at once."""


def _from_rows(rows: Sequence[Row]) -> Table | AnyArray:
    """A table of the rows; an array if they hold numbers only."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _from_dicts(rows)
    if not rows or not all(isinstance(row, _ROW) for row in rows):
        return _flat(rows)
    if all(isinstance(row, np.ndarray) for row in rows):
        _same_length(rows)
        return np.asarray(rows)
    return _from_lists(rows)


def _from_dicts(rows: Sequence[Mapping[object, object]]) -> Table:
    """Keys in the order in which they first come; one that a row lacks is a gap there."""
    keys = list(dict.fromkeys(chain.from_iterable(rows)))
    names = unique_names(keys)
    return Table(names, len(rows), lambda j: ObjectCells(as_objects(row.get(keys[j]) for row in rows)), named=True)


def _from_lists(rows: Sequence[Row]) -> Table | AnyArray:
    width = _same_length(rows)
    types = set(map(type, chain.from_iterable(rows)))
    if any(issubclass(kind, (list, np.ndarray)) for kind in types):
        raise not_two_dimensional(np.empty((len(rows), width, 1)))
    if types and bool not in types and all(issubclass(kind, _NUMBER) for kind in types):
        try:
            numbers = np.asarray(rows)
        except OverflowError:
            numbers = np.empty(0, dtype=object)
        if numbers.dtype.kind != "O":
            return numbers
    return Table(Numbered(width), len(rows), lambda j: ObjectCells(as_objects(row[j] for row in rows)), named=False)


def _same_length(rows: Sequence[Row]) -> int:
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            raise SchemaError(f"Row {number} has {len(row)} cells, but row 0 has {width}.")
    return width


def _flat(rows: Sequence[Row]) -> AnyArray:
    """Rows that are no rows: an array-like thing, or a list of single cells."""
    for number, row in enumerate(rows):
        if isinstance(row, (Mapping, *_ROW)) and not isinstance(rows[0], type(row)):
            raise SchemaError(
                f"Row {number} is a {type(row).__name__}, but row 0 is a {type(rows[0]).__name__}: "
                "give all rows as dicts, or all as lists."
            )
    is_array = rows and isinstance(rows[0], SupportsArray) and not isinstance(rows[0], np.generic)
    return np.asarray(rows) if is_array else as_objects(rows)


# Errors about the shape of what came in, worded as scikit-learn's users know them.

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


def not_two_dimensional(X: AnyArray) -> SchemaError:
    """The error for a scalar, a single row or column, or a cube."""
    if X.ndim > 2:
        return SchemaError(f"Found array with dim {X.ndim}, while dim <= 2 is required: rows and columns.")
    what = "scalar" if X.ndim == 0 else "1D"
    shown = np.array2string(X, threshold=10, edgeitems=3)
    return SchemaError(f"Expected 2D array, got {what} array instead:\narray={shown}.\n{_RESHAPE}")


def _too_small(what: str, shape: tuple[int, int]) -> SchemaError:
    return SchemaError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
