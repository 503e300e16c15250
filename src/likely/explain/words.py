"""Which words of a text column tell most about the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingsError, listed
from likely.stats import Summary, TokenCounts
from likely.stats.telling import blocks_of_words, information_by_word

if TYPE_CHECKING:
    import pandas as pd


def rank_words(summary: Summary, column: str | None = None) -> pd.DataFrame:
    """One line per word of a text column, best first; the column need not be named where there is only one.

    *information* is what it tells about the class, in bits, whether a text holds the word; *texts* is how many do,
    and *speaks_for* the class in whose texts it is most common.
    """
    import pandas as pd

    seen = _texts_of(summary, column)
    per_text = np.divide(1.0, seen.texts, out=np.zeros_like(seen.texts), where=seen.texts > 0.0)
    common = [(held * per_text[:, None]).argmax(axis=0) for held in blocks_of_words(seen)]
    lines = {
        "word": seen.words.to_list(),
        "information": information_by_word(seen),
        "texts": seen.documents.column_sums(),
        "speaks_for": [summary.classes.labels[place] for places in common for place in places],
    }
    return pd.DataFrame(lines).sort_values("information", ascending=False, kind="stable", ignore_index=True)


def _texts_of(summary: Summary, column: str | None) -> TokenCounts:
    there = {part.columns[0]: seen for part, seen in summary.parts.items() if isinstance(seen, TokenCounts)}
    if not there:
        raise SettingsError("No text column was learned, so there are no words to rank.")
    if column is None and len(there) == 1:
        return next(iter(there.values()))
    if column is None or column not in there:
        raise SettingsError(f"column is {column!r}, but the text columns are {listed([*there])}.")
    return there[column]
