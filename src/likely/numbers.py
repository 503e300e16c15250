"""Some numeric columns of a table as rows of floats, one block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import BadCell, SchemaError
from likely.table import Table

Array = NDArray[np.float64]


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


def counts_of(table: Table, columns: tuple[str, ...]) -> Numbers | sparse.csr_array:
    """Columns of counts: the sparse matrix itself where the table is one."""
    if table.sparse is None:
        return Numbers.of(table, columns)
    if columns == tuple(table.names):
        return table.sparse
    where = {name: position for position, name in enumerate(table.names)}
    return sparse.csr_array(table.sparse[:, [where[name] for name in columns]])
