"""Compiled loops over rows: values to codes, codes to scores, and the gradient of the log loss by tables.

A row has one code per table (column, pair or triple), and `starts` says where each table begins, so that the cell of
row i in table j is `starts[j] + codes[i, j]`. `tables` is cells × scores; two classes have one score, the log odds of
the second.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32, UInt8, UInt16, UInt64
from likely.jit import kernel
from likely.models.evidence.losses import residuals
from likely.numerics import FOUR, ONE, THREE, TWO, ZERO, Place


@kernel(interpretable=True)
def find_bins(values: Array, cuts: Array, missing: int, out: UInt8) -> None:
    """Code of each value: 1 + the number of cuts below it, `missing` for NaN; a binary search without branches."""
    n = len(cuts)
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            out[i] = missing
            continue
        low, length = 0, n
        while length > 0:
            half = (length + 1) >> 1
            low += half if cuts[low + half - 1] < value else 0
            length -= half
        out[i] = low + 1


@kernel(interpretable=True)
def term_codes(codes: UInt8, terms: Int32, lookup: UInt8, widths: Int32, out: UInt16) -> None:
    """Cell of each row in each pair or triple: the coarse codes of its columns are the digits of one number.

    A code is one byte, so the cells of a pair fit into two; in a triple a column has at most 15 codes (`prepare`).
    """
    order = terms.shape[1]
    for i in range(codes.shape[0]):
        for k in range(len(terms)):
            a, b = terms[k, 0], terms[k, 1]
            cell = np.intp(lookup[a, codes[i, a]]) * widths[b] + lookup[b, codes[i, b]]
            if order == 3:
                c = terms[k, 2]
                cell = cell * widths[c] + lookup[c, codes[i, c]]
            out[i, k] = cell


@kernel(interpretable=True)
def add_term_scores(
    codes: UInt8,
    starts: Int32,
    tables: Array,
    pairs: Int32,
    coarse: UInt8,
    coarse_widths: Int32,
    triples: Int32,
    tiny: UInt8,
    tiny_widths: Int32,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add the tables of columns, pairs and triples to the scores of rows `first` to `last`; `out` begins at `first`.

    It looks codes of pairs and triples up on the way, and needs no array of them.
    """
    n_columns, n_scores = codes.shape[1], tables.shape[1]
    n_pairs, n_triples = len(pairs), len(triples)
    pair_code = np.empty(n_columns, dtype=Place)
    triple_code = np.empty(n_columns, dtype=Place)
    cells = np.empty(n_columns + n_pairs + n_triples, dtype=Place)
    for i in range(first, last):
        for j in range(n_columns):
            code = Place(codes[i, j])
            cells[j] = Place(starts[j]) + code
            pair_code[j] = coarse[j, code]
            triple_code[j] = tiny[j, code]
        for k in range(n_pairs):
            a, b = Place(pairs[k, 0]), Place(pairs[k, 1])
            within = pair_code[a] * Place(coarse_widths[b]) + pair_code[b]
            cells[n_columns + k] = Place(starts[n_columns + k]) + within
        for k in range(n_triples):
            a, b, third = Place(triples[k, 0]), Place(triples[k, 1]), Place(triples[k, 2])
            place = n_columns + n_pairs + k
            within = triple_code[a] * Place(tiny_widths[b]) + triple_code[b]
            within = within * Place(tiny_widths[third]) + triple_code[third]
            cells[place] = Place(starts[place]) + within
        if n_scores == 1:
            total = 0.0
            for k in range(len(cells)):
                total += tables[cells[k], 0]
            out[i - first, 0] += total
        else:
            for k in range(len(cells)):
                for c in range(n_scores):
                    out[i - first, c] += tables[cells[k], c]


@kernel(interpretable=True)
def row_hashes(codes: UInt8, y: Int32, out: UInt64) -> None:
    """FNV-1a hash of the codes and the class of each row: equal rows have equal hashes."""
    for i in range(codes.shape[0]):
        hashed = (np.uint64(14695981039346656037) ^ np.uint64(y[i])) * np.uint64(1099511628211)
        for j in range(codes.shape[1]):
            hashed = (hashed ^ np.uint64(codes[i, j])) * np.uint64(1099511628211)
        out[i] = hashed


Integer = int | np.int64

MANY_SCORES = 8
"""From so many scores on, the inner loop runs over the scores of a cell; below, over the cells of a row."""


@kernel
def add_scores(codes: UInt16, starts: Int32, tables: Array, first: Integer, last: Integer, out: Array) -> None:
    """scores[i] += Σ_j tables[starts[j] + codes[i, j]] for the rows from `first` to `last`."""
    n_scores = tables.shape[1]
    if n_scores == 1:
        _gather_one(codes, starts, tables.reshape(-1), first, last, out.reshape(-1))
    elif n_scores < MANY_SCORES:
        _gather_some(codes, starts, tables.reshape(-1), n_scores, first, last, out.reshape(-1))
    else:
        _gather_many(codes, starts, tables.reshape(-1), n_scores, first, last, out.reshape(-1))


@kernel
def _gather_one(codes: UInt16, starts: Int32, tables: Array, first: Integer, last: Integer, out: Array) -> None:
    """One score: four sums side by side, so that no addition waits for another."""
    n = Place(len(starts))
    for row in range(Place(first), Place(last)):
        j = ZERO
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        while j + THREE < n:
            s0 += tables[Place(starts[j]) + Place(codes[row, j])]
            s1 += tables[Place(starts[j + ONE]) + Place(codes[row, j + ONE])]
            s2 += tables[Place(starts[j + TWO]) + Place(codes[row, j + TWO])]
            s3 += tables[Place(starts[j + THREE]) + Place(codes[row, j + THREE])]
            j += FOUR
        while j < n:
            s0 += tables[Place(starts[j]) + Place(codes[row, j])]
            j += ONE
        out[row] += (s0 + s1) + (s2 + s3)


@kernel
def _gather_some(
    codes: UInt16, starts: Int32, tables: Array, n_scores: int, first: Integer, last: Integer, out: Array
) -> None:
    """Several scores: four, then two of them at a time."""
    n, width = Place(len(starts)), Place(n_scores)
    for row in range(Place(first), Place(last)):
        at, c = row * width, ZERO
        while c + THREE < width:
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                s0 += tables[cell]
                s1 += tables[cell + ONE]
                s2 += tables[cell + TWO]
                s3 += tables[cell + THREE]
            out[at + c] += s0
            out[at + c + ONE] += s1
            out[at + c + TWO] += s2
            out[at + c + THREE] += s3
            c += FOUR
        if c + ONE < width:
            s0, s1 = 0.0, 0.0
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                s0 += tables[cell]
                s1 += tables[cell + ONE]
            out[at + c] += s0
            out[at + c + ONE] += s1
            c += TWO
        if c < width:
            s0 = 0.0
            for j in range(n):
                s0 += tables[(Place(starts[j]) + Place(codes[row, j])) * width + c]
            out[at + c] += s0


@kernel
def _gather_many(
    codes: UInt16, starts: Int32, tables: Array, n_scores: int, first: Integer, last: Integer, out: Array
) -> None:
    """Many scores: cell by cell."""
    width = Place(n_scores)
    for row in range(Place(first), Place(last)):
        at = row * width
        for j in range(Place(len(starts))):
            cell = (Place(starts[j]) + Place(codes[row, j])) * width
            for c in range(width):
                out[at + c] += tables[cell + c]


START = np.int64(0)
"""A plain 0 would be a type of its own, and compiled again."""


STRIP_ROWS = 64
"""Rows whose scores are held at once, so that they stay in the first-level cache."""


@kernel
def loss_and_gradient(
    codes: UInt16, starts: Int32, tables: Array, intercept: Array, offset: Array, y: Int32, weight: Array,
    first: int, last: int, gradient: Array, intercept_gradient: Array,
) -> float:  # fmt: skip
    """Σ weight · log loss of rows `first` to `last`; writes its gradient by table cell and by intercept.

    The gradient of a cell is the expected minus the observed weight of each class in it. `offset` is rows × scores that
    are added to the intercept; it has no rows where there is none.
    """
    n_classes = tables.shape[1]
    scores = np.empty((STRIP_ROWS, n_classes))
    gradient[:] = 0.0
    intercept_gradient[:] = 0.0
    loss = 0.0
    for start in range(first, last, STRIP_ROWS):
        size = min(STRIP_ROWS, last - start)
        for i in range(size):
            for c in range(n_classes):
                scores[i, c] = intercept[c] if len(offset) == 0 else intercept[c] + offset[start + i, c]
        strip = codes[start : start + size]
        add_scores(strip, starts, tables, START, size, scores)
        loss += residuals(scores[:size], y[start : start + size], weight[start : start + size])
        for i in range(size):
            for c in range(n_classes):
                intercept_gradient[c] += scores[i, c]
        if n_classes == 1:
            _scatter_one(strip, starts, scores.reshape(-1), gradient.reshape(-1))
        elif n_classes < MANY_SCORES:
            _scatter_some(strip, starts, scores.reshape(-1), n_classes, gradient.reshape(-1))
        else:
            _scatter_many(strip, starts, scores.reshape(-1), n_classes, gradient.reshape(-1))
    return loss


@kernel
def _scatter_one(codes: UInt16, starts: Int32, residual: Array, gradient: Array) -> None:
    """gradient[starts[j] + codes[i, j]] += residual[i], the transpose of gathering; one score."""
    for row in range(Place(len(codes))):
        own = residual[row]
        for j in range(Place(len(starts))):
            gradient[Place(starts[j]) + Place(codes[row, j])] += own


@kernel
def _scatter_some(codes: UInt16, starts: Int32, residual: Array, n_scores: int, gradient: Array) -> None:
    """Several scores: four, then two of them at a time."""
    n, width = Place(len(starts)), Place(n_scores)
    for row in range(Place(len(codes))):
        at, c = row * width, ZERO
        while c + THREE < width:
            w0, w1, w2, w3 = residual[at + c], residual[at + c + ONE], residual[at + c + TWO], residual[at + c + THREE]
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                gradient[cell] += w0
                gradient[cell + ONE] += w1
                gradient[cell + TWO] += w2
                gradient[cell + THREE] += w3
            c += FOUR
        if c + ONE < width:
            w0, w1 = residual[at + c], residual[at + c + ONE]
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                gradient[cell] += w0
                gradient[cell + ONE] += w1
            c += TWO
        if c < width:
            w0 = residual[at + c]
            for j in range(n):
                gradient[(Place(starts[j]) + Place(codes[row, j])) * width + c] += w0


@kernel
def _scatter_many(codes: UInt16, starts: Int32, residual: Array, n_scores: int, gradient: Array) -> None:
    """Many scores: cell by cell."""
    width = Place(n_scores)
    for row in range(Place(len(codes))):
        at = row * width
        for j in range(Place(len(starts))):
            cell = (Place(starts[j]) + Place(codes[row, j])) * width
            for c in range(width):
                gradient[cell + c] += residual[at + c]


@kernel(interpretable=True)
def cell_weights(codes: UInt16, starts: Int32, weight: Array, n_cells: int) -> Array:
    """Weight of the rows in each cell."""
    out = np.zeros(n_cells)
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j]] += weight[i]
    return out


@kernel(interpretable=True)
def class_counts(codes: UInt16, starts: Int32, y: Int32, weight: Array, out: Array) -> None:
    """Add the weight of the rows of each class to their cells: cells × classes."""
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j], y[i]] += weight[i]
