"""Work over blocks of rows, side by side. The blocks never depend on how many threads there are."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, reduce
from itertools import count
from operator import add
from threading import Lock
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from likely.errors import SettingsError

BLOCK_CELLS = 1 << 21
"""Cells of a block of rows: enough work to be worth a task, few enough blocks to be summed in no time."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Sum = TypeVar("Sum", bound="Adds")


class _Thread(threading.local):
    """Whether this thread belongs to a pool of workers (`busy`), or to those of one call (`shared`)."""

    busy = False
    shared = False


_HERE = _Thread()


class Adds(Protocol):
    """What can be added to its like."""

    def __add__(self, other: Self) -> Self: ...


MOST_ROWS = 1 << 16
FEWEST_ROWS = 1 << 10


def row_blocks(n_rows: int, cells_per_row: int, fewest: int = 0) -> list[slice]:
    """Cut rows into blocks of about equal work."""
    size = max(min(BLOCK_CELLS // max(cells_per_row, 1), MOST_ROWS), fewest, FEWEST_ROWS)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def n_threads(n_jobs: int | None) -> int:
    """How many threads to use: `n_jobs`, else the variable LIKELY_THREADS, else all cores given to us."""
    wanted = n_jobs if n_jobs is not None else int(os.environ.get("LIKELY_THREADS", "0"))
    if not isinstance(wanted, int) or wanted < -1 or n_jobs == 0:  # type: ignore[redundant-expr]
        raise SettingsError(f"n_jobs is {wanted!r}, but it is a number of threads; leave it out to use all cores.")
    if wanted > 0:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(task: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
    """Results of `task` for every item, in the order of the items."""
    workers = min(n_threads(n_jobs), len(items))
    return [task(item) for item in items] if workers <= 1 else _SharedWork(task, items).done_by(workers, lone=False)


class _SharedWork(Generic[Item, Result]):
    """A list of tasks that the caller begins and helpers join: nobody waits for a helper that has not come yet.

    `lone` says that whoever is at it has no helpers for tasks within tasks (see `WorkerPool`).
    """

    def __init__(self, task: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._task, self._items, self._next = task, items, count()
        self._results: list[Result | None] = [None] * len(items)
        self._errors: dict[int, BaseException] = {}

    def done_by(self, workers: int, *, lone: bool) -> list[Result]:
        """All results, in order; of several errors the first one, in the order of the items."""
        helpers = [_helpers().submit(self._work, lone) for _ in range(workers - 1)]
        try:
            self._work(lone)
            for helper in helpers:
                helper.cancel()
            wait(helpers)
        except BaseException as error:  # noqa: BLE001 - an interrupt while waiting: the helpers end, then it is raised
            self._errors.setdefault(-1, error)
            wait(helpers)
        if self._errors:
            raise self._errors[min(self._errors)]
        return cast("list[Result]", self._results)

    def _work(self, lone: bool) -> None:
        before, _HERE.shared, _HERE.busy = (_HERE.shared, _HERE.busy), True, lone or _HERE.busy
        try:
            while not self._errors:
                place = next(self._next)  # whoever takes a task does it: others may wait for it
                if place >= len(self._items):
                    return
                try:
                    self._results[place] = self._task(self._items[place])
                except BaseException as error:  # noqa: BLE001 - whoever asked raises it
                    self._errors[place] = error
        finally:
            _HERE.shared, _HERE.busy = before


MOST_HELPERS = 256


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that stay: hiring sixteen anew takes longer than many a task. They are made as they are needed."""
    return ThreadPoolExecutor(MOST_HELPERS, "likely-helper")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork


def within_pool() -> bool:
    """Whether the caller is one of several threads already, so that it had better work alone."""
    return _HERE.busy or _HERE.shared


def pipeline(
    task: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None, most: int | None = None
) -> Iterator[tuple[Item, Result]]:
    """Each item with what `task` makes of it, in order, where all results at once would fill the memory.

    No more results wait than there are threads (`most` of them) and two; items are taken while others are worked on.
    """
    workers = n_threads(n_jobs) if most is None else min(n_threads(n_jobs), most)
    if workers == 1 or (isinstance(items, Sized) and len(items) < 2):
        for item in items:
            yield item, task(item)
        return
    pool = ThreadPoolExecutor(workers, initializer=_share)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.submit(task, item)))
            if len(waiting) > workers + 1:
                first, result = waiting.popleft()
                yield first, result.result()
        while waiting:
            first, result = waiting.popleft()
            yield first, result.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def total(task: Callable[[Item], Sum], items: Sequence[Item], n_jobs: int | None, start: Sum | None = None) -> Sum:
    """The sum of what `task` makes of every item, added in their order, without all of them at once."""
    parts = (part for _, part in pipeline(task, items, n_jobs))
    return reduce(add, parts) if start is None else reduce(add, parts, start)


class WorkerPool:
    """So many threads for a whole run of learning. A task that hands out tasks itself does them alone."""

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.size = n_threads(n_jobs)

    def do(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """`task` of every item; results come in the order of the items, whoever did them."""
        workers = 1 if _HERE.busy else min(self.size, len(items))
        return [task(item) for item in items] if workers <= 1 else _SharedWork(task, items).done_by(workers, lone=True)


ALONE = WorkerPool(1)
"""Nobody else."""


def _share() -> None:
    _HERE.shared = True


# Matrix products inside our own threads: the linear algebra library must not start further ones.

_HELD = Lock()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Within, matrix products use the thread that asks for them: blocks side by side do not jostle for cores.

    To be entered by the thread that hands out the blocks. Whoever comes while another one is inside changes
    nothing: so the library always gets back the number of threads it had. (Should the first one leave
    earlier, the other one's products may use more threads than they should; they are as right as before.)
    """
    if not _HELD.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _HELD.release()
