"""How rows lie in shared memory while threads score them."""

from __future__ import annotations

from dataclasses import dataclass

from likely.engines.gpu.device import DeviceArray

UNITS = (16, 8, 4, 2, 1)
"""Bytes that a thread can read at once, most first."""


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Rows are `pitch` cells apart, a thread reads `at_once` cells, and `unit` bytes are copied in one go.

    A unit of 0: the rows lie as closely before, and are copied all at once.
    """

    pitch: int
    at_once: int
    unit: int


def lies_side_by_side(cells: DeviceArray) -> bool:
    """Whether the cells of a row follow each other."""
    row_bytes = cells.shape[1] * cells.itemsize
    return bool(cells.strides[1] == cells.itemsize and cells.strides[0] >= row_bytes)


def row_layout(n_columns: int, cell_bytes: int, row_step: int, begin: int) -> RowLayout:
    """A layout in which threads side by side read from other banks; `row_step` is in cells, `begin` an address."""
    row_bytes = n_columns * cell_bytes
    at_once = next(n for n in UNITS if row_bytes % n == 0)
    pitch = (row_bytes // at_once | 1) * at_once
    if pitch == row_step * cell_bytes == row_bytes and begin % 16 == 0:
        return RowLayout(n_columns, at_once // cell_bytes, 0)
    places = (begin, row_step * cell_bytes, row_bytes, pitch)
    unit = next(n for n in UNITS if all(place % n == 0 for place in places))
    return RowLayout(pitch // cell_bytes, at_once // cell_bytes, unit)
