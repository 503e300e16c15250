"""Writing a file whole or not at all. Every file that the package writes is written here."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

from likely.errors import FileError, NoSuchFile

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

MARK = ".unfinished-"
"""Part of the name of a file that is still being written."""

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")
"""Folders whose entries are files that a process has open, such as its standard output."""


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
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)), "wb") as stream:
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
    if _is_named_pipe(path):
        raise FileError(f"{os.fspath(path)!r} is a pipe, but lines are written to it time and again; name a file.")
    with open(path, "wb" if anew and not is_stream(path) else "ab") as file:
        yield file


def refuse_place(path: str | os.PathLike[str]) -> None:
    """Say in one sentence why nothing can be written here: no such folder, a folder, a disk, a socket."""
    name = os.fspath(path)
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise NoSuchFile(
                f"There is no folder {os.path.dirname(name) or folder!r} to write {os.path.basename(name)!r} to."
            ) from None
        return
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


def _is_named_pipe(path: str | os.PathLike[str]) -> bool:
    return is_stream(path) and stat.S_ISFIFO(os.stat(path).st_mode) and not _is_descriptor(path)


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
