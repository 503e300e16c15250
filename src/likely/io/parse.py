"""A checked block of delimited text as an Arrow table of the types that are wanted."""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from likely.errors import (
    About,
    AtLine,
    FileError,
    Message,
    PythonOnly,
    Setting,
    SettingsError,
    did_you_mean,
    say_kind,
    say_type,
)
from likely.io import scan
from likely.io.blocks import Block, count_lines, locate
from likely.io.dialect import FALSE, NUMBER_GAPS, TRUE, Dialect
from likely.io.sources import Fault, Rejects, Wanted, shown

CellType = Literal["integer", "number", "truth", "date", "time", "text"]
CELL_TYPES: tuple[CellType, ...] = get_args(CellType)
CATEGORY = "category"
"""Text as codes into its distinct values: what nominal columns are read as."""

ARROW: dict[str, pa.DataType] = {
    "integer": pa.int64(), "number": pa.float64(), "truth": pa.bool_(), "date": pa.date32(), "time": pa.timestamp("us"),
    "text": pa.string(), CATEGORY: pa.dictionary(pa.int32(), pa.string()),
}  # fmt: skip
NUMERIC = ("integer", "number")
MOST_BAD = 10_000
"""More bad cells in one block are no slips: the column is something else."""
SPELT = {
    "integer": "a whole number", "number": "a number", "truth": "true or false", "date": "a date", "time": "a time",
}  # fmt: skip


def checked_types(given: Mapping[str, str]) -> dict[str, CellType]:
    """Types as a user names them."""
    known = {str(cell_type): cell_type for cell_type in CELL_TYPES}
    for name, kind in given.items():
        if kind not in known:
            hint = did_you_mean(str(kind), CELL_TYPES)
            raise SettingsError(f"types gives {name!r} the type {kind!r}; they are {', '.join(CELL_TYPES)}.{hint}")
    return {name: known[kind] for name, kind in given.items()}


@dataclass(frozen=True, slots=True)
class Layout:
    """Names of all columns of the file in their order, and how its text is written."""

    names: tuple[str, ...]
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class ReadRows:
    """The rows of a block, and those among them that hold a cell which cannot be read (null there)."""

    table: pa.Table
    bad: Mapping[int, Fault]


def read_block(block: Block, layout: Layout, wanted: Wanted) -> ReadRows:
    """The wanted columns of a block: quickly, or cell by cell where something is unusual."""
    refuse_bad_text(block)
    data = _text(block, layout.dialect)
    # Arrow reads 0x1F as a whole number; one byte is sought first because that is many times as quick.
    risky = "integer" in wanted.values() and any(x in data and b"0" + x in data for x in (b"x", b"X"))
    try:
        types = {name: ARROW[kind] for name, kind in wanted.items()}
        table = None if risky else _parse(block, data, layout, types)
    except pa.ArrowInvalid:
        table = None
    bad: dict[int, Fault] = {}
    if table is None or _holds_infinity(table, wanted):
        table, bad = _read_with_care(block, data, layout, wanted)
    return ReadRows(_without_empty(table, data, wanted, layout.dialect), bad)


def leave_out(bad: Mapping[int, Fault], rejects: Rejects | None, *tables: pa.Table) -> list[pa.Table]:
    """Tables of the same rows without the bad ones, if these may be left out; else the first is an error."""
    if not bad:
        return list(tables)
    if rejects is None:
        raise bad[min(bad)].error()
    for row in sorted(bad):
        rejects.add(bad[row])
    return [rows.filter(pa.array(~np.isin(np.arange(rows.num_rows), list(bad)))) for rows in tables]


def read_text(block: Block, layout: Layout, names: Sequence[str]) -> pa.Table:
    """Columns as they are written; what spells a gap is null."""
    refuse_bad_text(block)
    data = _text(block, layout.dialect)
    table = _parse(block, data, layout, dict.fromkeys(names, pa.string()))
    return _without_empty(table, data, dict.fromkeys(names, "text"), layout.dialect)


def _parse(block: Block, data: bytes, layout: Layout, types: Mapping[str, pa.DataType]) -> pa.Table:
    dialect = layout.dialect
    # A byte-order mark here is part of a cell, but Arrow would take it off; an empty line before it says nothing.
    shown = b"\n" + data if data.startswith(BOM_UTF8) else data
    table = pcsv.read_csv(
        pa.BufferReader(shown),
        read_options=pcsv.ReadOptions(use_threads=False, column_names=layout.names, block_size=len(shown) + 1),
        parse_options=pcsv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char=dialect.quote or False,
            double_quote=bool(dialect.quote),
            escape_char=dialect.escape or False,
            newlines_in_values=True,
            ignore_empty_lines=True,
        ),
        convert_options=pcsv.ConvertOptions(
            check_utf8=False,  # done for the whole block
            column_types=types,
            include_columns=list(types),
            null_values=list(dialect.gaps),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=list(TRUE),
            false_values=list(FALSE),
            decimal_point=dialect.decimal,
        ),
    )
    if table.num_rows != block.records:
        lines = f"{block.source.name}, lines {block.line + 1} to {block.last_line}: "
        counts = f"{block.records} records were counted, but {table.num_rows} were read; please report this file, "
        about = About("records", block.records, table.num_rows)
        raise FileError(about, lines, counts, "and say ", Setting("delimiter"), " and ", Setting("quote"), " to go on.")
    return table


def _read_with_care(block: Block, data: bytes, layout: Layout, wanted: Wanted) -> tuple[pa.Table, dict[int, Fault]]:
    """Every cell that is no text looked at on its own, so that bad ones can be named."""
    plain = {name: ARROW[kind] for name, kind in wanted.items() if kind in ("text", CATEGORY)}
    table = _parse(block, data, layout, dict.fromkeys(wanted, pa.string()) | plain)
    bad: dict[int, tuple[str, str, str]] = {}
    columns = []
    for name, kind in wanted.items():
        column = table.column(name)
        if name not in plain:
            column, faults = read_cells(column, kind, layout.dialect)
            for row, text in faults.items():
                bad.setdefault(row, (name, kind, text))
        columns.append(column)
    found = {row: _bad_cell(block, row, bad[row], layout.dialect) for row in sorted(bad)[:MOST_BAD]}
    if len(bad) > MOST_BAD:
        raise found[min(found)].error()
    return pa.table(columns, names=list(wanted)), found


def read_cells(column: pa.ChunkedArray, kind: str, dialect: Dialect) -> tuple[pa.ChunkedArray, dict[int, str]]:
    """A column of strings as another type, and the cells that spell nothing of it."""
    encoded = pc.dictionary_encode(column.combine_chunks())
    read: list[Value] = []
    wrong: set[int] = set()
    for place, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            read.append(read_cell(text, kind, dialect))
        except ValueError:
            read.append(None)
            wrong.add(place)
    faults: dict[int, str] = {}
    if wrong:
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(np.isin(codes, list(wrong))).tolist():
            faults[row] = encoded.dictionary[int(codes[row])].as_py()
    return pa.chunked_array([pa.array(read, ARROW[kind]).take(encoded.indices)], ARROW[kind]), faults


Value = int | float | date | None

_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_LARGEST = 2**63


def read_cell(text: str, kind: str, dialect: Dialect) -> Value:
    """One cell as a value, None for a gap; ValueError if it spells no value of that kind."""
    bare = text.strip()
    if not bare or bare in dialect.gaps or (kind in NUMERIC and bare in NUMBER_GAPS):
        return None
    if kind == "truth":
        if bare not in TRUE + FALSE:
            raise ValueError(text)
        return bare in TRUE
    if kind in ("date", "time"):
        moment: date = pa.scalar(bare).cast(ARROW[kind]).as_py()
        return moment
    if kind == "integer":
        if not _INTEGER.fullmatch(bare) or not -_LARGEST <= int(bare) < _LARGEST:
            raise ValueError(text)
        return int(bare)
    return _read_number(bare, dialect.decimal)


def _read_number(bare: str, decimal: str) -> float:
    if bare.lower().lstrip("+-") in ("inf", "infinity"):
        return float(bare)
    if decimal == ",":
        if "." in bare:
            raise ValueError(bare)
        bare = bare.replace(",", ".", 1)
    number = float(bare) if _FLOAT.fullmatch(bare) else math.inf
    if math.isinf(number):
        raise ValueError(bare)
    return number


def _bad_cell(block: Block, row: int, cell: tuple[str, str, str], dialect: Dialect) -> Fault:
    name, kind, text = cell
    line, record = locate(block, row, dialect)
    remedy = Message("mend the cell, or read the column as text: ", say_type(name, "text"))
    if kind in NUMERIC:
        remedy = Message(
            "mend the cell, name it in ", Setting("na"), " if it is a gap, or call the column nominal: ",
            say_kind(name, "nominal"), PythonOnly(f" ({say_type(name, 'text')} in open_table)"),
        )  # fmt: skip
    spelt, about = f"not {SPELT[kind]}, unlike the cells looked at before", About(f"not {SPELT[kind]}", name, text)
    if _FLOAT.fullmatch(text.strip().replace(dialect.decimal, ".")):
        if kind == "number":
            spelt, about = "too large for a number", About("cell too large", name, text)
        elif kind == "integer":
            about = About("fraction", name, text)
            remedy = Message("read the column as numbers: ", say_type(name, "number"))
    reason = Message(about, f"column {name!r} holds {shown(text)}, which is {spelt}")
    return Fault(block.source.name, line, reason, record, remedy)


def _holds_infinity(table: pa.Table, wanted: Wanted) -> bool:
    """Whether a number is infinite: so spelt, or too large for a float and perhaps a slip."""
    numbers = (table.column(name) for name, kind in wanted.items() if kind == "number")
    return any(bool(pc.any(pc.is_inf(column)).as_py()) for column in numbers)


def _without_empty(table: pa.Table, data: bytes, wanted: Wanted, dialect: Dialect) -> pa.Table:
    """An empty cell in quotes is a gap, too."""
    quote = dialect.quote.encode()
    if not quote or quote not in data or quote * 2 not in data:
        return table
    for place, (name, kind) in enumerate(wanted.items()):
        if kind in ("text", CATEGORY):
            column = table.column(place).cast(pa.string())
            column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
            table = table.set_column(place, name, column.dictionary_encode() if kind == CATEGORY else column)
    return table


def _text(block: Block, dialect: Dialect) -> bytes:
    if not dialect.trim:
        return block.data
    data = np.frombuffer(block.data, dtype=np.uint8)
    out = np.empty_like(data)
    delimiter, quote, _ = dialect.codes
    return out[: scan.without_leading_spaces(data, delimiter, quote, out)].tobytes()


def refuse_bad_text(block: Block) -> None:
    """All bytes must be UTF-8, also those of columns that are not read."""
    if not block.high:
        return
    try:
        # 32 bits: a block and the longest record, read twice as far each time, are not 300 MiB.
        offsets = pa.py_buffer(np.array([0, len(block.data)], dtype=np.int32))
        pa.Array.from_buffers(pa.binary(), 1, [None, offsets, pa.py_buffer(block.data)]).cast(pa.string())
    except pa.ArrowInvalid:
        try:
            block.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = block.line + count_lines(block.data[: error.start]) + sum(n for _, n in block.left_out) + 1
            found = f"{block.data[error.start]:#x}"
            why = f": the byte {found} is no UTF-8, unlike all before it; name the encoding of the file, as in "
            remedy = Setting("encoding", "cp1252"), ", or mend the line."
            raise FileError(About("late byte", found), AtLine(block.source.name, line), why, *remedy) from None
