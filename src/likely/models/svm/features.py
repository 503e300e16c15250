"""Raw rows as features of a machine that knows only numbers: learned once, kept with the model, the same ever after.

Numbers are centred and scaled, gaps filled with the mean and marked; categories are one-hot; texts are tf-idf.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from likely.arrays import Array, Flags, Int64
from likely.errors import About, BadCell, DataError
from likely.models.svm.kernels import Matrix, squared_norms
from likely.table import Table, index_levels
from likely.table.labels import ordered_labels
from likely.table.levels import level_map, written
from likely.table.schema import Schema
from likely.table.table import INFINITE, Numbers
from likely.text.class_counts import count_rows
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

NARROWEST = 1e-300
"""A deviation below this is taken for none."""

FARTHEST = 1e40
"""Prepared numbers beyond this are taken for it, so that sums of their squares stay finite."""

TOO_FAR = f"numbers beyond {FARTHEST:g} can only be learned when they are scaled: leave scale=True, or mend the cell"

WIDE = 100

SPARSE_SHARE = 0.2
"""More features than this, of which a row has less than this share, are kept sparse."""


class FarWarning(UserWarning):
    """A number lies so far from all that was learned that it is taken for a nearer one."""


@dataclass(frozen=True, slots=True)
class FeatureOrigin:
    """One number of a prepared row: what it is called, and which column of the table it comes from."""

    name: str
    column: str


@dataclass(frozen=True, eq=False)
class NumericFeatures:
    """(x − centre) / scale for every column; `holed` are the places of columns that had gaps."""

    columns: tuple[str, ...]
    centre: Array
    scale: Array
    fill: Array
    holed: Int64

    @classmethod
    def of(cls, table: Table, columns: tuple[str, ...], scale: bool, weight: Array | None = None) -> NumericFeatures:
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
    def features(self) -> list[FeatureOrigin]:
        marks = [self.columns[place] for place in self.holed]
        return [
            *(FeatureOrigin(name, name) for name in self.columns),
            *(FeatureOrigin(f"{name} (gap)", name) for name in marks),
        ]

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
class SparseFeatures:
    """The cells of a sparse matrix, divided by the deviation of their column; zeros stay zeros."""

    columns: Sequence[str]
    places: Int64
    scale: Array

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], scale: bool) -> SparseFeatures:
        places = np.array([table.position(name) for name in columns], dtype=np.int64)
        widths = np.ones(len(places))
        cells = _sparse_cells(table, places)
        far = None if scale else _first_far(cells)
        if far is not None:
            raise BadCell(*far, float(cells[far]), TOO_FAR).named(columns)
        if scale:
            from sklearn.utils.sparsefuncs import mean_variance_axis

            largest = np.asarray(abs(cells).max(axis=0).toarray(), dtype=np.float64).ravel()
            largest[largest == 0.0] = 1.0
            _, variance = mean_variance_axis(sparse.csr_array(cells.multiply(1.0 / largest)), axis=0)
            widths = largest * np.sqrt(variance)
            widths[~(widths > NARROWEST)] = 1.0
        return cls(tuple(columns), places, widths)

    @property
    def width(self) -> int:
        return len(self.places)

    @property
    def features(self) -> list[FeatureOrigin]:
        return [FeatureOrigin(name, name) for name in self.columns]

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


@dataclass(frozen=True, eq=False)
class OneHotFeatures:
    """One-hot cells; a value never seen has none."""

    column: str
    levels: tuple[Hashable, ...]
    holed: bool

    @classmethod
    def of(cls, table: Table, name: str) -> OneHotFeatures:
        found = table.codes(name)
        return cls(name, ordered_labels(found.levels), bool((found.codes < 0).any()))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.levels) + self.holed

    @property
    def features(self) -> list[FeatureOrigin]:
        names = [f"{self.column} = {written(level)}" for level in self.levels] + [f"{self.column} (gap)"] * self.holed
        return [FeatureOrigin(name, self.column) for name in names]

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return level_map(self.levels)

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        found = table.codes(self.column)
        places = np.append(index_levels(found.levels, self._places), len(self.levels) if self.holed else -1)
        place = places[found.codes]
        hit = place >= 0
        starts = np.concatenate([[0], np.cumsum(hit)])
        return sparse.csr_array((np.ones(int(hit.sum())), place[hit], starts), shape=(len(place), self.width))


@dataclass(frozen=True, eq=False)
class TfidfFeatures:
    """(1 + ln count) · idf of each word, divided by the length of the row; idf is ln((1 + n)/(1 + texts)) + 1."""

    column: str
    tokenizer: Tokenizer
    words: Words
    idf: Array

    @classmethod
    def of(cls, table: Table, name: str, tokenizer: Tokenizer, n_jobs: int | None) -> TfidfFeatures:
        counted = count_rows(table.strings(name), tokenizer, n_jobs=n_jobs)
        texts = np.bincount(counted.columns, minlength=len(counted.words))
        idf = np.log((1.0 + table.n_rows) / (1.0 + texts)) + 1.0
        return cls(name, tokenizer, counted.words, idf)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.words)

    @property
    def features(self) -> list[FeatureOrigin]:
        return [FeatureOrigin(f"{self.column}: {word}", self.column) for word in self.words.to_list()]

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        counted = count_rows(table.strings(self.column), self.tokenizer, words=self.words, n_jobs=n_jobs)
        cells = (1.0 + np.log(counted.counts)) * self.idf[counted.columns]
        places = counted.columns.astype(np.int64), counted.starts
        rows = sparse.csr_array((cells, *places), shape=(table.n_rows, self.width))
        lengths = np.sqrt(squared_norms(rows))
        lengths[lengths == 0.0] = 1.0
        rows.data /= np.repeat(lengths, np.diff(counted.starts))
        return rows


FeatureBlock = NumericFeatures | SparseFeatures | OneHotFeatures | TfidfFeatures


@dataclass(frozen=True)
class Preparation:
    """Numbers standardised, categories one-hot, gaps filled and marked, texts as tf-idf; in this order."""

    parts: tuple[FeatureBlock, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        scale: bool,
        tokenizers: Mapping[str, Tokenizer],
        weight: Array | None = None,
        n_jobs: int | None = None,
    ) -> Preparation:
        """Look at the rows that are to be learned."""
        if table.sparse is not None:
            return cls((SparseFeatures.of(table, schema.features, scale),))
        parts: list[FeatureBlock] = []
        if schema.numeric:
            parts.append(NumericFeatures.of(table, schema.numeric, scale, weight))
        parts += [OneHotFeatures.of(table, name) for name in schema.nominal]
        parts += [TfidfFeatures.of(table, name, tokenizers[name], n_jobs) for name in schema.text]
        if not sum(part.width for part in parts):
            raise DataError(About("no columns left"), "No column is left to learn from: all are ignored or empty.")
        return cls(tuple(parts))

    @cached_property
    def features(self) -> tuple[FeatureOrigin, ...]:
        """What each number of a prepared row is."""
        return tuple(feature for part in self.parts for feature in part.features)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are made use of."""
        return tuple(name for part in self.parts for name in part.columns)

    @property
    def width(self) -> int:
        """How many numbers a prepared row has."""
        return sum(part.width for part in self.parts)

    @property
    def is_sparse(self) -> bool:
        """Whether prepared rows are kept sparse: with texts, and with many categories."""
        if any(isinstance(part, TfidfFeatures | SparseFeatures) for part in self.parts):
            return True
        return self.width > WIDE and len(self.columns) < SPARSE_SHARE * self.width

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        """The rows of a table as numbers, all of them finite."""
        blocks: list[Matrix] = [part.rows(table, n_jobs) for part in self.parts]
        if self.is_sparse:
            return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
        dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
        return np.ascontiguousarray(dense[0] if len(dense) == 1 else np.hstack(dense))


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
    if table.sparse is None:
        numbers = Numbers.of(table, columns)
    else:
        numbers = Numbers(columns, [table.numbers(name) for name in columns])
    every = slice(0, table.n_rows)
    numbers.refuse_infinite(every)
    return np.array(numbers.rows(every))


def _sparse_cells(table: Table, places: Int64) -> sparse.csr_array:
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


def _moments(cells: Array, gaps: Flags, weight: Array | None) -> tuple[Array, Array]:
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
