"""What the presence of each word of a text tells about the class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from likely.measures import information_gains
from likely.stats.protocol import Array
from likely.stats.tokens import TokenCounts

CELLS_AT_ONCE = 1 << 22


def information_by_word(seen: TokenCounts) -> Array:
    """Mutual information of the class and of "the text holds this word", in bits."""
    bits = [
        information_gains(np.stack([held, np.maximum(seen.texts[:, None] - held, 0.0)], axis=-1).swapaxes(0, 1))
        for held in blocks_of_words(seen)
    ]
    return np.concatenate(bits) if bits else np.zeros(0)


def blocks_of_words(seen: TokenCounts) -> Iterator[Array]:
    """Classes × some words: how many texts hold each. All words at once may be too many for a table without holes."""
    n_classes, n_words = seen.documents.shape
    step = max(CELLS_AT_ONCE // max(2 * n_classes, 1), 1)
    for start in range(0, n_words, step):
        yield seen.documents.select(np.arange(start, min(start + step, n_words))).dense()
