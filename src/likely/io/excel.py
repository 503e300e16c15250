"""Workbooks of Excel and their relatives: a sheet as a table, and a table as a sheet.

Calamine reads (.xlsx, .xlsm, .xlsb, .xls, .ods), openpyxl writes (.xlsx). Cells have types of their own, so nothing is
guessed from text: a column of one type keeps it, and a column of several becomes text. Empty cells and errors such as
#N/A are gaps.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from likely.errors import FileError, MissingExtra, Setting, SettingsError, listed, to_install
from likely.io.blocks import TextCell
from likely.io.columnar import ROWS, SAMPLE_ROWS, ColumnarFile, RowsPiece
from likely.io.sniff import column_names
from likely.io.sources import Place, Source, Wanted, empty

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

    from likely.io.dialect import ReadOptions
    from likely.io.outputs import Sink

MOST_BYTES = 1 << 31
"""Unpacked, a workbook may be so large; its sheet is held in memory."""

MOST_ROWS, MOST_TEXT = 1_048_576, 32_767
"""What a sheet of Excel can hold: lines, the header among them, and characters in a cell."""

Value: TypeAlias = int | float | str | bool | date | time | timedelta | None
"""What a cell of a sheet holds; "" and nothing are gaps."""

LARGEST_WHOLE = float(1 << 53)
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
    workbook = _opened(source)
    name = _chosen(workbook.sheet_names, source, options.sheet)
    found = workbook.get_sheet_by_name(name)
    lines = found.to_python()[options.skip or 0 :]
    if not lines:
        raise FileError(
            f"Sheet {name!r} of {source.name} is empty; a table needs a line with the names of its columns."
        )
    first = (found.start or (0, 0))[0] + (options.skip or 0) + 1
    plain = options.header is False or (options.header is None and options.names is not None)
    header = None if plain else [TextCell(_text(cell) or "", False) for cell in lines[0]]
    names, _ = column_names(header, len(lines[0]), options, f"{source.name}, sheet {name!r}", first)
    rows = lines if plain else lines[1:]
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pa.table([_column(list(cells)) for cells in columns], names=list(names))


def _opened(source: Source) -> CalamineWorkbook:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtra(f"{source.name} is a workbook, read with python-calamine: {to_install('excel')}.") from None
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(source.path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            raise FileError(f"{source.name} unpacks to more than {MOST_BYTES >> 30} GiB; export the sheet as CSV.")
    try:
        return CalamineWorkbook.from_path(str(source.path))
    except (CalamineError, OSError, ValueError) as error:
        words = str(error).split("\n")[0][:200]
        raise FileError(f"{source.name} cannot be read as a workbook: {words}. Save it again as .xlsx.") from None


def _chosen(sheets: Sequence[str], source: Source, wanted: str | None) -> str:
    if wanted is not None:
        if wanted not in sheets:
            raise FileError(f"{source.name} has no sheet {wanted!r}; it has {listed(sheets)}.")
        return wanted
    if not sheets:
        raise empty(source)
    if len(sheets) > 1:
        raise FileError(
            f"{source.name} has several sheets ({listed(sheets)}); say which one with ", Setting("sheet"), "."
        )
    return sheets[0]


def _column(cells: Sequence[Value]) -> pa.Array:
    """A column of one type as that, of several as text."""
    known: list[Any] = [None if cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if kinds <= {int, float}:
        numbers = [None if cell is None else float(cell) for cell in known]
        whole = all(cell is None or (cell.is_integer() and abs(cell) < LARGEST_WHOLE) for cell in numbers)
        return pa.array(numbers, pa.float64()).cast(pa.int64()) if whole and kinds else pa.array(numbers, pa.float64())
    if kinds == {bool}:
        return pa.array(known, pa.bool_())
    if kinds == {date}:
        return pa.array(known, pa.date32())
    if kinds <= {date, datetime}:
        moments = [datetime(*cell.timetuple()[:3]) if type(cell) is date else cell for cell in known]
        return pa.array(moments, pa.timestamp("ms"))
    return pa.array([_text(cell) for cell in known], pa.string())


def _text(cell: Value) -> str | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < LARGEST_WHOLE:
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)


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
