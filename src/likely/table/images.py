"""Images as they come: arrays of images, lists of them, or tables whose columns are pixels."""

from __future__ import annotations

from math import isqrt
from numbers import Integral
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Array, ArrowStream, Float32, SupportsArray
from likely.errors import DataError, SchemaError, SettingsError, say_kind
from likely.table.table import Numbers, RowsLike, Table

Shape = tuple[int, int, int]
"""Height, width and channels."""

Given = TypeVar("Given")

LARGEST = 1e30
"""Pixels beyond this are no brightness, and their differences would overflow."""

FARTHEST = 1e6
"""So many times the range that was learned a pixel may lie outside of it."""


@runtime_checkable
class ArrayLike(SupportsArray, Protocol):
    """Something that NumPy can read and that says how many dimensions it has."""

    @property
    def ndim(self) -> int: ...


def as_images(X: object) -> AnyArray | None:
    """Images × height × width, perhaps × channels, from an array or a list of images; None if X is a table.

    >>> as_images([[[0, 1], [1, 0]], [[1, 1], [0, 0]]]).shape, as_images([[0, 1], [1, 0]])
    ((2, 2, 2), None)
    """
    if isinstance(X, ArrayLike) and X.ndim in (3, 4):
        return np.asarray(X)
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        X = list(X)
    if not isinstance(X, list | tuple) or not X or not _is_image(X[0]):
        return None
    images = [_image(place, one) for place, one in enumerate(X)]
    for place, image in enumerate(images):
        if image.shape != images[0].shape:
            sizes = f"{by(image.shape)}, but image 0 is {by(images[0].shape)}"
            raise DataError(f"Image {place} is {sizes}: bring all images to one size.")
    return np.stack(images)


def _is_image(first: object) -> bool:
    if isinstance(first, list | tuple):
        return bool(first) and isinstance(first[0], list | tuple | np.ndarray)
    return isinstance(first, ArrayLike) and first.ndim in (2, 3) and not isinstance(first, ArrowStream)


def _image(place: int, one: object) -> AnyArray:
    try:
        image = np.asarray(one)
    except ValueError:
        image = np.empty(0)
    if image.ndim not in (2, 3):
        raise DataError(f"Image {place} has no height and width: its rows must have the same length.")
    return image


def flattened(X: RowsLike, shape: Given) -> tuple[RowsLike, Given | tuple[int, ...]]:
    """Images as rows of pixels, and their shape; a table as it is, with the shape that was given."""
    images = as_images(X)
    if images is None:
        return X, shape
    return images.reshape(len(images), int(np.prod(images.shape[1:]))), images.shape[1:]


def shape_of(n_columns: int, given: object) -> Shape:
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
    if len(sides) not in (2, 3) or not all(map(_is_side, sides)):
        raise SettingsError(f"shape is {given!r}, but it is (height, width) or (height, width, channels).")
    sides = tuple(int(side) for side in sides)
    if sides.count(-1) == 1:
        known = -int(np.prod(sides))
        sides = tuple(n_columns // known if side == -1 else side for side in sides)
    if int(np.prod(sides)) != n_columns:
        raise SettingsError(f"shape is {given!r}, but the table has {n_columns} columns of pixels.")
    return sides[0], sides[1], sides[2] if len(sides) == 3 else 1


def _is_side(given: object) -> bool:
    return isinstance(given, Integral) and (int(given) == -1 or int(given) > 0)


def read_pixels(table: Table, columns: tuple[str, ...]) -> Array:
    """Images × pixels; one that is missing or no brightness is refused."""
    if table.sparse is not None:
        raise DataError("The images are a sparse matrix, but a network looks at every pixel: give X.toarray().")
    try:
        rows = Numbers.of(table, columns).rows(slice(0, table.n_rows))
    except SchemaError as error:
        texts = [name for name in columns if table.storage(name) in ("string", "category")]
        if not texts:
            raise
        raise SchemaError(
            f"Column {texts[0]!r} holds something that is no pixel: leave it out with ", say_kind(texts[0], "ignored"),
            ", or mend its cells.",
        ) from error  # fmt: skip
    good = np.abs(rows) <= LARGEST
    if not good.all():
        row, place = (int(k) for k in np.argwhere(~good)[0])
        what = "missing (NaN)" if np.isnan(rows[row, place]) else f"{rows[row, place]:g}"
        raise DataError(f"Row {row} has a pixel in column {columns[place]!r} that is {what}; give it a brightness.")
    return rows


def scaled(rows: Array, columns: tuple[str, ...], low: float, high: float) -> Float32:
    """From 0 (the least pixel learned) to 1 (the largest); others may lie outside, but not absurdly far."""
    shares = (rows - low) / ((high - low) or 1.0)
    far = np.abs(shares) > FARTHEST
    if far.any():
        row, place = (int(k) for k in np.argwhere(far)[0])
        told = f"that is {rows[row, place]:g}, but those learned lie between {low:g} and {high:g}"
        raise DataError(f"Row {row} has a pixel in column {columns[place]!r} {told}; mend it.")
    return shares.astype(np.float32)


def padded(pixels: Float32, height: int, width: int) -> Float32:
    """The images in the middle of larger ones, with zeros around them."""
    above, left = (height - pixels.shape[1]) // 2, (width - pixels.shape[2]) // 2
    around = (0, 0), (above, height - pixels.shape[1] - above), (left, width - pixels.shape[2] - left), (0, 0)
    return np.pad(pixels, around)


def by(shape: tuple[int, ...]) -> str:
    """A size as people write it.

    >>> by((28, 28))
    '28 × 28'
    """
    return " × ".join(map(str, shape))
