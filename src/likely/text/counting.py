"""The two ways to count: one sparse row per document, or one row per class without rows in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.text.byclass import ClassCounts, class_counts_of
from likely.text.documents import DecodeError, as_blocks
from likely.text.kernels.rows import count_tokens
from likely.text.parts import Numbers, Part, Stream
from likely.text.pool import Pool
from likely.text.recipe import Recipe
from likely.text.stream import read_stream
from likely.text.words import Words
from likely.threads import side_by_side

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]

_LARGEST_INT32 = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """How often each document holds each word: CSR arrays with sorted columns."""

    words: Words
    columns: Numbers
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
    recipe: Recipe | None = None,
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
    recipe: Recipe | None = None,
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
    texts: Any, recipe: Recipe | None, words: Words | None, decode_error: DecodeError, n_jobs: int | None
) -> Stream:
    stream = read_stream(as_blocks(texts, decode_error), recipe or Recipe(), n_jobs)
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
    parts: Sequence[Part], column_of: Sequence[Numbers], n_columns: int, n_jobs: int | None = None
) -> tuple[Numbers, NDArray[np.int64], NDArray[np.int64]]:
    """CSR arrays (columns, counts, starts of the rows); tokens of one column are counted together."""
    pool = Pool(lambda: _Scratch(n_columns))

    def task(part: Part) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        with pool.borrow() as (_, scratch):
            return count_tokens(part.ids, part.ends, column_of[part.table], scratch.line, *scratch.bits)

    counted = list(side_by_side(task, parts, n_jobs))
    firsts = np.cumsum([0, *(len(columns) for columns, _, _ in counted)], dtype=np.int64)
    starts = np.concatenate([[0], *(ends + first for (_, _, ends), first in zip(counted, firsts, strict=False))])
    columns = np.empty(firsts[-1], dtype=np.int32)
    counts = np.empty(firsts[-1], dtype=np.int64)

    def copy(place: int) -> None:
        own = slice(firsts[place], firsts[place + 1])
        columns[own], counts[own], _ = counted[place]

    list(side_by_side(copy, range(len(counted)), n_jobs))
    return columns, counts, starts.astype(np.int64)
