"""Making a grown tree smaller. Each pruning takes a tree and gives another; none needs the cases that it grew from."""

from __future__ import annotations

from likely.trees.pruning.complexity import Weakest, cost_complexity, weakest_links
from likely.trees.pruning.cutting import collapsed, confidence, pessimistic, reduced_error
from likely.trees.pruning.length import description_length, mdl
from likely.trees.pruning.raising import raised

__all__ = [
    "Weakest",
    "collapsed",
    "confidence",
    "cost_complexity",
    "description_length",
    "mdl",
    "pessimistic",
    "raised",
    "reduced_error",
    "weakest_links",
]
