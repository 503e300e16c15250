"""Threads that stay for a whole run of learning: hundreds of passes over rows are too short to hire anew for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

from likely.threads import n_threads

Item = TypeVar("Item")
Result = TypeVar("Result")

_HERE = threading.local()


class Crew:
    """Does tasks side by side; results come in the order of the items, whoever did them.

    A task that hands out tasks itself does them alone: nobody waits for somebody who waits.
    """

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.size = n_threads(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def do(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """`task` of every item."""
        if self.size == 1 or len(items) < 2 or getattr(_HERE, "busy", False):
            return [task(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size, initializer=_mark)
        return list(self._pool.map(task, items))


def _mark() -> None:
    _HERE.busy = True
