"""Tables in files: read in bounded memory, never misread in silence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from likely.files.sources import looks_like_files
from likely.files.table import FileTable, FileWarning, open_table

if TYPE_CHECKING:
    from likely.files.predicting import predict_file
    from likely.files.training import train_file

_HOME = {"predict_file": "likely.files.predicting", "train_file": "likely.files.training"}

__all__ = ["FileTable", "FileWarning", "looks_like_files", "open_table", "predict_file", "train_file"]


def __getattr__(name: str) -> object:
    """Training and predicting need the classifiers, which take a moment to import."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.files' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
