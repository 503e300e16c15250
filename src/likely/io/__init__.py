"""Tables in files: read in bounded memory, never misread in silence, written whole or not at all."""

from __future__ import annotations

from likely.io.sources import looks_like_files
from likely.io.table import FileTable, FileWarning, open_table

__all__ = ["FileTable", "FileWarning", "looks_like_files", "open_table"]
