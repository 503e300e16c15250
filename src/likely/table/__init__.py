"""The door for raw tables and labels: anything a user may hold, as named columns and codes."""

from __future__ import annotations

from likely.table.cells import NotANumber, Storage
from likely.table.codes import GAP, Codes
from likely.table.door import as_table
from likely.table.labels import Labels, encode_column, encode_labels, labels_of
from likely.table.levels import index_levels, level_key, level_map
from likely.table.merging import merge_classes
from likely.table.names import Numbered
from likely.table.table import Table

__all__ = [
    "GAP",
    "Codes",
    "Labels",
    "NotANumber",
    "Numbered",
    "Storage",
    "Table",
    "as_table",
    "encode_column",
    "encode_labels",
    "index_levels",
    "labels_of",
    "level_key",
    "level_map",
    "merge_classes",
]
