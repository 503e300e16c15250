"""Documents as they come (lists, arrays, series, Arrow), as blocks of UTF-8 bytes and where each document ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.arrays import ColumnLike, Int64, UInt8, read_only
from likely.errors import About, AtRow, DataError
from likely.table.cells import spelled_out

if TYPE_CHECKING:
    import pyarrow as pa

DecodeError = Literal["strict", "replace", "ignore"]

BLOCK_BYTES = 1 << 20
BLOCK_DOCUMENTS = 1 << 16
"""A block is what one thread reads at a time: cut by size alone, never by the number of threads."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBlock:
    """The bytes of some documents, end to end; document `k` ends before byte `ends[k]`."""

    data: UInt8
    ends: Int64

    def __len__(self) -> int:
        return len(self.ends)


def as_blocks(texts: ColumnLike | Iterable[object], decode_error: DecodeError = "strict") -> list[DocumentBlock]:
    """Cut documents into blocks. A gap (None, NaN, null) is an empty document.

    >>> [block.ends.tolist() for block in as_blocks(["to be", None, "or not"])]
    [[5, 5, 11]]
    """
    return list(each_block(texts, decode_error))


FIRST_PIECE = 256
"""Texts of a list that are converted first: how long these are says how many are a block."""


def each_block(texts: ColumnLike | Iterable[object], decode_error: DecodeError = "strict") -> Iterable[DocumentBlock]:
    """The same; a list is converted piece by piece, as blocks are asked for: threads work on the pieces before."""
    if isinstance(texts, list | tuple):
        return _converted(texts, decode_error)
    return list(_cut_all(as_arrow(texts, decode_error)))


def _converted(texts: Sequence[object], decode_error: DecodeError) -> Iterator[DocumentBlock]:
    first, size = 0, FIRST_PIECE
    while first < len(texts):
        column = as_arrow(texts[first : first + size], decode_error, first)
        yield from _cut_all(column)
        first += size
        size = min(max(BLOCK_BYTES * size // max(column.nbytes, 1), FIRST_PIECE), BLOCK_DOCUMENTS)


def _cut_all(column: pa.ChunkedArray) -> Iterator[DocumentBlock]:
    return (block for chunk in column.chunks for block in _cut(chunk))


def as_arrow(
    texts: ColumnLike | Iterable[object], decode_error: DecodeError = "strict", first_row: int = 0
) -> pa.ChunkedArray:
    """One column of large strings, without a copy where the texts lie in Arrow's memory already."""
    import pyarrow as pa

    column = _column(texts, decode_error, first_row)
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    while isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = spelled_out(column)
        kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.large_string())
    if _is_binary(kind):
        return _decoded(column.cast(pa.large_binary()), decode_error, first_row)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise DataError(f"Texts are expected, but these are {kind} values; turn them into strings first.")
    return column.cast(pa.large_string())


def _column(
    texts: ColumnLike | Iterable[object], decode_error: DecodeError, first_row: int
) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    if isinstance(texts, str | bytes):
        raise DataError("A list of texts is expected, but this is a single one; put it into a list.")
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return texts
    if isinstance(texts, np.ndarray) and texts.ndim != 1:
        raise DataError(f"A list of texts is expected, but this array has {texts.ndim} dimensions; choose a column.")
    if hasattr(texts, "columns") or isinstance(texts, dict):
        raise DataError("A list of texts is expected, but this is a table; choose one of its columns.")
    if hasattr(texts, "to_arrow"):
        return texts.to_arrow()
    is_array = hasattr(texts, "__array__")
    if hasattr(texts, "__arrow_c_stream__") and not is_array:
        return pa.chunked_array(texts)
    if not isinstance(texts, Iterable):
        raise DataError(f"A list of texts is expected, but this is a {type(texts).__name__}.")
    cells = texts if is_array or isinstance(texts, Sequence) else list(texts)
    try:
        return pa.array(cells, from_pandas=True) if is_array else _from_list(cells)
    except (pa.ArrowException, UnicodeEncodeError, TypeError):
        # Bytes among strings, lone surrogates, or no texts at all: one by one, so that the row can be named.
        return pa.array(
            [_text(text, row, decode_error) for row, text in enumerate(cells, first_row)], pa.large_string()
        )


def _from_list(texts: Iterable[object]) -> pa.Array:
    import pyarrow as pa

    first = next((text for text in texts if isinstance(text, str | bytes)), "")
    return pa.array(texts, pa.large_binary() if isinstance(first, bytes) else pa.large_string(), from_pandas=True)


def _text(text: object, row: int, decode_error: DecodeError) -> str | None:
    if isinstance(text, str):
        # A lone surrogate has no UTF-8; it is no word character either.
        return text.encode("utf-8", "replace").decode("utf-8")
    if isinstance(text, bytes):
        return _decode(text, row, decode_error)
    if text is None or text != text or str(text) == "<NA>":
        return None
    raise DataError(
        About("cell no text", type(text).__name__),
        AtRow(row, f"Row {row}", "A cell"),
        f" holds {text!r} ({type(text).__name__}), but a text is expected; turn it into a string.",
    )


def _decode(text: bytes, row: int, decode_error: DecodeError) -> str:
    try:
        return text.decode("utf-8", decode_error)
    except UnicodeDecodeError as error:
        raise DataError(
            About("text bytes"),
            AtRow(row, f"Row {row}", "A cell"),
            f" is no UTF-8 text: byte {error.start} is 0x{text[error.start]:02x}. Decode the column with its "
            'own encoding, or pass decode_error="replace".',
        ) from None


def _is_binary(kind: pa.DataType) -> bool:
    from pyarrow import types

    tests = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(test(kind) for test in tests)


def _decoded(column: pa.ChunkedArray, decode_error: DecodeError, first_row: int) -> pa.ChunkedArray:
    import pyarrow as pa

    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = (
            None if text is None else _decode(text, row, decode_error)
            for row, text in enumerate(column.to_pylist(), first_row)
        )
        return pa.chunked_array([pa.array(texts, pa.large_string())])


def _cut(chunk: pa.Array) -> Iterable[DocumentBlock]:
    """Blocks of about equal size; a document is never cut."""
    if chunk.null_count:
        chunk = chunk.fill_null("")
    if len(chunk) == 0:
        return
    _, offsets, data = chunk.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    everything = read_only(np.frombuffer(data if data is not None else b"", dtype=np.uint8))
    first = 0
    while first < len(chunk):
        last = int(np.searchsorted(starts, starts[first] + BLOCK_BYTES, side="right")) - 1
        last = min(max(last, first + 1), first + BLOCK_DOCUMENTS, len(chunk))
        yield DocumentBlock(everything[starts[first] : starts[last]], starts[first + 1 : last + 1] - starts[first])
        first = last
