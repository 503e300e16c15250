"""Python runs a kernel itself where that is quicker than to load or to compile it: little data in a new process.

`@kernel(interpretable=True)` marks those that give the same bits either way. `LIKELY_KERNELS=compiled` has every kernel
compiled at its first call, `LIKELY_KERNELS=interpreted` leaves those that are marked to Python, whatever it takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from time import thread_time
from types import FunctionType
from typing import Any, TypeVar, cast

Returned = TypeVar("Returned")

MOST_CELLS = 1 << 17
"""With more cells in its arrays than this, a call is compiled: nobody could stop it half-way."""

SECONDS_BEFORE_NUMBA = 0.2
"""All kernels together, as long as the compiler is not loaded: that takes about twice as long."""

SECONDS_OF_ONE = 2.0
"""Each kernel that is on no disk: to compile it takes between 0.1 s and several seconds."""

COMPILED, INTERPRETED = "compiled", "interpreted"


class Thread(local):
    """Whether this thread is within a kernel that Python runs: what that one calls, Python runs, too."""

    interprets = False


THREAD = Thread()


class Interpreter:
    """Runs kernels in Python, and knows how long it has done so."""

    def __init__(self, policy: str = "") -> None:
        self.policy, self.numba_is_loaded, self.seconds = policy, False, 0.0
        self._seconds_of = dict[Callable[..., object], float]()

    def is_quicker(self, loop: Callable[..., object], given: tuple[object, ...]) -> bool:
        """Whether Python should run this call; once it should not, the kernel is better compiled for good."""
        if self.policy:
            return self.policy == INTERPRETED
        if _cells(given) > MOST_CELLS:
            return False
        if not self.numba_is_loaded:
            return self.seconds < SECONDS_BEFORE_NUMBA
        spent = self._seconds_of.get(loop)
        if spent is None:  # the first time since there is a compiler
            spent = SECONDS_OF_ONE if _is_on_disk(loop) else 0.0
            self._seconds_of[loop] = spent
        return spent < SECONDS_OF_ONE

    def run(self, loop: Callable[..., Returned], given: tuple[Any, ...], named: dict[str, Any]) -> Returned:
        """The same call by Python. Compiled numbers overflow and divide without a word, so these do."""
        import numpy as np

        begin, THREAD.interprets = thread_time(), True
        try:
            with np.errstate(all="ignore"):
                return loop(*given, **named)
        finally:
            THREAD.interprets = False
            seconds = thread_time() - begin
            self.seconds += seconds
            if loop in self._seconds_of:
                self._seconds_of[loop] += seconds

    @contextmanager
    def set_to(self, policy: str) -> Iterator[None]:
        """Only compiled kernels, or only interpreted ones, for a while."""
        before, self.policy = self.policy, policy
        try:
            yield
        finally:
            self.policy = before


INTERPRETER = Interpreter(os.environ.get("LIKELY_KERNELS", ""))


def _cells(given: tuple[object, ...]) -> int:
    return sum(getattr(each, "size", 0) for each in given)


def _is_on_disk(loop: Callable[..., object]) -> bool:
    """Whether an earlier process has compiled it, for whatever types."""
    from pathlib import Path

    from numba.core.caching import FunctionCache

    try:
        folder = Path(FunctionCache(loop).cache_path)
    except RuntimeError:  # no folder can be written to
        return False
    code = cast(FunctionType, loop).__code__
    return any(folder.glob(f"{Path(code.co_filename).stem}.{code.co_qualname}-{code.co_firstlineno}.*.nbi"))
