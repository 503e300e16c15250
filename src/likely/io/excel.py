"""Workbooks of Excel and their relatives: a sheet as a table, and a table as a sheet.

Calamine reads (.xlsx, .xlsm, .xlsb, .xls, .ods; `workbook.py`), openpyxl writes (.xlsx). Cells have types of their own,
so nothing is guessed from text: a column of one type keeps it, and a column of several becomes text. Empty cells and
errors such as #N/A are gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from likely.errors import About, FileError, MissingExtra, Setting, SettingsError, listed, to_install
from likely.io.blocks import TextCell
from likely.io.columnar import ROWS, SAMPLE_ROWS, ColumnarFile, RowsPiece
from likely.io.header import column_names
from likely.io.sources import Place, Source, Wanted, empty
from likely.io.workbook import read_sheet

if TYPE_CHECKING:
    from likely.io.dialect import ReadOptions
    from likely.io.outputs import Sink

MOST_ROWS, MOST_TEXT = 1_048_576, 32_767
"""What a sheet of Excel can hold: lines, the header among them, and characters in a cell."""

FORBIDDEN = dict.fromkeys(k for k in range(32) if chr(k) not in "\t\n\r")
"""Characters that XML cannot have."""


class ExcelFile(ColumnarFile):
    """One sheet of a workbook, read whole."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._options = options
        super().__init__(source)

    def _read_schema(self) -> pa.Schema:
        self._table = _sheet_table(self.source, self._options)
        return self._table.schema

    def sample(self) -> pa.Table:
        return self._table.slice(0, SAMPLE_ROWS)

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[RowsPiece]:
        batches = iter(self._table.select(list(wanted)).to_batches(ROWS))
        yield from self._gathered(batches, wanted, place, 0, self._table.num_rows)


def _sheet_table(source: Source, options: ReadOptions) -> pa.Table:
    plain = options.header is False or (options.header is None and options.names is not None)
    found = read_sheet(source, options.sheet, options.skip or 0, plain)
    if found.sheet is None:
        raise _not_chosen(found.sheets, source, options.sheet)
    if not found.n_lines:
        why = f"Sheet {found.sheet!r} of {source.name} is empty; a table needs a line with the names of its columns."
        raise FileError(About("empty sheet", found.sheet), why)
    header = None if found.header is None else [TextCell(text, False) for text in found.header]
    where = f"{source.name}, sheet {found.sheet!r}"
    names, _ = column_names(header, found.table.num_columns, options, where, found.first)
    return found.table.rename_columns(list(names))


def _not_chosen(sheets: Sequence[str], source: Source, wanted: str | None) -> Exception:
    if wanted is not None:
        return FileError(f"{source.name} has no sheet {wanted!r}; it has {listed(sheets)}.")
    if not sheets:
        return empty(source)
    why = f"{source.name} has several sheets ({listed(sheets)}); say which one with "
    return FileError(About("sheets", tuple(sheets)), why, Setting("sheet"), ".")


@contextmanager
def workbook_writer(file: Sink) -> Iterator[Callable[[pa.Table], None]]:
    """A function that writes tables below each other into one sheet; the workbook is there in the end."""
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError:
        raise MissingExtra(f"A workbook is written with openpyxl: {to_install('excel')}.") from None
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("table")
    lines = 0

    def cell(value: object, line: int, column: str) -> object:
        if not isinstance(value, str):
            return _sheet_value(value)
        if len(value) > MOST_TEXT:
            raise SettingsError(
                f"Row {line} has {len(value):,} characters in column {column!r}, more than a cell of a workbook can "
                f"hold ({MOST_TEXT:,}): write CSV or Parquet."
            )
        made = WriteOnlyCell(sheet, value=value.translate(FORBIDDEN))
        made.data_type = "s"  # text stays text: what begins with = is no formula
        return made

    def write(rows: pa.Table) -> None:
        nonlocal lines
        if not lines:
            sheet.append([cell(name, 0, name) for name in rows.column_names])
            lines = 1
        if lines + rows.num_rows > MOST_ROWS:
            raise SettingsError(f"A sheet holds at most {MOST_ROWS:,} lines: write CSV or Parquet.")
        columns = [column.to_pylist() for column in rows.columns]
        for line in zip(*columns, strict=True):
            sheet.append([cell(value, lines, name) for value, name in zip(line, rows.column_names, strict=True)])
            lines += 1

    try:
        yield write
    except BaseException:
        sheet.close()  # its rows lie in a temporary file until then
        raise
    workbook.save(file)


def _sheet_value(value: object) -> object:
    """What a cell can hold; a moment with a time zone as it is on the clock of that zone."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return value if value is None or isinstance(value, bool | int | float | date | time | timedelta) else str(value)
