"""Why a classifier says what it says: row by row, column by column, and as a whole."""

from __future__ import annotations

from likely.explain.explanation import Contrast, Explanation
from likely.explain.factors import outcomes_of
from likely.explain.next_measurement import next_measurement
from likely.explain.nomogram import Nomogram
from likely.explain.rank import rank, rank_words
from likely.families.outcomes import Outcomes

__all__ = ["Contrast", "Explanation", "Nomogram", "Outcomes", "next_measurement", "outcomes_of", "rank", "rank_words"]
