"""Files that carry their own types: Parquet and Arrow IPC."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likely.errors import About, AtLine, FileError, Message
from likely.io.parse import CATEGORY
from likely.io.sources import Piece, Place, Source, TableFile, Wanted
from likely.table.table import unique_names

if TYPE_CHECKING:
    import pyarrow.parquet as pq

ROWS = 1 << 16
GATHER = 1 << 17
SAMPLE_ROWS = 20_000
SAMPLE_GROUPS = 8


@dataclass(frozen=True)
class RowsPiece(Piece):
    """Rows that are in memory already."""

    table: pa.Table

    def read(self) -> pa.Table:
        return self.table

    def where(self, row: int) -> str:
        return Message(AtLine(self.source.name, self.after.offset - self.n_rows + row + 1, "row"))


class ColumnarFile(TableFile):
    """One file of either format."""

    def __init__(self, source: Source) -> None:
        self.source = source
        with _told(source):
            self._schema = self._read_schema()
            names = self._schema.names
        self.names = unique_names(names)

    @abstractmethod
    def _read_schema(self) -> pa.Schema: ...

    def schema(self) -> pa.Schema:
        return self._schema

    def _gathered(
        self, batches: Iterator[pa.RecordBatch], wanted: Wanted, place: Place, passed: int, total: int
    ) -> Iterator[RowsPiece]:
        """Batches as pieces of a fair size, without the rows before the place; all rows must come."""
        waiting: list[pa.RecordBatch] = []
        rows = 0

        def gathered(end: int) -> RowsPiece:
            table = pa.Table.from_batches(waiting).select(list(wanted))
            return RowsPiece(self.source, rows, Place(place.file, end), end / max(total, 1), table)

        for batch in batches:
            passed += batch.num_rows
            if passed <= place.offset or not batch.num_rows:
                continue
            waiting.append(batch.slice(max(place.offset - (passed - batch.num_rows), 0)))
            rows += waiting[-1].num_rows
            if rows >= GATHER:
                yield gathered(passed)
                rows, waiting = 0, []
        if waiting:
            yield gathered(passed)
        if passed != total:
            found = f"{total:,} rows, but {passed:,} were found; it is damaged."
            raise FileError(About("rows lack", total, passed), f"{self.source.name} says that it has {found}")


class ParquetFile(ColumnarFile):
    """One Parquet file, read page by page."""

    def _open(self, categories: tuple[str, ...] = ()) -> pq.ParquetFile:
        import pyarrow.parquet as pq

        # Without pre-buffering, and with a small buffer, memory does not depend on the size of row groups.
        return pq.ParquetFile(
            self.source.path, pre_buffer=False, buffer_size=1 << 20, read_dictionary=list(categories),
            page_checksum_verification=True,
        )  # fmt: skip

    def _read_schema(self) -> pa.Schema:
        return self._open().schema_arrow

    def sample(self) -> pa.Table:
        with _told(self.source):
            file = self._open()
            groups = np.unique(np.linspace(0, file.num_row_groups - 1, SAMPLE_GROUPS).astype(int)).tolist()
            share = SAMPLE_ROWS // max(len(groups), 1)
            firsts = []
            for group in groups if file.num_row_groups else []:
                batches = file.iter_batches(share, row_groups=[group], use_threads=False)
                firsts += [pa.Table.from_batches([_sound(batch)]) for batch in islice(batches, 1)]
            return pa.concat_tables(firsts) if firsts else self._schema.empty_table()

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[RowsPiece]:
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
            batches = map(_sound, file.iter_batches(ROWS, row_groups=groups, columns=list(wanted), use_threads=True))
            yield from self._gathered(batches, wanted, place, passed, file.metadata.num_rows)


class ArrowFile(ColumnarFile):
    """One file of Arrow's own, as a file with an index or as a stream."""

    def _reader(self) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
        memory = pa.memory_map(str(self.source.path))
        try:
            return pa.ipc.open_file(memory)
        except pa.ArrowInvalid:
            memory.seek(0)
            return pa.ipc.open_stream(memory)

    def _read_schema(self) -> pa.Schema:
        return self._reader().schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        reader = self._reader()
        if isinstance(reader, pa.RecordBatchFileReader):
            yield from map(reader.get_batch, range(reader.num_record_batches))
        else:
            yield from reader

    def sample(self) -> pa.Table:
        taken, rows = [], 0
        with _told(self.source):
            for batch in map(_sound, self._batches()):
                taken.append(batch.slice(0, SAMPLE_ROWS - rows))
                rows += taken[-1].num_rows
                if rows >= SAMPLE_ROWS:
                    break
        return pa.Table.from_batches(taken, self._schema)

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[RowsPiece]:
        with _told(self.source):
            total = sum(batch.num_rows for batch in self._batches())
            cut = (
                batch.select(list(wanted)).slice(start, ROWS)
                for batch in map(_sound, self._batches())
                for start in range(0, max(batch.num_rows, 1), ROWS)
            )
            yield from self._gathered(cut, wanted, place, 0, total)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, once every offset, code and letter in it has been looked at: Arrow itself trusts what files say."""
    batch.validate(full=True)
    return batch


@contextmanager
def _told(source: Source) -> Iterator[None]:
    """Troubles of the library in our words."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, FileError):
            raise
        words = str(error).split("\n")[0][:200]
        why = f"{source.name} cannot be read as {source.suffix or 'a table'}: {words}. Write it again."
        raise FileError(About("unreadable", source.suffix), why) from None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
