"""A table from one format to another, through the reader that refuses rather than misreads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from likely.engines.pieces import Pass
from likely.io.delimited import TextPiece
from likely.io.file_table import FileTable, open_table
from likely.io.outputs import Output
from likely.io.parse import read_text
from likely.io.sources import Piece
from likely.io.write import DELIMITERS, kind_of, table_writer
from likely.progress import Shown


def convert_file(
    source: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    guard: bool = False,
    kind: str | None = None,
    progress: Shown = None,
) -> int:
    """Write a table in files as another file; the row count.

    The suffix of `out` says how: CSV, TSV, Parquet, Arrow or JSON lines (`kind` says it for a stream). From text to
    text cells stay as they are written; else they get the types that the columns were found to have. The file
    appears when all is written, or not at all. `guard` keeps spreadsheets from taking text for formulas.
    """
    table = source if isinstance(source, FileTable) else open_table(source)
    target = Path(os.fspath(out)) if isinstance(out, (str, os.PathLike)) else out
    suffix = kind or (kind_of(str(target)) if isinstance(target, Path) else ".csv")
    if isinstance(target, Path):
        table.refuse_losses(Output(target))
    as_text = suffix in DELIMITERS and all(hasattr(file, "dialect") for file in table.files)

    def read(piece: Piece) -> pa.Table:
        if as_text and isinstance(piece, TextPiece):
            return read_text(piece.block, piece.layout, table.names)
        return piece.read().cast(table.schema)

    rows = 0
    with table_writer(target, kind=suffix, guard=guard) as write:
        for _, result in Pass(table, _wanted(table), None, progress, "converting").each(lambda turn: read(turn.piece)):
            if result is not None and result.num_rows:
                write(result)
                rows += result.num_rows
        if not rows:
            write(table.schema.empty_table())
    return rows


def _wanted(table: FileTable) -> dict[str, str]:
    """One type for each column, whatever it is in single files."""
    several = {name for name in table.names if len({file.types[name] for file in table.files}) > 1}
    return {name: table.types[name] if name in several else "" for name in table.names}
