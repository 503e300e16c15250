"""Files that carry their own types: Parquet and Arrow IPC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import FileError, missing_columns
from likely.io.parse import CATEGORY
from likely.io.sources import Place, Source, Wanted
from likely.table.table import unique_names

ROWS = 1 << 16
GATHER = 1 << 17
SAMPLE_ROWS = 20_000
SAMPLE_GROUPS = 8


@dataclass(frozen=True, slots=True)
class RowsPiece:
    """Rows that are in memory already."""

    source: Source
    table: pa.Table
    first: int
    total: int
    file: int

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def after(self) -> Place:
        return Place(self.file, self.first + self.n_rows, 0)

    @property
    def share(self) -> float:
        return (self.first + self.n_rows) / max(self.total, 1)

    def read(self) -> pa.Table:
        return self.table

    def where(self, row: int) -> str:
        return f"{self.source.name}, row {self.first + row + 1}"


class ParquetFile:
    """One Parquet file, read page by page."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        with _told(source):
            self._rows = int(self._open().metadata.num_rows)
        self.names = unique_names(self.schema().names)

    def _open(self, categories: tuple[str, ...] = ()) -> Any:
        import pyarrow.parquet as pq

        # Without pre-buffering, and with a small buffer, memory does not depend on the size of row groups.
        return pq.ParquetFile(
            self.source.path, pre_buffer=False, buffer_size=1 << 20, read_dictionary=list(categories),
            page_checksum_verification=True,
        )  # fmt: skip

    @cached_property
    def _schema(self) -> pa.Schema:
        with _told(self.source):
            return self._open().schema_arrow

    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def types(self) -> Mapping[str, str]:
        return {field.name: str(field.type) for field in self._schema}

    def late_changes(self) -> Mapping[str, str]:
        return {}

    def sample(self) -> pa.Table:
        with _told(self.source):
            file = self._open()
            groups = np.unique(np.linspace(0, file.num_row_groups - 1, SAMPLE_GROUPS).astype(int)).tolist()
            share = SAMPLE_ROWS // max(len(groups), 1)
            firsts = []
            for group in groups if file.num_row_groups else []:
                batches = file.iter_batches(share, row_groups=[group], use_threads=False)
                firsts += [pa.Table.from_batches([batch]) for batch in [next(batches, None)] if batch is not None]
            return pa.concat_tables(firsts) if firsts else self._schema.empty_table()

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[RowsPiece]:
        _refuse_unknown(wanted, self.names)
        texts = tuple(n for n, kind in wanted.items() if kind == CATEGORY and _is_text(self._schema.field(n).type))
        with _told(self.source):
            file = self._open(texts)
            passed = 0
            groups: list[int] = []
            for group in range(file.num_row_groups):  # whole row groups that lie before the place are not touched
                rows = file.metadata.row_group(group).num_rows
                if not groups and passed + rows <= place.offset:
                    passed += rows
                else:
                    groups.append(group)
            batches = file.iter_batches(ROWS, row_groups=groups, columns=list(wanted), use_threads=True)
            yield from _gathered(batches, self.source, wanted, place, passed, self._rows)


class ArrowFile:
    """One file of Arrow's own, as a file with an index or as a stream."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        with _told(source):
            self._schema = next(self._readers()).schema
        self.names = unique_names(self._schema.names)

    def _readers(self) -> Iterator[Any]:
        memory = pa.memory_map(str(self.source.path))
        try:
            yield pa.ipc.open_file(memory)
        except pa.ArrowInvalid:
            memory.seek(0)
            yield pa.ipc.open_stream(memory)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        reader = next(self._readers())
        if hasattr(reader, "num_record_batches"):
            yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            yield from reader

    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def types(self) -> Mapping[str, str]:
        return {field.name: str(field.type) for field in self._schema}

    def late_changes(self) -> Mapping[str, str]:
        return {}

    def sample(self) -> pa.Table:
        taken, rows = [], 0
        with _told(self.source):
            for batch in self._batches():
                taken.append(batch.slice(0, SAMPLE_ROWS - rows))
                rows += taken[-1].num_rows
                if rows >= SAMPLE_ROWS:
                    break
        return pa.Table.from_batches(taken, self._schema)

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[RowsPiece]:
        _refuse_unknown(wanted, self.names)
        with _told(self.source):
            total = sum(batch.num_rows for batch in self._batches())
            cut = (
                batch.select(list(wanted)).slice(start, ROWS)
                for batch in self._batches()
                for start in range(0, max(batch.num_rows, 1), ROWS)
            )
            yield from _gathered(cut, self.source, wanted, place, 0, total)


def _gathered(
    batches: Iterator[pa.RecordBatch], source: Source, wanted: Wanted, place: Place, passed: int, total: int
) -> Iterator[RowsPiece]:
    """Batches as pieces of a fair size, without the rows before the place; all rows must come."""
    waiting: list[pa.RecordBatch] = []
    rows, first = 0, passed
    for batch in batches:
        passed += batch.num_rows
        if passed <= place.offset or not batch.num_rows:
            first = passed if not waiting else first
            continue
        behind = place.offset - (passed - batch.num_rows)
        if behind > 0:
            batch, first = batch.slice(behind), place.offset
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= GATHER:
            yield RowsPiece(source, pa.Table.from_batches(waiting).select(list(wanted)), first, total, place.file)
            first, rows, waiting = first + rows, 0, []
    if waiting:
        yield RowsPiece(source, pa.Table.from_batches(waiting).select(list(wanted)), first, total, place.file)
    if passed != total:
        raise FileError(f"{source.name} says that it has {total:,} rows, but {passed:,} were found; it is damaged.")


@contextmanager
def _told(source: Source) -> Iterator[None]:
    """Troubles of the library in our words."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, FileError):
            raise
        words = str(error).split("\n")[0][:200]
        raise FileError(
            f"{source.name} cannot be read as {source.suffix or 'a table'}: {words}. Write it again."
        ) from None


def _refuse_unknown(wanted: Wanted, names: tuple[str, ...]) -> None:
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise missing_columns(unknown, names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
