"""Rows as JSON objects, read by the columns that a model has learned, without a frame or an Arrow table.

Rows of several requests are predicted together, and nobody's answer may depend on whose rows stand beside them. How a
value is matched with those learned does depend on the types in its column (a "3" finds 3 if all are strings), so only
rows whose cells have the types that were learned are `plain`, and only plain rows are put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from likely.errors import missing_columns
from likely.serve.refusals import HTTPRefusal
from likely.table import Codes, Table
from likely.table.cells import CategoryCells, Cells, NumberCells, as_objects
from likely.table.column import ObjectCells
from likely.table.schema import Schema

_ABSENT = object()
_NOTHING = type(None)
_NUMBERS: frozenset[type] = frozenset({float, int, _NOTHING})
_TYPES: dict[str, frozenset[type]] = {
    "float": _NUMBERS,
    "integer": _NUMBERS,
    "boolean": frozenset({bool, _NOTHING}),
}
_STRINGS: frozenset[type] = frozenset({str, _NOTHING})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Cells by column, in the order of the reader's names."""

    cells: list[list[object]]
    n_rows: int
    plain: bool


class RowReader:
    """Reads rows by the names of a schema: any order, further names ignored, null for a gap."""

    def __init__(self, schema: Schema, more: Sequence[str] = ()) -> None:
        self.names = tuple(dict.fromkeys((*schema.inputs, *more)))
        kinds = schema.kinds
        self._kinds = [kinds.get(name, "nominal") for name in self.names]
        self._types = [
            _NUMBERS if kind == "numeric" else _TYPES.get(schema[name].storage, _STRINGS) if name in kinds else _STRINGS
            for name, kind in zip(self.names, self._kinds, strict=True)
        ]

    def columns(self, rows: Sequence[Mapping[str, object]]) -> Columns:
        """The cells that the model reads; a column that no row has is an error, one that some rows lack is a gap there.

        >>> from likely import Schema
        >>> schema = Schema.infer({"age": [31.5, 44.2], "town": ["Ulm", "Bonn"]})
        >>> RowReader(schema).columns([{"town": "Ulm", "age": 3.5, "x": 1}]).cells
        [[3.5], ['Ulm']]
        """
        if len(rows) == 1:
            row = rows[0]
            cells = [[row.get(name, _ABSENT)] for name in self.names]
            plain = all(type(cell[0]) in types for cell, types in zip(cells, self._types, strict=True))
        else:
            cells = [[row.get(name, _ABSENT) for row in rows] for name in self.names]
            plain = all(set(map(type, cell)) <= types for cell, types in zip(cells, self._types, strict=True))
        return Columns(cells, len(rows), True) if plain else self._looked_through(rows, cells)

    def from_columns(self, given: Mapping[str, Sequence[object]], n_rows: int) -> Columns:
        """The same where cells came column by column."""
        missing = [name for name in self.names if name not in given]
        if missing:
            raise missing_columns(missing, list(given))
        cells = [list(given[name]) for name in self.names]
        plain = all(set(map(type, cell)) <= types for cell, types in zip(cells, self._types, strict=True))
        return Columns(cells, n_rows, plain)

    def _looked_through(self, rows: Sequence[Mapping[str, object]], cells: list[list[object]]) -> Columns:
        missing = [name for name, cell in zip(self.names, cells, strict=True) if all(x is _ABSENT for x in cell)]
        if missing:
            raise missing_columns(missing, list(dict.fromkeys(name for row in rows[:1] for name in row)))
        cells = [[None if x is _ABSENT else x for x in cell] for cell in cells]
        plain = all(set(map(type, cell)) <= types for cell, types in zip(cells, self._types, strict=True))
        return Columns(cells, len(rows), plain)

    def table(self, parts: Sequence[Columns]) -> Table:
        """Rows of one or several requests as a table: numbers in NumPy's memory, categories as codes."""
        if len(parts) == 1:
            cells, n_rows = parts[0].cells, parts[0].n_rows
        else:
            cells = [[x for part in parts for x in part.cells[place]] for place in range(len(self.names))]
            n_rows = sum(part.n_rows for part in parts)
        columns = [_cells(kind, cell, types) for kind, cell, types in zip(self._kinds, cells, self._types, strict=True)]
        return Table(self.names, n_rows, columns.__getitem__, named=True)


def _cells(kind: str, values: list[object], types: frozenset[type]) -> Cells:
    """The column as the library would read it; what is unusual is left to the library."""
    if not set(map(type, values)) <= types or kind == "text":
        return ObjectCells(as_objects(values))
    if types is _NUMBERS:
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:  # a whole number of three hundred digits: the library has a sentence for it
            return ObjectCells(as_objects(values))
        return NumberCells(numbers)
    places: dict[object, int] = {}
    codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    return CategoryCells(Codes(tuple(places), np.array(codes, dtype=np.int32)))


def checked_rows(given: object, most_rows: int, most_columns: int) -> list[dict[str, object]]:
    """A list of JSON objects, not too many and not too wide."""
    if not isinstance(given, list) or not given:
        raise HTTPRefusal(422, 'Send {"rows": [{"column": value, …}]}: "rows" is a list with at least one object.')
    if len(given) > most_rows:
        raise HTTPRefusal(413, f"There are {len(given):,} rows; at most {most_rows:,} are taken at once.")
    for place, row in enumerate(given):
        if type(row) is not dict:
            raise HTTPRefusal(422, f"Row {place} is no object of columns and values.")
        if len(row) > most_columns:
            raise HTTPRefusal(413, f"Row {place} has {len(row):,} columns; at most {most_columns:,} are taken.")
    return given
