"""Tables in files: read in bounded memory, never misread in silence, written whole or not at all."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.io.file_table import FileTable, FileWarning, open_table
    from likely.io.sources import looks_like_files

_HOME = {
    "FileTable": "likely.io.file_table",
    "FileWarning": "likely.io.file_table",
    "looks_like_files": "likely.io.sources",
    "open_table": "likely.io.file_table",
}

__all__ = ["FileTable", "FileWarning", "looks_like_files", "open_table"]


def __getattr__(name: str) -> object:
    """Reading needs Arrow, which takes a moment to import: whoever only writes, or shows help, does without."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.io' has no attribute {name!r}")
    found: object = vars(import_module(_HOME[name]))[name]
    return found
