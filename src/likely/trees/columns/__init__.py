"""Columns as they are searched for tests: sorted, counted, or in bins."""

from __future__ import annotations

from likely.trees.columns.binned import BinnedColumn
from likely.trees.columns.nominal import NominalColumn
from likely.trees.columns.protocol import Cases, Level, Moves, Rule, SearchColumn, Splits, StandIns
from likely.trees.columns.sorted import SortedColumn

__all__ = [
    "BinnedColumn",
    "Cases",
    "Level",
    "Moves",
    "NominalColumn",
    "Rule",
    "SearchColumn",
    "SortedColumn",
    "Splits",
    "StandIns",
]
