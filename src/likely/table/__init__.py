"""The door for raw tables and labels: anything a user may hold, as named columns and codes."""

from __future__ import annotations

from likely.table.cells import GAP, Codes, NotANumber, Storage
from likely.table.labels import Labels, encode_column, encode_labels, labels_of, merge_classes
from likely.table.levels import index_levels, level_key, level_map
from likely.table.read import as_rows, as_table
from likely.table.table import Labelling, Numbered, RowsLike, Table, Weights

__all__ = [
    "GAP", "Codes", "Labelling", "Labels", "NotANumber", "Numbered", "RowsLike", "Storage", "Table", "Weights",
    "as_rows", "as_table", "encode_column",
    "encode_labels", "index_levels", "labels_of", "level_key", "level_map", "merge_classes",
]  # fmt: skip
