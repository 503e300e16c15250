"""Columns as they are searched for tests: sorted, counted, or in bins."""

from __future__ import annotations

from likely.models.tree.columns.binned import BinnedColumn
from likely.models.tree.columns.nominal import NominalColumn
from likely.models.tree.columns.protocol import Cases, Level, Moves, Rule, SearchColumn, Splits, StandIns
from likely.models.tree.columns.sorted import SortedColumn

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
