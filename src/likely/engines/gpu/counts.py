"""What is seen of numbers on a device: rows dealt to classes, moments, scatter matrices; statistics of the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likely.arrays import AnyArray, Array, Flags, Int64
from likely.engines.gpu.device import Device, DeviceArray, address, c_type
from likely.engines.gpu.table import DeviceLabels, DeviceTable, among, host_numbers
from likely.errors import BadCell, TooLarge
from likely.stats import Moments, Scatter
from likely.stats.moments import TINY_MEAN, TINY_SQUARE
from likely.stats.scatter import scatter_of_products
from likely.table.table import INFINITE

CHUNK_ROWS = 32 * 1024
"""Rows that are dealt to classes at a time: their order stays so local that columns are read from the cache."""

PIECE_ROWS = 1 << 11
"""Rows of a chunk that one block of threads counts."""

N_PARTS = 32
"""Sums of pieces that are added up side by side before the last sum."""

TILE_BYTES = 26 * 1024
MOST_TILE_ROWS = 512
"""Rows that are on their way to a block of the usual size while it counts as many others."""

MOST_WIDTH = 128
"""Columns that one block of threads looks at."""

GEMM_ROWS = 1 << 18
"""Rows that are centred at a time before they are multiplied."""


@dataclass(frozen=True, eq=False)
class ClassOrder:
    """Row numbers of each chunk, sorted by class, and where each class begins in it."""

    order: DeviceArray
    starts: DeviceArray
    n_chunks: int
    chunk: int


@dataclass(frozen=True, eq=False)
class DeviceCounter:
    """Rows of a device with their classes and weights: what statistics are counted from."""

    table: DeviceTable
    labels: DeviceLabels
    weight: DeviceArray | None

    @property
    def device(self) -> Device:
        return self.table.device

    @property
    def n_classes(self) -> int:
        return len(self.labels.classes)

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def unweighted(self) -> DeviceCounter:
        """The same rows, each of which counts once."""
        return DeviceCounter(self.table, self.labels, None)

    def among(self, classes: AnyArray) -> DeviceCounter:
        """The same rows, their classes among others."""
        return DeviceCounter(self.table, among(self.device, self.labels, classes), self.weight)

    @cached_property
    def by_class(self) -> ClassOrder:
        """The rows dealt to classes."""
        here, n_rows, n_classes = self.device, self.n_rows, self.n_classes
        xp, codes = here.xp, here.xp.ascontiguousarray(self.labels.codes)
        sizes = {threads: _room_to_deal(n_classes, threads, codes.itemsize) for threads in here.block_sizes}
        fits = [threads for threads, size in sizes.items() if size <= here.shared_bytes - 5 * 1024]
        if not fits:  # too many classes: all rows are one chunk, and sorted
            order = xp.argsort(codes, kind="stable").astype(np.int32)
            counts = xp.bincount(codes, minlength=n_classes)
            starts = xp.concatenate([xp.zeros(1, dtype=np.int64), xp.cumsum(counts)]).astype(np.int32)
            return ClassOrder(order, starts, 1, max(n_rows, 1))
        threads = next((own for own in fits if 2 * sizes[own] <= here.shared_bytes), fits[-1])
        n_chunks = -(-n_rows // CHUNK_ROWS)
        order = xp.empty(n_rows, dtype=np.int32)
        starts = xp.empty(n_chunks * (n_classes + 1), dtype=np.int32)
        arguments = (codes, np.int64(n_rows), np.int32(n_classes), np.int32(CHUNK_ROWS), order, starts)
        here.launch("deal_rows", (c_type(codes),), (n_chunks,), sizes[threads], arguments, threads=threads)
        return ClassOrder(order, starts, n_chunks, CHUNK_ROWS)

    def class_weights(self) -> tuple[Array, Int64]:
        """Weight and number of rows of each class."""
        rows = self.labels.rows
        if self.weight is None:
            return rows.astype(np.float64), rows
        weights = self.device.xp.bincount(self.labels.codes, weights=self.weight, minlength=self.n_classes)
        return host_numbers(self.device, weights), rows


def _room_to_deal(n_classes: int, threads: int, code_bytes: int) -> int:
    """Shared memory for the rows of a chunk and the places of their classes."""
    return 2 * n_classes * threads + 2 + code_bytes * CHUNK_ROWS + 4 * max(code_bytes, 4) * threads


# Numbers.


def moments(counter: DeviceCounter, columns: tuple[str, ...]) -> Moments:
    """Moments of columns; those of extreme size are divided by a power of two, which loses nothing."""
    cells = counter.table.block(columns)
    seen, suspect = _moments(counter, cells)
    if len(suspect):
        refuse_infinite(counter.device, cells, columns)
        scaled = _scaled_moments(counter, cells, suspect)
        for table, column in zip((seen.n, seen.mean, seen.root), scaled, strict=True):
            table[:, suspect] = column
    try:
        seen.refuse_large()
    except TooLarge as large:
        raise large.named(columns) from None
    return seen


def log_moments(counter: DeviceCounter, columns: tuple[str, ...]) -> Moments:
    """Moments of logarithms, which every cell must have."""
    xp, cells = counter.device.xp, counter.table.block(columns)
    below = xp.argwhere(cells <= 0)
    if len(below):
        row, column = (int(k) for k in below[0])
        wanted = "a log-normal column holds only numbers above zero: choose another family, such as 'gaussian'"
        raise BadCell(row, column, float(cells[row, column]), wanted).named(columns)
    refuse_infinite(counter.device, cells, columns)
    return _moments(counter, xp.log(cells.astype(np.float64)))[0]


def _moments(counter: DeviceCounter, cells: DeviceArray) -> tuple[Moments, AnyArray]:
    """Moments, and the places of columns that are too large or too small for squares, or infinite."""
    here, n_classes, n_columns = counter.device, counter.n_classes, cells.shape[1]
    shape = (n_classes, n_columns)
    if not counter.n_rows or not n_classes:
        return Moments.empty(*shape), np.zeros(0, dtype=np.intp)
    n, mean, squares = host_numbers(here, _centred_sums(counter, cells)).reshape(3, *shape)
    finite = np.isfinite(mean) & np.isfinite(squares)
    suspect: Flags = np.array(~finite.all(axis=0))
    for column in np.flatnonzero(((squares < TINY_SQUARE) & (np.abs(mean) < TINY_MEAN)).all(axis=0)):
        suspect[column] = bool((here.xp.nan_to_num(cells[:, int(column)], nan=0.0) != 0.0).any())
    with np.errstate(invalid="ignore"):
        return Moments(n, mean, np.sqrt(squares)), np.flatnonzero(suspect)


def _centred_sums(counter: DeviceCounter, cells: DeviceArray) -> DeviceArray:
    """Weight, mean and centred squares (3 × classes × columns), on the device."""
    tiling = _tiling(counter, cells)
    parts = _sums_of_pieces(counter, cells) if tiling is None else _sums_of_tiles(counter, cells, tiling)
    here, n_cells = counter.device, counter.n_classes * cells.shape[1]
    out = here.xp.empty(3 * n_cells, dtype=np.float64)
    told = (parts, np.int32(parts.size // (3 * n_cells)), np.int64(n_cells), out)
    here.launch("join_parts", (), (n_cells,), 3 * 8 * here.threads, told)
    return out


@dataclass(frozen=True, slots=True)
class _Tiling:
    """Rows of a tile, and how the threads of a block share columns and classes."""

    threads: int
    rows: int
    of_thread: int
    slots: int
    shares: int
    shared: int


def _tiling(counter: DeviceCounter, cells: DeviceArray) -> _Tiling | None:
    """How rows that lie side by side are counted tile by tile; None where they do not, or classes are too many."""
    here, codes, weight, n_classes = counter.device, counter.labels.codes, counter.weight, counter.n_classes
    n_columns, side_by_side = cells.shape[1], [cells, codes] if weight is None else [cells, codes, weight]
    if not all(array.flags.c_contiguous and address(array) % 16 == 0 for array in side_by_side):
        return None
    for threads, most in here.tile_threads:
        groups = threads // n_columns
        of_thread = next((m for m in (1, 2, 4, 8) if m <= most and groups * m >= n_classes), None)
        if of_thread is None:
            continue
        row_bytes = n_columns * cells.itemsize + codes.itemsize + (0 if weight is None else 8)
        room = 2 * row_bytes + 2 * n_classes + n_classes / 8
        wanted = TILE_BYTES * threads // here.threads // row_bytes
        fitting = (here.shared_bytes / 2 - 4 * n_classes) // room
        rows = int(min(wanted, fitting, MOST_TILE_ROWS)) // 32 * 32
        if rows:
            slots = -(-n_classes // of_thread)
            shares = min(groups // slots, rows // 32)
            return _Tiling(threads, rows, of_thread, slots, shares, -(-int(rows * room + 4 * n_classes) // 8) * 8)
    return None


def _sums_of_tiles(counter: DeviceCounter, cells: DeviceArray, tiling: _Tiling) -> DeviceArray:
    """Parts of the sums (parts × classes × columns × 3), counted tile by tile."""
    here, codes, n_columns = counter.device, counter.labels.codes, cells.shape[1]
    blocks = min(here.n_blocks, -(-counter.n_rows // tiling.rows))
    out = here.xp.empty(blocks * tiling.shares * counter.n_classes * n_columns * 3, dtype=np.float64)
    weighted = "true" if counter.weight is not None else "false"
    types = (c_type(cells), c_type(codes), weighted, str(tiling.of_thread), str(tiling.threads))
    sizes = (counter.n_classes, n_columns, tiling.rows, tiling.slots, tiling.shares)
    told = (cells, counter.weight, codes, np.int64(counter.n_rows), *map(np.int32, sizes), out)
    here.launch("observe_tiles", types, (blocks,), tiling.shared, told, threads=tiling.threads)
    return out


def _sums_of_pieces(counter: DeviceCounter, cells: DeviceArray) -> DeviceArray:
    """Parts of the sums, counted from rows dealt to classes."""
    here, by_class = counter.device, counter.by_class
    xp, n_columns, n_classes = here.xp, cells.shape[1], counter.n_classes
    width = min(n_columns, MOST_WIDTH, here.threads)
    tiles, pieces = -(-n_columns // width), -(-by_class.chunk // PIECE_ROWS)
    slots = pieces + n_classes
    rows_apart, columns_apart = (step // cells.itemsize for step in cells.strides)
    seen = xp.empty(by_class.n_chunks * slots * n_columns * 3, dtype=np.float64)
    shared = 3 * 8 * here.threads
    layout = (np.int32(n_columns), np.int32(width))
    steps = (np.int32(rows_apart), np.int64(columns_apart))
    sizes = (np.int32(n_classes), np.int32(PIECE_ROWS), np.int32(pieces), np.int32(slots), *layout)
    of_pieces = (cells, *steps, counter.weight, by_class.order, by_class.starts, *sizes, seen)
    weighted = "true" if counter.weight is not None else "false"
    blocks, rows = (by_class.n_chunks * pieces, tiles), 4 * PIECE_ROWS
    here.launch("observe_pieces", (c_type(cells), weighted), blocks, shared + rows, of_pieces)
    n_parts = min(N_PARTS, by_class.n_chunks)
    parts = xp.empty(n_parts * n_classes * n_columns * 3, dtype=np.float64)
    of_chunks = (
        seen, by_class.starts, np.int32(n_classes), np.int32(by_class.n_chunks), np.int32(PIECE_ROWS), np.int32(slots),
        *layout, parts,
    )  # fmt: skip
    here.launch("join_pieces", (), (n_classes, tiles, n_parts), shared, of_chunks)
    return parts


def _scaled_moments(counter: DeviceCounter, cells: DeviceArray, suspect: AnyArray) -> tuple[Array, Array, Array]:
    """Moments of some columns whose squares leave the floats."""
    xp = counter.device.xp
    some = cells[:, xp.asarray(suspect)].astype(np.float64)
    largest = host_numbers(counter.device, xp.max(xp.where(xp.isnan(some), 0.0, xp.abs(some)), axis=0))
    exponent = np.frexp(largest)[1]
    scaled = xp.ldexp(some, xp.asarray(-exponent, dtype=np.int32)[None, :])
    seen, _ = _moments(counter, scaled)
    with np.errstate(over="ignore"):
        return seen.n, np.ldexp(seen.mean, exponent), np.ldexp(seen.root, exponent)


def refuse_infinite(here: Device, cells: DeviceArray, columns: Sequence[str]) -> None:
    """Raise for the first infinite cell, if there is one."""
    if cells.dtype.kind != "f":
        return
    places = here.xp.argwhere(here.xp.isinf(cells))
    if len(places):
        row, column = (int(k) for k in places[0])
        raise BadCell(row, column, float(cells[row, column]), INFINITE).named(tuple(columns))


def scatter(counter: DeviceCounter, columns: tuple[str, ...]) -> Scatter:
    """Scatter matrices: rows of a class are centred and multiplied, so many at a time.

    Where cells are missing, so are the weight and the sums of each pair of columns over the rows that know both.
    """
    here, cells = counter.device, counter.table.block(columns)
    xp, seen = here.xp, moments(counter, columns)
    shape = (*seen.shape, len(columns))
    scale = np.where(seen.root > 0.0, seen.root, 1.0)
    n, sums, cross = np.zeros((3, *shape))
    gaps = cells.dtype.kind == "f" and bool(xp.isnan(cells).any())
    for c in range(counter.n_classes):
        centre, own_scale, total = xp.asarray(seen.mean[c]), xp.asarray(scale[c]), xp.zeros((3, *shape[1:]))
        for rows in rows_of_class(counter, c):
            part = (cells[rows].astype(np.float64) - centre) / own_scale
            weight = None if counter.weight is None else counter.weight[rows][:, None]
            if gaps:
                known = (~xp.isnan(part)).astype(np.float64)
                part = xp.nan_to_num(part, nan=0.0)
                total[0] += _heavy(known, weight).T @ known
                total[1] += _heavy(part, weight).T @ known
            total[2] += _heavy(part, weight).T @ part
        n[c], sums[c], cross[c] = host_numbers(here, total)
    return scatter_of_products(seen, cross, *((n, sums) if gaps else (None, None)))


def _heavy(part: DeviceArray, weight: DeviceArray | None) -> DeviceArray:
    return part if weight is None else part * weight


def rows_of_class(counter: DeviceCounter, c: int) -> Iterator[DeviceArray]:
    """Numbers of the rows of a class, so many at a time."""
    found = counter.device.xp.flatnonzero(counter.labels.codes == c)
    for start in range(0, len(found), GEMM_ROWS):
        yield found[start : start + GEMM_ROWS]
