"""Which classifier suits a table: all of them on the same folds, in one table, with the noise of their differences."""

from __future__ import annotations

from likely.compare.compare import compare
from likely.compare.comparison import Comparison
from likely.compare.entrants import KNOWN

__all__ = ["KNOWN", "Comparison", "compare"]
