"""Which classifier suits a table: all of them on the same folds, in one table, with the noise of their differences."""

from __future__ import annotations

from likely.comparison.board import Comparison
from likely.comparison.comparing import compare
from likely.comparison.contestants import KNOWN

__all__ = ["KNOWN", "Comparison", "compare"]
