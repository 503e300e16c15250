"""A journal: changes on the disk before anybody is told that they were made.

It is a file of lines, each a checksum and JSON, and begins with the digest of the model file that it goes on from. A
line that was cut off at the very end was never acknowledged, and is dropped; damage anywhere else is refused, since
what comes after it was promised. When the journal is folded into a new model file, the digest of that file is written
here first: so after a crash it can be told on which side of the renaming it happened, and no row counts twice.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from likely.errors import FileError
from likely.io.outputs import whole_file

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

FORMAT = 1
_PRIVATE = 0o600
_CHECK = 8


class JournalError(FileError):
    """The journal cannot be read or written, so nothing can be learned."""


def journal_of(model: Path) -> Path:
    """Where the journal of a model file lies."""
    return model.with_name(f"{model.name}.journal")


class Journal:
    """One writer at a time: whoever comes second is refused."""

    def __init__(self, path: Path, base: str) -> None:
        self.path = path
        self._file = _locked(path)
        try:
            self.entries, self._size = self._begun(base)
        except BaseException:
            os.close(self._file)
            raise

    @property
    def size(self) -> int:
        """Bytes that are there for good."""
        return self._size

    def _begun(self, base: str) -> tuple[list[dict[str, object]], int]:
        content = self.path.read_bytes()
        entries, size = parsed(content, self.path.name)
        if not entries:  # new, or its first line never got to the disk
            os.ftruncate(self._file, 0)
            self._size = 0
            self._write(_line(_head(base)))
            return [_head(base)], self._size
        if size < len(content):
            os.ftruncate(self._file, size)
            os.fsync(self._file)
        return entries, size

    def append(self, entries: Sequence[dict[str, object]]) -> None:
        """Write entries and wait until they are on the disk; if that fails, none of them is there."""
        self._write(b"".join(map(_line, entries)))

    def _write(self, content: bytes) -> None:
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            try:
                os.ftruncate(self._file, self._size)
                os.fsync(self._file)
            except OSError:
                self.close()  # what the disk holds is unknown now; the next start will look
            raise JournalError(f"The journal cannot be written ({error.strerror}), so nothing is learned.") from None
        self._size += len(content)

    def restart(self, base: str, entries: Sequence[dict[str, object]]) -> None:
        """Begin anew, for a model file that holds all that was journalled; the old journal is there until then."""
        with whole_file(self.path) as file:
            os.fchmod(file.fileno(), _PRIVATE)
            file.write(b"".join(map(_line, [_head(base), *entries])))
        old, self._file = self._file, _locked(self.path)
        os.close(old)
        self._size = os.fstat(self._file).st_size

    def close(self) -> None:
        """Let another writer come."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_journal(path: Path) -> list[dict[str, object]]:
    """The entries of a journal that somebody else may be writing; nothing if there is none."""
    try:
        return parsed(path.read_bytes(), path.name)[0]
    except FileNotFoundError:
        return []


def parsed(content: bytes, name: str) -> tuple[list[dict[str, object]], int]:
    """The entries, and how many bytes of the content they are; what follows was cut off while it was written."""
    entries: list[dict[str, object]] = []
    size = 0
    for line in _lines(content):
        entry = _entry(line)
        if entry is None:
            rest = content[size:]
            if b"\n" in rest and b"\0" not in rest:  # zeros are pages that never got to the disk
                raise JournalError(f"The journal {name!r} is damaged after {len(entries)} entries; restore it.")
            break
        entries.append(entry)
        size += len(line)
    if entries and (entries[0].get("format") != FORMAT or not isinstance(entries[0].get("base"), str)):
        raise JournalError(f"{name!r} is no journal that this version can read.")
    return entries, size


def _lines(content: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(content):
        end = content.find(b"\n", start) + 1
        if not end:
            yield content[start:]
            return
        yield content[start:end]
        start = end


def _entry(line: bytes) -> dict[str, object] | None:
    body = line[_CHECK + 1 : -1]
    if not line.endswith(b"\n") or line[: _CHECK + 1] != b"%08x " % zlib.crc32(body):
        return None
    try:
        entry = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None
    return entry if isinstance(entry, dict) else None


def _line(entry: dict[str, object]) -> bytes:
    body = msgspec.json.encode(entry)
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _head(base: str) -> dict[str, object]:
    return {"journal": "likely", "format": FORMAT, "base": base}


def _locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _PRIVATE)
    if sys.platform != "win32":
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            os.close(file)
            raise JournalError(f"Another process is writing the journal {path.name!r}; stop it first.") from None
    return file
