"""Tokens counted class by class, straight from the stream: no row of a matrix is ever made."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt64
from likely.text.kernels.bytes import lowest


@numba.njit(nogil=True, cache=True)
def rename(ids: Int32, new_id: Int32, out: Int32) -> None:
    """The word of each token; breaks and tokens left out are −1."""
    for k in range(ids.shape[0]):
        out[k] = new_id[ids[k]] if ids[k] >= 0 else -1


@numba.njit(nogil=True, cache=True)
def count_classes(
    tokens: Int32, starts: Int64, docs: Int64, bounds: Int64, weight: Array, counts: Array, documents: Array
) -> None:
    """Add up some classes: the weight of each word's tokens, and of the documents that hold it.

    Class `c` owns `docs[bounds[c]:bounds[c + 1]]` and the line `c` of both tables. Every cell is summed in the order
    of the documents, so that nothing depends on threads.
    """
    last = np.full(counts.shape[1], np.int64(-1))
    for c in range(bounds.shape[0] - 1):
        for doc in docs[bounds[c] : bounds[c + 1]]:
            w = weight[doc]
            for k in range(starts[doc], starts[doc + 1]):
                word = tokens[k]
                if word >= 0:
                    counts[c, word] += w
                    if last[word] != doc:
                        last[word] = doc
                        documents[c, word] += w


@numba.njit(nogil=True, cache=True)
def count_classes_sparse(
    tokens: Int32, starts: Int64, docs: Int64, bounds: Int64, weight: Array, n_words: int
) -> tuple[Int32, Array, Array, Int64]:
    """The same for classes with few words each: words in rising order, counts, documents, how many of each class."""
    line = np.zeros((2, n_words))
    last = np.full(n_words, np.int64(-1))
    n_tokens = 0
    for doc in docs[bounds[0] : bounds[-1]]:
        n_tokens += starts[doc + 1] - starts[doc]
    words = np.empty(n_tokens, dtype=np.int32)
    counts = np.empty(n_tokens, dtype=np.float64)
    documents = np.empty(n_tokens, dtype=np.float64)
    sizes = np.empty(bounds.shape[0] - 1, dtype=np.int64)
    n = 0
    for c in range(bounds.shape[0] - 1):
        begin = n
        for doc in docs[bounds[c] : bounds[c + 1]]:
            w = weight[doc]
            for k in range(starts[doc], starts[doc + 1]):
                word = tokens[k]
                if word >= 0:
                    if last[word] < 0:
                        words[n] = word
                        n += 1
                    line[0, word] += w
                    if last[word] != doc:
                        last[word] = doc
                        line[1, word] += w
        words[begin:n].sort()
        for k in range(begin, n):
            word = words[k]
            counts[k], documents[k] = line[0, word], line[1, word]
            line[0, word], line[1, word], last[word] = 0.0, 0.0, -1
        sizes[c] = n - begin
    return words[:n].copy(), counts[:n].copy(), documents[:n].copy(), sizes


# From numbered tokens to the rows of a sparse matrix.

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@numba.njit(nogil=True, cache=True)
def count_tokens(
    ids: Int32, ends: Int64, column_of: Int32, line: Int32, bits: UInt64, groups: UInt64, clans: UInt64
) -> tuple[Int32, Int32, Int64]:
    """Columns in rising order, counts, and the end of each row. A token without a column (−1) counts nowhere.

    `line` (one count per column) and the three levels of bits (a bit for each column, for each 64 and for each 4,096
    of them) come and leave as zeros: reading the bits in order sorts a row without comparing anything.
    """
    columns = np.empty(ids.shape[0], dtype=np.int32)
    counts = np.empty(ids.shape[0], dtype=np.int32)
    row_ends = np.empty(ends.shape[0], dtype=np.int64)
    n = 0
    start = 0
    for row in range(ends.shape[0]):
        low = clans.shape[0]
        high = -1
        for k in range(start, ends[row]):
            if ids[k] < 0:
                continue
            column = int(column_of[ids[k]])
            if column < 0:
                continue
            line[column] += 1
            bits[column >> 6] |= _ONE << np.uint64(column & 63)
            groups[column >> 12] |= _ONE << np.uint64(column >> 6 & 63)
            clan = column >> 18
            clans[clan] |= _ONE << np.uint64(column >> 12 & 63)
            low = min(low, clan)
            high = max(high, clan)
        for clan in range(low, high + 1):
            while clans[clan] != _ZERO:
                group = clan << 6 | lowest(clans[clan])
                clans[clan] &= clans[clan] - _ONE
                while groups[group] != _ZERO:
                    word = group << 6 | lowest(groups[group])
                    groups[group] &= groups[group] - _ONE
                    rest = bits[word]
                    bits[word] = _ZERO
                    while rest != _ZERO:
                        column = word << 6 | lowest(rest)
                        rest &= rest - _ONE
                        columns[n] = column
                        counts[n] = line[column]
                        line[column] = 0
                        n += 1
        start = ends[row]
        row_ends[row] = n
    return columns[:n], counts[:n], row_ends


@numba.njit(nogil=True, cache=True)
def keep_columns(
    columns: Int32, counts: NDArray[np.int64], starts: Int64, new_column: Int32
) -> tuple[Int32, NDArray[np.int64], Int64]:
    """The matrix without the columns whose new number is −1; the others must keep their order."""
    kept = np.empty(columns.shape[0], dtype=np.int32)
    kept_counts = np.empty(columns.shape[0], dtype=np.int64)
    new_starts = np.zeros(starts.shape[0], dtype=np.int64)
    n = 0
    for row in range(starts.shape[0] - 1):
        for k in range(starts[row], starts[row + 1]):
            column = new_column[columns[k]]
            if column >= 0:
                kept[n] = column
                kept_counts[n] = counts[k]
                n += 1
        new_starts[row + 1] = n
    return kept[:n].copy(), kept_counts[:n].copy(), new_starts


# From numbered tokens to those that are known.


@numba.njit(nogil=True, cache=True)
def known_tokens(
    ids: Int32, ends: Int64, word_of: Int32, first: int, found: Int32, starts: Int64, stops: Int64
) -> None:
    """Put the known words of each document where its tokens begin; `first` is where the block itself begins."""
    start = 0
    for row in range(ends.shape[0]):
        n = start
        for k in range(start, ends[row]):
            # A number below zero marks a break, and a word below zero a stranger.
            if ids[k] >= 0:
                word = word_of[ids[k]]
                if word >= 0:
                    found[n] = word
                    n += 1
        starts[row] = first + start
        stops[row] = first + n
        start = ends[row]
