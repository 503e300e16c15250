"""Where a table is: its files, the pieces that every format hands out, and the lines that none can read."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import sys
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Literal, Protocol, TypeGuard, runtime_checkable

from likely.arrow import pa
from likely.errors import About, AtLine, FileError, Message, NoSuchFile, SchemaError, Setting, did_you_mean, listed
from likely.io.dialect import Dialect, guarded
from likely.io.outputs import LEFT_OUT, LEFT_OUT_COLUMNS, Output, log_file

Format = Literal["delimited", "json", "parquet", "arrow", "excel"]

SUFFIXES: dict[str, Format] = {
    ".csv": "delimited", ".tsv": "delimited", ".tab": "delimited", ".txt": "delimited", ".psv": "delimited",
    ".data": "delimited", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow", ".arrows": "arrow", ".xlsx": "excel", ".xlsm": "excel",
    ".xlsb": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip
ADDRESS = re.compile(r"([a-z][a-z0-9+]+):/+", re.IGNORECASE)
"""How the address of an engine begins, as a path has it."""

PACKED = (".gz", ".zst", ".zstd")
SPOOL_CHUNK = 1 << 20


@runtime_checkable
class ByteStream(Protocol):
    """A binary stream: an open file, standard input, an answer from the network."""

    def read(self, n: int = -1, /) -> bytes: ...


FileSource = str | os.PathLike[str] | ByteStream | Sequence[str | os.PathLike[str]]
"""What names the files of a table; "-" is standard input."""


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
    return FileError(
        About("empty"), f"{source.name} is empty; a table needs at least a line with the names of its columns."
    )


class Spool:
    """A stream copied to a temporary file, which goes away with this object."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        handle, path = tempfile.mkstemp(prefix="likely-")
        self.close = weakref.finalize(self, Path(path).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(stream, file, SPOOL_CHUNK)
        self.source = Source(Path(path), name)


def find_sources(source: FileSource) -> tuple[list[Source], Spool | None]:
    """The files of a table in their order; a stream is spooled."""
    if source == "-":
        source = sys.stdin.buffer
    if isinstance(source, ByteStream):
        spool = Spool(source, "standard input" if source is sys.stdin.buffer else _stream_name(source))
        return [spool.source], spool
    entries = source if isinstance(source, (list, tuple)) else [source]
    found = [Source(path, str(path)) for entry in entries for path in _expand(entry)]
    if not found:
        raise FileError("The list of files is empty; name at least one.")
    double = sorted(name for name, times in Counter(entry.name for entry in found).items() if times > 1)
    if double:
        raise FileError(f"The file {listed(double)} is named twice, so its rows would count twice; name it once.")
    return found, None


def looks_like_files(source: object) -> TypeGuard[FileSource]:
    """Whether this means files rather than a table in memory."""
    if isinstance(source, (list, tuple)):
        return len(source) > 0 and all(isinstance(entry, (str, os.PathLike)) for entry in source)
    return isinstance(source, (str, os.PathLike)) or (isinstance(source, ByteStream) and hasattr(source, "readline"))


def _stream_name(stream: ByteStream) -> str:
    if isinstance(stream.read(0), str):
        raise FileError("The stream gives text, but bytes are needed: open it with mode 'rb' (or sys.stdin.buffer).")
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) and not name.startswith("<") else "the stream"


def _expand(entry: object) -> Iterable[Path]:
    if not isinstance(entry, (str, os.PathLike)):
        raise SchemaError(f"A file is named by a path, not by {type(entry).__name__}.")
    path = Path(os.fspath(entry))
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        return [path]
    address = ADDRESS.match(str(path))
    if address is not None:  # it may hold a password, which is not repeated
        raise NoSuchFile(
            f"An address ({address[1]}://…) is no file: a table at an address is named by likely.engine_table(address, "
            "table), on the command line by --connect and --table."
        )
    if has_magic(str(path)):
        found = sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file())
        if found:
            return found
        raise NoSuchFile(f"No file matches {str(path)!r}.")
    raise NoSuchFile(f"There is no file {str(path)!r}.{_near(path)}")


def _in_folder(folder: Path) -> list[Path]:
    seen = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    found = {path: SUFFIXES[suffix] for path in seen if (suffix := Source(path, path.name).suffix) in SUFFIXES}
    if not found:
        raise NoSuchFile(f"The folder {str(folder)!r} holds no table; a table ends in {', '.join(list(SUFFIXES)[:8])}…")
    if len(set(found.values())) > 1:
        raise FileError(
            f"The folder {str(folder)!r} holds files of several formats, perhaps the same rows twice; "
            f"name those that you mean, as in {str(folder / '*') + next(iter(found)).suffix!r}."
        )
    return list(found)


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


@dataclass(frozen=True)
class Piece(ABC):
    """Some rows of one file; the next piece begins at `after`, and a `share` from 0 to 1 of the file lies behind."""

    source: Source
    n_rows: int
    after: Place
    share: float

    @abstractmethod
    def read(self) -> pa.Table:
        """The rows; may be called in any thread."""

    @abstractmethod
    def where(self, row: int) -> str:
        """The file and line of a row of this piece."""


class Labelled:
    """Leaves out rows that have a gap in one column, and counts them; pieces may be read in any thread."""

    def __init__(self, column: str) -> None:
        self.column, self.dropped = column, 0
        self._lock = threading.Lock()

    def of(self, piece: Piece) -> LabelledPiece:
        """A piece without such rows."""
        return LabelledPiece(piece.source, piece.n_rows, piece.after, piece.share, piece, self)

    def drop(self, rows: int) -> None:
        """So many more were left out."""
        with self._lock:
            self.dropped += rows


@dataclass(frozen=True)
class LabelledPiece(Piece):
    """The rows of a piece that have a label."""

    whole: Piece
    rule: Labelled

    def read(self) -> pa.Table:
        rows = self.whole.read()
        known = rows.filter(rows.column(self.rule.column).is_valid())
        self.rule.drop(rows.num_rows - known.num_rows)
        return known

    def where(self, row: int) -> str:
        known = self.whole.read().column(self.rule.column).is_valid().to_pylist()
        return self.whole.where([place for place, is_known in enumerate(known) if is_known][row])


class TableFile(ABC):
    """One file of a table; a text that is delimited has a dialect."""

    source: Source
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    dialect: Dialect | None = None

    @property
    def types(self) -> Mapping[str, str]:
        """What the columns seem to hold, in words."""
        return {field.name: str(field.type) for field in self.schema()}

    @abstractmethod
    def sample(self) -> pa.Table:
        """Rows from the head and, where that is cheap, from further on, with the types that they seem to have."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """The Arrow types of the columns."""

    def late_changes(self) -> Mapping[str, str]:
        """Columns of numbers whose later cells are none, each with what is wrong, in words."""
        return {}

    @abstractmethod
    def pieces(self, wanted: Wanted, place: Place) -> Iterator[Piece]:
        """All rows from a place on."""


# Lines that cannot be read: named in a refusal, or left out because the user said so.

SHOWN = 60
KEPT = 100
REJECTING = Message("mend the line, or pass ", Setting("rejects"), " to leave such lines out")


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that cannot be read: where it stands, why, and what it says."""

    file: str
    line: int
    reason: str
    text: str
    remedy: str = REJECTING

    def error(self) -> FileError:
        """The refusal that a user sees."""
        return FileError(
            AtLine(self.file, self.line), ": ", self.reason, "; ", self.remedy, f". The line: {shown(self.text)}"
        )


def shown(text: str) -> str:
    """A cell or line, cut to a readable length."""
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


class Rejects:
    """What was left out so far. Written to `path` (CSV) as it comes; begun anew with each pass over the table."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.count = 0
        self.first: list[Fault] = []
        self._lock = threading.Lock()

    @property
    def outputs(self) -> list[Output]:
        """The file that is written, if there is one."""
        return [] if self.path is None else [Output(self.path, LEFT_OUT)]

    def restart(self) -> None:
        """Forget what an earlier pass found."""
        self.count, self.first = 0, []
        self._write(LEFT_OUT_COLUMNS, anew=True)

    def add(self, fault: Fault) -> None:
        """Leave a line out; threads may do so at the same time."""
        with self._lock:
            self.count += 1
            if len(self.first) < KEPT:
                self.first.append(fault)
            self._write((fault.file, fault.line, fault.reason, guarded(fault.text.rstrip("\r\n"))))

    def _write(self, cells: Sequence[object], *, anew: bool = False) -> None:
        # Opened for each line: bad lines are rare, and whatever ends the pass, those found so far are in the file.
        if self.path is not None:
            with log_file(self.path, anew=anew) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
                csv.writer(text).writerow(cells)

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        lines = [f"{fault.file}, line {fault.line}: {fault.reason}" for fault in self.first[:5]]
        more = [f"… and {self.count - 5} more"] if self.count > 5 else []
        return "\n".join([f"{self.count} line{'s' * (self.count != 1)} left out", *lines, *more])
