"""Tables in files: read in bounded memory, never misread in silence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from likely.files.sources import looks_like_files
from likely.files.table import FileTable, FileWarning, open_table

if TYPE_CHECKING:
    from likely.files.converting import convert_file
    from likely.files.evaluating import evaluate_file
    from likely.files.evidence import train_evidence_file
    from likely.files.exporting import export_file
    from likely.files.forgetting import forget_file, learn_file
    from likely.files.growing import train_tree_file
    from likely.files.predicting import predict_file
    from likely.files.refreshing import refresh_file
    from likely.files.training import fit_file, train_file

_HOME = {
    "convert_file": "likely.files.converting",
    "evaluate_file": "likely.files.evaluating",
    "export_file": "likely.files.exporting",
    "fit_file": "likely.files.training",
    "forget_file": "likely.files.forgetting",
    "learn_file": "likely.files.forgetting",
    "predict_file": "likely.files.predicting",
    "refresh_file": "likely.files.refreshing",
    "train_evidence_file": "likely.files.evidence",
    "train_file": "likely.files.training",
    "train_tree_file": "likely.files.growing",
}

__all__ = [
    "FileTable",
    "FileWarning",
    "convert_file",
    "evaluate_file",
    "export_file",
    "fit_file",
    "forget_file",
    "learn_file",
    "looks_like_files",
    "open_table",
    "predict_file",
    "refresh_file",
    "train_evidence_file",
    "train_file",
    "train_tree_file",
]


def __getattr__(name: str) -> object:
    """Training and predicting need the classifiers, which take a moment to import."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.files' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
