"""Characters of a block of documents, as code points: the words from which n-grams of characters are made."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32, Int64, UInt8
from likely.text.characters import KIND_BITS, SPACE
from likely.text.kernels.bytes import decode

BREAK = -1
"""Stands between the words of a document: no n-gram reaches over it."""

_KIND = (1 << KIND_BITS) - 1
_BLANK = 32


@numba.njit(nogil=True, cache=True)
def scan_chars(data: UInt8, ends: Int64, pages: Int32, kinds: NDArray[np.int32], by_word: bool) -> tuple[Int32, Int64]:
    """Code points in lower case, and the end of every document among them.

    White space of two characters and more counts as one blank. `by_word`: the words between white space, each
    with a blank at both ends, and a break behind.
    """
    # A word of one byte, alone in its document, becomes four numbers.
    ids = np.empty((4 if by_word else 1) * data.shape[0], dtype=np.int32)
    id_ends = np.empty(ends.shape[0], dtype=np.int64)
    n = 0
    i = 0
    for doc in range(ends.shape[0]):
        stop = ends[doc]
        in_word = False
        while i < stop:
            code, size = decode(data, i, stop)
            cell = kinds[pages[code >> 8], code & 255]
            i += size
            if cell & _KIND != SPACE:
                if by_word and not in_word:
                    ids[n] = _BLANK
                    n += 1
                ids[n] = code + (cell >> KIND_BITS)
                n += 1
                in_word = True
                continue
            run = 1
            while i < stop:
                follower, its_size = decode(data, i, stop)
                if kinds[pages[follower >> 8], follower & 255] & _KIND != SPACE:
                    break
                i += its_size
                run += 1
            if not by_word:
                ids[n] = code if run == 1 else _BLANK
                n += 1
            elif in_word:
                n = _close(ids, n)
            in_word = False
        if by_word and in_word:
            n = _close(ids, n)
        id_ends[doc] = n
    return ids[:n].copy(), id_ends


@numba.njit(nogil=True, cache=True)
def _close(ids: Int32, n: int) -> int:
    ids[n] = _BLANK
    ids[n + 1] = BREAK
    return n + 2
