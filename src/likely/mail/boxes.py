"""Where mail lies: a maildir, an mbox, a file with one message, or standard input."""

from __future__ import annotations

import mailbox
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from likely.errors import FileError, NoSuchFile

STANDARD = "-"
MAILDIR = ("cur", "new")
LONGEST = 50_000_000
"""Bytes of one message."""
_MBOX_LINE = b"From "


class Mail(NamedTuple):
    """A message as it came, and where it lies."""

    place: str
    raw: bytes


def read_boxes(sources: Iterable[str], stdin: BinaryIO | None = None) -> Iterator[Mail]:
    """All messages of all sources, in order."""
    for source in sources:
        if source == STANDARD:
            yield Mail("standard input", _bounded(stdin or sys.stdin.buffer, "standard input"))
        elif not os.path.exists(source):
            raise NoSuchFile(f"There is no mail at {source!r}.")
        elif os.path.isdir(source):
            yield from _folder(Path(source))
        else:
            yield from _file(Path(source))


def _folder(path: Path) -> Iterator[Mail]:
    """A maildir, or a plain folder with one message in each file."""
    parts = [path / name for name in MAILDIR if (path / name).is_dir()] or [path]
    for part in parts:
        for file in sorted(part.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                with file.open("rb") as content:
                    yield Mail(os.fspath(file), _bounded(content, os.fspath(file)))


def _file(path: Path) -> Iterator[Mail]:
    with path.open("rb") as file:
        start = file.read(len(_MBOX_LINE))
        if start != _MBOX_LINE:
            file.seek(0)
            yield Mail(os.fspath(path), _bounded(file, os.fspath(path)))
            return
    box = mailbox.mbox(path, create=False)
    try:
        for key in box.iterkeys():
            yield Mail(f"{os.fspath(path)}:{int(key) + 1}", _unquoted(box.get_bytes(key)))
    finally:
        box.close()


def _unquoted(raw: bytes) -> bytes:
    """Lines that an mbox had to quote, as they were."""
    return re.sub(rb"^>(>*From )", rb"\1", raw, flags=re.MULTILINE)


def _bounded(file: BinaryIO, name: str) -> bytes:
    raw = file.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise FileError(f"The message in {name!r} has more than {LONGEST:,} bytes.")
    return raw
