"""How far long work has come: a bar and a count on one line of a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import threading

WIDTH = 24
"""Signs of a whole bar."""


class Progress:
    """A bar on the error stream that rewrites itself; silent unless a person is looking."""

    def __init__(self, total: int, what: str, shown: bool | None) -> None:
        self._total, self._what, self._done = total, what, 0
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._lock = threading.Lock()

    def step(self) -> None:
        """One more is done."""
        if self._shown:
            with self._lock:
                self._done += 1
                end = "\n" if self._done == self._total else ""
                bar = ("#" * (WIDTH * self._done // max(self._total, 1))).ljust(WIDTH, "-")
                sys.stderr.write(f"\r[{bar}] {self._what} {self._done} of {self._total}{end}")
                sys.stderr.flush()

    def end(self) -> None:
        """There is nothing more to do, even if not all was done: what is said next stands on a line of its own."""
        if self._shown and 0 < self._done < self._total:
            sys.stderr.write("\n")
