"""Class counts of a stream: dense where that is small, sparse where dense tables would be larger than the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError
from likely.text.kernels.classes import count_classes, count_classes_sparse, rename
from likely.text.parts import Numbers, Stream
from likely.text.words import Words
from likely.threads import side_by_side

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]

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

        def task_sparse(group: slice) -> tuple[Numbers, Array, Array, NDArray[np.int64]]:
            return count_classes_sparse(tokens, starts, order, _bounds(bounds, group), w, len(stream.words))

        return _sparse(stream.words, list(side_by_side(task_sparse, groups, n_jobs)))
    counts = np.zeros((n_classes, len(stream.words)))
    documents = np.zeros_like(counts)

    def task(group: slice) -> None:
        count_classes(tokens, starts, order, _bounds(bounds, group), w, counts[group], documents[group])

    list(side_by_side(task, groups, n_jobs))
    return ClassCounts(stream.words, counts, documents)


def _groups(n_classes: int) -> list[slice]:
    """Classes for one thread at a time: by their number alone, so that few need no waiting and many no tasks."""
    size = -(-n_classes // _MOST_TASKS) or 1
    return [slice(start, min(start + size, n_classes)) for start in range(0, n_classes, size)]


def _bounds(bounds: NDArray[np.int64], group: slice) -> NDArray[np.int64]:
    return bounds[group.start : group.stop + 1]


def _joined(stream: Stream, n_jobs: int | None) -> tuple[Numbers, NDArray[np.int64]]:
    """All tokens as words in one array, and where each document starts."""
    firsts = np.cumsum([0, *(len(part.ids) for part in stream.parts)], dtype=np.int64)
    tokens = np.empty(firsts[-1], dtype=np.int32)

    def task(place: int) -> None:
        part = stream.parts[place]
        rename(part.ids, stream.maps[part.table], tokens[firsts[place] : firsts[place + 1]])

    list(side_by_side(task, range(len(stream.parts)), n_jobs))
    ends = [part.ends + first for part, first in zip(stream.parts, firsts, strict=False)]
    return tokens, np.concatenate([[0], *ends]).astype(np.int64)


def _sparse(words: Words, counted: Sequence[tuple[Numbers, Array, Array, NDArray[np.int64]]]) -> ClassCounts:
    from scipy.sparse import csr_array

    columns, counts, documents, sizes = (np.concatenate(pieces) for pieces in zip(*counted, strict=True))
    row_starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = len(sizes), len(words)
    return ClassCounts(
        words,
        csr_array((counts, columns, row_starts), shape=shape),
        csr_array((documents, columns, row_starts), shape=shape),
    )
