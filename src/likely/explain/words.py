"""Which words of a text column tell most about the class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError, listed
from likely.measures import information_gains
from likely.stats import Summary, TokenCounts

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

CELLS_AT_ONCE = 1 << 22


def rank_words(summary: Summary, column: str | None = None) -> pd.DataFrame:
    """One line per word of a text column, best first; the column need not be named where there is only one.

    *information* is what it tells about the class, in bits, whether a text holds the word; *texts* is how many do,
    and *speaks_for* the class in whose texts it is most common.
    """
    import pandas as pd

    seen = _texts_of(summary, column)
    per_text = np.divide(1.0, seen.texts, out=np.zeros_like(seen.texts), where=seen.texts > 0.0)
    common = [(held * per_text[:, None]).argmax(axis=0) for held in _blocks(seen)]
    lines = {
        "word": seen.words.to_list(),
        "information": information_by_word(seen),
        "texts": seen.documents.column_sums(),
        "speaks_for": [summary.classes.labels[place] for places in common for place in places],
    }
    return pd.DataFrame(lines).sort_values("information", ascending=False, kind="stable", ignore_index=True)


def information_by_word(seen: TokenCounts) -> Array:
    """Mutual information of the class and of "the text holds this word", in bits."""
    bits = [
        information_gains(np.stack([held, np.maximum(seen.texts[:, None] - held, 0.0)], axis=-1).swapaxes(0, 1))
        for held in _blocks(seen)
    ]
    return np.concatenate(bits) if bits else np.zeros(0)


def _blocks(seen: TokenCounts) -> Iterator[Array]:
    """Classes × some words: how many texts hold each. All words at once may be too many for a table without holes."""
    n_classes, n_words = seen.documents.shape
    step = max(CELLS_AT_ONCE // max(2 * n_classes, 1), 1)
    for start in range(0, n_words, step):
        yield seen.documents.select(np.arange(start, min(start + step, n_words))).dense()


def _texts_of(summary: Summary, column: str | None) -> TokenCounts:
    there = {part.columns[0]: seen for part, seen in summary.parts.items() if isinstance(seen, TokenCounts)}
    if not there:
        raise SettingsError("No text column was learned, so there are no words to rank.")
    if column is None and len(there) == 1:
        return next(iter(there.values()))
    if column is None or column not in there:
        raise SettingsError(f"column is {column!r}, but the text columns are {listed([*there])}.")
    return there[column]
