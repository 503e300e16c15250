"""Values to codes."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, UInt8, UInt16
from likely.numerics import FOUR, ONE, THREE, TWO, ZERO, Place


@numba.njit(nogil=True, cache=True)
def find_bins(values: Array, cuts: Array, missing: int, out: UInt8) -> None:
    """One more than the number of cuts below each value; halving steps without a branch to mispredict."""
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


@numba.njit(nogil=True, cache=True)
def pair_codes(
    codes: UInt8, pairs: NDArray[np.int32], coarse: UInt8, widths: NDArray[np.int32], out: NDArray[np.uint16]
) -> None:
    """The cell of each row in each pair: coarse code of the first × width of the second + coarse code of the second.

    A code is a byte, so a pair has at most 2¹⁶ cells: they fit into two.
    """
    for i in range(codes.shape[0]):
        for k in range(len(pairs)):
            a, b = pairs[k]
            out[i, k] = np.intp(coarse[a, codes[i, a]]) * widths[b] + coarse[b, codes[i, b]]


@numba.njit(nogil=True, cache=True)
def triple_codes(
    codes: UInt8, triples: NDArray[np.int32], tiny: UInt8, widths: NDArray[np.int32], out: NDArray[np.uint16]
) -> None:
    """The same for three columns: with at most 15 codes each (`cutting`) they have 3,375 cells."""
    for i in range(codes.shape[0]):
        for k in range(len(triples)):
            a, b, c = triples[k]
            first = np.intp(tiny[a, codes[i, a]]) * widths[b] + tiny[b, codes[i, b]]
            out[i, k] = first * widths[c] + tiny[c, codes[i, c]]


@numba.njit(nogil=True, cache=True)
def add_evidence(
    codes: UInt8,
    starts: NDArray[np.int32],
    tables: Array,
    pairs: NDArray[np.int32],
    coarse: UInt8,
    coarse_widths: NDArray[np.int32],
    triples: NDArray[np.int32],
    tiny: UInt8,
    tiny_widths: NDArray[np.int32],
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add what the columns, pairs and triples of the rows from `first` to `last` say; `out` begins with `first`."""
    n_columns, n_scores = codes.shape[1], tables.shape[1]
    n_pairs, n_triples = len(pairs), len(triples)
    in_pairs = np.empty(n_columns, dtype=Place)
    in_triples = np.empty(n_columns, dtype=Place)
    cells = np.empty(n_columns + n_pairs + n_triples, dtype=Place)
    for i in range(first, last):
        for j in range(n_columns):
            code = Place(codes[i, j])
            cells[j] = Place(starts[j]) + code
            in_pairs[j] = coarse[j, code]
            in_triples[j] = tiny[j, code]
        for k in range(n_pairs):
            a, b = Place(pairs[k, 0]), Place(pairs[k, 1])
            within = in_pairs[a] * Place(coarse_widths[b]) + in_pairs[b]
            cells[n_columns + k] = Place(starts[n_columns + k]) + within
        for k in range(n_triples):
            a, b, third = Place(triples[k, 0]), Place(triples[k, 1]), Place(triples[k, 2])
            place = n_columns + n_pairs + k
            within = in_triples[a] * Place(tiny_widths[b]) + in_triples[b]
            within = within * Place(tiny_widths[third]) + in_triples[third]
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


@numba.njit(nogil=True, cache=True)
def row_marks(codes: UInt8, y: NDArray[np.int32], out: NDArray[np.uint64]) -> None:
    """A number for each row that depends on all of its codes and on its class: rows that are alike have the same."""
    for i in range(codes.shape[0]):
        mark = (np.uint64(14695981039346656037) ^ np.uint64(y[i])) * np.uint64(1099511628211)
        for j in range(codes.shape[1]):
            mark = (mark ^ np.uint64(codes[i, j])) * np.uint64(1099511628211)
        out[i] = mark


# One pass over some rows: scores, log loss, and expected minus observed weight per table cell and class.

Whole = int | np.int64

MANY_SCORES = 8
"""From here on a cell is worth a loop over its scores; below, a few scores are worth a loop over the cells."""


@numba.njit(nogil=True, cache=True)
def add_scores(codes: UInt16, starts: Int32, tables: Array, first: Whole, last: Whole, out: Array) -> None:
    """Add what every code of a row says to its scores."""
    n_scores = tables.shape[1]
    if n_scores == 1:
        _add_one(codes, starts, tables.reshape(-1), first, last, out.reshape(-1))
    elif n_scores < MANY_SCORES:
        _add_some(codes, starts, tables.reshape(-1), n_scores, first, last, out.reshape(-1))
    else:
        _add_many(codes, starts, tables.reshape(-1), n_scores, first, last, out.reshape(-1))


@numba.njit(nogil=True, cache=True)
def _add_one(codes: UInt16, starts: Int32, tables: Array, first: Whole, last: Whole, out: Array) -> None:
    """Where there is one score: four sums side by side, so that no addition waits for another."""
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


@numba.njit(nogil=True, cache=True)
def _add_some(
    codes: UInt16, starts: Int32, tables: Array, n_scores: int, first: Whole, last: Whole, out: Array
) -> None:
    """Where there are several: four, then two of them at a time."""
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


@numba.njit(nogil=True, cache=True)
def _add_many(
    codes: UInt16, starts: Int32, tables: Array, n_scores: int, first: Whole, last: Whole, out: Array
) -> None:
    """Where there are many: cell by cell."""
    width = Place(n_scores)
    for row in range(Place(first), Place(last)):
        at = row * width
        for j in range(Place(len(starts))):
            cell = (Place(starts[j]) + Place(codes[row, j])) * width
            for c in range(width):
                out[at + c] += tables[cell + c]


@numba.njit(nogil=True, cache=True)
def residuals(scores: Array, y: NDArray[np.int32], weight: Array) -> float:
    """Turn the scores of rows into weight × (P(class) − truth); the sum of weighted log losses comes back."""
    n_classes = scores.shape[1]
    loss = 0.0
    for i in range(scores.shape[0]):
        if n_classes == 1:
            score = scores[i, 0]
            sign = score if y[i] == 0 else -score
            small = np.exp(-abs(score))
            loss += weight[i] * (max(sign, 0.0) + np.log1p(small))
            share = 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)
            scores[i, 0] = weight[i] * (share - y[i])
        else:
            peak = scores[i, 0]
            for c in range(1, n_classes):
                peak = max(peak, scores[i, c])
            own = scores[i, y[i]] - peak
            total = 0.0
            for c in range(n_classes):
                scores[i, c] = np.exp(scores[i, c] - peak)
                total += scores[i, c]
            loss += weight[i] * (np.log(total) - own)
            scale = weight[i] / total
            for c in range(n_classes):
                scores[i, c] *= scale
            scores[i, y[i]] -= weight[i]
    return loss


@numba.njit(nogil=True, cache=True)
def row_losses(scores: Array, y: NDArray[np.int32], out: Array) -> None:
    """The log loss of each row by its scores."""
    n_classes = scores.shape[1]
    for i in range(scores.shape[0]):
        if n_classes == 1:
            score = scores[i, 0]
            sign = score if y[i] == 0 else -score
            out[i] = max(sign, 0.0) + np.log1p(np.exp(-abs(score)))
        else:
            peak = scores[i, 0]
            for c in range(1, n_classes):
                peak = max(peak, scores[i, c])
            total = 0.0
            for c in range(n_classes):
                total += np.exp(scores[i, c] - peak)
            out[i] = np.log(total) - scores[i, y[i]] + peak


FIRST = np.int64(0)
"""A plain 0 would be a type of its own, and compiled again."""

STRIP = 64
"""Rows whose scores are held at once: they stay in the nearest cache."""


@numba.njit(nogil=True, cache=True)
def pass_over(
    codes: UInt16, starts: Int32, tables: Array, base: Array, offset: Array, y: NDArray[np.int32], weight: Array,
    first: int, last: int, slope: Array, base_slope: Array,
) -> float:  # fmt: skip
    """Log loss of the rows from `first` to `last`; what is expected too much goes to `slope`, cell by cell.

    `offset` holds scores that rows have beforehand, and has no rows where they have none.
    """
    n_classes = tables.shape[1]
    scores = np.empty((STRIP, n_classes))
    slope[:] = 0.0
    base_slope[:] = 0.0
    loss = 0.0
    for start in range(first, last, STRIP):
        size = min(STRIP, last - start)
        for i in range(size):
            for c in range(n_classes):
                scores[i, c] = base[c] if len(offset) == 0 else base[c] + offset[start + i, c]
        strip = codes[start : start + size]
        add_scores(strip, starts, tables, FIRST, size, scores)
        loss += residuals(scores[:size], y[start : start + size], weight[start : start + size])
        for i in range(size):
            for c in range(n_classes):
                base_slope[c] += scores[i, c]
        if n_classes == 1:
            _give_one(strip, starts, scores.reshape(-1), slope.reshape(-1))
        elif n_classes < MANY_SCORES:
            _give_some(strip, starts, scores.reshape(-1), n_classes, slope.reshape(-1))
        else:
            _give_many(strip, starts, scores.reshape(-1), n_classes, slope.reshape(-1))
    return loss


@numba.njit(nogil=True, cache=True)
def _give_one(codes: UInt16, starts: Int32, wrong: Array, slope: Array) -> None:
    """Add what is wrong with each row to the cells that it has."""
    for row in range(Place(len(codes))):
        too_much = wrong[row]
        for j in range(Place(len(starts))):
            slope[Place(starts[j]) + Place(codes[row, j])] += too_much


@numba.njit(nogil=True, cache=True)
def _give_some(codes: UInt16, starts: Int32, wrong: Array, n_scores: int, slope: Array) -> None:
    """The same for several scores: four, then two of them at a time."""
    n, width = Place(len(starts)), Place(n_scores)
    for row in range(Place(len(codes))):
        at, c = row * width, ZERO
        while c + THREE < width:
            w0, w1, w2, w3 = wrong[at + c], wrong[at + c + ONE], wrong[at + c + TWO], wrong[at + c + THREE]
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                slope[cell] += w0
                slope[cell + ONE] += w1
                slope[cell + TWO] += w2
                slope[cell + THREE] += w3
            c += FOUR
        if c + ONE < width:
            w0, w1 = wrong[at + c], wrong[at + c + ONE]
            for j in range(n):
                cell = (Place(starts[j]) + Place(codes[row, j])) * width + c
                slope[cell] += w0
                slope[cell + ONE] += w1
            c += TWO
        if c < width:
            w0 = wrong[at + c]
            for j in range(n):
                slope[(Place(starts[j]) + Place(codes[row, j])) * width + c] += w0


@numba.njit(nogil=True, cache=True)
def _give_many(codes: UInt16, starts: Int32, wrong: Array, n_scores: int, slope: Array) -> None:
    """The same for many scores: cell by cell."""
    width = Place(n_scores)
    for row in range(Place(len(codes))):
        at = row * width
        for j in range(Place(len(starts))):
            cell = (Place(starts[j]) + Place(codes[row, j])) * width
            for c in range(width):
                slope[cell + c] += wrong[at + c]


@numba.njit(nogil=True, cache=True)
def cell_weights(codes: UInt16, starts: Int32, weight: Array, n_cells: int) -> Array:
    """The weight of the rows in each cell of each table."""
    out = np.zeros(n_cells)
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j]] += weight[i]
    return out


@numba.njit(nogil=True, cache=True)
def class_counts(codes: UInt16, starts: Int32, y: NDArray[np.int32], weight: Array, out: Array) -> None:
    """Add the weight of the rows of each class to each cell."""
    for i in range(codes.shape[0]):
        for j in range(len(starts)):
            out[starts[j] + codes[i, j], y[i]] += weight[i]
