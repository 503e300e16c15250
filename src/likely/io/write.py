"""Tables written to files by suffix, whole or not at all, and harmless to spreadsheets."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from likely.arrays import Json
from likely.arrow import pa, pc
from likely.errors import SettingsError
from likely.io.dialect import GAPS, Dialect, guarded, guarded_column
from likely.io.outputs import Sink, whole_file

Write = Callable[["pa.Table"], None]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ",", ".psv": "|"}
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".ipc", ".feather")
JSON = (".jsonl", ".ndjson", ".json")
EXCEL = (".xlsx",)
PACKED = (".gz", ".zst", ".zstd")


def suffix_of(name: str) -> str:
    """The suffix that says how a file is to be written; refuses one that says nothing."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    kind = (suffixes[:-1] if packed else suffixes)[-1:] or [""]
    known = [*DELIMITERS, *JSON, *([] if packed else [*PARQUET, *ARROW, *EXCEL])]
    if kind[0] not in known:
        raise SettingsError(f"The ending of {name!r} does not say how to write it; use one of {', '.join(known)}.")
    return kind[0]


@contextmanager
def table_writer(
    out: str | Path | IO[bytes], *, kind: str | None = None, guard: bool = True, dialect: Dialect | None = None
) -> Iterator[Write]:
    """A function that writes tables one after the other, all with the same columns.

    A file appears only when all is written. A binary stream gets the rows as they come (CSV unless `kind` says else).
    Delimited text has the delimiter and the decimal mark of `dialect`; without one, those that the suffix stands for.
    """
    if isinstance(out, (str, Path)):
        suffix = kind or suffix_of(str(out))
        with (
            whole_file(Path(out)) as file,
            _packed(file, Path(out).suffix.lower()) as target,
            _writer(target, suffix, guard, dialect) as write,
        ):
            yield write
    else:
        with _writer(out, kind or ".csv", guard, dialect) as write:
            yield write


class _LeftOpen:
    """A file that Arrow may close as it likes: whoever opened it has more to do with it."""

    closed = False

    def __init__(self, file: Sink) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        self.flush()


@contextmanager
def _packed(file: IO[bytes], suffix: str) -> Iterator[Sink]:
    """A file that packs what is written to it, if its suffix says so; the same rows give the same bytes."""
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            yield packed
    elif suffix in PACKED:
        with pa.CompressedOutputStream(pa.PythonFile(_LeftOpen(file), mode="w"), "zstd") as packed:
            yield packed
    else:
        yield file


@contextmanager
def _writer(file: Sink, kind: str, guard: bool, dialect: Dialect | None) -> Iterator[Write]:
    if kind in PARQUET or kind in ARROW:
        with _columnar_writer(file, arrow=kind in ARROW) as write:
            yield write
    elif kind in EXCEL:
        from likely.io.excel import workbook_writer

        with workbook_writer(file) as write:
            yield write
    elif kind in JSON:
        yield lambda rows: _write_json(file, rows)
    else:
        usual = Dialect(delimiter=DELIMITERS[kind])
        yield DelimitedWriter(file, usual if dialect is None else dialect, guard).write


@contextmanager
def _columnar_writer(file: Sink, *, arrow: bool) -> Iterator[Write]:
    import pyarrow.parquet as pq

    writer = None

    def write(rows: pa.Table) -> None:
        nonlocal writer
        if writer is None:
            make = pa.ipc.new_file if arrow else partial(pq.ParquetWriter, compression="zstd")
            writer = make(file, rows.schema)
        writer.write_table(rows)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


class DelimitedWriter:
    """Rows as delimited text: quotes only where they are needed, a gap as nothing."""

    def __init__(self, file: Sink, dialect: Dialect, guard: bool) -> None:
        self.file, self.delimiter, self.decimal, self.guard = file, dialect.delimiter, dialect.decimal, guard
        self._begun = False

    def write(self, rows: pa.Table) -> None:
        """Write some rows; the first ones bring the header."""
        if not self._begun:
            self._begun = True
            names = pa.chunked_array([pa.array([guarded(n) if self.guard else n for n in rows.column_names])])
            self.file.write((self.delimiter.join(self._quoted(names, names).to_pylist()) + "\n").encode())
        if not rows.num_rows:
            return
        columns = [self._text(rows.column(place)) for place in range(rows.num_columns)]
        mark, end, nothing = (pa.scalar(text, pa.large_string()) for text in (self.delimiter, "\n", ""))
        lines = pc.binary_join_element_wise(*columns, mark, null_handling="replace", null_replacement="")
        if rows.num_columns == 1:  # a blank line would be no row
            lines = pc.if_else(pc.equal(lines, ""), pa.scalar('""', pa.large_string()), lines)
        for chunk in pc.binary_join_element_wise(lines, end, nothing).chunks:
            first, last = np.frombuffer(chunk.buffers()[1], dtype=np.int64)[[chunk.offset, chunk.offset + len(chunk)]]
            self.file.write(memoryview(chunk.buffers()[2])[first:last])

    def _text(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            cells = (
                None if cell is None else json.dumps(_plain(cell), ensure_ascii=False) for cell in column.to_pylist()
            )
            column, kind = pa.chunked_array([pa.array(cells, pa.large_string())]), pa.large_string()
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            text = column.cast(pa.large_string())
            return self._quoted(guarded_column(text) if self.guard else text, text)
        text = column.cast(pa.string()).cast(pa.large_string())
        if self.decimal == "." or not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return text
        return self._quoted(pc.replace_substring(text, ".", self.decimal), text)

    def _quoted(self, column: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
        """Quotes around cells that need them: also around text that would otherwise be read as a gap."""
        special = pc.match_substring_regex(column, rf'["\r\n]|{re.escape(self.delimiter)}|^\s|\s$')
        gap_like = pc.is_in(before, pa.array([gap for gap in GAPS if gap], before.type))
        needed = pc.or_(special, gap_like)
        if not pc.any(needed).as_py():
            return column
        mark = pa.scalar('"', column.type)
        inside = pc.replace_substring(column, '"', '""')
        return pc.if_else(needed, pc.binary_join_element_wise(mark, inside, mark, pa.scalar("", column.type)), column)


def _write_json(file: Sink, rows: pa.Table) -> None:
    names = rows.column_names
    lines = [
        json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=False)
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True)
    ]
    if lines:
        file.write(("\n".join(lines) + "\n").encode())


def _plain(cell: object) -> Json:
    """A cell as JSON has it: dates as text, numbers that JSON lacks as nothing."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, (int, str)):
        return cell
    if isinstance(cell, dict):
        return {key: _plain(value) for key, value in cell.items()}
    if isinstance(cell, list):
        return [_plain(value) for value in cell]
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
