"""How far a long evaluation has come: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import threading


class Progress:
    """A counter on the error stream that rewrites itself; silent unless a person is looking."""

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
                sys.stderr.write(f"\r{self._what} {self._done} of {self._total}{end}")
                sys.stderr.flush()
