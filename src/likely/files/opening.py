"""Which format a file has, and the reader for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from likely.errors import FileError, SettingsError, listed
from likely.files.dialect import Wishes
from likely.files.pieces import TableFile
from likely.files.rejects import Rejects
from likely.files.sources import SUFFIXES, Format, Source, empty
from likely.files.streams import RawBytes, packing

if TYPE_CHECKING:
    from likely.files.guessing import CellType

START = 512
MARKS: tuple[tuple[bytes, Format], ...] = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow"))
STRANGERS = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "export the sheet as CSV, or unpack the archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "export the sheet as CSV"),
    (b"BZh", "packed with bzip2", "unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ", "packed with xz", "unpack it, or pack it with gzip or zstd"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV or Parquet"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x80\x04\x95", "a pickle", "write the table as CSV or Parquet; pickles are never opened"),
    (b"\x80\x05\x95", "a pickle", "write the table as CSV or Parquet; pickles are never opened"),
    (b"FEA1", "an old Feather file", "write it again with a recent pyarrow"),
)


def open_file(
    source: Source,
    wishes: Wishes,
    types: Mapping[str, CellType],
    columns: tuple[str, ...] | None,
    rejects: Rejects | None,
    given: str | None,
    n_files: int,
) -> TableFile:
    """The reader of a file, by the format that was named, its first bytes, or its suffix; one of so many."""
    kind = _format(source, given)
    if kind in ("parquet", "arrow"):
        from likely.files.columnar import ArrowFile, ParquetFile

        return ParquetFile(source) if kind == "parquet" else ArrowFile(source)
    if kind == "json":
        from likely.files.json_lines import JsonFile

        return JsonFile(source, wishes.encoding, rejects, columns)
    from likely.files.delimited import DelimitedFile

    return DelimitedFile(source, wishes, types, rejects, n_files)


def _format(source: Source, given: str | None) -> Format:
    formats = tuple(dict.fromkeys(SUFFIXES.values()))
    if given is not None and given not in formats:
        raise SettingsError(f"format is {given!r}, but it is one of {listed(formats)}.")
    named = next((known for known in formats if known == given), None)
    if named is not None:
        return named
    packed = packing(source)
    with RawBytes(source) as raw:
        start = raw.read(START)
    if not start:
        raise empty(source)
    for mark, kind in MARKS:
        if start.startswith(mark):
            return kind if not packed else _refuse_packed(source)
    _refuse_strangers(start, source)
    by_suffix = SUFFIXES.get(source.suffix)
    if by_suffix == "parquet":
        raise FileError(f"{source.name} does not begin like a Parquet file; it is damaged or misnamed.")
    if by_suffix is not None:
        return by_suffix
    return "json" if start.lstrip().startswith(b'{"') else "delimited"


def _refuse_strangers(start: bytes, source: Source) -> None:
    for mark, what, remedy in STRANGERS:
        if start.startswith(mark):
            raise FileError(f"{source.name} is {what}; {remedy}.")
    if start.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise FileError(f"{source.name} is a web page or XML and no table; fetch the table itself.")


def _refuse_packed(source: Source) -> Format:
    raise FileError(f"{source.name} is packed twice: Parquet and Arrow files pack their columns themselves; unpack it.")
