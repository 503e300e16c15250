"""Class counts of a stream: dense where that is small, sparse where dense tables would be larger than the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from likely.arrays import Array, Int32
from likely.errors import DataError
from likely.parallel import run
from likely.text.documents import DecodeError, as_blocks
from likely.text.kernels.counts import count_classes, count_classes_sparse, count_tokens, rename
from likely.text.token_stream import Part, Pool, Stream, read_stream
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ALWAYS_DENSE = 1 << 20
"""So many cells are never worth the trouble of a sparse table."""
_MOST_TASKS = 64


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """Per class and word: the weight of the tokens, and of the documents that hold the word.

    Both are classes × words: NumPy arrays, or SciPy `csr_array`s where dense ones would be larger.
    """

    words: Words
    counts: Array | csr_array
    documents: Array | csr_array


def class_counts_of(
    stream: Stream,
    y: NDArray[np.int32],
    n_classes: int,
    weight: Array | None = None,
    n_jobs: int | None = None,
) -> ClassCounts:
    """One row per class."""
    codes = np.asarray(y)
    if len(codes) != stream.n_documents:
        raise DataError(f"There are {stream.n_documents} texts, but {len(codes)} labels.")
    w = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
    if len(w) != len(codes):
        raise DataError(f"There are {len(codes)} texts, but {len(w)} weights.")
    tokens, starts = _joined(stream, n_jobs)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n_classes + 1))
    groups = _groups(n_classes)
    if n_classes * len(stream.words) > max(len(tokens), ALWAYS_DENSE):

        def task_sparse(group: slice) -> tuple[Int32, Array, Array, NDArray[np.int64]]:
            return count_classes_sparse(tokens, starts, order, _bounds(bounds, group), w, len(stream.words))

        return _sparse(stream.words, run(task_sparse, groups, n_jobs))
    counts = np.zeros((n_classes, len(stream.words)))
    documents = np.zeros_like(counts)

    def task(group: slice) -> None:
        count_classes(tokens, starts, order, _bounds(bounds, group), w, counts[group], documents[group])

    run(task, groups, n_jobs)
    return ClassCounts(stream.words, counts, documents)


def _groups(n_classes: int) -> list[slice]:
    """Classes for one thread at a time: by their number alone, so that few need no waiting and many no tasks."""
    size = -(-n_classes // _MOST_TASKS) or 1
    return [slice(start, min(start + size, n_classes)) for start in range(0, n_classes, size)]


def _bounds(bounds: NDArray[np.int64], group: slice) -> NDArray[np.int64]:
    return bounds[group.start : group.stop + 1]


def _joined(stream: Stream, n_jobs: int | None) -> tuple[Int32, NDArray[np.int64]]:
    """All tokens as words in one array, and where each document starts."""
    firsts = np.cumsum([0, *(len(part.ids) for part in stream.parts)], dtype=np.int64)
    tokens = np.empty(firsts[-1], dtype=np.int32)

    def task(place: int) -> None:
        part = stream.parts[place]
        rename(part.ids, stream.maps[part.table], tokens[firsts[place] : firsts[place + 1]])

    run(task, range(len(stream.parts)), n_jobs)
    ends = [part.ends + first for part, first in zip(stream.parts, firsts, strict=False)]
    return tokens, np.concatenate([[0], *ends]).astype(np.int64)


def _sparse(words: Words, counted: Sequence[tuple[Int32, Array, Array, NDArray[np.int64]]]) -> ClassCounts:
    from scipy.sparse import csr_array

    columns, counts, documents, sizes = (np.concatenate(pieces) for pieces in zip(*counted, strict=True))
    row_starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = len(sizes), len(words)
    return ClassCounts(
        words,
        csr_array((counts, columns, row_starts), shape=shape),
        csr_array((documents, columns, row_starts), shape=shape),
    )


# The two ways to count: one sparse row per document, or one row per class without rows in between.

_LARGEST_INT32 = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """How often each document holds each word: CSR arrays with sorted columns."""

    words: Words
    columns: Int32
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]

    def to_csr(self) -> csr_array:
        """As SciPy knows it, with 32-bit indices where they suffice."""
        from scipy.sparse import csr_array

        wide = len(self.columns) > _LARGEST_INT32
        index = np.int64 if wide else np.int32
        shape = len(self.starts) - 1, len(self.words)
        arrays = self.counts, self.columns.astype(index, copy=False), self.starts.astype(index)
        matrix = csr_array(arrays, shape=shape)
        matrix.has_canonical_format = True
        return matrix


def count_rows(
    texts: Any,
    recipe: Tokenizer | None = None,
    *,
    words: Words | None = None,
    decode_error: DecodeError = "strict",
    n_jobs: int | None = None,
) -> Rows:
    """Count the words of each document; of all words in alphabetical order, or of the given ones only.

    >>> rows = count_rows(["to be or not to be", None, "be"])
    >>> rows.words.to_list(), rows.to_csr().toarray().tolist()
    (['be', 'not', 'or', 'to'], [[2, 1, 1, 2], [0, 0, 0, 0], [1, 0, 0, 0]])
    """
    return rows_of(_stream(texts, recipe, words, decode_error, n_jobs), n_jobs)


def count_by_class(
    texts: Any,
    y: NDArray[np.int32],
    n_classes: int,
    weight: Array | None = None,
    recipe: Tokenizer | None = None,
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
    return class_counts_of(_stream(texts, recipe, words, decode_error, n_jobs), y, n_classes, weight, n_jobs)


def _stream(
    texts: Any, recipe: Tokenizer | None, words: Words | None, decode_error: DecodeError, n_jobs: int | None
) -> Stream:
    stream = read_stream(as_blocks(texts, decode_error), recipe or Tokenizer(), n_jobs)
    return stream.in_order() if words is None else stream.renamed(words, words.find(stream.words))


class _Scratch:
    """A line of counts and three levels of bits, all zeros."""

    def __init__(self, n_words: int) -> None:
        self.line = np.zeros(n_words, dtype=np.int32)
        self.bits = [np.zeros((n_words >> shift) + 1, dtype=np.uint64) for shift in (6, 12, 18)]


def rows_of(stream: Stream, n_jobs: int | None = None) -> Rows:
    """One row per document, one column per word."""
    return Rows(stream.words, *count_columns(stream.parts, stream.maps, len(stream.words), n_jobs))


def count_columns(
    parts: Sequence[Part], column_of: Sequence[Int32], n_columns: int, n_jobs: int | None = None
) -> tuple[Int32, NDArray[np.int64], NDArray[np.int64]]:
    """CSR arrays (columns, counts, starts of the rows); tokens of one column are counted together."""
    pool = Pool(lambda: _Scratch(n_columns))

    def task(part: Part) -> tuple[Int32, Int32, NDArray[np.int64]]:
        with pool.borrow() as (_, scratch):
            return count_tokens(part.ids, part.ends, column_of[part.table], scratch.line, *scratch.bits)

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


# Counts as the sparse matrix that scikit-learn is set to give.


def to_matrix(
    columns: NDArray[np.int32],
    counts: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_columns: int,
    binary: bool,
    dtype: Any,
) -> Any:
    """A CSR matrix (an array where scikit-learn's `sparse_interface` says so), with 32-bit indices where they do."""
    from scipy.sparse import csr_array, csr_matrix

    cells = np.ones(len(counts), dtype=dtype) if binary else counts.astype(dtype, copy=False)
    index = np.int64 if len(columns) > _LARGEST_INT32 else np.int32
    kind = csr_array if get_config().get("sparse_interface") == "sparray" else csr_matrix
    arrays = cells, columns.astype(index, copy=False), starts.astype(index)
    matrix = kind(arrays, shape=(len(starts) - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix
