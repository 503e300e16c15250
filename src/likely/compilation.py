"""Loops are compiled when they are first called, once on a machine: whoever waits for that is told so."""

from __future__ import annotations

from functools import cache

from likely.jit import before_compiling
from likely.progress import LINE, Clock, is_shown, rewrites


class Watcher:
    """Counts the loops that are compiled and the seconds this takes, and says so where somebody looks on."""

    def __init__(self) -> None:
        self.compiled, self.seconds, self.quiet = 0, 0.0, False
        self._depth, self._clock, self._loop_clock = 0, Clock(), Clock()

    def begin(self) -> None:
        """One more loop is being compiled, perhaps for another one."""
        self._clock = self._clock if self.compiled else Clock()
        self.compiled += self._depth == 0
        self._depth += 1
        self._loop_clock = Clock() if self._depth == 1 else self._loop_clock
        if self._depth == 1 and not self.quiet and is_shown(None) and rewrites():
            said = f"compiling, once on this machine: loop {self.compiled}, {self._clock.elapsed:.0f} s so far"
            LINE.draw(said, None, "(likely warm-up compiles all)", now=True)

    def end(self) -> None:
        """A loop has been compiled."""
        self._depth -= 1
        if self._depth > 0:
            return
        self.seconds += self._loop_clock.elapsed
        if not self.quiet:
            LINE.clear()


WATCHER = Watcher()


@cache
def watch() -> None:
    """Listen to the compiler as soon as there is one; calling it again changes nothing."""
    before_compiling(_listen)


def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            WATCHER.begin()

        def on_end(self, event: object) -> None:
            WATCHER.end()

    event.register("numba:compile", Listener())
