"""Labels and weights of rows: classes and the place of each row among them, and what each row counts for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike, Index, Int32, SupportsArray, is_sparse
from likely.errors import About, AtRow, DataError, PythonOnly, SchemaError, Setting, missing_columns
from likely.numerics import refuse_heavy
from likely.table.cells import GAP, ArrowCells, CategoryCells, Cells, NumberCells, as_objects, factorise
from likely.table.column import NUMERIC, ObjectCells, cells_of, is_a, masked, no_complex
from likely.table.encode import encode_numbers, encode_words
from likely.table.levels import in_order, level_key
from likely.table.table import Table

_EXACT = 2**53
_NUMBERS = ("float", "integer", "boolean")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The classes in their order and, per row, the place of its class."""

    classes: AnyArray
    codes: Int32

    def __len__(self) -> int:
        return len(self.codes)


def labels_of(y: ColumnLike, table: Table) -> Labels:
    """The labels of the rows of a table: given one by one, or as the name of one of its columns."""
    if isinstance(y, str) and table.named and y not in table:
        raise missing_columns([y], table.names)
    labels = encode_column(table.cells(y)) if isinstance(y, str) and y in table else encode_labels(y)
    if len(labels) != table.n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_rows} rows, "
            f"y has {len(labels)}."
        )
    return labels


def with_label(table: Table, target: str) -> Table:
    """The rows that have a label in this column."""
    if target not in table:
        raise missing_columns([target], table.names)
    known = table.codes(target).codes != GAP
    return table if known.all() else table.take(known)


def encode_labels(y: ColumnLike | None) -> Labels:
    """Classes and codes of labels of any hashable type; a missing label is an error naming its row.

    >>> labels = encode_labels(["spam", "ham", "spam"])
    >>> labels.classes.tolist(), labels.codes.tolist()
    (['ham', 'spam'], [1, 0, 1])
    """
    if y is None:
        raise DataError("A classifier requires y to be passed, but the target y is None.")
    if isinstance(y, (list, tuple, range)):
        types = set(map(type, y))
        if types == {str}:
            return _fixed_width(_encode_objects(ObjectCells(as_objects(y))))
        read: AnyArray | Cells = _from_list(y, types)
    else:
        read = y if isinstance(y, np.ndarray) else _from_library(y)
    return _encode_array(_one_dimensional(read)) if isinstance(read, np.ndarray) else _encode_cells(read)


def encode_column(cells: Cells) -> Labels:
    """The same for a column of a table that holds the labels."""
    return _encode_array(cells.values) if isinstance(cells, (NumberCells, ObjectCells)) else _encode_cells(cells)


def _fixed_width(labels: Labels) -> Labels:
    """The classes as NumPy's strings, unless one ends in zeros, which those drop."""
    strings = np.array(labels.classes.tolist(), dtype=str)
    return Labels(strings, labels.codes) if strings.tolist() == labels.classes.tolist() else labels


def _from_list(y: Sequence[object], types: set[type]) -> AnyArray:
    """A list as the array that keeps its labels: of numbers or truth values if all are, else of objects."""
    if types and all(issubclass(kind, (list, np.ndarray)) for kind in types):
        return np.asarray(y)
    if len(types) == 1 and issubclass(next(iter(types)), (np.number, np.bool_, bool, float)):
        return np.array(y)
    if types == {int} or (types == {int, float} and all(-_EXACT <= label <= _EXACT for label in y)):  # type: ignore[operator]
        with suppress(OverflowError):
            return np.array(y, dtype=np.int64 if types == {int} else np.float64)
    return as_objects(y)


def _from_library(y: ColumnLike) -> AnyArray | Cells:
    if is_sparse(y):
        raise DataError("Labels cannot be a sparse matrix; give a 1-D array.")
    if is_a(y, "pandas.DataFrame", "polars.DataFrame"):
        return np.asarray(y.to_numpy())
    if np.isscalar(y) or isinstance(getattr(y, "dtype", None), np.dtype):
        return np.asarray(y)
    try:
        cells = cells_of(y, "y")
    except SchemaError as error:
        raise DataError("The labels cannot be read. ", error.message) from None
    return cells.values if isinstance(cells, (NumberCells, ObjectCells)) else cells


def _one_dimensional(y: AnyArray) -> AnyArray:
    no_complex(y.dtype)
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.is_masked(y):
            raise _missing(int(np.argmax(np.ma.getmaskarray(y).reshape(-1))))
        y = y.data
    if y.ndim == 1:
        return np.asarray(y)
    from sklearn.utils.validation import column_or_1d

    try:
        return np.asarray(column_or_1d(y, warn=True))
    except ValueError as error:
        raise DataError(f"{error} Give one label per row.") from None


def _encode_array(y: AnyArray) -> Labels:
    kind = y.dtype.kind
    if kind in NUMERIC:
        return _checked(*encode_numbers(y))
    if kind == "U" and y.dtype.itemsize:
        return Labels(*encode_words(y))
    if kind in "MmUS":
        if kind in "Mm" and np.isnat(y).any():
            raise _missing(int(np.argmax(np.isnat(y))))
        classes, places = np.unique(y, return_inverse=True)
        return Labels(classes, places.astype(np.int32))
    return _encode_objects(ObjectCells(y if kind == "O" else as_objects(y.tolist())))


def _encode_objects(cells: ObjectCells) -> Labels:
    typed = cells.typed
    if typed is None:
        try:
            return _sorted(*factorise(cells.values, "y"))
        except SchemaError as error:
            raise DataError("Unknown label type: a label must be hashable. ", error.message) from None
    labels = _encode_cells(typed)
    return Labels(labels.classes.astype(object), labels.codes)


def _encode_cells(cells: Cells) -> Labels:
    """Labels in Arrow's memory or in categories."""
    if isinstance(cells, ArrowCells) and cells.storage in _NUMBERS and not cells.gaps():
        return _encode_array(np.asarray(cells.column.to_numpy()))
    coded = cells.codes("y")
    kinds = set(map(type, coded.levels))
    is_plain = isinstance(cells, CategoryCells) and len(kinds) <= 1 and kinds <= {int, float, bool}
    return _sorted(coded.levels, coded.codes, np.asarray(coded.levels).dtype if is_plain else None)


def _checked(classes: AnyArray, codes: Int32) -> Labels:
    """Numbers as labels: none missing, infinite or between two whole numbers."""
    if classes.dtype.kind != "f":
        return Labels(classes, codes)
    if len(codes) and codes.min() == GAP:
        raise _missing(int(np.argmax(codes == GAP)), " Input y contains NaN.")
    infinite, broken = np.isinf(classes), classes != np.floor(classes)
    bad = infinite if infinite.any() else broken
    if not bad.any():
        return Labels(classes, codes)
    row = int(np.argmax(bad[codes]))
    where = AtRow(row, f" in row {row}")
    if infinite.any():
        many = f"Input y contains infinity or a value too large for {classes.dtype!r}. It is the label"
        raise DataError(About("infinite label"), many, where, ".")
    cut = "classes need whole numbers or names, so cut the values into bins first."
    found = f"{classes[codes[row]]}"
    raise DataError(About("quantity", found), "Unknown label type: continuous. The label", where, f" is {found}; {cut}")


def _missing(row: int, more: str = "") -> DataError:
    return DataError(
        About("no label"), "The label", AtRow(row, f" in row {row}"), " is missing; leave the row out (",
        Setting("drop_unlabelled", True), PythonOnly(" in likely.train and likely.evaluate"),
        f") or give it a label.{more}",
    )  # fmt: skip


def _sorted(levels: Sequence[Hashable], codes: Int32, dtype: np.dtype[np.generic] | None = None) -> Labels:
    """Labels with the classes in order; an object array unless a dtype is given."""
    if len(codes) and codes.min() == GAP:
        raise _missing(int(np.argmax(codes == GAP)))
    ordered = ordered_labels(levels)
    table = _places(levels, ordered).astype(np.int32)
    return Labels(class_array(ordered, dtype), table[codes] if len(levels) else codes)


def _places(levels: Sequence[Hashable], ordered: Sequence[Hashable]) -> Index:
    """Where each level stands in an order that holds them all."""
    place = {level_key(level): i for i, level in enumerate(ordered)}
    return np.fromiter((place[level_key(level)] for level in levels), np.intp, len(levels))


def ordered_labels(levels: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Labels in their one order; True and 1, which tie, by their types."""
    return in_order(sorted(levels, key=lambda level: type(level).__name__))


def class_array(ordered: Sequence[Hashable], dtype: np.dtype[np.generic] | None) -> AnyArray:
    """Labels as an array: of objects, if no dtype is given."""
    return as_objects(ordered) if dtype is None else np.array(ordered, dtype=dtype)


# The classes of two models as one list.


def merge_classes(a: AnyArray, b: AnyArray) -> tuple[AnyArray, Index, Index]:
    """All classes of both, in order, and where those of each side stand among them.

    >>> classes, of_a, of_b = merge_classes(np.array([1, 3]), np.array(["x"]))
    >>> classes.tolist(), of_a.tolist(), of_b.tolist()
    ([1, 3, 'x'], [0, 1], [2])
    """
    if a.dtype == b.dtype and len(a) == len(b) and bool((a == b).all()) and a.dtype.kind != "O":
        places = np.arange(len(a))
        return a, places, places
    both = [*a.tolist(), *b.tolist()] if a.dtype.kind not in "Mm" else [*a, *b]
    distinct = list({level_key(label): label for label in reversed(both)}.values())
    ordered = ordered_labels(distinct[::-1])
    found = _places(both, ordered)
    return class_array(ordered, _common(a, b)), found[: len(a)], found[len(a) :]


def _common(a: AnyArray, b: AnyArray) -> np.dtype[np.generic] | None:
    """The dtype that holds the labels of both as they are, or None: only objects can."""
    if len(a) == 0 or len(b) == 0:
        dtype = b.dtype if len(a) == 0 else a.dtype
        return None if dtype.kind == "O" else dtype
    kinds = {a.dtype.kind, b.dtype.kind}
    if len(kinds) <= 1 and kinds <= set("bfUSMm"):
        return np.result_type(a, b)
    if kinds <= set("iu"):
        joint = np.result_type(a, b)
        return joint if joint.kind in "iu" else None
    if kinds <= set("iuf"):
        whole = a if a.dtype.kind in "iu" else b
        return np.dtype(np.float64) if bool((np.abs(whole.astype(np.float64)) <= _EXACT).all()) else None
    return None


# What each row counts for.


def _as_numbers(given: ColumnLike | float) -> Array:
    """Weights as floats; NumPy would make numbers of dates, too, and leave out half of complex ones, and any mask."""
    sentence = (
        "Sample weights are numbers, one for each row or one for all, but what was given cannot be read as these."
    )
    if isinstance(given, SupportsArray) and np.asarray(given).dtype.kind in "cmM":
        raise DataError(sentence)
    try:
        return np.asarray(masked(given) if isinstance(given, np.ndarray) else given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise DataError(sentence) from None


def row_weights(given: ColumnLike | float | None, table: Table, column: str | None = None) -> Array | None:
    """One weight from zero up per row, from an argument or from the table's weight column; None for ones.

    Their sum is a weight that can be counted, see `limits.HEAVIEST`.
    """
    if given is None and column is None:
        return None
    weights = table.numbers(str(column)) if given is None else _as_numbers(given)
    if weights.ndim == 0:
        weights = np.full(table.n_rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != table.n_rows:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected {(table.n_rows,)}: one weight per row.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(bad):
        raise DataError(
            "The weight", AtRow(bad[0], f" of row {bad[0]}"),
            f" is {weights[bad[0]]:g}, but weights are finite and not negative.",
        )  # fmt: skip
    refuse_heavy(weights)
    return np.ascontiguousarray(weights)
