"""Sums of rows per class: over blocks of rows into dense tables, or over classes into a sparse one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import BadCell, TooLarge
from likely.limits import LARGEST
from likely.stats.kernels.counts import sum_dense, sum_sparse, sum_sparse_by_class
from likely.stats.protocol import Array, Matrix
from likely.threads import row_blocks, side_by_side

CLASS_RANGES = 8
"""Ranges of classes that threads take one by one when the table is sparse."""


def sum_by_block(rows: Matrix, y: NDArray[np.int32], weight: Array, n_classes: int, n_jobs: int | None) -> Array:
    """A dense table per block of rows, and their sum. A block has a few times the cells of its table."""
    n_rows, n_columns = rows.shape
    cells_per_row = rows.nnz / max(n_rows, 1) if sparse.issparse(rows) else n_columns
    fewest = 4 * n_classes * n_columns / max(cells_per_row, 1)

    def block_sums(block: slice) -> Array:
        counts = np.zeros((n_classes, n_columns))
        if sparse.issparse(rows):
            fine = sum_sparse(*csr_arrays(rows_of(rows, block)), y[block], weight[block], counts)
        else:
            dense = np.ascontiguousarray(rows[block], dtype=np.float64)
            fine = sum_dense(dense, y[block], weight[block], counts)
        if not (fine and np.isfinite(counts).all()):
            raise _bad_cell(rows[block], block.start)
        return counts

    total = np.zeros((n_classes, n_columns))
    for counts in side_by_side(block_sums, row_blocks(n_rows, int(cells_per_row), int(fewest)), n_jobs):
        with np.errstate(over="ignore"):
            total += counts
    refuse_large(total)
    return total


def sum_by_class(
    rows: sparse.csr_array, y: NDArray[np.int32], weight: Array, n_classes: int, n_jobs: int | None
) -> sparse.csr_array:
    """A sparse table, class by class; threads take ranges of classes, so that each needs one line of room."""
    starts, columns, cells = csr_arrays(rows)
    order = np.argsort(y, kind="stable")
    class_starts = np.searchsorted(y[order], np.arange(n_classes + 1)).astype(np.int64)

    room = np.append(0, np.cumsum(np.diff(starts)[order]))[class_starts]
    out_columns, out_cells = np.empty(len(columns), dtype=np.int32), np.empty(len(columns))

    def range_sums(first: int, last: int) -> NDArray[np.int64]:
        """Sum some classes into their own part of the room; where each of them ends in it."""
        mine, own = order[class_starts[first] : class_starts[last]], slice(room[first], room[last])
        own_starts = class_starts[first : last + 1] - class_starts[first]
        out = np.zeros(last - first + 1, dtype=np.int64), out_columns[own], out_cells[own]
        if not sum_sparse_by_class(starts, columns, cells, weight, mine, own_starts, rows.shape[1], *out):
            raise _bad_cell(rows, 0)
        return out[0]

    cuts = np.searchsorted(class_starts, np.linspace(0, len(y), CLASS_RANGES + 1)[1:-1])
    bounds = np.unique([0, *cuts, n_classes])
    ranges = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    table_starts: NDArray[np.integer[Any]] = np.zeros(n_classes + 1, dtype=np.int64)
    end = 0
    for (first, last), ends in zip(ranges, side_by_side(lambda ends: range_sums(*ends), ranges, n_jobs), strict=True):
        table_starts[first : last + 1] = end + ends
        found, begin = int(ends[-1]), int(room[first])
        for out in (out_columns, out_cells):
            out[end : end + found] = out[begin : begin + found]
        end += found
    if end <= np.iinfo(np.int32).max:  # else SciPy widens the columns as well
        table_starts = table_starts.astype(np.int32)
    table = sparse.csr_array((out_cells[:end], out_columns[:end], table_starts), shape=(n_classes, rows.shape[1]))
    if not np.isfinite(table.data).all():
        raise _bad_cell(rows, 0)
    refuse_large(table)
    return table


def refuse_large(table: Matrix) -> None:
    """Raise for the column with the largest sum where a table of sums has left what can be learned from."""
    with np.errstate(over="ignore"):
        if table.sum() <= LARGEST:
            return
        by_column = np.asarray(table.sum(axis=0)).ravel()
    raise TooLarge(int(np.argmax(by_column)))


def _bad_cell(rows: Matrix, first_row: int) -> BadCell | TooLarge:
    """Where the first cell stands that is no count; where there is none, the column with the largest."""
    held = rows.data if sparse.issparse(rows) else np.asarray(rows)
    if not ((held < 0) | np.isinf(held)).any():
        place = int(np.nanargmax(held))
        return TooLarge(int(rows.indices[place]) if sparse.issparse(rows) else place % rows.shape[1])
    if sparse.issparse(rows):
        place = int(np.flatnonzero((rows.data < 0) | np.isinf(rows.data))[0])
        row, column = int(np.searchsorted(rows.indptr, place, side="right")) - 1, int(rows.indices[place])
        cell = float(rows.data[place])
    else:
        row, column = (int(k) for k in np.argwhere((rows < 0) | np.isinf(rows))[0])
        cell = float(rows[row, column])
    return BadCell(first_row + row, column, cell, "counts are finite and never negative")


def csr_arrays(rows: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """The three arrays of a sparse matrix in the types that the kernels are compiled for."""
    return (
        np.asarray(rows.indptr, dtype=np.int64),
        np.asarray(rows.indices, dtype=np.int32),
        np.asarray(rows.data, dtype=np.float64),
    )


def rows_of(rows: sparse.csr_array, block: slice) -> sparse.csr_array:
    """A block of rows that shares its cells with the matrix: slicing, or naming them to SciPy, would copy them."""
    starts = rows.indptr[block.start : block.stop + 1]
    held = slice(starts[0], starts[-1])
    part = sparse.csr_array((len(starts) - 1, rows.shape[1]))
    part.data, part.indices, part.indptr = rows.data[held], rows.indices[held], starts - starts[0]
    return part
