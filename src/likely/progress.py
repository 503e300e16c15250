"""How far long work has come, told to a function, or shown as a bar where a person looks on.

Everything that takes long has a parameter `progress`: a function that is told, True for a bar on the error stream,
False for nothing, None for a bar on a terminal only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

WIDTH = 24
"""Signs of a whole bar of steps."""

PARTS = 1000.0
"""Parts of a whole bar of rows."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far work has come: rows or steps that are done, which share of all that is, and of what."""

    done: int
    share: float
    total: int | None = None
    what: str = "row"

    @property
    def rows(self) -> int:
        """What is done, where rows are counted."""
        return self.done


Listener = Callable[[Progress], None]
Shown = bool | Listener | None
"""What the parameter `progress` may be."""


def _is_shown(shown: Shown) -> bool:
    return sys.stderr.isatty() if shown is None else bool(shown)


class StepBar:
    """A bar for work in steps that rewrites itself on one line."""

    def __init__(self, total: int, what: str, shown: Shown) -> None:
        self._total, self._what, self._done = total, what, 0
        self._listener = shown if callable(shown) else None
        self._shown = self._listener is None and _is_shown(shown)
        self._lock = threading.Lock()

    def step(self, what: str | None = None) -> None:
        """One more is done; `what` it was, where each step has its own name."""
        if not self._shown and self._listener is None:
            return
        with self._lock:
            self._done += 1
            if self._listener is not None:
                self._listener(Progress(self._done, self._done / max(self._total, 1), self._total, what or self._what))
                return
            end = ("" if what is None else "\033[K") + ("\n" if self._done == self._total else "")
            bar = ("#" * (WIDTH * self._done // max(self._total, 1))).ljust(WIDTH, "-")
            sys.stderr.write(f"\r[{bar}] {what or self._what} {self._done} of {self._total}{end}")
            sys.stderr.flush()

    def end(self) -> None:
        """There is nothing more to do, even if not all was done: what is said next stands on a line of its own."""
        if self._shown and 0 < self._done < self._total:
            sys.stderr.write("\n")


@contextmanager
def row_bar(what: str, shown: Shown) -> Iterator[Listener | Literal[False]]:
    """What is to be told about rows that are read: the function itself, a bar with rate and time left, or nothing."""
    if callable(shown):
        yield shown
        return
    if not _is_shown(shown):
        yield False
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rows]}"),
        TimeRemainingColumn(compact=True),
    )  # fmt: skip
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=PARTS, rows="")

        def tell(done: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f", {done.rows / elapsed:,.0f}/s" if elapsed > 0.5 else ""
            bar.update(task, completed=PARTS * done.share, rows=f"{done.rows:,} rows{rate}")

        yield tell
