"""Values to codes."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.unsigned import Place

Array = NDArray[np.float64]
Small = NDArray[np.uint8]


@numba.njit(nogil=True, cache=True)
def find_bins(values: Array, cuts: Array, missing: int, out: Small) -> None:
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
    codes: Small, pairs: NDArray[np.int32], coarse: Small, widths: NDArray[np.int32], out: NDArray[np.uint16]
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
    codes: Small, triples: NDArray[np.int32], tiny: Small, widths: NDArray[np.int32], out: NDArray[np.uint16]
) -> None:
    """The same for three columns: with at most 15 codes each (`cutting`) they have 3,375 cells."""
    for i in range(codes.shape[0]):
        for k in range(len(triples)):
            a, b, c = triples[k]
            first = np.intp(tiny[a, codes[i, a]]) * widths[b] + tiny[b, codes[i, b]]
            out[i, k] = first * widths[c] + tiny[c, codes[i, c]]


@numba.njit(nogil=True, cache=True)
def add_evidence(
    codes: Small,
    starts: NDArray[np.int32],
    tables: Array,
    pairs: NDArray[np.int32],
    coarse: Small,
    coarse_widths: NDArray[np.int32],
    triples: NDArray[np.int32],
    tiny: Small,
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
def row_marks(codes: Small, y: NDArray[np.int32], out: NDArray[np.uint64]) -> None:
    """A number for each row that depends on all of its codes and on its class: rows that are alike have the same."""
    for i in range(codes.shape[0]):
        mark = (np.uint64(14695981039346656037) ^ np.uint64(y[i])) * np.uint64(1099511628211)
        for j in range(codes.shape[1]):
            mark = (mark ^ np.uint64(codes[i, j])) * np.uint64(1099511628211)
        out[i] = mark
