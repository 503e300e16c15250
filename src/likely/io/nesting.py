"""How deep JSON is nested: judged by a flat scan before a parser that calls itself gets to see it."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

MOST_DEEP = 100
"""Objects and lists inside one another: far above any real table or model, far below what ends a process."""

NEWLINE, QUOTE, BACKSLASH = 10, 34, 92
OPENING, CLOSING = (91, 123), (93, 125)

TOO_DEEP = f"lists and objects are nested more than {MOST_DEEP} deep"


def is_deep(text: bytes) -> bool:
    """Whether a JSON text, or lines of it, are nested deeper than is read.

    >>> is_deep(b'{"a": [[1]]}'), is_deep(b"[" * 100_000)
    (False, True)
    """
    return bool(_is_deep(np.frombuffer(text, dtype=np.uint8), MOST_DEEP))


@numba.njit(nogil=True, cache=True)
def _is_deep(text: NDArray[np.uint8], most: int) -> bool:
    """A text ends at its line at the latest, and what is open stays open in the next one, as parsers take it."""
    depth, at, n = 0, 0, len(text)
    while at < n:
        byte = text[at]
        if byte == QUOTE:
            at += 1
            while at < n and text[at] != QUOTE and text[at] != NEWLINE:
                at += 2 if text[at] == BACKSLASH else 1
        elif byte == OPENING[0] or byte == OPENING[1]:
            depth += 1
            if depth > most:
                return True
        elif byte == CLOSING[0] or byte == CLOSING[1]:
            depth = max(depth - 1, 0)
        at += 1
    return False
