"""Words counted in a stream of tokens: one sparse row per document, or one row per class without rows in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike, Index, Int32, Int64, UInt64
from likely.errors import DataError
from likely.jit import kernel
from likely.numerics import MOST_PLACES, refuse_many
from likely.parallel import run
from likely.text.bytes import lowest
from likely.text.documents import DecodeError
from likely.text.token_stream import Pool, Stream, TokenBlock, stream_of, tokens_of
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

    Sparse = TypeVar("Sparse", csr_array, csr_matrix)


@dataclass(frozen=True, slots=True, eq=False)
class WordRows:
    """How often each document holds each word: CSR arrays with sorted columns."""

    words: Words
    columns: Int32
    counts: Int64
    starts: Int64

    def to_csr(self) -> csr_array:
        """As SciPy knows it."""
        from scipy.sparse import csr_array

        return as_csr(csr_array, self.counts, self.columns, self.starts, len(self.words))


def as_csr(kind: type[Sparse], cells: AnyArray, columns: AnyArray, starts: Int64, n_columns: int) -> Sparse:
    """Rows with sorted columns as a sparse matrix or array, with 32-bit indices where they suffice."""
    index = np.int64 if len(columns) > MOST_PLACES else np.int32
    arrays = cells, columns.astype(index, copy=False), starts.astype(index)
    matrix = kind(arrays, shape=(len(starts) - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix


def count_rows(
    texts: ColumnLike,
    tokenizer: Tokenizer | None = None,
    *,
    words: Words | None = None,
    decode_error: DecodeError = "strict",
    n_jobs: int | None = None,
) -> WordRows:
    """Count the words of each document; of all words in alphabetical order, or of the given ones only.

    >>> rows = count_rows(["to be or not to be", None, "be"])
    >>> rows.words.to_list(), rows.to_csr().toarray().tolist()
    (['be', 'not', 'or', 'to'], [[2, 1, 1, 2], [0, 0, 0, 0], [1, 0, 0, 0]])
    """
    return rows_of(stream_of(texts, tokenizer or Tokenizer(), words, decode_error, n_jobs), n_jobs)


def rows_of(stream: Stream, n_jobs: int | None = None) -> WordRows:
    """One row per document, one column per word."""
    return WordRows(stream.words, *count_columns(stream.parts, stream.maps, len(stream.words), n_jobs))


class _Scratch:
    """A line of counts and three levels of bits, all zeros."""

    def __init__(self, n_words: int) -> None:
        self.line = np.zeros(n_words, dtype=np.int32)
        self.bits = [np.zeros((n_words >> shift) + 1, dtype=np.uint64) for shift in (6, 12, 18)]


def count_columns(
    parts: Sequence[TokenBlock], column_of: Sequence[Int32], n_columns: int, n_jobs: int | None = None
) -> tuple[Int32, Int64, Int64]:
    """CSR arrays (columns, counts, starts of the rows); tokens of one column are counted together."""
    pool = Pool(lambda: _Scratch(n_columns))

    def task(part: TokenBlock) -> tuple[Int32, Int32, Int64]:
        refuse_many(len(part.ids), "words and n-grams in a text")  # no count of a row is larger
        with pool.borrow() as (_, scratch):
            return _count_tokens(part.ids, part.ends, column_of[part.table], scratch.line, *scratch.bits)

    counted = run(task, parts, n_jobs)
    firsts = np.cumsum([0, *(len(columns) for columns, _, _ in counted)], dtype=np.int64)
    starts = np.concatenate([[0], *(ends + first for (_, _, ends), first in zip(counted, firsts, strict=False))])
    columns = np.empty(firsts[-1], dtype=np.int32)
    counts = np.empty(firsts[-1], dtype=np.int64)

    def copy(place: int) -> None:
        own = slice(firsts[place], firsts[place + 1])
        columns[own], counts[own], _ = counted[place]

    run(copy, range(len(counted)), n_jobs)
    return columns, counts, starts.astype(np.int64)


_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel(interpretable=True)
def _count_tokens(
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


# Counts by class: dense where that is small, sparse where dense tables would be larger than the texts.

ALWAYS_DENSE = 1 << 20
"""So many cells are never worth the trouble of a sparse table."""
_MOST_TASKS = 64
FEWEST_TOKENS = 1 << 18
"""Tokens of a class that are worth a task and a table of their own; four for each word at least."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """Per class and word: the weight of the tokens, and of the documents that hold the word.

    Both are classes × words: NumPy arrays, or SciPy `csr_array`s where dense ones would be larger.
    """

    words: Words
    counts: Array | csr_array
    documents: Array | csr_array


def count_by_class(
    texts: ColumnLike,
    y: Int32,
    n_classes: int,
    weight: Array | None = None,
    tokenizer: Tokenizer | None = None,
    *,
    words: Words | None = None,
    decode_error: DecodeError = "strict",
    n_jobs: int | None = None,
) -> ClassCounts:
    """Count the words of each class; `y` are codes from 0 up, and a document with a code below zero is skipped.

    >>> seen = count_by_class(["to be or not to be", "be"], np.array([0, 1]), 2)
    >>> seen.words.to_list(), seen.counts.tolist()
    (['be', 'not', 'or', 'to'], [[2.0, 1.0, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0]])
    >>> seen.documents.tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
    """
    stream = stream_of(texts, tokenizer or Tokenizer(), words, decode_error, n_jobs)
    return class_counts_of(stream, y, n_classes, weight, n_jobs)


def class_counts_of(
    stream: Stream, y: Int32, n_classes: int, weight: Array | None = None, n_jobs: int | None = None
) -> ClassCounts:
    """One row per class."""
    codes = np.asarray(y)
    if len(codes) != stream.n_documents:
        raise DataError(f"There are {stream.n_documents} texts, but {len(codes)} labels.")
    w = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
    if len(w) != len(codes):
        raise DataError(f"There are {len(codes)} texts, but {len(w)} weights.")
    tokens = tokens_of(stream, n_jobs)
    narrow = codes.astype(np.int16) if len(codes) and codes.max() < 1 << 15 and codes.min() >= -1 else codes
    order = np.argsort(narrow, kind="stable")  # numbers of 16 bits are not compared to be sorted
    bounds = np.searchsorted(codes[order], np.arange(n_classes + 1))
    # Classes for one thread at a time: by their number alone, so that few need no waiting and many no tasks.
    size = -(-n_classes // _MOST_TASKS) or 1
    groups = [slice(start, min(start + size, n_classes)) for start in range(0, n_classes, size)]
    held = tokens.words, tokens.starts, tokens.stops, order
    if n_classes * len(stream.words) > max(stream.n_tokens, ALWAYS_DENSE):

        def task_sparse(group: slice) -> tuple[Int32, Array, Array, Int64]:
            return _count_classes_sparse(*held, bounds[group.start : group.stop + 1], w, len(stream.words))

        return _sparse(stream.words, run(task_sparse, groups, n_jobs))
    counts, documents = np.zeros((2, n_classes, len(stream.words)))
    ends = np.cumsum((tokens.stops - tokens.starts)[order])
    pieces = [(group, piece) for group in groups for piece in _pieces(bounds, group, ends, len(stream.words))]

    def task(place: int) -> Array | None:
        group, piece = pieces[place]
        if place and pieces[place - 1][0] == group:  # several threads do one class: each has a line of its own
            out = np.zeros((2, 1, len(stream.words)))
            _count_classes(*held, piece, w, *out)
            return out
        _count_classes(*held, piece, w, counts[group], documents[group])
        return None

    counted = run(task, range(len(pieces)), n_jobs)

    def add(group: slice) -> None:
        for (own, _), more in zip(pieces, counted, strict=True):
            if own == group and more is not None:
                counts[group] += more[0]
                documents[group] += more[1]

    run(add, groups, n_jobs)
    return ClassCounts(stream.words, counts, documents)


def _pieces(bounds: Index, group: slice, ends: Int64, n_words: int) -> list[Index]:
    """Bounds of the documents of some classes; a class with many tokens is cut into several pieces, by tokens alone."""
    first, last = int(bounds[group.start]), int(bounds[group.stop])
    before = int(ends[first - 1]) if first else 0
    n_tokens = (int(ends[last - 1]) if last else 0) - before
    n_pieces = min(n_tokens // max(FEWEST_TOKENS, 4 * n_words), last - first) if group.stop - group.start == 1 else 0
    if n_pieces < 2:
        return [bounds[group.start : group.stop + 1]]
    cuts = first + np.searchsorted(ends[first:last], before + np.linspace(0, n_tokens, n_pieces + 1)[1:-1])
    return [np.array(pair) for pair in pairwise(np.unique([first, *cuts, last]).tolist())]


def _sparse(words: Words, counted: Sequence[tuple[Int32, Array, Array, Int64]]) -> ClassCounts:
    from scipy.sparse import csr_array

    columns, counts, documents, sizes = (np.concatenate(pieces) for pieces in zip(*counted, strict=True))
    row_starts = np.concatenate([[0], np.cumsum(sizes)])
    tables = (csr_array((cells, columns, row_starts), shape=(len(sizes), len(words))) for cells in (counts, documents))
    return ClassCounts(words, *tables)


@kernel(interpretable=True)
def _count_classes(
    words: Int32,
    starts: Int64,
    stops: Int64,
    docs: Int64,
    bounds: Int64,
    weight: Array,
    counts: Array,
    documents: Array,
) -> None:
    """Add up some classes: the weight of each word's tokens, and of the documents that hold it.

    Class `c` owns `docs[bounds[c]:bounds[c + 1]]` and the line `c` of both tables. Every cell is summed in the order
    of the documents, so that nothing depends on threads.
    """
    last = np.full(counts.shape[1], np.int64(-1))
    for c in range(bounds.shape[0] - 1):
        for doc in docs[bounds[c] : bounds[c + 1]]:
            w = weight[doc]
            for word in words[starts[doc] : stops[doc]]:
                counts[c, word] += w
                if last[word] != doc:
                    last[word] = doc
                    documents[c, word] += w


@kernel(interpretable=True)
def _count_classes_sparse(
    tokens: Int32, starts: Int64, stops: Int64, docs: Int64, bounds: Int64, weight: Array, n_words: int
) -> tuple[Int32, Array, Array, Int64]:
    """The same for classes with few words each: words in rising order, counts, documents, how many of each class."""
    line = np.zeros((2, n_words))
    last = np.full(n_words, np.int64(-1))
    n_tokens = 0
    for doc in docs[bounds[0] : bounds[-1]]:
        n_tokens += stops[doc] - starts[doc]
    words = np.empty(n_tokens, dtype=np.int32)
    counts = np.empty(n_tokens, dtype=np.float64)
    documents = np.empty(n_tokens, dtype=np.float64)
    sizes = np.empty(bounds.shape[0] - 1, dtype=np.int64)
    n = 0
    for c in range(bounds.shape[0] - 1):
        begin = n
        for doc in docs[bounds[c] : bounds[c + 1]]:
            w = weight[doc]
            for k in range(starts[doc], stops[doc]):
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
