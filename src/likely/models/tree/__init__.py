"""Decision trees: grown level by level, pruned in several ways, drawn and written out."""

from __future__ import annotations

from likely.models.tree.data import TrainingData
from likely.models.tree.fit import Plan, fit_tree
from likely.models.tree.predict import Rows
from likely.models.tree.tree import Feature, Tree

__all__ = ["Feature", "Plan", "Rows", "TrainingData", "Tree", "fit_tree"]
