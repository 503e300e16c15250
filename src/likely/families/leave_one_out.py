"""Compiled loops for leave-one-out: what a class believes about its own row once that row is taken out."""

from __future__ import annotations

import numba
import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.stats.protocol import NOISE

LARGE, SMALL = 1e200, 1e-200
"""A product of shares is kept between these, and its logarithm taken once it leaves them: logarithms are slow."""

MOST_FACTORS = 4
"""Up to this power a share is multiplied into the product; beyond, its logarithm is multiplied instead."""


def less(before: Array, out: Array) -> Array:
    """What is left of counts, an exact zero where only rounding is."""
    left = before - out
    return np.where(left > NOISE * before, left, 0.0)


@numba.njit(nogil=True, cache=True)
def less_one(before: float, out: float) -> float:
    """The same for one number."""
    left = before - out
    return left if left > NOISE * before else 0.0


@numba.njit(nogil=True, cache=True)
def add_lines_but_own(lines: Int64, table: Array, y: Int32, own: Array, joint: Array) -> None:
    """Add the line of each row's value, but for the row's own class what stands in `own`; a line of −1 adds nothing."""
    for i in range(lines.shape[0]):
        if lines[i] >= 0:
            line, total = table[lines[i]], joint[i]
            before = total[y[i]]
            for c in range(total.shape[0]):
                total[c] += line[c]
            total[y[i]] = before + own[i]


@numba.njit(nogil=True, cache=True)
def log_power(share: float, power: float, product: float) -> tuple[float, float]:
    """Multiply share^power into a product: what it is now, and the logarithm that had to be taken out of it."""
    if power == 1.0:
        product *= share
    elif power == np.floor(power) and power <= MOST_FACTORS:
        for _ in range(int(power)):
            product *= share
    else:
        return product, power * np.log(share)
    if SMALL < product < LARGE:
        return product, 0.0
    return 1.0, np.log(product)


@numba.njit(nogil=True, cache=True)
def counts_of_own(
    starts: Int64, columns: Int32, y: Int32, table_starts: Int64, table_columns: Int32, table_cells: Array, out: Array
) -> None:
    """The count that each cell's column has in the row's own class, from a sparse table of classes × columns."""
    for i in range(y.shape[0]):
        first, last = table_starts[y[i]], table_starts[y[i] + 1]
        line = table_columns[first:last]
        for k in range(starts[i], starts[i + 1]):
            place = np.searchsorted(line, columns[k])
            found = place < line.shape[0] and line[place] == columns[k]
            out[k] = table_cells[first + place] if found else 0.0


@numba.njit(nogil=True, cache=True)
def own_multinomial(
    starts: Int64, columns: Int32, cells: Array, weight: Array, counts: Array, total: Array, pseudo: Array, out: Array
) -> None:
    """Σ cell · log share of each row in its own class; `counts` belong to the cells, `total` to the rows."""
    all_pseudo = pseudo.sum()
    for i in range(weight.shape[0]):
        drawn, evidence, product = 0.0, 0.0, 1.0
        for k in range(starts[i], starts[i + 1]):
            drawn += cells[k]
        left = less_one(total[i], weight[i] * drawn) + all_pseudo
        if left <= 0.0:
            out[i] = -drawn * np.log(pseudo.shape[0])
            continue
        for k in range(starts[i], starts[i + 1]):
            if cells[k] > 0.0:
                share = (less_one(counts[k], weight[i] * cells[k]) + pseudo[columns[k]]) / left
                product, logged = log_power(share, cells[k], product)
                evidence += logged
        out[i] = evidence + np.log(product)


@numba.njit(nogil=True, cache=True)
def add_complement(
    starts: Int64,
    columns: Int32,
    cells: Array,
    y: Int32,
    weight: Array,
    elsewhere: Array,
    total: Array,
    pseudo: Array,
    joint: Array,
) -> None:
    """Add −Σ cell · log share outside each class; `elsewhere` (columns × classes) counts outside, all rows included."""
    n_classes = joint.shape[1]
    product, evidence = np.empty(n_classes), np.empty(n_classes)
    for i in range(weight.shape[0]):
        drawn = 0.0
        product[:] = 1.0
        evidence[:] = 0.0
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell <= 0.0:
                continue
            drawn += cell
            line, more = elsewhere[columns[k]], pseudo[columns[k]]
            for c in range(n_classes):
                out = weight[i] * cell if c != y[i] else 0.0
                product[c], logged = log_power(less_one(line[c], out) + more, cell, product[c])
                evidence[c] += logged
        for c in range(n_classes):
            out = weight[i] * drawn if c != y[i] else 0.0
            joint[i, c] += drawn * np.log(total[c] - out) - evidence[c] - np.log(product[c])


@numba.njit(nogil=True, cache=True)
def add_complement_sparsely(
    starts: Int64,
    columns: Int32,
    cells: Array,
    y: Int32,
    weight: Array,
    line_starts: Int64,
    line_classes: Int32,
    line_cells: Array,
    everywhere: Array,
    total: Array,
    joint: Array,
) -> None:
    """The same from a sparse table (its lines are columns): classes that never met a column share one logarithm."""
    for i in range(weight.shape[0]):
        drawn, shared, own, total_line = 0.0, 0.0, 0.0, joint[i]
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell <= 0.0:
                continue
            drawn += cell
            left = everywhere[columns[k]] - weight[i] * cell
            shared += cell * np.log(left)
            for entry in range(line_starts[columns[k]], line_starts[columns[k] + 1]):
                c = line_classes[entry]
                if c == y[i]:
                    own += cell * np.log((everywhere[columns[k]] - line_cells[entry]) / left)
                else:
                    total_line[c] -= cell * np.log1p(-line_cells[entry] / left)
        for c in range(joint.shape[1]):
            out = weight[i] * drawn if c != y[i] else 0.0
            total_line[c] += drawn * np.log(total[c] - out) - shared
        total_line[y[i]] -= own


@numba.njit(nogil=True, cache=True)
def own_presence(
    rows: Array,
    threshold: float,
    y: Int32,
    weight: Array,
    present: Array,
    known: Array,
    yes: Array,
    no: Array,
    out: Array,
) -> None:
    """Σ log share of presence or absence of each row in its own class; `present`, `known` are classes × columns.

    The shares of a class are kept for the next row of the same weight.
    """
    log_yes, log_no = np.empty(present.shape), np.empty(present.shape)
    weight_of = np.full(present.shape[0], np.nan)
    for i in range(rows.shape[0]):
        c, w, row = y[i], weight[i], rows[i]
        if weight_of[c] != w:
            weight_of[c] = w
            for j in range(row.shape[0]):
                left = less_one(known[c, j], w) + yes[j] + no[j]
                met, not_met = less_one(present[c, j], w) + yes[j], less_one(known[c, j] - present[c, j], w) + no[j]
                log_yes[c, j] = np.log(met / left if left > 0.0 else 0.5)
                log_no[c, j] = np.log(not_met / left if left > 0.0 else 0.5)
        evidence = 0.0
        for j in range(row.shape[0]):
            if not np.isnan(row[j]):
                evidence += log_yes[c, j] if row[j] > threshold else log_no[c, j]
        out[i] = evidence


@numba.njit(nogil=True, cache=True)
def own_presence_sparsely(
    starts: Int64,
    present: Array,
    y: Int32,
    weight: Array,
    counts: Array,
    table_starts: Int64,
    table_cells: Array,
    classes: Array,
    n_columns: int,
    yes: float,
    no: float,
    out: Array,
) -> None:
    """The same for sparse rows and a sparse table without gaps: all columns absent, corrected for those present.

    What absence of all columns amounts to is kept for the next row of the same class and weight.
    """
    base, base_weight = np.zeros(classes.shape[0]), np.full(classes.shape[0], np.nan)
    for i in range(y.shape[0]):
        c, w = y[i], weight[i]
        left = less_one(classes[c], w)
        if base_weight[c] != w:
            base_weight[c] = w
            met = table_starts[c + 1] - table_starts[c]
            base[c] = (n_columns - met) * np.log(left + no) - n_columns * np.log(left + yes + no)
            for entry in range(table_starts[c], table_starts[c + 1]):
                base[c] += np.log(less_one(classes[c] - table_cells[entry], w) + no)
        evidence = base[c]
        for k in range(starts[i], starts[i + 1]):
            if present[k] > 0.0:
                absent = less_one(classes[c] - counts[k], w)
                evidence += np.log(less_one(counts[k], w) + yes) - np.log(absent + no)
        out[i] = evidence
