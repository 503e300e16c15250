"""Arrays that are too large for memory, kept in temporary files: written once from front to back, read in parts.

The files have no name in the folder, so that nothing is left of them whatever happens to the program.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from threading import Lock
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from likely.errors import FileError

SPARE = 64 << 20
"""Bytes that are left free on a disk."""


class Stored:
    """Rows of one type and width, in a file. They are plain arrays again when they are read."""

    def __init__(self, file: IO[bytes], shelf: Shelf, dtype: type[np.generic], width: int | None) -> None:
        self._file, self._shelf, self._lock = file, shelf, Lock()
        self._dtype, self._shape = np.dtype(dtype), () if width is None else (width,)
        self._row = self._dtype.itemsize * (1 if width is None else width)
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows behind those that are there."""
        whole = np.ascontiguousarray(rows, dtype=self._dtype)
        with self._lock:
            self._file.seek(self._rows * self._row)
            self._rows += len(whole)
            view = whole.reshape(-1).view(np.uint8).data
            try:
                while len(view):
                    view = view[self._file.write(view) :]
            except OSError as error:
                raise self._shelf.refusal(error) from error

    def read(self, part: slice) -> NDArray[Any]:
        """Some rows that stand one after another."""
        out = np.empty((part.stop - part.start, *self._shape), dtype=self._dtype)
        view, done = out.reshape(-1).view(np.uint8).data, 0
        with self._lock:
            self._file.seek(part.start * self._row)
            while done < len(view):
                more = self._file.readinto(view[done:])  # type: ignore[attr-defined]
                if not more:
                    raise FileError(f"A temporary file in {self._shelf.folder} has been cut short; begin again.")
                done += more
        return out


class Shelf:
    """Temporary files in one folder, gone when they are no longer needed."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files:
            file.close()
        self._files.clear()

    def make_sure_of(self, n_bytes: int) -> None:
        """Refuse to begin what the disk has no room for."""
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise self.refusal(error) from error
        if free < n_bytes + SPARE:
            raise FileError(
                f"The rows need {_mib(n_bytes)} MiB in {self.folder}, where {_mib(free)} MiB are free; name another "
                "folder (folder=, or the variable TMPDIR), or learn fewer columns."
            )

    def new(self, dtype: type[np.generic], width: int | None = None) -> Stored:
        """Room for rows of so many cells; None for rows that are one cell."""
        try:
            file = tempfile.TemporaryFile(prefix="likely-", dir=self.folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self.refusal(error) from error
        self._files.append(file)
        return Stored(file, self, dtype, width)

    def refusal(self, error: OSError) -> FileError:
        """What the system refused, in words."""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FileError(
                f"The disk with {self.folder} is full; make room, or name another folder (folder=, or the variable "
                "TMPDIR)."
            )
        what = (error.strerror or str(error)).rstrip(".")
        return FileError(
            f"Nothing can be written to the folder {self.folder}: {what}; name another one (folder=, or the variable "
            "TMPDIR)."
        )


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):,.0f}"
