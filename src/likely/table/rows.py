"""Tables from rows: lists of dicts and lists of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import SchemaError
from likely.table.names import Numbered, unique_names
from likely.table.object_cells import ObjectCells, as_objects
from likely.table.shapes import not_two_dimensional
from likely.table.table import Table

_NUMBER = (int, float, complex, np.number)
_ROW = (list, tuple, np.ndarray)


def from_rows(rows: Sequence[Any]) -> Table | NDArray[Any]:
    """A table of the rows; an array if they hold numbers only."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _from_dicts(rows)
    if not rows or not all(isinstance(row, _ROW) for row in rows):
        return _flat(rows)
    if all(isinstance(row, np.ndarray) for row in rows):
        _same_length(rows)
        return np.asarray(rows)
    return _from_lists(rows)


def _from_dicts(rows: Sequence[Mapping[Any, Any]]) -> Table:
    """Keys in the order in which they first come; one that a row lacks is a gap there."""
    keys = list(dict.fromkeys(chain.from_iterable(rows)))
    names = unique_names(keys)

    def read(j: int) -> ObjectCells:
        key = keys[j]
        return ObjectCells(as_objects([row.get(key) for row in rows]))

    return Table(names, len(rows), read, named=True)


def _from_lists(rows: Sequence[Any]) -> Table | NDArray[Any]:
    width = _same_length(rows)
    types = set(map(type, chain.from_iterable(rows)))
    if any(issubclass(kind, (list, np.ndarray)) for kind in types):
        raise not_two_dimensional(np.empty((len(rows), width, 1)))
    if types and bool not in types and all(issubclass(kind, _NUMBER) for kind in types):
        try:
            numbers = np.asarray(rows)
        except OverflowError:
            numbers = np.empty(0, dtype=object)
        if numbers.dtype.kind != "O":
            return numbers
    return Table(Numbered(width), len(rows), lambda j: ObjectCells(as_objects([row[j] for row in rows])), named=False)


def _same_length(rows: Sequence[Any]) -> int:
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            raise SchemaError(f"Row {number} has {len(row)} cells, but row 0 has {width}.")
    return width


def _flat(rows: Sequence[Any]) -> NDArray[Any]:
    """Rows that are no rows: an array-like thing, or a list of single cells."""
    for number, row in enumerate(rows):
        if isinstance(row, (Mapping, *_ROW)) and not isinstance(rows[0], type(row)):
            raise SchemaError(
                f"Row {number} is a {type(row).__name__}, but row 0 is a {type(rows[0]).__name__}: "
                "give all rows as dicts, or all as lists."
            )
    if rows and hasattr(rows[0], "__array__") and not isinstance(rows[0], np.generic):
        return np.asarray(rows)
    return as_objects(rows)
