"""Where a table is: its files, and the pieces that every format hands out."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from likely.errors import FileError, NoSuchFile, SchemaError, did_you_mean, listed

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["delimited", "json", "parquet", "arrow"]

SUFFIXES: dict[str, Format] = {
    ".csv": "delimited", ".tsv": "delimited", ".tab": "delimited", ".txt": "delimited", ".psv": "delimited",
    ".data": "delimited", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow", ".arrows": "arrow",
}  # fmt: skip
PACKED = (".gz", ".zst", ".zstd")
SPOOL_CHUNK = 1 << 20

FileSource = str | os.PathLike[str] | BinaryIO | list[Any] | tuple[Any, ...]


@dataclass(frozen=True)
class Source:
    """One file: where it is, and the name that messages give it."""

    path: Path
    name: str

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, without that of a compression."""
        suffixes = [suffix.lower() for suffix in Path(self.name).suffixes]
        return next((suffix for suffix in reversed(suffixes) if suffix not in PACKED), "")


def empty(source: Source) -> FileError:
    """The refusal of a file without a single record."""
    return FileError(f"{source.name} is empty; a table needs at least a line with the names of its columns.")


class Spool:
    """A stream copied to a temporary file, which goes away with this object."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        handle, path = tempfile.mkstemp(prefix="likely-")
        self.close = weakref.finalize(self, Path(path).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(stream, file, SPOOL_CHUNK)
        self.source = Source(Path(path), name)


def find_sources(source: Any) -> tuple[list[Source], Spool | None]:
    """The files of a table in their order; a stream is spooled."""
    if hasattr(source, "read"):
        spool = Spool(source, _stream_name(source))
        return [spool.source], spool
    if isinstance(source, str) and source == "-":
        spool = Spool(sys.stdin.buffer, "standard input")
        return [spool.source], spool
    if isinstance(source, (list, tuple)):
        found = [Source(path, str(path)) for entry in source for path in _expand(entry)]
    else:
        found = [Source(path, str(path)) for path in _expand(source)]
    if not found:
        raise FileError("The list of files is empty; name at least one.")
    double = sorted({entry.name for entry in found if sum(entry.name == other.name for other in found) > 1})
    if double:
        raise FileError(f"The file {listed(double)} is named twice, so its rows would count twice; name it once.")
    return found, None


def looks_like_files(source: object) -> bool:
    """Whether this means files rather than a table in memory."""
    if isinstance(source, (str, os.PathLike)):
        return True
    if isinstance(source, (list, tuple)):
        return len(source) > 0 and all(isinstance(entry, (str, os.PathLike)) for entry in source)
    return hasattr(source, "read") and hasattr(source, "readline")


def _stream_name(stream: Any) -> str:
    if isinstance(stream.read(0), str):
        raise FileError("The stream gives text, but bytes are needed: open it with mode 'rb' (or sys.stdin.buffer).")
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) and not name.startswith("<") else "the stream"


def _expand(entry: Any) -> Iterable[Path]:
    if not isinstance(entry, (str, os.PathLike)):
        raise SchemaError(f"A file is named by a path, not by {type(entry).__name__}.")
    path = Path(os.fspath(entry))
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        return [path]
    if has_magic(str(path)):
        found = sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file())
        if found:
            return found
        raise NoSuchFile(f"No file matches {str(path)!r}.")
    raise NoSuchFile(f"There is no file {str(path)!r}.{_near(path)}")


def _in_folder(folder: Path) -> list[Path]:
    seen = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    found = [path for path in seen if Source(path, path.name).suffix in SUFFIXES]
    if not found:
        raise NoSuchFile(f"The folder {str(folder)!r} holds no table; a table ends in {', '.join(list(SUFFIXES)[:8])}…")
    formats = {SUFFIXES[Source(path, path.name).suffix] for path in found}
    if len(formats) > 1:
        raise FileError(
            f"The folder {str(folder)!r} holds files of several formats, perhaps the same rows twice; "
            f"name those that you mean, as in {str(folder / '*') + found[0].suffix!r}."
        )
    return found


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return ""


# What every format hands out: pieces of a table, to be read now or by another thread, and where each stands.


Wanted = Mapping[str, str]
"""Columns to be read, each with the type that it is to have ("" for the one it has)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file goes on: a place in its text or its number of rows so far, and the line before it."""

    file: int = 0
    offset: int = 0
    line: int = 0


class Piece(Protocol):
    """Some rows of one file."""

    @property
    def n_rows(self) -> int: ...

    @property
    def after(self) -> Place:
        """Where the next piece begins."""

    @property
    def share(self) -> float:
        """How much of the file lies behind, from 0 to 1."""

    def read(self) -> pa.Table:
        """The rows; may be called in any thread."""

    def where(self, row: int) -> str:
        """The file and line of a row of this piece."""


class TableFile(Protocol):
    """One file of a table."""

    source: Source
    names: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def types(self) -> Mapping[str, str]:
        """What the columns seem to hold, in words."""

    def sample(self) -> pa.Table:
        """Rows from the head and, where that is cheap, from further on, with the types that they seem to have."""

    def schema(self) -> pa.Schema:
        """The Arrow types of the columns."""

    def late_changes(self) -> Mapping[str, str]:
        """Columns of numbers whose later cells are none, each with what is wrong, in words."""

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[Piece]:
        """All rows from a place on."""
