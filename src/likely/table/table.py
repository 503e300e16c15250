"""A table at the door: named columns over memory that stays where it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from likely.arrays import AnyArray, Array, ColumnLike, TableLike
from likely.arrow import pa
from likely.errors import SHOWN_NAMES, About, BadCell, SchemaError, listed, missing_columns
from likely.numerics import refuse_many
from likely.table.cells import Cells, Codes, Rows, Storage
from likely.table.dates import moments_of, part_cells, part_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Numbered(Sequence[str]):
    """The names x0, x1, … of an array's columns, made when asked for: a sparse matrix may have a million."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(f"x{j}" for j in range(self._n)[place])
        return f"x{range(self._n)[place]}"

    def __iter__(self) -> Iterator[str]:
        return (f"x{j}" for j in range(self._n))

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._n == other._n
        return isinstance(other, Sequence) and len(other) == self._n and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(("x", self._n))

    def __repr__(self) -> str:
        return f"Numbered({self._n})"

    def find(self, name: object) -> int | None:
        """The place of a name, or None."""
        if not isinstance(name, str) or not name[1:].isascii() or not name[1:].isdigit() or name[0] != "x":
            return None
        place = int(name[1:])
        return place if place < self._n and name == f"x{place}" else None


def unique_names(names: Iterable[object]) -> tuple[str, ...]:
    """The names as strings; two alike are an error."""
    texts = tuple(name if type(name) is str else str(name) for name in names)
    if len(set(texts)) < len(texts):
        double = [name for name, times in Counter(texts).items() if times > 1]
        why = f"Several columns are called {listed(double)}; give each column its own name."
        raise SchemaError(About("names twice", tuple(double[:SHOWN_NAMES])), why)
    broken = next((name for name in texts if not name.isascii() and _BROKEN.search(name)), None)
    if broken is not None:
        raise SchemaError(f"The name of the column {broken!r} is no Unicode, and no file could hold it: rename it.")
    return texts


_BROKEN = re.compile("[\ud800-\udfff]")
"""Halves of a pair of code units, which do not stand alone in any text."""


@dataclass(eq=False)
class Table:
    """Columns by name. Nothing is read before it is asked for; codes are kept once they are made."""

    names: Sequence[str]
    n_rows: int
    read: Callable[[int], Cells]
    named: bool = field(kw_only=True)
    matrix: AnyArray | None = field(default=None, kw_only=True)
    sparse: csr_array | None = field(default=None, kw_only=True)
    is_text: bool = field(default=False, kw_only=True)
    dated: bool = field(default=True, kw_only=True)
    """Whether dates are told in parts; an engine does not know how."""

    def __post_init__(self) -> None:
        refuse_many(self.n_rows, "rows")  # so that codes, folds and leaves of rows fit into 32 bits
        self._cells: dict[int, Cells] = {}
        self._codes: dict[int, Codes] = {}
        self._parts: dict[str, Cells] = {}

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.names)

    def position(self, name: str) -> int:
        """The place of a column, counted from 0."""
        place = self._find(name)
        if place is None:
            raise missing_columns([name], self.names)
        return place

    def _find(self, name: str) -> int | None:
        return self.names.find(name) if isinstance(self.names, Numbered) else self._places.get(name)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def __contains__(self, name: object) -> bool:
        if name in self.names:
            return True
        part = part_of(name) if isinstance(name, str) else None
        return part is not None and part[0] in self.names

    def cells(self, name: str) -> Cells:
        """The column as it came, or a part of a date, such as "signup: month"."""
        place = self._find(name)
        return self._part(name) if place is None else self._at(place)

    def _part(self, name: str) -> Cells:
        found = part_of(name)
        if found is None or found[0] not in self.names:
            raise missing_columns([name], self.names)
        if name not in self._parts:
            self._parts[name] = part_cells(moments_of(self.cells(found[0]), found[0]), found[1])
        return self._parts[name]

    def storage(self, name: str) -> Storage:
        """How the column is held; "empty" if all of it is missing."""
        return self.cells(name).storage

    def numbers(self, name: str) -> Array:
        """The column as floats, NaN for a gap; perhaps a view of the caller's memory, so only to be read."""
        return self.cells(name).numbers(name)

    def codes(self, name: str) -> Codes:
        """The column as codes into its distinct values, which stand in no particular order."""
        place = self._find(name)
        if place is None:
            return self._part(name).codes(name)
        if place not in self._codes:
            self._codes[place] = self._at(place).codes(name)
        return self._codes[place]

    def strings(self, name: str) -> pa.ChunkedArray:
        """The column as text (large_string), null for a gap."""
        return self.cells(name).strings(name)

    def gaps(self, name: str) -> int:
        """How many cells of the column are missing."""
        return self.cells(name).gaps()

    def slice(self, start: int, stop: int) -> Table:
        """The rows from `start` up to, but not including, `stop`."""
        first, last, _ = slice(start, stop).indices(self.n_rows)
        return self._rows(slice(first, max(first, last)), max(last - first, 0))

    def take(self, rows: ArrayLike) -> Table:
        """These rows, by number or by a mask of truth values."""
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.intp)
        chosen = np.where(chosen < 0, chosen + self.n_rows, chosen)
        return self._rows(chosen, len(chosen))

    def renamed(self, names: Sequence[str]) -> Table:
        """The same columns under other names."""
        other = replace(self, names=names, read=self._at)
        other._codes = self._codes
        return other

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows × {self.n_columns} columns)"

    def _at(self, place: int) -> Cells:
        if place not in self._cells:
            self._cells[place] = self.read(place)
        return self._cells[place]

    def _rows(self, rows: Rows, n_rows: int) -> Table:
        matrix = self.matrix
        if matrix is not None:  # `take` copies rows in half the time that indexing needs
            matrix = matrix[rows] if isinstance(rows, slice) else np.take(matrix, rows, axis=0)
        cut = None if self.sparse is None else self.sparse[rows]
        part = Table(
            self.names, n_rows, lambda place: self._at(place).at(rows), named=self.named, matrix=matrix, sparse=cut
        )
        part._codes = {place: codes.at(rows) for place, codes in list(self._codes.items())}
        return part


# Some numeric columns of a table as rows of floats, one block at a time.


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Blocks of rows, ready for the kernels; a matrix of floats is not copied."""

    columns: tuple[str, ...]
    source: NDArray[np.generic] | Sequence[Array]

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...]) -> Numbers:
        if table.sparse is not None:
            raise SchemaError(
                "A sparse matrix is read as counts: choose the family 'multinomial', 'complement' or 'bernoulli', "
                "or pass a dense array."
            )
        if table.matrix is not None and len(columns) == table.matrix.shape[1] and columns == tuple(table.names):
            return cls(columns, table.matrix)
        return cls(columns, [table.numbers(name) for name in columns])

    def rows(self, block: slice) -> Array:
        """Rows × columns as contiguous floats, NaN for a gap."""
        if isinstance(self.source, np.ndarray):
            return np.ascontiguousarray(self.source[block], dtype=np.float64)
        gathered = np.empty((block.stop - block.start, len(self.columns)))
        for position, column in enumerate(self.source):
            gathered[:, position] = column[block]
        return gathered

    def column(self, place: int) -> Array:
        """All rows of one column."""
        if isinstance(self.source, np.ndarray):
            return np.ascontiguousarray(self.source[:, place], dtype=np.float64)
        return np.ascontiguousarray(self.source[place])

    def refuse_infinite(self, block: slice) -> None:
        """Raise for the first infinite cell of a block, if there is one."""
        rows = self.rows(block)
        places = np.argwhere(np.isinf(rows))
        if len(places):
            row, column = (int(k) for k in places[0])
            bad = BadCell(row, column, float(rows[row, column]), INFINITE)
            raise bad.named(self.columns, block.start)


INFINITE = "numbers must be finite: leave the cell empty if the value is not known (Input X contains infinity)"


def counts_of(table: Table, columns: tuple[str, ...]) -> Numbers | scipy.sparse.csr_array:
    """Columns of counts: the sparse matrix itself where the table is one."""
    if table.sparse is None:
        return Numbers.of(table, columns)
    if columns == tuple(table.names):
        return table.sparse
    where = {name: position for position, name in enumerate(table.names)}
    return scipy.sparse.csr_array(table.sparse[:, [where[name] for name in columns]])


RowsLike: TypeAlias = TableLike | Table
"""Rows to predict for: raw, or read already."""

Labelling: TypeAlias = ColumnLike | str
"""Labels of rows, or the name of the column that holds them."""

Weights: TypeAlias = ColumnLike | float | None
"""The weight of each row, or of all; none means that each row counts once."""
