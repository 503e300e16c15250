"""How far long work has come, told to a function, or shown as a bar where a person looks on.

Everything that takes long has a parameter `progress`: a function that is told, True for a bar on the error stream,
False for nothing, None for a bar on a terminal or in a notebook only. All bars are one line that rewrites itself and
goes away at the end; no thread draws it, so that whatever happens the terminal is left as it was.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

WIDTH = 30
"""Signs of a whole bar."""

NO_TERMINAL = 100
"""Signs that fit into a line where nobody says how many."""

OFTEN = 0.1
"""Seconds between two drawings of a bar."""

SOON = 0.5
"""Seconds before rates and the time left are told."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far work has come: rows or steps that are done, which share of all that is, and of what."""

    done: int
    share: float
    total: int | None = None
    what: str = "row"
    work: str = field(default="", compare=False)
    """What goes on now, where that has a name: a pass over rows, or the step after the one that is done."""

    @property
    def rows(self) -> int:
        """What is done, where rows are counted."""
        return self.done


Listener = Callable[[Progress], None]
Shown = bool | Listener | None
"""What the parameter `progress` may be."""


def is_shown(shown: Shown) -> bool:
    """Whether a bar is to be seen: where somebody asks for it, or where somebody looks on."""
    return (sys.stderr.isatty() or in_notebook()) if shown is None else bool(shown)


def in_notebook() -> bool:
    """Whether what is written is read in a notebook."""
    return "ipykernel" in sys.modules


def rewrites() -> bool:
    """Whether a line on the error stream can be written anew."""
    return (sys.stderr.isatty() and os.environ.get("TERM") != "dumb") or in_notebook()


class StatusLine:
    """The one line on the error stream where a bar is drawn; whoever writes something else there clears it first."""

    def __init__(self) -> None:
        self._drawn_at = 0.0
        self._visible = False
        self._lock = threading.Lock()

    def draw(self, what: str, share: float | None, more: str, *, now: bool = False) -> None:
        """What is done, a bar of its share (None: nobody knows), and more; not too often unless it must be `now`."""
        with self._lock:
            if not now and time.monotonic() - self._drawn_at < OFTEN:
                return
            self._drawn_at, self._visible = time.monotonic(), True
            sys.stderr.write(f"\r{_line(what, share, more)}\033[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Nothing is left of the bar."""
        with self._lock:
            if self._visible:
                self._visible, self._drawn_at = False, 0.0
                sys.stderr.write("\r\033[K")
                sys.stderr.flush()


LINE = StatusLine()


def _line(what: str, share: float | None, more: str) -> str:
    """A line of a bar, in Rich's colours and signs."""
    from rich.console import Console
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    console = Console(file=io.StringIO(), force_terminal=True, width=WIDTH + 1, legacy_windows=False)
    if share is not None:
        console.print(ProgressBar(1.0, min(max(share, 0.0), 1.0), width=WIDTH), end="")
        console.print(Text(f" {share:4.0%}"), end="")
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue().replace("\n", "")
    room = _columns() - (WIDTH + 6) * (share is not None)
    words = " ".join(part for part in (what, more) if part)
    return f"{drawn} {words[: max(room - 2, 10)]}".lstrip()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or NO_TERMINAL
    except (OSError, ValueError):  # a notebook, or no file at all
        return NO_TERMINAL


class Clock:
    """How long work goes on, and how long it may take yet."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.begun

    def left(self, share: float) -> str:
        """The time that is left, once that can be told."""
        if self.elapsed < SOON or not 0.0 < share < 1.0:
            return ""
        seconds = self.elapsed / share * (1.0 - share)
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


class StepBar:
    """A bar for work in steps, which may have names of their own."""

    def __init__(self, total: int, what: str, shown: Shown, names: Sequence[str] = ()) -> None:
        self._total, self._what, self._names, self._done = total, what, names, 0
        self._listener = shown if callable(shown) else None
        self._shown = self._listener is None and is_shown(shown)
        self._lock, self._clock = threading.Lock(), Clock()
        if self._shown and rewrites() and total > 1:
            LINE.draw(f"{names[0] if names else what} 1 of {total}", 0.0, "", now=True)
        if self._listener is not None and names:
            self._listener(Progress(0, 0.0, total, names[0], names[0]))

    def step(self, what: str | None = None) -> None:
        """One more is done; `what` it was, where that is known only now."""
        if not self._shown and self._listener is None:
            return
        with self._lock:
            then = self._names[self._done + 1] if self._done + 1 < len(self._names) else ""
            what = what or (self._names[self._done] if self._names else self._what)
            self._done += 1
            share, said = self._done / max(self._total, 1), f"{what} {self._done} of {self._total}"
            if self._listener is not None:
                self._listener(Progress(self._done, share, self._total, what, then))
            elif not rewrites():
                sys.stderr.write(f"{said}\n")
            elif self._done < self._total:
                LINE.draw(said, share, self._clock.left(share), now=True)
            else:
                LINE.clear()

    def end(self) -> None:
        """There is nothing more to do, even if not all was done."""
        if self._shown:
            LINE.clear()


@contextmanager
def row_bar(what: str, shown: Shown) -> Iterator[Listener | Literal[False]]:
    """What is to be told about rows that are read: the function itself, a bar with rate and time left, or nothing."""
    if callable(shown):
        yield shown
        return
    if not is_shown(shown):
        yield False
        return
    clock = Clock()

    def tell(done: Progress) -> None:
        if rewrites():
            rate = f"{done.rows:,} rows" + (f", {done.rows / clock.elapsed:,.0f}/s" if clock.elapsed > SOON else "")
            LINE.draw(what, done.share, f"{rate} {clock.left(done.share)}".rstrip())

    try:
        yield tell
    finally:
        LINE.clear()


@contextmanager
def busy(what: str, shown: Shown) -> Iterator[None]:
    """A line for work that cannot say how far it has come."""
    visible = not callable(shown) and is_shown(shown) and rewrites()
    if visible:
        LINE.draw(what, None, "…", now=True)
    try:
        yield
    finally:
        if visible:
            LINE.clear()
