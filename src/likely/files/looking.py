"""Some rows of a table in files, as a classifier reads them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from likely.errors import missing_columns
from likely.files.counting import columns_read
from likely.files.table import FileTable


def rows_for(classifier: Any, table: FileTable, first: int, count: int) -> pa.Table:
    """So many rows from one on (counted from 0), with the columns of the classifier; no more is read than needed."""
    wanted = columns_read(classifier)
    missing = [name for name in wanted if name not in table.names]
    if missing:
        raise missing_columns(missing, table.names)
    found: list[pa.Table] = []
    passed = 0
    for piece in table.pieces(wanted):
        rows = piece.read()
        start, stop = max(first - passed, 0), min(first + count - passed, rows.num_rows)
        if start < stop:
            found.append(rows.slice(start, stop - start))
        passed += rows.num_rows
        if passed >= first + count:
            break
    return pa.concat_tables(found) if found else pa.table({name: pa.array([]) for name in wanted})
