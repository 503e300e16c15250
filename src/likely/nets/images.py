"""Images as they come: arrays of images, or tables whose columns are pixels."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SettingsError
from likely.numbers import Numbers
from likely.table import Table

Pixels = NDArray[np.float32]
Shape = tuple[int, int, int]
"""Height, width and channels."""


def flattened(X: Any, shape: Any) -> tuple[Any, Any]:
    """Images in an array as rows of pixels, and their shape; a table as it is, with the shape that was given."""
    if not isinstance(X, np.ndarray) or X.ndim not in (3, 4):
        return X, shape
    return X.reshape(len(X), -1), X.shape[1:]


def shape_of(n_columns: int, given: Any) -> Shape:
    """Height, width and channels of images whose pixels are columns, row by row; −1 stands for what is left.

    >>> shape_of(128, (16, 8)), shape_of(64, None), shape_of(10, (1, -1))
    ((16, 8, 1), (8, 8, 1), (1, 10, 1))
    """
    if given is None:
        side = isqrt(n_columns)
        if side * side != n_columns:
            raise SettingsError(
                f"{n_columns} columns are no square image; say shape=(height, width), or (height, width, channels)."
            )
        return side, side, 1
    sides = tuple(given) if isinstance(given, tuple | list) else ()
    if len(sides) not in (2, 3) or any(type(side) is not int or side == 0 or side < -1 for side in sides):
        raise SettingsError(f"shape is {given!r}, but it is (height, width) or (height, width, channels).")
    if sides.count(-1) == 1:
        known = -int(np.prod(sides))
        sides = tuple(n_columns // known if side == -1 else side for side in sides)
    if int(np.prod(sides)) != n_columns:
        raise SettingsError(f"shape is {given!r}, but the table has {n_columns} columns of pixels.")
    return sides[0], sides[1], sides[2] if len(sides) == 3 else 1


def read_images(table: Table, columns: tuple[str, ...], shape: Shape) -> Pixels:
    """Images × height × width × channels."""
    rows = Numbers.of(table, columns).rows(slice(0, table.n_rows))
    with np.errstate(over="ignore"):
        pixels = rows.astype(np.float32)
    if not np.isfinite(pixels).all():
        row, place = (int(k) for k in np.argwhere(~np.isfinite(pixels))[0])
        what = "missing (NaN)" if np.isnan(rows[row, place]) else f"{rows[row, place]:g}"
        raise DataError(f"Row {row} has a pixel in column {columns[place]!r} that is {what}; fill it with a number.")
    return pixels.reshape(-1, *shape)


def padded(pixels: Pixels, height: int, width: int) -> Pixels:
    """The images in the middle of larger ones, with zeros around them."""
    above, left = (height - pixels.shape[1]) // 2, (width - pixels.shape[2]) // 2
    around = (0, 0), (above, height - pixels.shape[1] - above), (left, width - pixels.shape[2] - left), (0, 0)
    return np.pad(pixels, around)
