"""Words in an arena: their first bytes as numbers, chosen ones end to end, n-grams written out."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.text.kernels.interning import Bytes, Ids, Starts

_8 = np.uint64(8)


@numba.njit(nogil=True, cache=True)
def prefixes(arena: Bytes, starts: Starts, words: Starts, depth: int) -> NDArray[np.uint64]:
    """Eight bytes of each word from `depth` on, as a number that sorts as they do; zeros behind its end."""
    out = np.empty(words.shape[0], dtype=np.uint64)
    for k in range(words.shape[0]):
        begin, stop = starts[words[k]] + depth, starts[words[k] + 1]
        prefix = np.uint64(0)
        for i in range(begin, begin + 8):
            prefix <<= _8
            if i < stop:
                prefix |= np.uint64(arena[i])
        out[k] = prefix
    return out


@numba.njit(nogil=True, cache=True)
def copy_words(arena: Bytes, starts: Starts, words: Starts) -> tuple[Bytes, Starts]:
    """Arena and starts of the chosen words."""
    new_starts = np.zeros(words.shape[0] + 1, dtype=np.int64)
    for k in range(words.shape[0]):
        new_starts[k + 1] = new_starts[k] + starts[words[k] + 1] - starts[words[k]]
    copied = np.empty(new_starts[words.shape[0]], dtype=np.uint8)
    for k in range(words.shape[0]):
        begin = starts[words[k]]
        for i in range(new_starts[k], new_starts[k + 1]):
            copied[i] = arena[begin + i - new_starts[k]]
    return copied, new_starts


@numba.njit(nogil=True, cache=True)
def spell_grams(arena: Bytes, starts: Starts, parents: Ids, lasts: Ids, gap: Bytes) -> tuple[Bytes, Starts]:
    """The words, and behind them each n-gram: its beginning (an n-gram or a word), the gap, its last word."""
    n_words, n_grams = starts.shape[0] - 1, parents.shape[0]
    new_starts = np.empty(n_words + n_grams + 1, dtype=np.int64)
    new_starts[: n_words + 1] = starts
    for k in range(n_grams):
        parent, last = parents[k], lasts[k]
        length = new_starts[parent + 1] - new_starts[parent] + len(gap) + starts[last + 1] - starts[last]
        new_starts[n_words + k + 1] = new_starts[n_words + k] + length
    spelled = np.empty(new_starts[n_words + n_grams], dtype=np.uint8)
    spelled[: starts[n_words]] = arena[: starts[n_words]]
    for k in range(n_grams):
        at = new_starts[n_words + k]
        for i in range(new_starts[parents[k]], new_starts[parents[k] + 1]):
            spelled[at] = spelled[i]
            at += 1
        for i in range(len(gap)):
            spelled[at] = gap[i]
            at += 1
        for i in range(starts[lasts[k]], starts[lasts[k] + 1]):
            spelled[at] = arena[i]
            at += 1
    return spelled, new_starts
