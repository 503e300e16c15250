"""How far long work has come: a bar on one line of a terminal, a function that is told, or nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

WIDTH = 24
"""Signs of a whole bar."""


@dataclass(frozen=True, slots=True)
class Step:
    """So many of so many are done: folds, classifiers, rows."""

    done: int
    total: int
    what: str

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done / max(self.total, 1)


ProgressWanted = bool | Callable[[Step], object] | None
"""True for a bar, False for none, None for one if a person is looking, or a function that is told every step."""


class Progress:
    """Counts steps, from any thread, and shows each: as a bar that rewrites itself, or to a function."""

    def __init__(self, total: int, what: str, shown: ProgressWanted) -> None:
        self._total, self._what, self._done = total, what, 0
        self._tell = shown if callable(shown) else None
        self._bar = shown is True or (shown is None and sys.stderr.isatty())
        self._lock = threading.Lock()

    def step(self) -> None:
        """One more is done."""
        with self._lock:
            self._done += 1
            step = Step(self._done, self._total, self._what)
            if self._tell is not None:
                self._tell(step)
            if self._bar:
                end = "\n" if self._done == self._total else ""
                bar = ("#" * int(WIDTH * step.share)).ljust(WIDTH, "-")
                sys.stderr.write(f"\r[{bar}] {self._what} {self._done} of {self._total}{end}")
                sys.stderr.flush()

    def end(self) -> None:
        """There is nothing more to do, even if not all was done: what is said next stands on a line of its own."""
        if self._bar and 0 < self._done < self._total:
            sys.stderr.write("\n")
