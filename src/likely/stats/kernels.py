"""How often each value of a column, or each column of a count matrix, came with each class."""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.jit import kernel


@kernel(interpretable=True)
def count_classes(y: Int32, weight: Array, weights: Array, rows: Int64) -> None:
    """Weight and number of rows of each class."""
    for i in range(y.shape[0]):
        weights[y[i]] += weight[i]
        rows[y[i]] += 1


@kernel(interpretable=True)
def count_labels(y: Int32, n_classes: int) -> Int64:
    """Number of rows of each class; four tables, for one would have to wait for the last row of the same class."""
    tables = np.zeros((4, n_classes), dtype=np.int64)
    n = y.shape[0] - y.shape[0] % 4
    for i in range(0, n, 4):
        for k in range(4):
            tables[k, y[i + k]] += 1
    for i in range(n, y.shape[0]):
        tables[0, y[i]] += 1
    for k in range(1, 4):
        for c in range(n_classes):
            tables[0, c] += tables[k, c]
    rows: Int64 = tables[0]
    return rows


@kernel(interpretable=True)
def count_codes(codes: Int32, y: Int32, weight: Array, counts: Array) -> None:
    """Add each row's weight to its class and value; a gap (a code below zero) counts nowhere."""
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            counts[y[i], codes[i]] += weight[i]


@kernel(interpretable=True)
def count_code_matrix(codes: Int64, y: Int32, weight: Array, first: Int64, width: Int64, counts: Array) -> bool:
    """The same for many columns at once: column `j` owns `width[j]` cells of `counts` from `first[j]` on.

    False, and counts that mean nothing, once a code has no cell.
    """
    n_columns = codes.shape[1]
    for i in range(codes.shape[0]):
        row, cells, w = codes[i], counts[y[i]], weight[i]
        inside = True
        for j in range(n_columns):
            # Taken as unsigned, a code below zero is a very large one.
            inside = bool(inside & (np.uint64(row[j]) < np.uint64(width[j])))
        if not inside:
            return False
        for j in range(n_columns):
            cells[np.uint64(first[j] + row[j])] += w  # unsigned: no test for places counted from the end
    return True


@kernel(interpretable=True)
def code_bounds(codes: Int64, low: Int64, high: Int64) -> None:
    """Smallest and largest code of each column."""
    for i in range(codes.shape[0]):
        row = codes[i]
        for j in range(codes.shape[1]):
            low[j] = min(low[j], row[j])
            high[j] = max(high[j], row[j])


@kernel(interpretable=True)
def sum_dense(rows: Array, y: Int32, weight: Array, counts: Array) -> bool:
    """Sum the rows of each class; a gap adds nothing. False if a cell is negative."""
    fine = True
    for i in range(rows.shape[0]):
        row, total, w = rows[i], counts[y[i]], weight[i]
        for j in range(rows.shape[1]):
            cell = 0.0 if np.isnan(row[j]) else row[j]
            fine &= cell >= 0.0
            total[j] += w * cell
    return fine


@kernel(interpretable=True)
def sum_sparse(starts: Int64, columns: Int32, cells: Array, y: Int32, weight: Array, counts: Array) -> bool:
    """The same for sparse rows, into a dense table."""
    fine = True
    for i in range(y.shape[0]):
        total, w = counts[y[i]], weight[i]
        own = slice(starts[i], starts[i + 1])
        row, places = cells[own], columns[own]
        for k in range(len(row)):
            cell = 0.0 if np.isnan(row[k]) else row[k]
            fine &= cell >= 0.0
            total[np.uint32(places[k])] += w * cell  # unsigned: no test for places counted from the end
    return fine


SCAN_SHARE = 64
"""Above one column in so many it is faster to look at all of a line's columns than to sort those that occur."""


@kernel(interpretable=True)
def sum_sparse_by_class(
    starts: Int64, columns: Int32, cells: Array, weight: Array, order: Int64, class_starts: Int64, n_columns: int,
    out_starts: Int64, out_columns: Int32, out_cells: Array,
) -> bool:  # fmt: skip
    """The same for sparse rows, into a sparse table (its three arrays are the last arguments).

    `order` lists the rows class by class; class `c` owns those from `class_starts[c]` on. One dense
    line is all the room that this needs, however many classes there are.
    """
    line = np.zeros(n_columns)
    seen = np.zeros(n_columns, dtype=np.bool_)
    fine = True
    end = 0
    for c in range(class_starts.shape[0] - 1):
        begin = end
        for i in order[class_starts[c] : class_starts[c + 1]]:
            w = weight[i]
            for k in range(starts[i], starts[i + 1]):
                cell = 0.0 if np.isnan(cells[k]) else cells[k]
                fine &= cell >= 0.0
                if not seen[columns[k]]:
                    seen[columns[k]] = True
                    out_columns[end] = columns[k]
                    end += 1
                line[columns[k]] += w * cell
        if (end - begin) * SCAN_SHARE > n_columns:
            end = begin
            for column in range(n_columns):
                if seen[column]:
                    out_columns[end] = column
                    end += 1
        else:
            out_columns[begin:end].sort()
        for k in range(begin, end):
            out_cells[k] = line[out_columns[k]]
            line[out_columns[k]] = 0.0
            seen[out_columns[k]] = False
        out_starts[c + 1] = end
    return fine
