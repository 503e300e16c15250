"""What is seen of values on a device: categories, cells of a histogram, pairs of columns, sums of events."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from likely.arrays import AnyArray, Array
from likely.engines.gpu.counts import MOST_WIDTH, DeviceCounter, refuse_infinite, rows_of_class
from likely.engines.gpu.device import Device, DeviceArray, address, c_type
from likely.engines.gpu.table import host_numbers
from likely.errors import SchemaError
from likely.stats import Cuts, FeatureCounts, Histogram, PairCounts, Presence, ValueCounts
from likely.stats.histogram import COARSEST, INFINITE, MAGNITUDE, MOST_CELLS
from likely.stats.pair_counts import Axis, PairLayout, size_of

MOST_PLAIN_VALUES = 1 << 16
SHORT_COUNTS = 60_000
FEW_ROWS = 64
GLANCE_ROWS = 1 << 12
"""Whole numbers are counted in a table where they lie so close together, which the first rows tell."""

ONE_HOT_CELLS = 1 << 27
"""Cells of the indicators of all values that are multiplied at a time."""

ONE_HOT_ROWS = 1 << 20
"""Rows whose indicators are multiplied at a time: counts up to here are exact in single precision."""


def value_counts(counter: DeviceCounter, columns: tuple[str, ...]) -> ValueCounts:
    """Values of one column: whole numbers, truth values, or numbers as they are; NaN is a gap."""
    (name,) = columns
    values, counts = _values_of(counter, counter.table.column(name))
    return _value_counts(values.tolist(), counts)


def _value_counts(values: Sequence[Hashable], counts: Array) -> ValueCounts:
    """From classes × values."""
    y, codes = np.indices(counts.shape, dtype=np.int32).reshape(2, -1)
    return ValueCounts.observe(values, codes, y, np.ascontiguousarray(counts).ravel(), len(counts))


def _values_of(counter: DeviceCounter, cells: DeviceArray) -> tuple[AnyArray, Array]:
    """Distinct values and classes × values."""
    here = counter.device
    xp, dtype = here.xp, np.dtype(str(cells.dtype))
    if dtype.kind in "iub":
        found = count_codes(counter, cells[:, None])
        if found is not None:
            least, (table,) = found
            values = np.flatnonzero(table.any(axis=0)) + least
            told = values.astype(np.bool_) if dtype.kind == "b" else values
            return told, table[:, values - least]
    known = cells == cells
    values = xp.unique(cells[known])
    codes = xp.where(known, xp.searchsorted(values, cells), -1)
    return here.fetch(values), _table(counter, codes, len(values))


def _table(counter: DeviceCounter, codes: DeviceArray, n_values: int) -> Array:
    """Classes × values from codes; −1 is none."""
    here = counter.device
    xp, n_classes = here.xp, counter.n_classes
    place = xp.where(codes >= 0, counter.labels.codes.astype(np.int64) * n_values + codes, n_classes * n_values)
    counts = xp.bincount(place, weights=counter.weight, minlength=n_classes * n_values + 1)
    return host_numbers(here, counts[:-1]).reshape(n_classes, n_values)


def count_codes(counter: DeviceCounter, cells: DeviceArray) -> tuple[int, list[Array]] | None:
    """The least value of a matrix of whole numbers, and for each column classes × values from there on.

    None where the numbers lie too far apart for a table.
    """
    if not counter.n_rows:
        return 0, [np.zeros((counter.n_classes, 0)) for _ in range(cells.shape[1])]
    least, n_values = _range_of(cells[:GLANCE_ROWS])
    counts = _count_between(counter, cells, least, n_values) if n_values <= MOST_PLAIN_VALUES else None
    if counts is None:  # the first rows did not hold all values
        least, n_values = _range_of(cells)
        counts = _count_between(counter, cells, least, n_values) if n_values <= MOST_PLAIN_VALUES else None
    return None if counts is None else (least, list(counts))


def _range_of(cells: DeviceArray) -> tuple[int, int]:
    least, most = int(cells.min()), int(cells.max())
    return least, most - least + 1


def _count_between(counter: DeviceCounter, cells: DeviceArray, least: int, n_values: int) -> Array | None:
    """Columns × classes × values between two bounds; None if a value lies outside."""
    here, n_classes, (n_rows, n_columns) = counter.device, counter.n_classes, cells.shape
    together = 4 * 32 * n_classes * (least + n_values) ** 2
    if counter.weight is None and together <= here.shared_bytes and _as_words(cells):
        return _count_words(counter, cells, least, n_values)
    xp, size = here.xp, n_columns * n_classes * n_values
    codes, outside = xp.ascontiguousarray(counter.labels.codes), xp.zeros(1, dtype=np.int32)
    steps = [np.int64(step // cells.itemsize) for step in cells.strides]
    bounds = (np.int32(n_values), np.int32(n_classes))
    apart = 2 * here.threads * n_classes * (n_values + 1)
    counts = xp.zeros(size, dtype=np.uint64 if counter.weight is None else np.float64)
    if counter.weight is None and apart <= here.shared_bytes // 2:
        width = min(n_columns, MOST_WIDTH, here.threads)
        shape = (np.int64(n_rows), np.int32(n_columns), np.int32(width))
        groups = here.threads // width
        enough = -(-n_rows // (groups * SHORT_COUNTS))  # no thread may see more rows than its counters hold
        blocks = (max(min(here.n_blocks, n_rows // 64), enough, 1), -(-n_columns // width))
        told = (cells, *steps, codes, *shape, np.int64(least), *bounds, counts, outside)
        here.launch("count_values", (c_type(cells), c_type(codes)), blocks, apart, told)
    else:
        kind = "unsigned long long" if counter.weight is None else "double"
        rows = (cells, *steps, codes, counter.weight, np.int64(n_rows), np.int32(n_columns))
        types = (c_type(cells), c_type(codes), kind)
        here.launch("count_many_values", types, (here.n_blocks,), 0, (*rows, np.int64(least), *bounds, counts, outside))
    if int(outside[0]):
        return None
    return host_numbers(here, counts).reshape(n_columns, n_classes, n_values)


def _as_words(cells: DeviceArray) -> bool:
    """Whether rows of bytes can be read as words of four cells, of which pairs are columns side by side."""
    lies_so = cells.flags.c_contiguous and address(cells) % 4 == 0
    return bool(lies_so and str(cells.dtype) == "uint8" and cells.shape[1] % 2 == 0)


def _count_words(counter: DeviceCounter, cells: DeviceArray, least: int, n_values: int) -> Array | None:
    """The same for bytes, four cells at a time and from zero on."""
    here, n_classes, (n_rows, n_columns) = counter.device, counter.n_classes, cells.shape
    xp, most, codes = here.xp, least + n_values, here.xp.ascontiguousarray(counter.labels.codes)
    rows = 2 if n_columns % 4 else 1
    words, threads = rows * n_columns // 4, here.word_threads
    lanes = next(lanes for lanes in (1, 2, 4, 8, 16, 32) if lanes >= min(words, 32))
    enough = -(-n_rows * lanes // (rows * 32 * SHORT_COUNTS))  # no lane may see more lines than half a counter can tell
    useful = -(-n_rows // max(threads // lanes * FEW_ROWS, 1))
    counts, outside = xp.zeros(n_columns * n_classes * most, dtype=np.uint64), xp.zeros(1, dtype=np.int32)
    shape = (np.int64(n_rows), np.int32(n_columns), np.int32(lanes), np.int32(most), np.int32(n_classes))
    blocks = (max(min(here.n_blocks // 2, useful), enough, 1), -(-words // lanes))
    room = 4 * 32 * n_classes * most**2
    types, told = (c_type(codes), str(threads)), (cells, codes, *shape, counts, outside)
    here.launch("count_words", types, blocks, room, told, threads=threads)
    if int(outside[0]):
        return None
    table = host_numbers(here, counts).reshape(n_columns, n_classes, most)
    return None if table[..., :least].any() else table[..., least:]


# Numbers by cells of a grid.


def histogram(counter: DeviceCounter, columns: tuple[str, ...]) -> Histogram:
    """The finest grid of floats on which a column takes no more cells than a histogram has."""
    (name,) = columns
    here, cells = counter.device, counter.table.column(name)
    xp = here.xp
    refuse_infinite(here, cells[:, None], columns)
    bits = xp.ascontiguousarray(cells.astype(np.float64)).view(np.int64)
    counted = (bits & int(MAGNITUDE)) <= int(INFINITE)
    if counter.weight is not None:
        counted &= counter.weight > 0.0
    places = xp.where(bits >= 0, bits, -(bits & int(MAGNITUDE)))
    distinct = xp.unique(places[counted])
    shift = _grid_shift(here, distinct)
    found = xp.unique(distinct >> shift)
    codes = xp.where(counted, xp.searchsorted(found, places >> shift), -1)
    return Histogram(shift, np.asarray(here.fetch(found), dtype=np.int64), _table(counter, codes, len(found)))


def _grid_shift(here: Device, distinct: DeviceArray) -> int:
    """Bits to drop so that ascending places take no more than `MOST_CELLS` cells."""
    shift = 0
    while len(distinct) > MOST_CELLS and shift < COARSEST:
        shift += 1
        distinct = here.xp.unique(distinct >> 1)
    return shift


# Pairs of columns.


def pair_counts(counter: DeviceCounter, columns: tuple[str, ...], cuts: Mapping[str, Cuts]) -> PairCounts:
    """All pairs at once: the indicators of the values of a row, multiplied by each other and summed by class."""
    here = counter.device
    axes: list[Axis] = []
    codes: list[DeviceArray] = []
    for name in columns:
        axis, code = _axis(counter, name, cuts.get(name))
        axes.append(axis)
        codes.append(code)
    layout = PairLayout.of([size_of(axis) for axis in axes])
    counts = np.zeros((counter.n_classes, layout.width))
    for c in range(counter.n_classes):
        together = _together(here, counter, c, codes, layout)
        for j, size in enumerate(layout.sizes.tolist()):
            first = int(layout.singles[j])
            counts[c, first : first + size] = np.diagonal(together)[first : first + size]
            for k in range(j + 1, len(axes)):
                other, start = int(layout.singles[k]), int(layout.pairs[j, k])
                table = together[first : first + size, other : other + int(layout.sizes[k])]
                counts[c, start : start + table.size] = table.ravel()
    seen = PairCounts(tuple(axes), counts)
    return seen + PairCounts(tuple(axes), np.zeros_like(counts))  # a sum leaves out values without weight


def _axis(counter: DeviceCounter, name: str, cuts: Cuts | None) -> tuple[Axis, DeviceArray]:
    """How a column is counted, and the code of each row, −1 for a gap."""
    here, cells = counter.device, counter.table.column(name)
    xp = here.xp
    if cuts is not None:
        refuse_infinite(here, cells[:, None], (name,))
        at, found = xp.asarray(cuts.at), cells.astype(np.float64)
        return cuts, xp.where(found == found, xp.searchsorted(at, found, side="right"), -1)
    known = cells == cells
    values = xp.unique(cells[known])
    return tuple(here.fetch(values).tolist()), xp.where(known, xp.searchsorted(values, cells), -1)


def _together(here: Device, counter: DeviceCounter, c: int, codes: Sequence[DeviceArray], layout: PairLayout) -> Array:
    """Values × values of all columns in one class."""
    xp, width = here.xp, int(layout.sizes.sum())
    total, most = np.zeros((width, width)), max(min(ONE_HOT_ROWS, ONE_HOT_CELLS // max(width, 1)), 1)
    dtype = np.float32 if counter.weight is None else np.float64
    for some in rows_of_class(counter, c):
        for start in range(0, len(some), most):
            rows = some[start : start + most]
            here_rows, held = xp.arange(len(rows)), xp.zeros((len(rows), width + 1), dtype=dtype)
            for code, first in zip(codes, layout.singles.tolist(), strict=True):
                own = code[rows]
                held[here_rows, xp.where(own >= 0, own + first, width)] = 1.0
            ones = held[:, :width]
            heavy = ones if counter.weight is None else ones * counter.weight[rows][:, None]
            total += host_numbers(here, heavy.T @ ones)
    return total


# Counts of events.


def feature_counts(counter: DeviceCounter, columns: tuple[str, ...]) -> FeatureCounts:
    """Sums of each column in each class; a gap counts as nothing, a negative cell is refused."""
    here, table = counter.device, counter.table
    if table.sparse is not None:
        return _sparse_sums(counter, columns)
    xp, cells = here.xp, table.block(columns)
    if bool((cells < 0).any()) or (cells.dtype.kind == "f" and bool(xp.isinf(cells).any())):
        raise _no_counts(columns)
    return _sums(counter, xp.nan_to_num(cells, nan=0.0) if cells.dtype.kind == "f" else cells)


def presence(counter: DeviceCounter, columns: tuple[str, ...]) -> Presence:
    """Rows with a number above zero, and gaps."""
    if counter.table.sparse is not None:
        raise SchemaError("A sparse matrix on a GPU is counted by the family 'multinomial' only.")
    cells = counter.table.block(columns)
    return Presence(_sums(counter, cells > 0), _sums(counter, cells != cells))


def _sums(counter: DeviceCounter, cells: DeviceArray) -> FeatureCounts:
    here = counter.device
    out = np.zeros((counter.n_classes, cells.shape[1]))
    for c in range(counter.n_classes):
        for rows in rows_of_class(counter, c):
            part = cells[rows].astype(np.float64)
            heavy = part if counter.weight is None else part * counter.weight[rows][:, None]
            out[c] += host_numbers(here, heavy.sum(axis=0))
    return FeatureCounts(out)


def _sparse_sums(counter: DeviceCounter, columns: Sequence[str]) -> FeatureCounts:
    here, rows = counter.device, counter.table.sparse
    xp, shape = here.xp, (counter.n_classes, len(columns))
    sums, wrong = xp.zeros(shape[0] * shape[1], dtype=np.float64), xp.zeros(1, dtype=np.int32)
    codes = xp.ascontiguousarray(counter.labels.codes)
    matrix = (rows.data, rows.indices, rows.indptr)
    size = (np.int64(counter.n_rows), np.int64(shape[1]))
    types = (c_type(rows.data), c_type(rows.indices), c_type(codes))
    here.launch("sum_sparse_rows", types, (here.n_blocks,), 0, (*matrix, codes, counter.weight, *size, sums, wrong))
    if int(wrong[0]):
        raise _no_counts(columns)
    return FeatureCounts(host_numbers(here, sums).reshape(shape))


def _no_counts(columns: Sequence[str]) -> SchemaError:
    return SchemaError(
        f"Negative values in data passed to a family of counts: columns {columns[0]!r} to {columns[-1]!r} must hold "
        "finite numbers from zero up."
    )
