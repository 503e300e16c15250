"""Eight bytes at a time: machine instructions that NumPy's scalars do not offer, and what is built on them."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.arrays import UInt8
from likely.jit import Intrinsic, kernel

_7F = np.uint64(0x7F7F7F7F7F7F7F7F)
_80 = np.uint64(0x8080808080808080)
_20 = np.uint64(0x2020202020202020)
_UNDERSCORE = np.uint64(0x5F5F5F5F5F5F5F5F)
# Added to a byte below 128 each carries into its top bit from a certain letter on.
_FROM_A, _BEYOND_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _BEYOND_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_2 = np.uint64(2)

Numba: TypeAlias = Any
"""Objects of the compiler, which have no types."""


def _load8() -> Numba:
    import llvmlite.ir as ir  # type: ignore[import-untyped]
    from numba import types
    from numba.core import cgutils

    def generate(context: Numba, builder: Numba, signature: Numba, arguments: Numba) -> Numba:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.gep_inbounds(builder, array.data, arguments[1])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return builder.bswap(word) if sys.byteorder == "big" else word

    return lambda typing_context, data, i: (types.uint64(data, types.int64), generate)


def _lowest() -> Numba:
    import llvmlite.ir as ir
    from numba import types

    def generate(context: Numba, builder: Numba, signature: Numba, arguments: Numba) -> Numba:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return lambda typing_context, word: (types.int64(types.uint64), generate)


def _load8_in_python(data: UInt8, i: int) -> np.uint64:
    return np.uint64(int.from_bytes(data[i : i + 8].tobytes(), "little"))


def _lowest_in_python(word: np.uint64) -> int:
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


load8: Intrinsic[[UInt8, int], np.uint64] = Intrinsic(_load8, _load8_in_python)
"""The eight bytes `data[i:i + 8]` as one number, the first of them lowest; nobody looks whether they are there."""

lowest: Intrinsic[[np.uint64], int] = Intrinsic(_lowest, _lowest_in_python)
"""The place of the lowest bit that is set; 64 if there is none."""


@kernel
def word_bytes(data: UInt8, i: int, lowercase: bool) -> tuple[np.uint64, int]:
    """The eight bytes from `i` on with ASCII letters in lower case, and how many of them begin with word characters."""
    raw = load8(data, i)
    low = raw & _7F
    folded = low | _20
    letters = (folded + _FROM_A) & ~(folded + _BEYOND_Z) & _80
    digits = (low + _FROM_0) & ~(low + _BEYOND_9) & _80
    underscores = ~((low ^ _UNDERSCORE) + _7F) & _80
    others = ~((letters | digits | underscores) & ~raw) & _80
    n_bytes = lowest(others) >> 3
    if lowercase:
        raw |= letters >> _2
    return raw, n_bytes


# From UTF-8 bytes to code points and back. Malformed bytes are one replacement character each, never a crash.

REPLACEMENT = 0xFFFD


@kernel
def decode(data: UInt8, i: int, stop: int) -> tuple[int, int]:
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


@kernel
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


@kernel(interpretable=True)
def suspects(
    data: UInt8, ends: NDArray[np.int64], pages: NDArray[np.int32], cells: NDArray[np.int32]
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
