"""Lines of tables, looked up by values and added to the log joint of rows on a device."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import DeviceArray, address, c_type
from likely.engines.gpu.row_layout import RowLayout, lies_side_by_side, row_layout
from likely.engines.gpu.scores import MOST_CLASSES, Finish, Scoring, Step
from likely.engines.gpu.table import DeviceTable
from likely.errors import DataError
from likely.families.on_device import IntervalTerm, ValueTerm

MOST_RANGE = 1 << 16

HELD_LINES = (8, 16, 32, 64, 128)
"""Lines that each column may have in shared memory."""

Lines = tuple[int, Array]
"""The least value, and lines from there on; last comes that of any other value."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldLines:
    """Tables for shared memory, columns × classes × lines from the value `least` on, beside rows; `room` in bytes."""

    least: int
    tables: Array
    rows: RowLayout
    room: int


def line_steps(terms: Sequence[ValueTerm | IntervalTerm]) -> list[Step]:
    """All tables at once. Whole numbers are looked up as they are; other columns become places of lines first."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        table, names = scoring.table, [term.columns[0] for term in terms]
        whole = table.matrix is not None and table.dtype.kind in "iub"
        tables = [lines for lines in map(_plain_lines, terms) if lines is not None] if whole else []
        if len(tables) == len(terms):
            cells = table.block(names)
        else:
            cells = scoring.device.xp.stack([_places(table, term) for term in terms], axis=1)
            tables = [(0, _all_lines(term)) for term in terms]
        held = _held_lines(scoring, cells, tables) if lies_side_by_side(cells) else None
        return _add_lines(scoring, cells, tables, finish) if held is None else _add_held(scoring, cells, held, finish)

    return [Step(add, True)] if terms else []


def _add_lines(scoring: Scoring, cells: DeviceArray, tables: Sequence[Lines], finish: Finish | None) -> DeviceArray:
    here = scoring.device
    sizes = np.array([len(lines) - 1 for _, lines in tables], dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]]).astype(np.int64)
    least = np.array([low for low, _ in tables], dtype=np.int64)
    lines = np.concatenate([lines for _, lines in tables])
    told = [here.xp.asarray(np.ascontiguousarray(part)) for part in (begins, least, sizes, lines)]
    layout = (np.int64(step // cells.itemsize) for step in cells.strides)
    rows = (cells, *layout, np.int64(len(cells)), np.int32(len(tables)))
    return scoring.add("add_lines", (c_type(cells),), lambda _: rows, told, finish, blocks=here.n_blocks)


def _held_lines(scoring: Scoring, cells: DeviceArray, tables: Sequence[Lines]) -> HeldLines | None:
    """As many lines for each column; None where shared memory has no room for them and some rows."""
    here, size, n_columns = scoring.device, cells.itemsize, len(tables)
    n_classes = min(scoring.n_classes, MOST_CLASSES)
    least = min(low for low, _ in tables)
    most = max(low + len(lines) for low, lines in tables) - least
    length = next((length for length in HELD_LINES if most <= length), 0)
    rows = row_layout(n_columns, size, cells.strides[0] // size, address(cells))
    room = 8 * n_columns * n_classes * length + here.threads * (rows.pitch * size + 8 * n_classes) + 16
    if not length or abs(least) > MOST_RANGE or room > here.shared_bytes // 2:
        return None
    held = np.empty((n_columns, scoring.n_classes, length))
    for own, (low, lines) in zip(held, tables, strict=True):
        own[:] = lines[-1][:, None]
        own[:, low - least : low - least + len(lines) - 1] = lines[:-1].T
    return HeldLines(least, held, rows, room)


def _add_held(scoring: Scoring, cells: DeviceArray, held: HeldLines, finish: Finish | None) -> DeviceArray:
    here, (n_rows, n_columns) = scoring.device, cells.shape
    rows = (cells, np.int64(cells.strides[0] // cells.itemsize), np.int64(n_rows), np.int32(n_columns))
    return scoring.add(
        "add_held_lines", (c_type(cells),), lambda _: rows, (here.xp.asarray(held.tables),), finish,
        last_types=(str(held.tables.shape[2]), str(held.rows.at_once)), blocks=here.n_blocks, shared=held.room,
        tail=(np.int64(held.least), np.int32(held.rows.pitch), np.int32(held.rows.unit)),
    )  # fmt: skip


def _plain_lines(term: ValueTerm | IntervalTerm) -> Lines | None:
    """Lines of whole numbers that lie close together; None for other values."""
    if isinstance(term, IntervalTerm):
        return None
    values = np.array(term.values) if term.values else np.zeros(0, dtype=np.int64)
    if values.dtype.kind not in "ib":
        return None
    values = values.astype(np.int64)
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if most - least >= MOST_RANGE:
        return None
    lines = np.empty((most - least + 2, term.lines.shape[1]))
    lines[:] = term.other
    lines[values - least] = term.lines
    return least, lines


def _all_lines(term: ValueTerm | IntervalTerm) -> Array:
    """The lines of values or intervals, that of a gap, and last that of any other value."""
    other = term.other if isinstance(term, ValueTerm) else term.gap
    return np.vstack([term.lines, term.gap, other])


def _places(table: DeviceTable, term: ValueTerm | IntervalTerm) -> DeviceArray:
    """The line of each row."""
    here, cells = table.device, table.column(term.columns[0])
    xp, n = here.xp, len(term.lines)
    known = cells == cells
    if isinstance(term, IntervalTerm):
        refuse_infinite(here, cells[:, None], term.columns)
        found = xp.searchsorted(xp.asarray(term.cuts), cells.astype(np.float64), side="right")
        return xp.where(known, found, n).astype(np.int32)
    return places_of_values(table, term.columns[0], term.values)


def places_of_values(table: DeviceTable, column: str, values: Sequence[Hashable]) -> DeviceArray:
    """The place of each cell among some values; their number for a gap, one more for any other value."""
    xp, cells, n = table.device.xp, table.column(column), len(values)
    known, numbers = cells == cells, cells.astype(np.float64)
    if not all(isinstance(value, int | float) for value in values):
        raise DataError(
            f"Column {column!r} was learned as {values[0]!r} and the like, but on a GPU it holds numbers: bring the "
            "rows to the host."
        )
    if not n:
        return xp.where(known, n + 1, n).astype(np.int32)
    learned = np.array([float(value) for value in values if isinstance(value, int | float)])
    order = np.argsort(learned)
    sorted_values = xp.asarray(learned[order])
    place = xp.minimum(xp.searchsorted(sorted_values, numbers), n - 1)
    found = xp.where(sorted_values[place] == numbers, xp.asarray(order)[place], n + 1)
    return xp.where(known, found, n).astype(np.int32)
