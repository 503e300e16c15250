"""Matrix products inside our own threads: the linear algebra library must not start further ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

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
