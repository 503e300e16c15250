"""A column in Arrow's memory: pandas strings and nullable numbers, Polars, pyarrow, DuckDB."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SchemaError, say_kind
from likely.table.cells import GAP, Codes, Rows, Storage, numbers_of, settled, strings_of, used
from likely.table.encode import encode_numbers, python_levels

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowCells:
    """An Arrow column; null and NaN are gaps."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.column = _simple(column)

    def __len__(self) -> int:
        return len(self.column)

    @cached_property
    def storage(self) -> Storage:
        from pyarrow import types

        kind = self.column.type
        if types.is_null(kind) or (len(self) and self.column.null_count == len(self)):
            return "empty"
        if types.is_floating(kind) or types.is_decimal(kind):
            return "empty" if len(self) and self.gaps() == len(self) else "float"
        tests: tuple[tuple[Any, Storage], ...] = (
            (types.is_boolean, "boolean"),
            (types.is_integer, "integer"),
            (types.is_dictionary, "category"),
            (_is_text, "string"),
            (types.is_temporal, "date"),
        )
        return next((storage for test, storage in tests if test(kind)), "nested")

    def numbers(self, name: str) -> Array:
        import pyarrow as pa
        from pyarrow import types

        kind = self.column.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind):
            return _to_numpy(self.column.cast(pa.float64(), safe=False))
        if types.is_decimal(kind):
            return _to_numpy(self.column.cast(pa.float64()))
        if _is_text(kind):
            try:
                return _to_numpy(self.column.cast(pa.large_string()).cast(pa.float64()))
            except pa.ArrowInvalid:
                pass  # spaces, or no numbers: read with care and name the row
        elif not types.is_dictionary(kind):
            raise SchemaError(
                f"Column {name!r} holds {kind} and cannot be read as numbers; leave it out (",
                say_kind(name, "ignored"),
                ") or compute a number from it first.",
            )
        return numbers_of(self.codes(name), name)

    def codes(self, name: str) -> Codes:
        import pyarrow as pa
        from pyarrow import types

        kind = self.column.type
        if types.is_null(kind):
            return Codes((), np.full(len(self), GAP, dtype=np.int32))
        if types.is_decimal(kind) or types.is_floating(kind):
            return _coded(self.numbers(name))
        if types.is_integer(kind) or types.is_boolean(kind):
            return self._coded_exactly()
        if types.is_nested(kind):
            raise SchemaError(
                f"Column {name!r} holds {kind}, which cannot be a category; leave it out or turn it into strings."
            )
        if types.is_dictionary(kind):
            # Chunks may together have more values than their own indices, of 8 bits perhaps, can tell apart.
            wide = self.column.cast(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))
            return settled(*_dictionary(wide.unify_dictionaries()))
        encoded = self.column.dictionary_encode()
        levels, codes = _dictionary(encoded)
        return Codes(tuple(levels), codes) if _is_text(kind) else settled(levels, codes)

    def _coded_exactly(self) -> Codes:
        """Integers past 2⁵³ must not pass through floats on their way round the gaps."""
        import pyarrow as pa

        if self.column.null_count == 0:
            return _coded(_to_numpy(self.column))
        filled = _coded(_to_numpy(self.column.fill_null(pa.scalar(0).cast(self.column.type))))
        known = _to_numpy(self.column.is_valid())
        return used(filled.levels, np.where(known, filled.codes, np.int32(GAP)))

    def strings(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa
        from pyarrow import types

        kind = self.column.type
        try:
            if _is_text(kind):
                return self.column.cast(pa.large_string())
            if types.is_dictionary(kind) and _is_text(kind.value_type):
                return self.column.cast(kind.value_type).cast(pa.large_string())
        except pa.ArrowInvalid as error:
            raise SchemaError(f"Column {name!r} holds bytes that are no UTF-8 text: {error}.") from None
        return strings_of(self.codes(name))

    def gaps(self) -> int:
        from pyarrow import types

        gaps = self.column.null_count
        if types.is_floating(self.column.type):
            import pyarrow.compute as pc

            gaps += pc.sum(pc.is_nan(self.column)).as_py() or 0
        elif types.is_dictionary(self.column.type):
            gaps = int(np.count_nonzero(self.codes("").codes == GAP))
        return int(gaps)

    def at(self, rows: Rows) -> ArrowCells:
        import pyarrow as pa

        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            return ArrowCells(self.column.slice(start, max(stop - start, 0)))
        return ArrowCells(self.column.take(pa.array(rows)))


def _simple(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without extension types and runs, which hold a plain type inside."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    while True:
        if isinstance(column.type, pa.BaseExtensionType):
            storage = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(storage, column.type.storage_type)
        elif types.is_run_end_encoded(column.type):
            column = pa.chunked_array([pc.run_end_decode(c) for c in column.chunks], column.type.value_type)
        else:
            return column


def _is_text(kind: pa.DataType) -> bool:
    from pyarrow import types

    tests = (
        types.is_string,
        types.is_large_string,
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_string_view,
        types.is_binary_view,
    )
    return any(test(kind) for test in tests)


def _coded(values: NDArray[Any]) -> Codes:
    levels, codes = encode_numbers(values)
    return Codes(python_levels(levels), codes)


def _dictionary(encoded: pa.ChunkedArray) -> tuple[list[Any], NDArray[np.int32]]:
    """Levels and codes of a dictionary column whose chunks share one dictionary."""
    import pyarrow as pa

    if encoded.num_chunks == 0:
        return [], np.empty(0, dtype=np.int32)
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks]).cast(pa.int32())
    return encoded.chunk(0).dictionary.to_pylist(), _to_numpy(indices.fill_null(GAP))


def _to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """One array; no copy where there is one chunk without nulls."""
    if column.num_chunks == 1:
        return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy())
