"""Decision trees: grown level by level, pruned in several ways, drawn and written out."""

from __future__ import annotations

from likely.trees.cases import Stock
from likely.trees.planting import Plan, plant
from likely.trees.reading import Rows
from likely.trees.tree import Feature, Tree

__all__ = ["Feature", "Plan", "Rows", "Stock", "Tree", "plant"]
