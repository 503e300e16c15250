"""Bell curves of columns, added to the log joint of rows on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np

from likely.arrays import Array
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import C_TYPES, Device, DeviceArray, address
from likely.engines.gpu.row_layout import lies_side_by_side, row_layout
from likely.engines.gpu.scores import MOST_CLASSES, Finish, Scoring, Step
from likely.engines.gpu.table import NO_GAPS
from likely.errors import DataError
from likely.families.on_device import BellTerm

ROWS_OF_THREAD = 2
"""Rows that a thread scores at once, as `add_bells` has it."""

COPIED_ROWS = 1 << 22
"""Rows that are laid side by side at a time, where they are not."""


def bell_steps(terms: Sequence[BellTerm]) -> list[Step]:
    """Bell curves of numbers, and those of logarithms."""
    kinds = [[term for term in terms if term.of_logs is of_logs] for of_logs in (True, False)]
    return [Step(_bells(some), True) for some in kinds if some]


def _bells(terms: Sequence[BellTerm]) -> Callable[[Scoring, Finish | None], DeviceArray]:
    """Bell curves, as many columns in one pass as a multiprocessor has room for."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        here = scoring.device
        columns = tuple(name for term in terms for name in term.columns)
        given, odd = scoring.table.block(columns), here.xp.zeros(2, dtype=np.int32)
        cells = _logarithms(here, given) if terms[0].of_logs else given
        mean, precision, heights = (
            np.concatenate([getattr(term, part) for term in terms], axis=1).T
            for part in ("mean", "precision", "height")
        )
        bells = np.stack([mean, precision * np.sqrt(0.5)], axis=2)
        out, width = None, _width_of_bells(scoring, cells)
        for first in range(0, len(columns), width):
            some = slice(first, first + width)
            last = finish if first + width >= len(columns) else None
            out = _some_bells(scoring, cells[:, some], bells[some], heights[some], last, odd)
        infinite, missing = here.fetch(odd).tolist()
        if infinite:
            refuse_infinite(here, given, columns)
        if missing and not scoring.gaps:
            raise DataError(NO_GAPS)
        if terms[0].of_logs and finish is None:  # the density of x, not of log x; all classes have the same factor
            weights = np.concatenate([np.full(len(term.columns), term.weight) for term in terms])
            scoring.joint[:] -= here.xp.nan_to_num(cells, nan=0.0) @ here.xp.asarray(weights)[:, None]
        return out

    return add


def _logarithms(here: Device, cells: DeviceArray) -> DeviceArray:
    """Logarithms in double precision; a gap where there is none."""
    numbers, out = cells.astype(np.float64), here.xp.full(cells.shape, np.nan)
    inside = numbers > 0.0
    out[inside] = here.xp.log(numbers[inside])
    return out


def _width_of_bells(scoring: Scoring, cells: DeviceArray) -> int:
    """Columns that are scored at once: all, if two blocks have room for them, else as many as leave room for four."""
    here, n_columns = scoring.device, int(cells.shape[1])
    threads = here.threads // 2
    column_bytes = ROWS_OF_THREAD * threads * _cell_bytes(cells) + 16 * min(scoring.n_classes, MOST_CLASSES)
    padding = ROWS_OF_THREAD * threads * 16 + 1024
    if n_columns * column_bytes + padding <= here.shared_bytes // 2:
        return n_columns
    most = max((here.shared_bytes // 4 - padding) // column_bytes // 4 * 4, 4)
    n_slices = ceil(n_columns / most)
    return 4 * ceil(n_columns / n_slices / 4)


def _cell_bytes(cells: DeviceArray) -> int:
    return 4 if str(cells.dtype) == "float32" else 8


def _some_bells(
    scoring: Scoring, cells: DeviceArray, bells: Array, heights: Array, finish: Finish | None, odd: DeviceArray
) -> DeviceArray:
    """Bell curves of some columns. Rows that do not lie side by side are laid so, a few at a time."""
    here, n_columns, size = scoring.device, cells.shape[1], _cell_bytes(cells)
    xp, threads = here.xp, here.threads // 2
    dtype = np.dtype(np.float32 if size == 4 else np.float64)
    lies_well = str(cells.dtype) == dtype.name and lies_side_by_side(cells)
    row_step = cells.strides[0] // size if lies_well else n_columns
    held = row_layout(n_columns, size, row_step, address(cells) if lies_well else 0)

    def rows(block: slice) -> Sequence[object]:
        some = cells[block] if lies_well else xp.ascontiguousarray(cells[block], dtype=dtype)
        return some, np.int64(row_step), np.int64(block.stop - block.start), np.int32(n_columns)

    told = [xp.asarray(np.ascontiguousarray(part)) for part in (bells, np.vstack([heights, heights.sum(axis=0)]))]
    room = 16 * n_columns * min(scoring.n_classes, MOST_CLASSES) + ROWS_OF_THREAD * threads * held.pitch * size
    return scoring.add(
        "add_bells", (C_TYPES[dtype.name],), rows, told, finish, last_types=(str(held.at_once),),
        blocks=here.n_blocks, threads=threads, shared=room, size=0 if lies_well else COPIED_ROWS,
        tail=(np.int32(held.pitch), np.int32(held.unit), odd),
    )  # fmt: skip
