"""Compiled loops that add evidence to the log joint of rows."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array

TILE = 64
"""Rows that stay in the nearest cache while all classes look at them."""

STEEP = 1e100
"""Beyond so many deviations a square may leave the floats; from there on it grows like a logarithm instead."""


@numba.njit(nogil=True, cache=True)
def add_rows_of_table(codes: NDArray[np.int32], row_of_code: NDArray[np.int64], table: Array, joint: Array) -> None:
    """Add the line of each row's value; the code −1 is a gap and has the first entry of `row_of_code`."""
    for i in range(codes.shape[0]):
        line = table[row_of_code[codes[i] + 1]]
        for c in range(joint.shape[1]):
            joint[i, c] += line[c]


@numba.njit(nogil=True, cache=True)
def steep_square(gap: float, precision: float) -> float:
    """Square of gap · precision, bent where it would overflow so that more is still more."""
    z = abs(gap * precision)
    if z <= STEEP:
        return z * z
    log_z = np.log(abs(gap)) + np.log(precision)
    return float(STEEP * STEEP * (1.0 + log_z - np.log(STEEP)))


@numba.njit(nogil=True, cache=True)
def _add_careful_row(row: Array, mean: Array, precision: Array, log_peak: Array, joint: Array) -> bool:
    """One row with gaps or extreme values, cell by cell; False if a cell is infinite."""
    for c in range(mean.shape[0]):
        for j in range(row.shape[0]):
            if np.isinf(row[j]):
                return False
            if not np.isnan(row[j]):
                half_gap = 0.5 * row[j] - 0.5 * mean[c, j]
                joint[c] += log_peak[c, j] - 0.5 * steep_square(half_gap, 2.0 * precision[c, j])
    return True


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _distances(rows: Array, mean: Array, precision: Array, out: Array) -> None:
    """Squared distance of each row from each class, in deviations; NaN where the row has a gap.

    Terms may be added in any order, so that the compiler takes several columns at once.
    """
    for c in range(mean.shape[0]):
        centre, scale = mean[c], precision[c]
        for i in range(rows.shape[0]):
            row = rows[i]
            total = 0.0
            for j in range(row.shape[0]):
                z = (row[j] - centre[j]) * scale[j]
                total += z * z
            out[i, c] = total


PLAIN, CAREFUL, INFINITE = 0, 1, 2
"""What `add_gaussian` met: plain numbers only; gaps or extreme values, too; a cell that is infinite."""


@numba.njit(nogil=True, cache=True)
def add_gaussian(rows: Array, mean: Array, precision: Array, log_peak: Array, joint: Array) -> int:
    """Add log densities of bell curves; a NaN adds nothing. Says whether all cells were plain numbers.

    `precision` is 1 / deviation and `log_peak` the log density at the mean. Rows whose distances are not
    finite hold gaps or extreme values and are done again, cell by cell.
    """
    n_rows, n_classes = rows.shape[0], mean.shape[0]
    met = PLAIN
    whole = log_peak.sum(axis=1)
    distances = np.empty((TILE, n_classes))
    for start in range(0, n_rows, TILE):
        stop = min(start + TILE, n_rows)
        _distances(rows[start:stop], mean, precision, distances)
        for i in range(start, stop):
            if np.isfinite(distances[i - start].sum()):
                for c in range(n_classes):
                    joint[i, c] += whole[c] - 0.5 * distances[i - start, c]
            elif _add_careful_row(rows[i], mean, precision, log_peak, joint[i]):
                met = max(met, CAREFUL)
            else:
                met = INFINITE
    return met


@numba.njit(nogil=True, cache=True)
def add_dense_lines(rows: Array, lines: Array, joint: Array) -> None:
    """Add cell × line for every cell that is neither zero nor a gap: 0 · −inf is no evidence."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            cell = rows[i, j]
            if cell != 0.0 and not np.isnan(cell):
                for c in range(joint.shape[1]):
                    joint[i, c] += cell * lines[j, c]


@numba.njit(nogil=True, cache=True)
def _add_four_by_four(columns: NDArray[np.int32], cells: Array, lines: Array, joint: Array) -> None:
    """Add cell × line for the cells of one row, four of them at a time."""
    fours = len(cells) // 4
    for four in range(fours):
        k = 4 * four
        a, b, c, d = cells[k], cells[k + 1], cells[k + 2], cells[k + 3]
        line_a, line_b = lines[columns[k]], lines[columns[k + 1]]
        line_c, line_d = lines[columns[k + 2]], lines[columns[k + 3]]
        for m in range(joint.shape[0]):
            joint[m] += (a * line_a[m] + b * line_b[m]) + (c * line_c[m] + d * line_d[m])
    for k in range(4 * fours, len(cells)):
        cell, line = cells[k], lines[columns[k]]
        for m in range(joint.shape[0]):
            joint[m] += cell * line[m]


@numba.njit(nogil=True, cache=True)
def add_sparse_lines(
    starts: NDArray[np.int64], columns: NDArray[np.int32], cells: Array, lines: Array, joint: Array
) -> None:
    """The same for sparse rows. A row that comes to NaN, by a gap or by 0 · −inf, is done again with care."""
    before = np.empty(joint.shape[1])
    for i in range(joint.shape[0]):
        before[:] = joint[i]
        own = slice(starts[i], starts[i + 1])
        _add_four_by_four(columns[own], cells[own], lines, joint[i])
        if not np.isnan(joint[i].sum()):
            continue
        joint[i] = before
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell != 0.0 and not np.isnan(cell):
                line = lines[columns[k]]
                for c in range(joint.shape[1]):
                    joint[i, c] += cell * line[c]


@numba.njit(nogil=True, cache=True)
def add_lines_of_tokens(
    words: NDArray[np.int32], starts: NDArray[np.int64], stops: NDArray[np.int64], lines: Array, joint: Array
) -> None:
    """Add the line of each word of each row, four of them at a time."""
    for i in range(joint.shape[0]):
        held = words[starts[i] : stops[i]]
        total = joint[i]
        fours = len(held) // 4
        for four in range(fours):
            k = 4 * four
            line_a, line_b = lines[held[k]], lines[held[k + 1]]
            line_c, line_d = lines[held[k + 2]], lines[held[k + 3]]
            for m in range(total.shape[0]):
                total[m] += (line_a[m] + line_b[m]) + (line_c[m] + line_d[m])
        for k in range(4 * fours, len(held)):
            line = lines[held[k]]
            for m in range(total.shape[0]):
                total[m] += line[m]


@numba.njit(nogil=True, cache=True)
def add_unseen(total: Array, shift: Array, bias: Array, per_class: Array, scale: Array, joint: Array) -> None:
    """What rows of so many occurrences come to in classes that have met none of their columns."""
    for i in range(joint.shape[0]):
        for c in range(joint.shape[1]):
            joint[i, c] += bias[c] + total[i] * per_class[c] + shift[i] * scale[c]


@numba.njit(nogil=True, cache=True)
def add_sparse_lines_sparsely(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    cells: Array,
    line_starts: NDArray[np.int64],
    line_classes: NDArray[np.int32],
    line_cells: Array,
    joint: Array,
) -> None:
    """The same where the lines are sparse, too: only classes that know a column hear of it.

    A line that has all classes, as those of frequent words do, is taken as it stands.
    """
    for i in range(joint.shape[0]):
        total = joint[i]
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell != 0.0 and not np.isnan(cell):
                own = slice(line_starts[columns[k]], line_starts[columns[k] + 1])
                classes, line = line_classes[own], line_cells[own]
                if len(line) == total.shape[0]:
                    for c in range(total.shape[0]):
                        total[c] += cell * line[c]
                else:
                    for entry in range(len(line)):
                        total[np.uint32(classes[entry])] += cell * line[entry]  # unsigned: never counted from the end


@numba.njit(nogil=True, cache=True)
def add_presence(rows: Array, threshold: float, present: Array, absent: Array, joint: Array) -> None:
    """Add the line of presence or of absence of every column; a gap adds neither."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if not np.isnan(rows[i, j]):
                line = present[j] if rows[i, j] > threshold else absent[j]
                for c in range(joint.shape[1]):
                    joint[i, c] += line[c]
