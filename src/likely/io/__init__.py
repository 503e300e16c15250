"""Tables in files: read in bounded memory, never misread in silence, written whole or not at all."""

from __future__ import annotations

from likely.io.file_table import FileTable, FileWarning, open_table
from likely.io.sources import looks_like_files

__all__ = ["FileTable", "FileWarning", "looks_like_files", "open_table"]
