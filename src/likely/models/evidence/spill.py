"""Training rows that are too large for memory, in temporary files: written once, read block by block in every pass.

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
from typing import IO, Self

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32
from likely.errors import About, FileError, PythonOnly, Setting
from likely.models.evidence.row_source import (
    DEDUPLICATED_ROWS,
    MAX_DISTINCT_SHARE,
    Codes,
    Recoding,
    RowBlock,
    RowsInMemory,
    RowSource,
    distinct_rows,
    text_offset,
)
from likely.parallel import WorkerPool

FOLDER = PythonOnly("folder=, or ")
MIN_FREE_BYTES = 64 << 20
"""Bytes that are left free on a disk."""


class DiskArray:
    """An array in a file: rows are appended, and read as plain arrays."""

    def __init__(self, file: IO[bytes], spill: SpillDirectory, dtype: type[np.generic], width: int | None) -> None:
        self._file, self._spill, self._lock = file, spill, Lock()
        self._dtype, self._shape = np.dtype(dtype), () if width is None else (width,)
        self._row = self._dtype.itemsize * (1 if width is None else width)
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: AnyArray) -> None:
        """Write rows at the end."""
        whole = np.ascontiguousarray(rows, dtype=self._dtype)
        with self._lock:
            self._file.seek(self._rows * self._row)
            self._rows += len(whole)
            buffer = whole.reshape(-1).view(np.uint8).data
            try:
                while len(buffer):
                    buffer = buffer[self._file.write(buffer) :]
            except OSError as error:
                raise self._spill.file_error(error) from error

    def read(self, part: slice) -> AnyArray:
        """Consecutive rows."""
        out = np.empty((part.stop - part.start, *self._shape), dtype=self._dtype)
        buffer, done = out.reshape(-1).view(np.uint8).data, 0
        with self._lock:
            self._file.seek(part.start * self._row)
            while done < len(buffer):
                more = self._file.readinto(buffer[done:])  # type: ignore[attr-defined]
                if not more:
                    raise FileError(f"A temporary file in {self._spill.folder} has been cut short; begin again.")
                done += more
        return out


class SpillDirectory:
    """Temporary files in one folder, closed and gone when the context ends."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files:
            file.close()
        self._files.clear()

    def require_space(self, n_bytes: int) -> None:
        """Raise if the disk has not so many bytes free."""
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise self.file_error(error) from error
        if free < n_bytes + MIN_FREE_BYTES:
            raise FileError(
                About("full disk"),
                f"The rows need {_mib(n_bytes)} MiB in {self.folder}, where {_mib(free)} MiB are free; name another "
                "folder (",
                FOLDER,
                "the variable TMPDIR), learn fewer columns, or take ",
                Setting("model", "naive"),
                ", which needs none.",
            )

    def new(self, dtype: type[np.generic], width: int | None = None) -> DiskArray:
        """An empty array whose rows have so many cells; None for one dimension."""
        try:
            file = tempfile.TemporaryFile(prefix="likely-", dir=self.folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self.file_error(error) from error
        self._files.append(file)
        return DiskArray(file, self, dtype, width)

    def file_error(self, error: OSError) -> FileError:
        """An error of the system as one of ours."""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FileError(
                About("full disk"),
                f"The disk with {self.folder} is full; make room, or name another folder (",
                FOLDER,
                "the variable TMPDIR).",
            )
        what = (error.strerror or str(error)).rstrip(".")
        return FileError(
            About("full disk"),
            f"Nothing can be written to the folder {self.folder}: {what}; name another one (",
            FOLDER,
            "the variable TMPDIR).",
        )


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):,.0f}"


@dataclass(frozen=True, slots=True, eq=False)
class RowFiles:
    """One file for each array of rows."""

    codes: DiskArray
    y: DiskArray
    weight: DiskArray
    text_scores: DiskArray | None

    @classmethod
    def new(cls, spill: SpillDirectory, n_columns: int, n_text_scores: int) -> RowFiles:
        """Empty files; `n_text_scores` is texts × scores."""
        text_scores = spill.new(np.float64, n_text_scores) if n_text_scores else None
        return cls(spill.new(np.uint8, n_columns), spill.new(np.int32), spill.new(np.float64), text_scores)

    def append(self, codes: Codes, y: Int32, weight: Array, text_scores: Array | None = None) -> None:
        """More rows."""
        self.codes.append(codes)
        self.y.append(y)
        self.weight.append(weight)
        if self.text_scores is not None and text_scores is not None:
            self.text_scores.append(text_scores)

    @staticmethod
    def row_bytes(n_columns: int, n_text_scores: int) -> int:
        """Bytes of a row: one for each code, its class and weight, and the scores of its texts."""
        return n_columns + 4 + 8 + 8 * n_text_scores


@dataclass(frozen=True, slots=True, eq=False)
class DiskRows(RowSource):
    """Rows on disk; a pass holds one block per thread.

    Cells of pairs and triples are computed from codes of columns whenever a block is read, and take no room on disk.
    `text_weights` are those of the offset; empty where there is none.
    """

    files: RowFiles
    spill: SpillDirectory
    n_columns: int
    n_classes: int
    pool: WorkerPool
    text_weights: Array
    recoding: Recoding | None = None
    n_recoded: int | None = None

    def __len__(self) -> int:
        return len(self.files.y)

    @property
    def n_codes(self) -> int:
        return self.n_columns if self.n_recoded is None else self.n_recoded

    def blocks(self, part: slice) -> Iterator[RowBlock]:
        for block in self.block_slices(part):
            rows = self._read(block)
            yield RowBlock(rows.codes, rows.y, rows.weight, rows.offset, rows.text_scores, 0, len(rows))

    def take(self, rows: Index) -> RowsInMemory:
        found = [self._read(slice(0, 0))]
        for block in self.block_slices(slice(0, len(self))):
            first, last = np.searchsorted(rows, [block.start, block.stop])
            if first < last:
                found.append(self._read(block).take(rows[first:last] - block.start))
        return replace(
            found[0],
            codes=np.concatenate([some.codes for some in found]),
            y=np.concatenate([some.y for some in found]),
            weight=np.concatenate([some.weight for some in found]),
            offset=np.concatenate([some.offset for some in found]),
            text_scores=np.concatenate([some.text_scores for some in found]),
        )

    def in_memory(self) -> RowsInMemory:
        return self._read(slice(0, len(self)))

    def recode(self, recoding: Recoding, n_codes: int) -> DiskRows:
        return replace(self, recoding=recoding, n_recoded=n_codes)

    def with_offset(self, text_weights: Array) -> DiskRows:
        return replace(self, text_weights=text_weights)

    def without_offset(self) -> DiskRows:
        return replace(self, text_weights=np.zeros(0))

    def deduplicate(self) -> DiskRows:
        if len(self.text_weights) or not len(self):
            return self
        parts = [slice(at, min(at + DEDUPLICATED_ROWS, len(self))) for at in range(0, len(self), DEDUPLICATED_ROWS)]
        if sum(len(self._distinct(part)[1]) for part in parts) > MAX_DISTINCT_SHARE * len(self):
            return self
        files = RowFiles.new(self.spill, self.n_columns, 0)
        for part in parts:
            files.append(*self._distinct(part))
        return replace(self, files=files)

    def _distinct(self, part: slice) -> tuple[Codes, Int32, Array]:
        rows = self._read(part)
        return distinct_rows(rows, slice(0, len(rows)))

    def _read(self, part: slice) -> RowsInMemory:
        files = self.files
        codes = files.codes.read(part)
        text_scores = np.zeros((0, 0)) if files.text_scores is None else files.text_scores.read(part)
        with_offset = len(self.text_weights) > 0
        offset = text_offset(text_scores, self.text_weights) if with_offset else np.zeros((0, self.n_scores))
        recoded = codes if self.recoding is None else self.recoding(codes)
        y, weight = files.y.read(part), files.weight.read(part)
        return RowsInMemory(recoded, y, weight, self.n_classes, offset, self.pool, text_scores)


class RowBuffer:
    """Collects rows piece by piece: in memory, or on disk if there is a folder to spill to."""

    def __init__(self, n_columns: int, n_text_scores: int, spill: SpillDirectory | None) -> None:
        self._spill, self._n_columns = spill, n_columns
        self._files = None if spill is None else RowFiles.new(spill, n_columns, n_text_scores)
        self._arrays: list[tuple[Codes, Int32, Array, Array]] = []

    def append(self, codes: Codes, y: Int32, weight: Array, text_scores: Array) -> None:
        """More rows."""
        if self._files is None:
            self._arrays.append((codes, y, weight, text_scores))
        else:
            self._files.append(codes, y, weight, text_scores)

    def rows(self, n_classes: int, pool: WorkerPool) -> RowSource:
        """All rows so far, without offsets."""
        if self._files is not None and self._spill is not None:
            return DiskRows(self._files, self._spill, self._n_columns, n_classes, pool, np.zeros(0))
        codes, y, weight, text_scores = (np.concatenate(arrays) for arrays in zip(*self._arrays, strict=True))
        self._arrays.clear()
        offset = np.zeros((0, 1 if n_classes == 2 else n_classes))
        return RowsInMemory(
            codes, y, weight, n_classes, offset, pool, text_scores if text_scores.shape[1] else np.zeros((0, 0))
        )
