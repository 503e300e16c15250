"""Types of arrays and of what callers may hand over, said once for the whole package."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
Int32 = NDArray[np.int32]
"""Numbers of things of which there are at most `numerics.MOST_PLACES`: rows, columns, classes, levels, words, nodes."""

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
"""Bytes of text, flags, bins of a tree (255, and one of gaps), codes of evidence (`evidence.prepare.MAX_BINS`)."""

Index = NDArray[np.intp]
Flags = NDArray[np.bool_]
UInt64 = NDArray[np.uint64]
UInt16 = NDArray[np.uint16]
"""Cells of two columns of evidence, or of three coarse ones (`evidence.kernels.term_codes`)."""

Float32 = NDArray[np.float32]
AnyArray = NDArray[Any]
"""An array whose dtype is the caller's: labels, cells as they came, decisions."""

Cell = TypeVar("Cell", bound=np.generic)


def read_only(array: NDArray[Cell]) -> NDArray[Cell]:
    """The same cells, not to be written to. Kernels are compiled anew for arrays that can be: hand them one sort."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


def is_sparse(value: object) -> bool:
    """Whether it is a matrix of scipy.sparse: nobody has one before that is imported, which takes its time."""
    return "scipy.sparse" in sys.modules and bool(scipy.sparse.issparse(value))


CUDA = (2, 13)
"""What DLPack calls memory of CUDA, and memory that host and GPU share."""


@runtime_checkable
class OnDevice(Protocol):
    """An array that says where it lies."""

    def __dlpack_device__(self) -> tuple[int, int]: ...


def is_on_device(rows: object) -> bool:
    """Whether these rows, or some column of a dict, lie in the memory of a GPU."""
    if isinstance(rows, Mapping):
        return any(_lies_on_device(column) for column in rows.values())
    return _lies_on_device(rows)


def _lies_on_device(rows: object) -> bool:
    """What gives no answer, or one that is none, lies nowhere: whoever reads it says so."""
    if isinstance(rows, np.ndarray) or rows is None:
        return False
    if is_sparse_on_device(rows):
        return True
    try:
        return isinstance(rows, OnDevice) and int(rows.__dlpack_device__()[0]) in CUDA
    except (ArithmeticError, AttributeError, BufferError, LookupError, OSError, RuntimeError, TypeError, ValueError):
        return False


def is_sparse_on_device(rows: object) -> bool:
    """Whether this is a sparse matrix of CuPy."""
    module = sys.modules.get("cupyx.scipy.sparse")
    return module is not None and bool(module.issparse(rows))


@runtime_checkable
class ArrowStream(Protocol):
    """A table of Arrow, pandas, polars, DuckDB … that can be read as a stream of Arrow batches."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@runtime_checkable
class ArrowArray(Protocol):
    """A column, or a batch of rows, that can be read as one array of Arrow."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object: ...


@runtime_checkable
class SupportsArray(Protocol):
    """Anything that NumPy can turn into an array: a series, a tensor on the host, a matrix."""

    def __array__(self) -> AnyArray: ...


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy, in any of its formats."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def tocsr(self) -> Any: ...


TableLike: TypeAlias = Sequence[object] | Mapping[str, object] | ArrowStream | ArrowArray | SupportsArray | SparseMatrix
"""Rows as they are: an array, a data frame, an Arrow table, a sparse matrix, lists of rows, a dict of columns."""

ColumnLike: TypeAlias = Sequence[object] | ArrowStream | ArrowArray | SupportsArray
"""One value per row: labels, weights, groups, as an array, a series or a list."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can say: settings, schemas and answers as they are written to a file or a wire."""
