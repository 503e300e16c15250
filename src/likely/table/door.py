"""The door: any table a user may hold becomes a `Table`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SchemaError
from likely.matrices import as_csr
from likely.table.cells import NumberCells
from likely.table.frames import from_arrow, from_columns, from_pandas, from_polars
from likely.table.names import Numbered, unique_names
from likely.table.reading import NUMERIC, cells_of, masked, module, no_complex
from likely.table.rows import from_rows
from likely.table.shapes import no_columns, no_rows, not_two_dimensional
from likely.table.table import Table


def as_table(X: Any, *, allow_empty: bool = True) -> Table:
    """A table from a frame, an array, a sparse matrix, Arrow data, a dict of columns, or a list of rows.

    With `allow_empty=False` a table without rows is an error; one without columns always is.

    >>> table = as_table({"age": [31, None], "town": ["Ulm", "Bonn"]})
    >>> table.numbers("age").tolist(), table.codes("town").levels
    ([31.0, nan], ('Ulm', 'Bonn'))
    """
    table = X if isinstance(X, Table) else _texts(X) or _read(X)
    if table.n_columns == 0:
        raise no_columns(table.n_rows)
    if table.n_rows == 0 and not allow_empty:
        raise no_rows(table.n_columns)
    return table


TEXT_COLUMN = "text"
"""What the only column of a plain list of strings is called."""


def _texts(X: Any) -> Table | None:
    """A list, array or series of strings (or gaps) is a table with one text column; None for anything else."""
    if getattr(X, "ndim", 1) != 1 or isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__") or not len(X):
        return None
    if isinstance(X, (list, tuple)):
        types = set(map(type, X))
        is_text = str in types and types <= {str, type(None)}
    elif isinstance(X, np.ndarray):
        strings = X.dtype.kind == "O" and all(cell is None or isinstance(cell, str) for cell in X)
        is_text = X.dtype.kind == "U" or (strings and any(cell is not None for cell in X))
    elif _is_series(X):
        is_text = cells_of(X, TEXT_COLUMN).storage == "string"
    else:
        return None
    if not is_text:
        return None
    cells = cells_of(np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X, TEXT_COLUMN)
    return Table((TEXT_COLUMN,), len(X), lambda _: cells, named=True, is_text=True)


def _is_series(X: Any) -> bool:
    """A single column of pandas, Polars or Arrow."""
    pandas, polars, arrow = module("pandas"), module("polars"), module("pyarrow")
    return (
        (pandas is not None and isinstance(X, pandas.Series))
        or (polars is not None and isinstance(X, polars.Series))
        or (arrow is not None and isinstance(X, (arrow.Array, arrow.ChunkedArray)))
    )


def _read(X: Any) -> Table:
    if isinstance(X, np.ndarray):
        return _from_array(X)
    return _from_library(X) or _from_python(X)


def _from_library(X: Any) -> Table | None:
    """Objects of pandas, Polars, SciPy, and all that speak Arrow."""
    pandas, polars, sparse = module("pandas"), module("polars"), module("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        return _from_sparse(X)
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return from_pandas(X)
    if pandas is not None and isinstance(X, (pandas.Series, pandas.Index)):
        raise not_two_dimensional(X.to_numpy())
    if polars is not None and isinstance(X, polars.DataFrame):
        return from_polars(X)
    if polars is not None and isinstance(X, polars.LazyFrame):
        return from_polars(X.collect())
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return from_arrow(X)
    return None


def _from_python(X: Any) -> Table:
    if isinstance(X, Mapping):
        return from_columns(X)
    if isinstance(X, (list, tuple)):
        rows = from_rows(X)
        return rows if isinstance(rows, Table) else _from_array(rows)
    if X is None or isinstance(X, (str, bytes)) or not (hasattr(X, "__array__") or np.isscalar(X)):
        raise SchemaError(
            f"A table is needed, such as a frame, a 2-D array or a list of dicts, not {type(X).__name__}."
        )
    return _from_array(np.asarray(X))


def _from_array(X: NDArray[Any]) -> Table:
    no_complex(X.dtype)
    if X.dtype.names is not None and X.ndim == 1:
        fields = unique_names(X.dtype.names)
        return Table(fields, len(X), lambda j: cells_of(X[fields[j]], fields[j]), named=True)
    if X.ndim != 2:
        raise not_two_dimensional(X)
    X = masked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    names = Numbered(X.shape[1])
    if X.dtype.kind in NUMERIC:
        return Table(names, len(X), lambda j: NumberCells(X[:, j]), named=False, matrix=X)
    return Table(names, len(X), lambda j: cells_of(X[:, j], names[j]), named=False)


def _from_sparse(X: Any) -> Table:
    """Canonical CSR: a matrix that is so already keeps its memory."""
    from scipy.sparse import csr_array

    no_complex(X.dtype)
    if X.ndim != 2:
        raise not_two_dimensional(X.toarray())
    if X.dtype.kind not in NUMERIC:
        raise DataError(f"A sparse matrix must hold numbers, not {X.dtype}.")
    X = as_csr(X)
    rows = X if isinstance(X, csr_array) else csr_array(X)
    # Asking the caller's own object lets it remember the answer for the next time.
    rows.has_canonical_format = bool(X.has_canonical_format)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    by_column: list[Any] = []

    def read(j: int) -> NumberCells:
        if not by_column:
            by_column.append(rows.tocsc())
        return NumberCells(by_column[0][:, [j]].toarray().ravel())

    return Table(Numbered(rows.shape[1]), rows.shape[0], read, named=False, sparse=rows)
