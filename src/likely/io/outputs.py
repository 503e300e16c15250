"""Files that are written: whole or not at all, and never over what is read or holds something else."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from itertools import combinations
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from likely.errors import FileError, NoSuchFile

if sys.platform == "win32":
    BINARY = os.O_BINARY
else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    BINARY = 0

MARK = ".unfinished-"
"""Part of the name of a file that is still being written."""

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")
"""Folders whose entries are files that a process has open, such as its standard output."""


class Sink(Protocol):
    """What takes bytes: a file, or something that packs them."""

    def write(self, data: bytes | memoryview, /) -> object: ...

    def flush(self) -> object: ...


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that whoever reads sees the old one or the new one."""
    with whole_file(path) as file:
        file.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """The same for a text, such as a page."""
    write_whole(path, text.encode())


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to be written beside the target: flushed to the disk and renamed at the end, gone if anything fails.

    A link is followed, so that it stays a link; mode and owner of an existing file are kept; what a crash left of an
    earlier save is removed. Devices and pipes are never replaced: they get the bytes as they come.
    """
    refuse_place(path)
    if is_stream(path):
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | BINARY), "wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    _sweep(target)
    file, name = _own_file(target)
    try:
        with file:
            yield file.file
            file.flush()
            _take_after(target, name)
            os.fsync(file.fileno())
            os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _flush_folder(target.parent)


@contextmanager
def log_file(path: str | os.PathLike[str], *, anew: bool) -> Iterator[IO[bytes]]:
    """A file that grows line by line and is written in place: what was found so far is there, whatever happens."""
    refuse_place(path)
    if is_stream(path) and stat.S_ISFIFO(os.stat(path).st_mode) and not _is_descriptor(path):
        raise FileError(f"{os.fspath(path)!r} is a pipe, but lines are written to it time and again; name a file.")
    with open(path, "wb" if anew and not is_stream(path) else "ab") as file:
        yield file


def refuse_place(path: str | os.PathLike[str]) -> None:
    """Say in one sentence why nothing can be written here: no such folder, a folder, a disk, a socket."""
    name = os.fspath(path)
    if not name:
        raise FileError("An empty name is that of no file; name a file to write.")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise NoSuchFile(
                f"There is no folder {os.path.dirname(name) or folder!r} to write {os.path.basename(name)!r} to."
            ) from None
        return
    except ValueError:
        raise FileError(f"{name!r} holds a character that no file name can have; name another file.") from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{name!r} is a folder; name a file to write.")
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise FileError(f"{name!r} is neither a file nor a pipe nor a terminal; name a file to write.")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a device, to a pipe, or to what is open already, such as /dev/stdout."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) or _is_descriptor(path)


def _is_descriptor(path: str | os.PathLike[str]) -> bool:
    place = os.path.abspath(path)
    while True:
        folder = os.path.dirname(place)
        if _DESCRIPTORS.fullmatch(os.path.realpath(folder)):
            return True
        if not os.path.islink(place):
            return False
        place = os.path.join(folder, os.readlink(place))


def _own_file(target: Path) -> tuple[tempfile._TemporaryFileWrapper[bytes], str]:
    """A new file beside the target, locked for as long as it is open: others see that its writer is alive."""
    while True:
        file = tempfile.NamedTemporaryFile(prefix=f".{target.name}{MARK}", dir=target.parent, delete=False)  # noqa: SIM115
        if sys.platform != "win32":
            flock(file.fileno(), LOCK_EX)
        if os.path.exists(file.name):
            return file, file.name
        file.close()  # swept by another process before the lock was ours


def _sweep(target: Path) -> None:
    """Remove unfinished files whose writer is gone: their lock can be had."""
    if sys.platform == "win32":
        return
    for left in target.parent.glob(f".{escape(target.name)}{MARK}*"):
        with suppress(OSError), left.open("rb") as file:
            flock(file.fileno(), LOCK_EX | LOCK_NB)
            left.unlink()


def _take_after(target: Path, name: str) -> None:
    """Owner, group and mode of the file that will be replaced, or the mode that a new file gets here."""
    try:
        old = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    own = os.stat(name)
    if sys.platform != "win32" and (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.chown(name, old.st_uid, old.st_gid)
        except PermissionError:  # only root gives files away; the group may still be one of ours
            with suppress(PermissionError):
                os.chown(name, -1, old.st_gid)
    os.chmod(name, stat.S_IMODE(old.st_mode))


def _flush_folder(folder: Path) -> None:
    """The rename itself must outlast a power cut, too."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


PathName = str | os.PathLike[str]

MODEL_MARK = b"likely\r\n"
PLACES_MARK = b'{"files": '
LEFT_OUT_COLUMNS = ("file", "line", "reason", "text")
PLACES_SUFFIX = ".place"

MODEL, CHECKPOINT, LEFT_OUT, PAGE = "a model", "a checkpoint", "lines that were left out", "a page"
PNG, SVG, PARQUET, ARROW = "a picture (PNG)", "a picture (SVG)", "a Parquet table", "an Arrow table"
WORKBOOK = "a workbook"
JSON, SQL, GRAPH = "JSON", "an SQL query", "a graph (dot)"
ONNX, PMML = "a model for other programs (ONNX)", "a model for other programs (PMML)"
GZIP, ZSTD, TEXT, OTHER = "something packed (gzip)", "something packed (zstd)", "text", "something else"

FORMATS = {
    **dict.fromkeys((".html", ".htm"), PAGE), ".png": PNG, ".svg": SVG,
    **dict.fromkeys((".parquet", ".pq"), PARQUET), **dict.fromkeys((".arrow", ".ipc", ".feather"), ARROW),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), JSON), ".sql": SQL, ".dot": GRAPH,
    ".onnx": ONNX, ".pmml": PMML, ".xlsx": WORKBOOK, ".gz": GZIP, **dict.fromkeys((".zst", ".zstd"), ZSTD),
}  # fmt: skip
"""What a suffix promises; any other is that of a text, such as a delimited table."""

LOOKED = 4096
_BINARY = (
    (MODEL_MARK, MODEL), (b"\x89PNG", PNG), (b"PAR1", PARQUET), (b"ARROW1", ARROW), (b"\xff\xff\xff\xff", ARROW),
    (b"PK\x03\x04", WORKBOOK), (b"\x1f\x8b", GZIP), (b"\x28\xb5\x2f\xfd", ZSTD),
    (b"\x08\x08\x12\x06likely", ONNX),
)  # fmt: skip
_WRITTEN = (
    (re.compile(rb"<!doctype html|<html", re.IGNORECASE), PAGE), (re.compile(rb"(<\?xml[^>]*>\s*)?<PMML\b"), PMML),
    (re.compile(rb"<\?xml|<svg", re.IGNORECASE), SVG),
    (re.compile(rb"[{\[]"), JSON), (re.compile(rb"(SELECT|WITH)\s"), SQL), (re.compile(rb"digraph\b"), GRAPH),
    (re.compile(",".join(LEFT_OUT_COLUMNS).encode() + rb"\r?\n"), LEFT_OUT),
)  # fmt: skip


class Output(NamedTuple):
    """A file to be written, and its kind; without one, the suffix says it."""

    path: PathName
    kind: str | None = None

    @property
    def expected(self) -> str:
        """What may lie there already."""
        return self.kind or FORMATS.get(Path(self.path).suffix.lower(), TEXT)

    @property
    def paths(self) -> tuple[PathName, ...]:
        """All files that are written: a checkpoint has its places beside it."""
        return (self.path, f"{os.fspath(self.path)}{PLACES_SUFFIX}") if self.kind == CHECKPOINT else (self.path,)


def refuse(outputs: Sequence[Output], inputs: Iterable[PathName] = ()) -> None:
    """Refuse outputs by which something would be lost, or that cannot be written, before any work is done."""
    read = list(inputs)
    for output in outputs:
        for path in output.paths:
            refuse_place(path)
            if any(_is_same(path, other) for other in read):
                raise FileError(
                    f"{os.fspath(path)!r} is one of the files to read, and {_purpose(output)} would overwrite it; "
                    "name another file."
                )
    for one, other in combinations(outputs, 2):
        if any(_is_same(a, b) for a in one.paths for b in other.paths):
            raise FileError(
                f"{os.fspath(one.path)!r} cannot be {_purpose(one)} and {_purpose(other)} at once; name two files."
            )
    for output in outputs:
        _refuse_kind(output)


def kind_of(path: PathName) -> str | None:
    """What a file seems to hold, by its first bytes; None if there is no such file, or nothing in it."""
    start = _first_bytes(path, LOOKED)
    if not start:
        return None
    for mark, kind in _BINARY:
        if start.startswith(mark):
            return kind
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return OTHER
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((kind for pattern, kind in _WRITTEN if pattern.match(text)), TEXT)


def _refuse_kind(output: Output) -> None:
    path, expected = output.path, output.expected
    if is_stream(path):
        if expected == CHECKPOINT:
            raise FileError(f"{os.fspath(path)!r} is no file that a checkpoint could be kept in; name another.")
        return
    found = kind_of(path)
    if expected == CHECKPOINT:
        places = f"{os.fspath(path)}{PLACES_SUFFIX}"
        if not _is_ours(places):
            raise FileError(f"{places!r} is there already, and is no part of a checkpoint; name another file.")
        found = CHECKPOINT if found == MODEL and os.path.exists(places) else found
    if found in (None, expected) or (found == LEFT_OUT and expected == TEXT):
        return
    raise FileError(
        f"{os.fspath(path)!r} is there already and holds {found}, so it is not replaced by {_purpose(output)}; "
        "name another file, or remove it."
    )


def _is_ours(places: PathName) -> bool:
    """Whether the places of a checkpoint may be written here."""
    if is_stream(places):  # to look into a pipe would be to wait for ever
        return False
    return _first_bytes(places, len(PLACES_MARK)) in (b"", PLACES_MARK)


def _first_bytes(path: PathName, n: int) -> bytes:
    """The beginning of a file; nothing if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read(n)
    except FileNotFoundError:
        return b""


def _purpose(output: Output) -> str:
    return "a table in text" if output.expected == TEXT else output.expected


def _is_same(one: PathName, other: PathName) -> bool:
    """Whether two paths lead to one file, by whatever links; devices and pipes lose nothing."""
    try:
        regular = stat.S_ISREG(os.stat(one).st_mode)
        return os.path.samefile(one, other) and regular
    except OSError:
        return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def saved_text(text: str, path: PathName | None) -> str:
    """The text, which is also in the file if there is to be one."""
    if path is not None:
        refuse([Output(path, PAGE if text.startswith("<") else JSON)])
        write_text(path, text)
    return text
