"""A table in files: which format each has, what its columns seem to hold, and its rows in batches of bounded size."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Self

from likely.arrow import pa
from likely.errors import About, FileError, Message, SchemaError, Setting, SettingsError, listed, refuse_missing
from likely.io import sources
from likely.io.dialect import Dialect, ReadOptions
from likely.io.outputs import Output, refuse
from likely.io.sources import FileSource, Labelled, Piece, Place, Rejects, Source, TableFile, Wanted
from likely.io.streams import EncodingNote, RawBytes

if TYPE_CHECKING:
    from likely.io.parse import CellType

START = 512
MARKS: dict[bytes, sources.Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
ARCHIVE, OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
WORKBOOK_PARTS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
STRANGERS = (
    (ARCHIVE, "a zip archive", "unpack it, and name the table in it"),
    (b"BZh", "packed with bzip2", "unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ", "packed with xz", "unpack it, or pack it with gzip or zstd"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV or Parquet"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x80\x04\x95", "a pickle", "write the table as CSV or Parquet; pickles are never opened"),
    (b"\x80\x05\x95", "a pickle", "write the table as CSV or Parquet; pickles are never opened"),
    (b"FEA1", "an old Feather file", "write it again with a recent pyarrow"),
)


def open_file(
    source: Source, options: ReadOptions, types: Mapping[str, CellType], columns: tuple[str, ...] | None,
    rejects: Rejects | None, given: str | None, n_files: int,
) -> TableFile:  # fmt: skip
    """The reader of a file, by the format that was named, its first bytes, or its suffix; one of so many."""
    kind = _format(source, given)
    if kind in ("parquet", "arrow"):
        from likely.io.columnar import ArrowFile, ParquetFile

        return ParquetFile(source) if kind == "parquet" else ArrowFile(source)
    if kind == "json":
        from likely.io.json_lines import JsonFile

        return JsonFile(source, options.encoding, rejects, columns)
    if kind == "excel":
        from likely.io.excel import ExcelFile

        return ExcelFile(source, options)
    from likely.io.delimited import DelimitedFile

    return DelimitedFile(source, options, types, rejects, n_files)


def _format(source: Source, given: str | None) -> sources.Format:
    formats = {str(known): known for known in sources.SUFFIXES.values()}
    if given is not None:
        if given not in formats:
            raise SettingsError(f"format is {given!r}, but it is one of {listed(list(formats))}.")
        return formats[given]
    with closing(RawBytes(source)) as raw:
        start = raw.read(START)
    if not start:
        raise sources.empty(source)
    for mark, kind in MARKS.items():
        if start.startswith(mark):
            if raw.packing:
                twice = "is packed twice: Parquet and Arrow files pack their columns themselves; unpack it."
                raise FileError(About("packed twice"), f"{source.name} {twice}")
            return kind
    if start.startswith(OLD_WORKBOOK) or (start.startswith(ARCHIVE) and _is_workbook(source)):
        return "excel"
    _refuse_strangers(start, source)
    by_suffix = sources.SUFFIXES.get(source.suffix)
    if by_suffix in ("parquet", "excel"):
        called = "a Parquet file" if by_suffix == "parquet" else "a workbook"
        raise FileError(
            About("misnamed", called), f"{source.name} does not begin like {called}; it is damaged or misnamed."
        )
    return by_suffix or ("json" if start.lstrip().startswith(b'{"') else "delimited")


def _is_workbook(source: Source) -> bool:
    with suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(source.path) as archive:
        return any(name in archive.namelist() for name in WORKBOOK_PARTS)
    return False


def _refuse_strangers(start: bytes, source: Source) -> None:
    for mark, what, remedy in STRANGERS:
        if start.startswith(mark):
            raise FileError(About("stranger", what), f"{source.name} is {what}; {remedy}.")
    if start.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        why = f"{source.name} is a web page or XML and no table; fetch the table itself."
        raise FileError(About("web page"), why)


# The table.

BATCH_ROWS = 65_536
SKIP = "skip"
SHOWN_NOTES = 20
SAMPLED_FILES = 50


class FileWarning(UserWarning):
    """Something about a file was supposed, and the user should know."""


class FileTable:
    """A table in one or several files. `open_table` makes it; it can be read as often as wanted."""

    def __init__(
        self, files: Sequence[TableFile], columns: tuple[str, ...] | None, rejects: Rejects | None,
        spool: sources.Spool | None,
    ) -> None:  # fmt: skip
        self.files = tuple(files)
        self.rejected = rejects if rejects is not None else Rejects()
        self._chosen, self._spool = columns, spool
        self._labelled: Labelled | None = None
        self._refuse_other_columns()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the first file or as chosen."""
        return self.files[0].names if self._chosen is None else self._chosen

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, in the order in which they are read."""
        return tuple(file.source for file in self.files)

    @cached_property
    def types(self) -> Mapping[str, str]:
        """What each column seems to hold; in text files "integer", "number", "truth", "date", "time" or "text"."""
        found = [file.types for file in self.files]
        return {name: _common([types[name] for types in found]) for name in self.names}

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow types of the batches."""
        from likely.io.parse import ARROW

        own = self.files[0].schema()
        return pa.schema([(n, ARROW[t] if t in ARROW else own.field(n).type) for n, t in self.types.items()])

    @property
    def dialect(self) -> Dialect | None:
        """How the (first) file is written, if it is delimited text."""
        return self.files[0].dialect

    @property
    def notes(self) -> tuple[str, ...]:
        """What was supposed about the files."""
        return tuple(dict.fromkeys(note for file in self.files for note in file.notes))

    def refuse_losses(self, *outputs: Output) -> None:
        """Refuse files to be written that are read here, that take what is left out, or that hold something else."""
        refuse([*outputs, *self.rejected.outputs], [source.path for source in self.sources])

    def late_changes(self) -> Mapping[str, str]:
        """Columns that begin as numbers and go on as something else, as far as was looked."""
        found: dict[str, str] = {}
        for file in self.files:
            for name, what in file.late_changes().items():
                found.setdefault(name, Message(file.source.name, ", ", what))
        types = [file.types for file in self.files]
        for name in self.names:
            kinds = [of_file[name] for of_file in types]
            if kinds[0] in ("integer", "number") and "text" in kinds:
                other = self.files[kinds.index("text")].source.name
                found.setdefault(name, f"{other} holds text")
        return found

    @property
    def unlabelled(self) -> int:
        """How many rows without a label the last pass left out."""
        return 0 if self._labelled is None else self._labelled.dropped

    def labelled(self, column: str) -> Self:
        """The same table without the rows that have a gap in a column."""
        refuse_missing([column], self.names)
        self._labelled = Labelled(column)
        return self

    def sample(self) -> pa.Table:
        """Rows from the head and from further on, with their types."""
        some = self.files[:: -(-len(self.files) // SAMPLED_FILES)]
        tables = [file.sample().select(list(self.names)) for file in some]
        tables = [table.cast(self.schema) if table.schema.names == self.schema.names else table for table in tables]
        return pa.concat_tables(tables)

    def batches(self, rows: int = BATCH_ROWS, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows in Arrow batches of at most so many."""
        names = tuple(columns) if columns is not None else self.names
        promised = pa.schema([self.schema.field(name) for name in names])  # a file may say "not null", we do not
        for piece in self.pieces(self.read_as(names)):
            for batch in piece.read().cast(promised).combine_chunks().to_batches(max_chunksize=rows):
                if batch.num_rows:
                    yield batch

    def read(self) -> pa.Table:
        """The whole table in memory."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def read_as(self, names: Sequence[str]) -> dict[str, str]:
        """One type for each column, whatever it is in single files; "" where all agree."""
        kinds = [file.types for file in self.files]
        return {n: self.types[n] if len({types[n] for types in kinds}) > 1 else "" for n in names}

    def pieces(self, wanted: Wanted, place: Place | None = None) -> Iterator[Piece]:
        """All rows from a place on, piece by piece, in the order of the files."""
        refuse_missing(wanted, self.names)
        begin = place or Place()
        if place is None:
            self.rejected.restart()
            if self._labelled is not None:
                self._labelled.dropped = 0
        for number, file in enumerate(self.files[begin.file :], begin.file):
            for piece in file.pieces(wanted, begin if number == begin.file else Place(number)):
                yield piece if self._labelled is None else self._labelled.of(piece)

    def share_before(self, number: int) -> tuple[float, float]:
        """The part of all bytes that lies before a file, and that of the file itself."""
        sizes = [file.source.size for file in self.files]
        total = max(sum(sizes), 1)
        return sum(sizes[:number]) / total, sizes[number] / total

    def close(self) -> None:
        """Remove what was spooled."""
        if self._spool is not None:
            self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        some = self.sources[0].name if len(self.files) == 1 else f"{len(self.files)} files"
        return f"FileTable({some}, {len(self.names)} columns)"

    def __str__(self) -> str:
        lines = [f"  {name}: {kind}" for name, kind in self.types.items()]
        return "\n".join([repr(self), *lines, *(f"note: {note}" for note in self.notes[:SHOWN_NOTES])])

    def _refuse_other_columns(self) -> None:
        first = self.files[0]
        refuse_missing(self.names, first.names)
        for file in self.files[1:]:
            expected, found = set(self.names), set(file.names)
            lacking = [name for name in self.names if name not in found]
            strange = [name for name in file.names if name not in expected and self._chosen is None]
            if lacking or strange:
                what = f"lacks {listed(lacking)}" if lacking else f"also has {listed(strange)}"
                why = f"{file.source.name} {what}, unlike {first.source.name}; give "
                raise SchemaError(why, Setting("columns"), " that all files have, or read them apart.")


def as_file_table(source: FileTable | FileSource) -> FileTable:
    """A table in files that is open already, or that is found with nothing said about it."""
    return source if isinstance(source, FileTable) else open_table(source)


def open_table(
    source: FileSource,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    skip: int | None = None,
    na: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    rejects: str | os.PathLike[str] | None = None,
    multiline: bool = False,
    sheet: str | None = None,
) -> FileTable:
    """A table in files: a path, a glob, a folder, a list of paths, "-" for standard input, or a binary stream.

    Delimited text (any delimiter), Parquet, Arrow IPC and JSON lines, text also compressed with gzip or zstd, and a
    `sheet` of a workbook. What you do not say is found out from the file; what cannot be found out is refused, with
    the option that settles it. `na` are the cells that count as missing (unquoted ones, in all columns), `types` says
    by name what a column holds, `rejects` is a file for lines that cannot be read, or "skip" to leave them out and
    only count them.
    """
    from likely.io.parse import checked_types

    options = ReadOptions(
        delimiter, encoding, quote, escape, decimal, header, None if names is None else tuple(names), skip,
        None if na is None else tuple(dict.fromkeys(("", *na))), multiline, sheet,
    )  # fmt: skip
    chosen = None if columns is None else tuple(columns)
    left_out = None if rejects is None else Rejects(None if rejects == SKIP else rejects)
    kinds = checked_types(types or {})
    found, spool = sources.find_sources(source)
    try:
        if left_out is not None:
            refuse(left_out.outputs, [entry.path for entry in found])
        files = [open_file(entry, options, kinds, chosen, left_out, format, len(found)) for entry in found]
        refuse_missing((name for name in kinds if not any(name in file.names for file in files)), files[0].names)
        table = FileTable(files, chosen, left_out, spool)
    except BaseException:
        if spool is not None:
            spool.close()
        raise
    for note in table.notes:
        if isinstance(note, EncodingNote):
            warnings.warn(note, FileWarning, stacklevel=2)
    return table


def _common(kinds: list[str]) -> str:
    """One type for what several files hold."""
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) == 1:
        return distinct[0]
    from likely.io.parse import CELL_TYPES, NUMERIC

    if set(distinct) <= {*CELL_TYPES}:
        return "number" if set(distinct) == {*NUMERIC} else "text"
    raise FileError(
        f"The files give one column different types: {listed(distinct)}; write them alike, or read them apart."
    )
