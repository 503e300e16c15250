"""One sheet of a workbook as a table, read in a process of its own, in bounded memory.

A workbook of some kilobytes can ask for any memory: two cells in opposite corners of a sheet are half a terabyte, and
the library that reads it ends the process that cannot have it. That process is not the one that serves or learns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

import pyarrow as pa

from likely.errors import About, FileError, MissingExtra, to_install
from likely.io.sources import Source

MOST_BYTES = 1 << 31
"""Unpacked, a workbook may be so large; its sheet is held in memory."""

MOST_MEMORY = 8 << 30
"""What reading a workbook may take."""

MOST_COLUMNS = 1 << 14
"""No sheet of Excel has more; a made-up one of few cells could have any number, and take hours."""

Value: TypeAlias = int | float | str | bool | date | time | timedelta | None
"""What a cell of a sheet holds; "" and nothing are gaps."""

LARGEST_WHOLE = float(1 << 53)

READER = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from likely.io.workbook import main
main(*json.loads(sys.argv[2]))
"""
"""What the other process runs: it finds this package where this process has found it, and nothing else."""


@dataclass(frozen=True)
class WorkbookSheet:
    """A sheet as columns without names, below the lines that are passed over and the header.

    `sheets` are the names of all; `sheet` is that of the one that was read, if the choice was clear. `first` is the
    number of its first line.
    """

    sheets: tuple[str, ...]
    sheet: str | None
    first: int
    n_lines: int
    header: list[str] | None
    table: pa.Table


def read_sheet(source: Source, wanted: str | None, skip: int, plain: bool) -> WorkbookSheet:
    """The sheet that is wanted, or the only one; `plain` ones have no line of names."""
    try:
        import python_calamine  # noqa: F401  (the other process needs it)
    except ImportError:
        raise MissingExtra(
            About("no workbooks"), f"{source.name} is a workbook, read with python-calamine: {to_install('excel')}."
        ) from None
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(source.path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            why = f"{source.name} unpacks to more than {MOST_BYTES >> 30} GiB; export the sheet as CSV."
            raise FileError(About("large workbook", MOST_BYTES >> 30), why)
    told = json.dumps([path for path in sys.path if path]), json.dumps([str(source.path), wanted, skip, plain])
    done = subprocess.run(
        [sys.executable, "-I", "-c", READER, *told],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise FileError(
            About("broken workbook"),
            f"{source.name} cannot be read as a workbook: it is damaged, or takes more than {MOST_MEMORY >> 30} GiB of "
            "memory. Export the sheet as CSV.",
        )
    line, _, body = done.stdout.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    if "error" in head:
        why = f"{source.name} cannot be read as a workbook: {head['error']}. Save it again as .xlsx."
        raise FileError(About("broken workbook"), why)
    table = pa.ipc.open_stream(body).read_all()
    return WorkbookSheet(tuple(head["sheets"]), head["sheet"], head["first"], head["n_lines"], head["header"], table)


# What the other process does.


def main(path: str, wanted: str | None, skip: int, plain: bool) -> None:
    """Write a sheet to standard output: a line of JSON, and a stream of Arrow."""
    _bound_memory()
    from python_calamine import CalamineError

    try:
        head, table = _read(path, wanted, skip, plain)
    except (CalamineError, OSError, ValueError) as error:
        head, table = {"error": str(error).split("\n")[0][:200]}, pa.table({})
    with sys.stdout.buffer as out:
        out.write(json.dumps(head).encode() + b"\n")
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)


def _bound_memory() -> None:
    with suppress(ImportError):  # not every system can
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(path: str, wanted: str | None, skip: int, plain: bool) -> tuple[dict[str, Any], pa.Table]:
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_path(path)
    sheets = workbook.sheet_names
    chosen = wanted if wanted in sheets else sheets[0] if wanted is None and len(sheets) == 1 else None
    head: dict[str, Any] = {"sheets": sheets, "sheet": chosen, "first": 0, "n_lines": 0, "header": None}
    if chosen is None:
        return head, pa.table({})
    found = workbook.get_sheet_by_name(chosen)
    if found.width > MOST_COLUMNS:
        raise ValueError(f"a cell stands in column {found.width:,}, but a sheet has {MOST_COLUMNS:,} at most")
    lines = found.to_python()[skip:]
    if not lines:
        return head, pa.table({})
    head |= {"first": (found.start or (0, 0))[0] + skip + 1, "n_lines": len(lines)}
    if not plain:
        head["header"] = [_text(cell) or "" for cell in lines[0]]
    rows = lines if plain else lines[1:]
    columns: Sequence[Sequence[Value]] = list(zip(*rows, strict=True)) if rows else [()] * len(lines[0])
    return head, pa.table([_column(cells) for cells in columns], names=[str(place) for place in range(len(columns))])


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
