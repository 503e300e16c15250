"""A growing table of distinct words, which one thread at a time fills from blocks of documents."""

from __future__ import annotations

import numpy as np

from likely.text.kernels.interning import Cells, Ids, Starts, roomier
from likely.text.kernels.words import unpack
from likely.text.words import Words, process_seed

_FIRST_CELLS = 1 << 12
_FIRST_WORDS = _FIRST_CELLS // 4 * 3
"""Three cells in four may be taken."""
_FIRST_ROOM = 1 << 12


class Lexicon:
    """Cells and packed words as the kernels know them, and room for more of each."""

    def __init__(self) -> None:
        self.n_words = 0
        self.cells: Cells = np.zeros(2 * _FIRST_CELLS, dtype=np.uint64)
        self.packed: Cells = np.empty(_FIRST_ROOM, dtype=np.uint64)
        self.starts: Starts = np.zeros(_FIRST_WORDS + 1, dtype=np.int64)
        self.sizes: Ids = np.empty(_FIRST_WORDS, dtype=np.int32)

    def add_words(self) -> None:
        """Room for twice as many words."""
        self.cells = roomier(self.cells, process_seed())
        self.sizes = np.concatenate([self.sizes, np.empty_like(self.sizes)])
        self.starts = np.concatenate([self.starts, np.empty(len(self.starts) - 1, dtype=np.int64)])

    def add_bytes(self) -> None:
        """Room for twice as many bytes."""
        self.packed = np.concatenate([self.packed, np.empty_like(self.packed)])

    def to_words(self) -> Words:
        """The words so far, with the table that finds them."""
        return Words(*unpack(self.packed, self.starts, self.sizes, self.n_words), self.cells)
