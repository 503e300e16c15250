"""Arrays that are too large for memory, kept in temporary files: written once from front to back, read in parts.

The files have no name in the folder, so that nothing is left of them whatever happens to the program.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import FileError, PythonOnly
from likely.models.evidence.row_source import (
    MERGED_ROWS,
    WORTH_MERGING,
    Block,
    Codes,
    Rows,
    RowSource,
    View,
    alike,
    known_by_texts,
)
from likely.parallel import WorkerPool

FOLDER = PythonOnly("folder=, or ")
SPARE = 64 << 20
"""Bytes that are left free on a disk."""


class DiskArray:
    """Rows of one type and width, in a file. They are plain arrays again when they are read."""

    def __init__(self, file: IO[bytes], shelf: SpillDirectory, dtype: type[np.generic], width: int | None) -> None:
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


class SpillDirectory:
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
                "folder (",
                FOLDER,
                "the variable TMPDIR), or learn fewer columns.",
            )

    def new(self, dtype: type[np.generic], width: int | None = None) -> DiskArray:
        """Room for rows of so many cells; None for rows that are one cell."""
        try:
            file = tempfile.TemporaryFile(prefix="likely-", dir=self.folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self.refusal(error) from error
        self._files.append(file)
        return DiskArray(file, self, dtype, width)

    def refusal(self, error: OSError) -> FileError:
        """What the system refused, in words."""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FileError(
                f"The disk with {self.folder} is full; make room, or name another folder (",
                FOLDER,
                "the variable TMPDIR).",
            )
        what = (error.strerror or str(error)).rstrip(".")
        return FileError(
            f"Nothing can be written to the folder {self.folder}: {what}; name another one (",
            FOLDER,
            "the variable TMPDIR).",
        )


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):,.0f}"


# Rows to learn from that are kept on disk: every pass reads them in blocks, and holds one block per thread.


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """A file for every array of rows."""

    codes: DiskArray
    y: DiskArray
    weight: DiskArray
    texts: DiskArray | None

    @classmethod
    def new(cls, shelf: SpillDirectory, n_columns: int, n_said: int) -> Files:
        """Empty ones; `n_said` is how many numbers the texts of a row say."""
        texts = shelf.new(np.float64, n_said) if n_said else None
        return cls(shelf.new(np.uint8, n_columns), shelf.new(np.int32), shelf.new(np.float64), texts)

    def append(self, codes: Codes, y: NDArray[np.int32], weight: Array, texts: Array | None = None) -> None:
        """More rows."""
        self.codes.append(codes)
        self.y.append(y)
        self.weight.append(weight)
        if self.texts is not None and texts is not None:
            self.texts.append(texts)

    @staticmethod
    def row_bytes(n_columns: int, n_said: int) -> int:
        """What a row takes: a byte for each code, its class and weight, and what its texts say."""
        return n_columns + 4 + 8 + 8 * n_said


@dataclass(frozen=True, slots=True, eq=False)
class Spilled(RowSource):
    """Codes of pairs and triples are made of those of columns whenever a block is read, and take no room on disk.

    `trust` is the share of each text in what is known beforehand; it is empty where nothing is.
    """

    files: Files
    shelf: SpillDirectory
    n_columns: int
    n_classes: int
    crew: WorkerPool
    trust: Array
    view: View | None = None
    n_viewed: int | None = None

    def __len__(self) -> int:
        return len(self.files.y)

    @property
    def n_codes(self) -> int:
        """Codes of a row, as it is seen."""
        return self.n_columns if self.n_viewed is None else self.n_viewed

    def reads(self, part: slice) -> Iterator[Block]:
        """Blocks from the disk."""
        for block in self.blocks(part):
            rows = self._read(block)
            yield Block(rows.codes, rows.y, rows.weight, rows.offset, rows.texts, 0, len(rows))

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows, in memory."""
        found: list[Rows] = [self._read(slice(0, 0))]
        for block in self.blocks(slice(0, len(self))):
            first, last = np.searchsorted(rows, [block.start, block.stop])
            if first < last:
                found.append(self._read(block).take(rows[first:last] - block.start))
        last_one = found[-1]

        def joined(name: str) -> Any:
            return np.concatenate([getattr(one, name) for one in found])

        arrays = {name: joined(name) for name in ("codes", "y", "weight")}
        beside = {name: joined(name) for name in ("offset", "texts") if len(getattr(last_one, name))}
        return replace(last_one, **arrays, **beside)

    def held(self) -> Rows:
        """All of them, in memory."""
        return self._read(slice(0, len(self)))

    def viewed(self, view: View, n_codes: int) -> Spilled:
        """The same rows seen by other codes."""
        return replace(self, view=view, n_viewed=n_codes)

    def trusting(self, trust: Array) -> Spilled:
        """The same rows with what is known beforehand."""
        return replace(self, trust=trust)

    def without_offset(self) -> Spilled:
        """The same rows as if nothing were known beforehand."""
        return replace(self, trust=np.zeros(0))

    def merged(self) -> Spilled:
        """The same rows with those that are alike taken together, if there are many of them."""
        if len(self.trust) or not len(self):
            return self
        parts = [slice(at, min(at + MERGED_ROWS, len(self))) for at in range(0, len(self), MERGED_ROWS)]
        if sum(len(self._alike(part)[1]) for part in parts) > WORTH_MERGING * len(self):
            return self
        files = Files.new(self.shelf, self.n_columns, 0)
        for part in parts:
            files.append(*self._alike(part))
        return replace(self, files=files)

    def _alike(self, part: slice) -> tuple[Codes, NDArray[np.int32], Array]:
        rows = self._read(part)
        return alike(rows, slice(0, len(rows)))

    def _read(self, part: slice) -> Rows:
        files, n_scores = self.files, self.n_scores
        codes = files.codes.read(part)
        texts = np.zeros((0, 0)) if files.texts is None else files.texts.read(part)
        offset = known_by_texts(texts, self.trust) if len(self.trust) else np.zeros((0, n_scores))
        seen = codes if self.view is None else self.view(codes)
        return Rows(seen, files.y.read(part), files.weight.read(part), self.n_classes, offset, self.crew, texts)


class Keeping:
    """Rows as they come, piece by piece: in memory, or on a shelf if there is one."""

    def __init__(self, n_columns: int, n_said: int, shelf: SpillDirectory | None) -> None:
        self._shelf, self._n_columns = shelf, n_columns
        self._files = None if shelf is None else Files.new(shelf, n_columns, n_said)
        self._held: list[tuple[Codes, NDArray[np.int32], Array, Array]] = []

    def append(self, codes: Codes, y: NDArray[np.int32], weight: Array, texts: Array) -> None:
        """More rows."""
        if self._files is None:
            self._held.append((codes, y, weight, texts))
        else:
            self._files.append(codes, y, weight, texts)

    def rows(self, n_classes: int, crew: WorkerPool) -> RowSource:
        """All rows that came; nothing is known of them beforehand."""
        if self._files is not None and self._shelf is not None:
            return Spilled(self._files, self._shelf, self._n_columns, n_classes, crew, np.zeros(0))
        codes, y, weight, texts = (np.concatenate(arrays) for arrays in zip(*self._held, strict=True))
        self._held.clear()
        offset = np.zeros((0, 1 if n_classes == 2 else n_classes))
        return Rows(codes, y, weight, n_classes, offset, crew, texts if texts.shape[1] else np.zeros((0, 0)))
