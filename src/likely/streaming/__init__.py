"""Work on files larger than memory: train, update, predict, evaluate, convert."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.models.evidence.stream import train_evidence_file
    from likely.models.tree.stream import train_tree_file
    from likely.streaming.evaluate import evaluate_file
    from likely.streaming.train import fit_file, train_file
    from likely.streaming.transform import convert_file, predict_file
    from likely.streaming.update import forget_file, learn_file, refresh_file

_HOME = {
    "convert_file": "likely.streaming.transform",
    "evaluate_file": "likely.streaming.evaluate",
    "fit_file": "likely.streaming.train",
    "forget_file": "likely.streaming.update",
    "learn_file": "likely.streaming.update",
    "predict_file": "likely.streaming.transform",
    "refresh_file": "likely.streaming.update",
    "train_evidence_file": "likely.models.evidence.stream",
    "train_file": "likely.streaming.train",
    "train_tree_file": "likely.models.tree.stream",
}

__all__ = [
    "convert_file", "evaluate_file", "fit_file", "forget_file", "learn_file", "predict_file", "refresh_file",
    "train_evidence_file", "train_file", "train_tree_file",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Training and predicting need the classifiers, which take a moment to import."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.streaming' has no attribute {name!r}")
    found: object = vars(import_module(_HOME[name]))[name]
    return found
