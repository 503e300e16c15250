"""The known words of each document in the order of the text: for sums over words, which need no counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.text.documents import as_blocks
from likely.text.kernels.tokens import known_tokens
from likely.text.parts import Numbers
from likely.text.recipe import Recipe
from likely.text.stream import read_stream
from likely.text.words import Words
from likely.threads import side_by_side


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Document `k` holds the words `words[starts[k]:stops[k]]`, by their numbers; gaps in between mean nothing."""

    words: Numbers
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


def find_tokens(texts: Any, recipe: Recipe, words: Words, n_jobs: int | None = None) -> Tokens:
    """The words of each document that are known; strangers are left out.

    >>> found = find_tokens(["to be or not to be", None, "be"], Recipe(), Words.of(["be", "to"]))
    >>> [found.words[start:stop].tolist() for start, stop in zip(found.starts, found.stops, strict=True)]
    [[1, 0, 1, 0], [], [0]]
    """
    stream = read_stream(as_blocks(texts), recipe, n_jobs)
    stream = stream.renamed(words, words.find(stream.words))
    sizes = [len(part.ids) for part in stream.parts]
    firsts = np.cumsum([0, *sizes], dtype=np.int64)
    documents = np.cumsum([0, *(len(part.ends) for part in stream.parts)], dtype=np.int64)
    found = np.empty(firsts[-1], dtype=np.int32)
    starts, stops = np.empty(documents[-1], dtype=np.int64), np.empty(documents[-1], dtype=np.int64)

    def task(place: int) -> None:
        part, first = stream.parts[place], firsts[place]
        own = slice(documents[place], documents[place + 1])
        room = found[first : first + sizes[place]]
        known_tokens(part.ids, part.ends, stream.maps[part.table], first, room, starts[own], stops[own])

    list(side_by_side(task, range(len(sizes)), n_jobs))
    return Tokens(found, starts, stops)
