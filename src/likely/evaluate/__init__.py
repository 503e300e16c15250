"""How good a classifier is: honest predictions for every row, and what they amount to."""

from __future__ import annotations

from likely.evaluate.evaluate import evaluate
from likely.evaluate.report import Report

__all__ = ["Report", "evaluate"]
