"""Arrays of a GPU as a table: columns by name, labels as codes, and a bounded sample of rows for the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.arrays import AnyArray, Array, Int64, is_on_device, is_sparse_on_device
from likely.engines.gpu.device import Device, DeviceArray, c_type, device
from likely.errors import DataError, SchemaError, SettingsError, listed, missing_columns
from likely.numerics import refuse_heavy, refuse_many
from likely.table import Table, as_table, encode_labels
from likely.table.infer import SAMPLE
from likely.table.table import Numbered, unique_names

MOST_LABELS = 1 << 12
"""Whole numbers as labels are looked up in a table where they lie so close together; else they are sorted."""

LABEL_COUNTERS = 1 << 13
"""Counters of labels in the shared memory of a block, copies included."""

NO_GAPS = "Input X contains NaN: this classifier has no use for missing values."

SHORT_CODES = 255
"""Classes that have codes of one byte."""


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """Columns on a device: a matrix, a sparse matrix of counts, or one array for each name."""

    device: Device
    names: Sequence[str]
    n_rows: int
    named: bool
    matrix: DeviceArray | None = None
    sparse: Any = None
    columns: Mapping[str, DeviceArray] | None = None
    given: object = None

    @classmethod
    def of(cls, X: object) -> DeviceTable:
        """Read a matrix, a sparse matrix or a dict of columns."""
        here = device()
        if is_sparse_on_device(X):
            return cls._of_sparse(here, X)
        if isinstance(X, Mapping):
            return cls._of_columns(here, X)
        cells = here.view(X)
        if cells.ndim != 2:
            raise SchemaError(
                f"Expected 2D array, got {cells.ndim}D array instead: rows on a GPU are a matrix, or a dict of columns."
            )
        table = cls(here, Numbered(cells.shape[1]), len(cells), named=False, matrix=cells, given=X)
        return table._checked()

    @classmethod
    def _of_sparse(cls, here: Device, X: Any) -> DeviceTable:
        rows = X.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        table = cls(here, Numbered(rows.shape[1]), rows.shape[0], named=False, sparse=rows, given=rows.data)
        return table._checked()

    @classmethod
    def _of_columns(cls, here: Device, X: Mapping[object, object]) -> DeviceTable:
        names = unique_names(X)
        columns = dict(zip(names, map(here.view, X.values()), strict=True))
        lengths = {name: column.shape for name, column in columns.items()}
        first = lengths[names[0]]
        for name, shape in lengths.items():
            if len(shape) != 1 or shape != first:
                raise SchemaError(f"Column {name!r} has the shape {shape}, column {names[0]!r} has {first}.")
        given = next(column for column in X.values() if is_on_device(column))
        return cls(here, names, first[0], named=True, columns=columns, given=given)._checked()

    def _checked(self) -> DeviceTable:
        refuse_many(self.n_rows, "rows")
        if not len(self.names):
            raise SchemaError(
                f"Found array with 0 feature(s) (shape=({self.n_rows}, 0)) while a minimum of 1 is required."
            )
        return self

    def aligned(self, names: Sequence[str], who: str) -> DeviceTable:
        """The columns that were learned, in their order; a matrix must have as many."""
        if self.columns is None:
            if len(self.names) != len(names):
                raise SchemaError(
                    f"X has {len(self.names)} features, but {who} is expecting {len(names)} features as input."
                )
            return DeviceTable(self.device, names, self.n_rows, self.named, self.matrix, self.sparse, None, self.given)
        lacking = [name for name in names if name not in self.columns]
        if lacking:
            raise missing_columns(lacking, self.names)
        return DeviceTable(self.device, names, self.n_rows, self.named, columns=self.columns, given=self.given)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the cells of a matrix."""
        cells = self.sparse if self.sparse is not None else self.matrix
        return np.dtype(np.float64 if cells is None else str(cells.dtype))

    def column(self, name: str) -> DeviceArray:
        """One column."""
        if self.columns is not None:
            return self.columns[name]
        if self.matrix is None:
            raise SchemaError(
                "A sparse matrix is read as counts: choose the family 'multinomial', or pass a dense array."
            )
        return self.matrix[:, self.place(name)]

    def place(self, name: str) -> int:
        """The place of a column."""
        found = self.names.find(name) if isinstance(self.names, Numbered) else list(self.names).index(name)
        if found is None:
            raise missing_columns([name], self.names)
        return int(found)

    def block(self, columns: Sequence[str]) -> DeviceArray:
        """Some columns side by side: the matrix itself where they are all of its columns, else a copy."""
        xp = self.device.xp
        if self.matrix is not None:
            if len(columns) == len(self.names) and tuple(columns) == tuple(self.names):
                return self.matrix
            places = [self.place(name) for name in columns]
            if places == list(range(places[0], places[0] + len(places))):
                return self.matrix[:, places[0] : places[0] + len(places)]
            return self.matrix[:, xp.asarray(places)]
        if len(columns) == 1:
            return self.column(columns[0])[:, None]
        found = [self.column(name) for name in columns]
        return xp.stack(found, axis=1)

    def refuse_gaps(self) -> None:
        """Where a classifier has no use for missing values."""
        cells = self.matrix if self.sparse is None else self.sparse.data
        if cells is not None and cells.dtype.kind == "f" and bool(self.device.xp.isnan(cells).any()):
            raise DataError(NO_GAPS)

    def present(self, threshold: float | None) -> DeviceTable:
        """Ones where a cell of a matrix is above a threshold, zeros elsewhere; the cells themselves without one."""
        if threshold is None:
            return self
        if self.sparse is None:
            return replace(self, matrix=(self.block(self.names) > threshold).view(np.uint8), columns=None)
        held = self.sparse.copy()
        held.data = (held.data > threshold).astype(held.data.dtype)
        return replace(self, sparse=held)

    def sample(self) -> Table:
        """The first rows, on the host: what the columns are is judged by these."""
        some = slice(0, min(self.n_rows, SAMPLE))
        if self.sparse is not None:
            return as_table(self.sparse[some].get())
        if self.columns is not None:
            return as_table({name: self.device.fetch(column[some]) for name, column in self.columns.items()})
        return as_table(self.device.fetch(self.block(self.names)[some]))


@dataclass(frozen=True, eq=False)
class DeviceLabels:
    """Classes on the host, the code of each row on the device, and how many rows each class has."""

    classes: AnyArray
    codes: DeviceArray
    rows: Int64


def labels_on(table: DeviceTable, y: object) -> DeviceLabels:
    """The labels of rows: an array of a device, of the host, or the name of a column."""
    here = table.device
    if isinstance(y, str):
        if y not in table.names:
            raise missing_columns([y], table.names)
        y = table.column(y)
    labels = _encoded(here, here.view(y)) if is_on_device(y) else _sent(here, y)
    if labels.codes.ndim != 1 or len(labels.codes) != table.n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_rows} rows, "
            f"y has {len(labels.codes)}."
        )
    return labels


def _sent(here: Device, y: Any) -> DeviceLabels:
    labels = encode_labels(y)
    n_classes = len(labels.classes)
    rows = np.bincount(labels.codes, minlength=n_classes)
    return DeviceLabels(labels.classes, here.xp.asarray(_short(labels.codes, n_classes)), rows)


def _short(codes: Any, n_classes: int) -> Any:
    """Codes in one byte, where there are so few classes."""
    return codes.astype(np.uint8 if n_classes <= SHORT_CODES else np.int32)


def _encoded(here: Device, y: DeviceArray) -> DeviceLabels:
    xp = here.xp
    if y.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if not len(y):
        none = np.zeros(0, dtype=np.int64)
        return DeviceLabels(np.empty(0, dtype=np.dtype(str(y.dtype))), xp.zeros(0, dtype=np.uint8), none)
    if y.dtype.kind == "f":
        strange = xp.flatnonzero((y != xp.floor(y)) | xp.isinf(y))
        if len(strange):
            row, label = int(strange[0]), float(y[int(strange[0])])
            if np.isnan(label):
                raise DataError(f"Input y contains NaN. The label in row {row} is missing: leave out such rows.")
            raise DataError(
                f"Unknown label type: continuous. The label in row {row} is {label}; classes need whole numbers, so "
                "cut the values into bins first."
            )
    if y.dtype.kind in "iub":
        plain = _whole_labels(here, y)
        if plain is not None:
            return plain
    classes, codes, rows = xp.unique(y, return_inverse=True, return_counts=True)
    return DeviceLabels(here.fetch(classes), _short(codes.reshape(-1), len(classes)), np.asarray(here.fetch(rows)))


def _whole_labels(here: Device, y: DeviceArray) -> DeviceLabels | None:
    """Labels that are whole numbers; None where they lie far apart."""
    xp, dtype = here.xp, np.dtype(str(y.dtype))
    if dtype.itemsize == 1:
        least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    else:
        least, most = int(y.min()), int(y.max())
    n_values = most - least + 1
    if n_values > MOST_LABELS:
        return None
    counts = xp.zeros(n_values + 1, dtype=np.uint64)
    copies = next(copies for copies in (32, 16, 8, 4, 2, 1) if copies * n_values <= LABEL_COUNTERS or copies == 1)
    sizes = (np.int32(n_values), np.int32(copies))
    told = (y, np.int64(y.strides[0] // y.itemsize), np.int64(len(y)), np.int64(least), *sizes)
    room = 4 * n_values * copies
    here.launch("count_labels", (c_type(y),), (here.n_blocks,), room, (*told, counts, counts[n_values:]))
    seen = here.fetch(counts)[:n_values].astype(np.int64)
    found = np.flatnonzero(seen)
    classes, rows = (found + least).astype(dtype), seen[found]
    if dtype == np.uint8 and np.array_equal(found, np.arange(len(found))) and len(found) <= SHORT_CODES:
        return DeviceLabels(classes, y, rows)
    lookup = xp.asarray(_short(np.maximum(np.cumsum(seen > 0) - 1, 0), len(found)))
    return DeviceLabels(classes, lookup[y.astype(np.int64) - least if least or dtype.kind == "b" else y], rows)


def among(here: Device, labels: DeviceLabels, classes: AnyArray) -> DeviceLabels:
    """The same labels among other classes, which must hold all of theirs."""
    place = {label: position for position, label in enumerate(classes.tolist())}
    strange = [label for label in labels.classes.tolist() if label not in place]
    if strange:
        raise DataError(f"The target label(s) {listed(strange)} in y do not exist in the initial classes {classes}")
    moved = np.array([place[label] for label in labels.classes.tolist()], dtype=np.intp)
    rows = np.zeros(len(classes), dtype=np.int64)
    rows[moved] = labels.rows
    if np.array_equal(moved, np.arange(len(moved))):
        return DeviceLabels(classes, labels.codes, rows)
    return DeviceLabels(classes, here.xp.asarray(_short(moved, len(classes)))[labels.codes], rows)


def weights_on(table: DeviceTable, given: object) -> DeviceArray | None:
    """The weight of each row, in double precision; None where each counts once."""
    if given is None:
        return None
    here = table.device
    xp = here.xp
    if isinstance(given, str):
        raise SettingsError("Weights of rows on a GPU are an array with one number for each row.")
    weights = here.view(given) if is_on_device(given) else xp.asarray(np.asarray(given, dtype=np.float64))
    weights = xp.ascontiguousarray(weights.astype(np.float64))
    if weights.shape != (table.n_rows,):
        raise DataError(f"sample_weight has the shape {weights.shape} for {table.n_rows} rows: give one for each row.")
    bad = xp.flatnonzero(~(weights >= 0.0) | xp.isinf(weights))
    if len(bad):
        row = int(bad[0])
        raise DataError(f"The weight of row {row} is {float(weights[row])}, but weights are finite and not negative.")
    total = float(weights.sum())
    refuse_heavy(np.array([total]))
    return weights


def host_numbers(here: Device, array: DeviceArray) -> Array:
    """A small result on the host, in double precision."""
    return np.asarray(here.fetch(array), dtype=np.float64)
