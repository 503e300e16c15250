"""Known cells of a column, and a table that knows one column less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.table import GAP, Table
from likely.table.cells import Cells, NumberCells


def known_cells(table: Table, name: str) -> NDArray[np.bool_]:
    """Which rows know the column."""
    if table.storage(name) in ("float", "integer", "boolean"):
        return np.asarray(~np.isnan(table.numbers(name)))
    return np.asarray(table.codes(name).codes != GAP)


def without_column(table: Table, name: str) -> Table:
    """The same rows with a column that is all gaps."""

    def read(place: int) -> Cells:
        other = table.names[place]
        return NumberCells(np.full(table.n_rows, np.nan)) if other == name else table.cells(other)

    return Table(table.names, table.n_rows, read, named=table.named)
