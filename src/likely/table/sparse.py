"""Sparse matrices at the door: sound CSR of any format, or an error that says what is broken.

Compiled loops, SciPy's as well as ours, trust the places that a matrix names: one out of range is foreign memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray
from likely.errors import DataError
from likely.numerics import refuse_many

if TYPE_CHECKING:
    from scipy.sparse import spmatrix


def as_csr(X: spmatrix) -> spmatrix:
    """A sparse matrix as CSR, which keeps its memory if it is so already; its places are checked before they are used.

    What has not two dimensions is left to whoever reads it.
    """
    if X.ndim != 2:
        return X
    refuse_many(X.shape[1], "columns")
    try:
        if X.format in ("dok", "dia"):
            X = X.tocoo()
        _refuse_broken(X)
        rows = X.tocsr()
        if X.format == "lil":
            _refuse_broken(rows)
    except DataError:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise _broken(f"SciPy cannot read it ({error})") from None
    return _pruned(rows)


def _refuse_broken(X: spmatrix) -> None:
    n_rows, n_columns = X.shape
    if X.format == "csr":
        _refuse_lines(X, len(X.data), n_rows, n_columns)
    elif X.format == "csc":
        _refuse_lines(X, len(X.data), n_columns, n_rows)
    elif X.format == "bsr":
        if X.data.ndim != 3 or 0 in X.data.shape[1:] or n_rows % X.data.shape[1] or n_columns % X.data.shape[2]:
            raise _broken(f"blocks of the shape {X.data.shape[1:]} do not fill {n_rows} rows × {n_columns} columns")
        _refuse_lines(X, len(X.data), n_rows // X.data.shape[1], n_columns // X.data.shape[2])
    elif X.format == "coo":
        if not len(X.data) == len(X.row) == len(X.col):
            raise _broken(f"it has {len(X.data)} cells, but {len(X.row)} rows and {len(X.col)} columns for them")
        _refuse_places(X.row, n_rows, "row")
        _refuse_places(X.col, n_columns, "column")
    elif X.format == "lil" and not (
        len(X.rows) == len(X.data) == n_rows and list(map(len, X.rows)) == list(map(len, X.data))
    ):
        raise _broken("its lists of columns and of cells are not of the same lengths")


def _refuse_lines(X: spmatrix, n_cells: int, n_lines: int, n_places: int) -> None:
    """Lines of places one after the other, each from one start to the next."""
    starts, places = X.indptr, X.indices
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != n_lines + 1:
        raise _broken(f"indptr needs {n_lines + 1} whole numbers, but is {starts.dtype} of the shape {starts.shape}")
    if starts[0] != 0 or (np.diff(starts.astype(np.int64, copy=False)) < 0).any():
        raise _broken("indptr does not start at 0, or falls")
    if places.ndim != 1 or len(places) != n_cells or starts[-1] > n_cells:
        raise _broken(f"indptr counts {starts[-1]} cells, but there are {n_cells} with {places.size} places")
    _refuse_places(places[: starts[-1]], n_places, "row" if X.format == "csc" else "column")


def _refuse_places(places: AnyArray, n: int, what: str) -> None:
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise _broken(f"the place of a {what} is a whole number, not {places.dtype}")
    if len(places) and not (places.min() >= 0 and places.max() < n):
        outside = int(places[(places < 0) | (places >= n)][0])
        raise _broken(f"a cell stands in {what} {outside}, but there are {n} {what}s")


def _pruned(rows: spmatrix) -> spmatrix:
    """The matrix without the room that it keeps behind its last cell."""
    end = int(rows.indptr[-1])
    if end == len(rows.data):
        return rows
    return type(rows)((rows.data[:end], rows.indices[:end], rows.indptr), shape=rows.shape)


def _broken(what: str) -> DataError:
    return DataError(f"The sparse matrix is malformed: {what}; build it anew from its rows, columns and cells.")
