"""Decision trees: grown level by level, pruned in several ways, drawn and written out."""

from __future__ import annotations

from likely.models.tree.data import TrainingData
from likely.models.tree.grow import GrowthPlan, fit_tree
from likely.models.tree.predict import TreeRows
from likely.models.tree.tree import Feature, Tree

__all__ = ["Feature", "GrowthPlan", "TrainingData", "Tree", "TreeRows", "fit_tree"]
