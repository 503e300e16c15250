"""Eight bytes at a time: machine instructions that NumPy's scalars do not offer, and what is built on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_7F = np.uint64(0x7F7F7F7F7F7F7F7F)
_80 = np.uint64(0x8080808080808080)
_20 = np.uint64(0x2020202020202020)
_UNDERSCORE = np.uint64(0x5F5F5F5F5F5F5F5F)
# Added to a byte below 128 each carries into its top bit from a certain letter on.
_FROM_A, _BEYOND_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _BEYOND_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_2 = np.uint64(2)


@intrinsic
def _load8(typing_context: Any, data: Any, i: Any) -> Any:
    """The eight bytes `data[i:i + 8]` as one number, the first of them lowest; nobody looks whether they are there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.gep_inbounds(builder, array.data, arguments[1])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return builder.bswap(word) if sys.byteorder == "big" else word

    return types.uint64(data, types.int64), generate


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set; 64 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


# What they are in compiled code.
load8: Callable[[Bytes, int], np.uint64] = cast(Any, _load8)
lowest: Callable[[np.uint64], int] = cast(Any, _lowest)


@numba.njit(nogil=True, cache=True)
def word_bytes(data: Bytes, i: int, lowercase: bool) -> tuple[np.uint64, int]:
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
