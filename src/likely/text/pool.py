"""Tables and scratch memory that threads borrow: as many as there are threads at work, however many blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Pool(Generic[Thing]):
    """Things of one make, lent to one thread at a time.

    >>> pool = Pool(list)
    >>> with pool.borrow() as (number, thing):
    ...     thing.append("used")
    >>> pool.things
    [['used']]
    """

    def __init__(self, make: Callable[[], Thing]) -> None:
        self.things: list[Thing] = []
        self._make = make
        self._free: list[int] = []
        self._lock = Lock()

    @contextmanager
    def borrow(self) -> Iterator[tuple[int, Thing]]:
        """A free thing, or a new one, and its number."""
        with self._lock:
            if not self._free:
                self._free.append(len(self.things))
                self.things.append(self._make())
            number = self._free.pop()
        try:
            yield number, self.things[number]
        finally:
            with self._lock:
                self._free.append(number)
