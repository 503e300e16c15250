"""Work over blocks of rows, side by side. The blocks never depend on how many threads there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from likely.errors import SettingsError

BLOCK_CELLS = 1 << 21
"""Cells of a block of rows: enough work to be worth a task, few enough blocks to be summed in no time."""

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_ROWS = 1 << 16
FEWEST_ROWS = 1 << 10


def row_blocks(n_rows: int, cells_per_row: int, fewest: int = 0) -> list[slice]:
    """Cut rows into blocks of about equal work."""
    size = max(min(BLOCK_CELLS // max(cells_per_row, 1), MOST_ROWS), fewest, FEWEST_ROWS)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def n_threads(n_jobs: int | None) -> int:
    """How many threads to use: `n_jobs`, else the variable LIKELY_THREADS, else all cores given to us."""
    wanted = n_jobs if n_jobs is not None else int(os.environ.get("LIKELY_THREADS", "0"))
    if not isinstance(wanted, int) or wanted < -1:  # type: ignore[redundant-expr]
        raise SettingsError(f"n_jobs is {wanted!r}, but it is a number of threads; leave it out to use all cores.")
    if wanted > 0:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(task: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> Iterator[Result]:
    """Results of `task` for every item, in the order of the items."""
    workers = min(n_threads(n_jobs), len(items))
    if workers <= 1:
        yield from map(task, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(task, items)
