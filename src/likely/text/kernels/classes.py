"""Tokens counted class by class, straight from the stream: no row of a matrix is ever made."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.text.kernels.interning import Ids, Starts

Array = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def rename(ids: Ids, new_id: Ids, out: Ids) -> None:
    """The word of each token; breaks and tokens left out are −1."""
    for k in range(ids.shape[0]):
        out[k] = new_id[ids[k]] if ids[k] >= 0 else -1


@numba.njit(nogil=True, cache=True)
def count_classes(
    tokens: Ids, starts: Starts, docs: Starts, bounds: Starts, weight: Array, counts: Array, documents: Array
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
    tokens: Ids, starts: Starts, docs: Starts, bounds: Starts, weight: Array, n_words: int
) -> tuple[Ids, Array, Array, Starts]:
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
