"""Which classifier suits a table: all of them on the same folds, in one table, with the noise of their differences."""

from __future__ import annotations

from likely.comparison.candidates import known
from likely.comparison.compare import compare
from likely.comparison.comparison import Comparison

__all__ = ["Comparison", "compare", "known"]
