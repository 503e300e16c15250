"""Plain values and arrays in few bytes: arrays side by side, then deflated; what a browser unpacks by itself.

A table of counts holds few different numbers, so an array of many entries is written as its different values and a code
for each entry. Otherwise the first bytes of all numbers come first, then the second ones: alike stands beside alike.
Nothing is rounded.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass

import numpy as np

from likely.arrays import AnyArray, Json

FEWEST = 32
"""Shorter arrays are written as they are."""

LARGEST_WHOLE = 1 << 53
"""Whole numbers beyond are not told apart in a browser."""

ALIGNED = 8


def packed(document: Mapping[str, object]) -> bytes:
    """The document in the form that `unpack.js` reads: length of the head, head, arrays; all of it deflated."""
    arrays = bytearray()
    head = json.dumps(_plain(document, arrays), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    written = head.encode("utf-8", "replace")
    written += b" " * (-len(written) % ALIGNED)
    return zlib.compress(len(written).to_bytes(ALIGNED, "little") + written + bytes(arrays), 9)


def plain_value(value: object) -> Json:
    """A category, label or cell as JSON has it: a kind that it does not know becomes text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST_WHOLE else str(value)
    if isinstance(value, float):
        return _number(value)
    return str(value)


def _number(value: float) -> Json:
    """JSON has no word for what is infinite or no number."""
    return value if math.isfinite(value) else {"#": "inf" if value > 0 else "-inf" if value < 0 else "nan"}


def _plain(value: object, arrays: bytearray) -> Json:
    if isinstance(value, np.ndarray):
        return {"$": _put(value, arrays)}
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, arrays) for item in value]
    if isinstance(value, frozenset | set):
        return sorted((_plain(item, arrays) for item in value), key=str)
    return plain_value(value)


def _put(array: AnyArray, arrays: bytearray) -> dict[str, Json]:
    """Append an array, each part of it on a multiple of eight bytes; how it is to be read."""
    shape: list[int] = list(array.shape)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and not _fits_32_bits(array):
        array = array.astype(np.float64)  # exact up to 2⁵³
    if array.dtype.kind in "bu":
        flat = array.astype(np.uint8 if array.dtype.itemsize == 1 else np.uint32).ravel()
        return {"shape": shape, "as": f"u{8 * flat.dtype.itemsize}", "at": _append(flat, arrays), "n": flat.size}
    if array.dtype == np.float32:
        return {"shape": shape, "as": "f32", "at": _append(array.ravel(), arrays), "n": array.size}
    if array.dtype.kind == "i":
        flat = array.astype("<i4").ravel()
        return {"shape": shape, "as": "i32", "at": _append(flat, arrays), "n": flat.size}
    numbers = np.ascontiguousarray(array, dtype="<f8").ravel()
    told: dict[str, Json] = {"shape": shape, "n": numbers.size}
    if numbers.size > FEWEST:
        values, codes = np.unique(numbers.view(np.int64), return_inverse=True)
        if len(values) <= min(numbers.size // 3, 1 << 16):
            small = codes.astype(np.uint8 if len(values) <= 1 << 8 else np.uint16).ravel()
            told |= {"as": f"code{8 * small.dtype.itemsize}", "values": len(values)}
            return {**told, "from": _append(values.view("<f8"), arrays), "at": _append(small, arrays)}
        planes = np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 8).T)
        return {**told, "as": "planes", "at": _append(planes, arrays)}
    return {**told, "as": "f64", "at": _append(numbers, arrays)}


def _fits_32_bits(array: AnyArray) -> bool:
    bounds = np.iinfo(np.int32 if array.dtype.kind == "i" else np.uint32)
    return bool(bounds.min <= array.min() and array.max() <= bounds.max)


def _append(array: AnyArray, arrays: bytearray) -> int:
    """Where it begins, counted from the first array."""
    start = len(arrays)
    arrays += array.tobytes()
    arrays += b"\0" * (-len(arrays) % ALIGNED)
    return start
