"""From UTF-8 bytes to code points and back. Malformed bytes are one replacement character each, never a crash."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

REPLACEMENT = 0xFFFD


@numba.njit(nogil=True, cache=True)
def decode(data: Bytes, i: int, stop: int) -> tuple[int, int]:
    """Code point at `data[i]`, and how many bytes it takes."""
    lead = int(data[i])
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        size, code = 2, lead & 0x1F
    elif lead < 0xF0:
        size, code = 3, lead & 0x0F
    else:
        size, code = 4, lead & 0x07
    if lead < 0xC2 or lead > 0xF4 or i + size > stop:
        return REPLACEMENT, 1
    for k in range(1, size):
        byte = int(data[i + k])
        if byte & 0xC0 != 0x80:
            return REPLACEMENT, 1
        code = code << 6 | (byte & 0x3F)
    if code > 0x10FFFF or (size == 3 and code < 0x800) or (size == 4 and code < 0x10000):
        return REPLACEMENT, 1
    return code, size


@numba.njit(nogil=True, cache=True)
def utf8(code: int) -> tuple[int, int]:
    """How many bytes a code point takes, and these bytes as one number."""
    if code < 0x80:
        return 1, code
    low = 0x80 | code & 0x3F
    if code < 0x800:
        return 2, (0xC0 | code >> 6) << 8 | low
    low |= (0x80 | code >> 6 & 0x3F) << 8
    if code < 0x10000:
        return 3, (0xE0 | code >> 12) << 16 | low
    return 4, (0xF0 | code >> 18) << 24 | (0x80 | code >> 12 & 0x3F) << 16 | low


@numba.njit(nogil=True, cache=True)
def suspects(
    data: Bytes, ends: NDArray[np.int64], pages: NDArray[np.int32], cells: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The documents that hold a character marked in the table (two levels, as for the kinds)."""
    found = np.zeros(ends.shape[0], dtype=np.bool_)
    start = 0
    for doc in range(ends.shape[0]):
        stop = ends[doc]
        seen = np.uint8(0)
        for i in range(start, stop):
            seen |= data[i]
        if seen >= 0x80:
            i = start
            while i < stop:
                if data[i] < 0x80:
                    i += 1
                    continue
                code, size = decode(data, i, stop)
                if cells[pages[code >> 8], code & 255] != 0:
                    found[doc] = True
                    break
                i += size
        start = stop
    return found
