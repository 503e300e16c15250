"""How good a classifier is: honest predictions for every row, and what they amount to."""

from __future__ import annotations

from likely.evaluation.evaluate import evaluate
from likely.evaluation.report import Report

__all__ = ["Report", "evaluate"]
