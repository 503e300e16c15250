"""From numbered tokens to those that are known."""

from __future__ import annotations

import numba

from likely.text.kernels.interning import Ids, Starts


@numba.njit(nogil=True, cache=True)
def known_tokens(ids: Ids, ends: Starts, word_of: Ids, first: int, found: Ids, starts: Starts, stops: Starts) -> None:
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
