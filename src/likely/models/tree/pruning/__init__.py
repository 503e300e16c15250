"""Making a grown tree smaller. Each pruning takes a tree and gives another; none needs the cases that it grew from."""

from __future__ import annotations

from likely.models.tree.pruning.cost_complexity import Weakest, cost_complexity, weakest_links
from likely.models.tree.pruning.errors import collapsed, confidence, description_length, mdl, pessimistic, reduced_error
from likely.models.tree.pruning.subtrees import raised

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
