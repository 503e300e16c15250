"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

MARK = ".unfinished-"
"""Part of the name of a file that is still being written."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads sees the old one or the new one."""
    with whole_file(path) as file:
        file.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """The same for a text, such as a page."""
    write_whole(Path(path), text.encode())


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written beside the target: flushed to the disk and renamed at the end, gone if anything fails.

    A link is followed, so that it stays a link; the mode of an existing file is kept; what a crash left of
    an earlier save is removed.
    """
    target = Path(os.path.realpath(path))
    _sweep(target)
    mode = _mode_of(target)
    file, name = _own_file(target)
    try:
        with file:
            yield file.file
            file.flush()
            os.chmod(name, mode)
            os.fsync(file.fileno())
            os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _flush_folder(target.parent)


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


def _mode_of(target: Path) -> int:
    """The mode of the file that will be replaced, or what a new file gets here."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _flush_folder(folder: Path) -> None:
    """The rename itself must outlast a power cut, too."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
