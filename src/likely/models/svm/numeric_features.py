"""Columns of numbers: centred and scaled by what was learned, gaps filled with the mean and marked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array
from likely.errors import BadCell
from likely.models.svm.inner_products import Matrix
from likely.table import Table
from likely.table.table import INFINITE, Numbers

NARROWEST = 1e-300
"""A deviation below this is taken for none."""

FARTHEST = 1e40
"""Prepared numbers beyond this are taken for it, so that sums of their squares stay finite."""

TOO_FAR = f"numbers beyond {FARTHEST:g} can only be learned when they are scaled: leave scale=True, or mend the cell"


class FarWarning(UserWarning):
    """A number lies so far from all that was learned that it is taken for a nearer one."""


@dataclass(frozen=True, eq=False)
class NumberPart:
    """(x − centre) / scale for every column; `holed` are the places of columns that had gaps."""

    columns: tuple[str, ...]
    centre: Array
    scale: Array
    fill: Array
    holed: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...], scale: bool, weight: Array | None = None) -> NumberPart:
        cells = _cells(table, columns)
        far = None if scale else _first_far(cells)
        if far is not None:
            raise BadCell(*far, float(cells[far]), TOO_FAR).named(columns)
        gaps = np.isnan(cells)
        mean, width = _moments(cells, gaps, weight)
        nothing, one = np.zeros(len(columns)), np.ones(len(columns))
        holed = np.flatnonzero(gaps.any(axis=0)).astype(np.int64)
        return cls(columns, mean if scale else nothing, width if scale else one, mean, holed)

    @property
    def width(self) -> int:
        return len(self.columns) + len(self.holed)

    @property
    def filled(self) -> float:
        return float(len(self.columns))

    @property
    def features(self) -> list[tuple[str, str]]:
        marks = [self.columns[place] for place in self.holed]
        return [*((name, name) for name in self.columns), *((f"{name} (gap)", name) for name in marks)]

    def rows(self, table: Table, n_jobs: int | None = None) -> Array:
        cells = _cells(table, self.columns)
        gaps = np.isnan(cells)
        if gaps.any():
            cells[gaps] = np.broadcast_to(self.fill, cells.shape)[gaps]
        with np.errstate(over="ignore"):
            cells -= self.centre
            cells /= self.scale
        far = _first_far(cells)
        if far is not None:
            name = self.columns[far[1]]
            if not gaps[far]:
                _warn_far(far[0], name, float(table.numbers(name)[far[0]]))
            np.clip(cells, -FARTHEST, FARTHEST, out=cells)
        return np.hstack([cells, gaps[:, self.holed].astype(np.float64)]) if len(self.holed) else cells


@dataclass(frozen=True, eq=False)
class SparsePart:
    """The cells of a sparse matrix, divided by the deviation of their column; zeros stay zeros."""

    columns: Sequence[str]
    places: NDArray[np.int64]
    scale: Array

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], scale: bool) -> SparsePart:
        places = np.array([table.position(name) for name in columns], dtype=np.int64)
        widths = np.ones(len(places))
        cells = _sparse_cells(table, places)
        far = None if scale else _first_far(cells)
        if far is not None:
            raise BadCell(*far, float(cells[far]), TOO_FAR).named(columns)
        if scale:
            largest = np.asarray(abs(cells).max(axis=0).toarray(), dtype=np.float64).ravel()
            largest[largest == 0.0] = 1.0
            level = sparse.csr_array(cells.multiply(1.0 / largest))
            n = cells.shape[0]
            mean = np.asarray(level.sum(axis=0)).ravel() / n
            variance = np.asarray(level.multiply(level).sum(axis=0)).ravel() / n - mean**2
            widths = largest * np.sqrt(np.maximum(variance, 0.0))
            widths[~(widths > NARROWEST)] = 1.0
        return cls(tuple(columns), places, widths)

    @property
    def width(self) -> int:
        return len(self.places)

    @property
    def filled(self) -> float:
        return 0.0

    @property
    def features(self) -> list[tuple[str, str]]:
        return [(name, name) for name in self.columns]

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        if table.sparse is None:
            raw = sparse.csr_array(np.nan_to_num(_cells(table, tuple(self.columns)), nan=0.0))
        else:
            raw = _sparse_cells(table, self.places)
        with np.errstate(over="ignore"):
            cells = sparse.csr_array(raw.multiply(1.0 / self.scale))
        far = _first_far(cells)
        if far is not None:
            _warn_far(far[0], self.columns[far[1]], float(raw[far]))
            np.clip(cells.data, -FARTHEST, FARTHEST, out=cells.data)
        return cells


def _first_far(cells: Matrix) -> tuple[int, int] | None:
    """Row and column of the first cell that is too large for its square."""
    values = cells.data if sparse.issparse(cells) else cells
    if not values.size or not max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)) > FARTHEST:
        return None
    if sparse.issparse(cells):
        return _stored(cells, int(np.argmax(np.abs(values) > FARTHEST)))
    row, column = np.argwhere(np.abs(values) > FARTHEST)[0]
    return int(row), int(column)


def _stored(cells: sparse.csr_array, place: int) -> tuple[int, int]:
    """Row and column of a stored cell."""
    return int(np.searchsorted(cells.indptr, place, side="right")) - 1, int(cells.indices[place])


def _warn_far(row: int, column: str, cell: float) -> None:
    warnings.warn(
        f"Row {row} of column {column!r} holds {cell:g}, too far from all that was learned: it is taken for a nearer "
        "number. Mend the cell if that is a mistake.",
        FarWarning,
        stacklevel=6,
    )


def _cells(table: Table, columns: tuple[str, ...]) -> Array:
    """A copy of the columns as rows of floats, NaN for a gap; an infinite one is refused."""
    if table.sparse is not None:
        cells = np.column_stack([table.numbers(name) for name in columns])
    else:
        cells = np.array(Numbers.of(table, columns).rows(slice(0, table.n_rows)))
    if np.isinf(cells).any():
        row, column = (int(k) for k in np.argwhere(np.isinf(cells))[0])
        raise BadCell(row, column, float(cells[row, column]), INFINITE).named(columns)
    return cells


def _sparse_cells(table: Table, places: NDArray[np.int64]) -> sparse.csr_array:
    assert table.sparse is not None
    cells = table.sparse if len(places) == table.n_columns else table.sparse[:, places]
    cells = cells.astype(np.float64)
    if np.isinf(cells.data).any():
        place = int(np.argmax(np.isinf(cells.data)))
        bad = BadCell(*_stored(cells, place), float(cells.data[place]), INFINITE)
        raise bad.named([table.names[k] for k in places])
    if np.isnan(cells.data).any():
        cells = cells.copy()
        cells.data[np.isnan(cells.data)] = 0.0
    return cells


def _moments(cells: Array, gaps: NDArray[np.bool_], weight: Array | None) -> tuple[Array, Array]:
    """Mean and deviation of every column, by known cells; scaled by its largest cell so that nothing overflows."""
    known = np.where(gaps, 0.0, cells)
    each = np.ones(len(cells)) if weight is None else weight
    n = each @ ~gaps
    n[n == 0.0] = 1.0
    largest = np.abs(known).max(axis=0, initial=0.0)
    largest[largest == 0.0] = 1.0
    known /= largest
    mean = each @ known / n
    known -= mean
    known[gaps] = 0.0
    width = np.sqrt(each @ np.square(known) / n)
    # A constant column has no width; rounding of its mean is no width either.
    width[width <= 8.0 * np.finfo(float).eps * np.maximum(np.abs(mean), np.finfo(float).tiny)] = 0.0
    width *= largest
    width[~(width > NARROWEST)] = 1.0
    return mean * largest, width
