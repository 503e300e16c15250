"""What a convolutional network does to an image, by hand: slide a filter over it, and shrink what comes out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from likely.choices import whole
from likely.errors import DataError, SettingsError
from likely.nets.images import by

Array = NDArray[np.float64]

Pool = Literal["mean", "max"]


def convolve(image: ArrayLike, filter: ArrayLike) -> Array:
    """Lay the filter on every place of the image where it fits, multiply cell by cell and add up.

    (Mathematicians turn the filter round first; networks, which learn it, do not.)

    >>> convolve([[1, 2, 0], [0, 1, 3]], [[1, 0], [0, 1]]).tolist()
    [[2.0, 5.0]]
    """
    cells, weights = _matrix(image, "image"), _matrix(filter, "filter")
    if weights.shape[0] > cells.shape[0] or weights.shape[1] > cells.shape[1]:
        raise DataError(
            f"A filter of {by(weights.shape)} does not fit into an image of {by(cells.shape)}; pad the image."
        )
    return np.asarray(np.einsum("ijkl,kl->ij", sliding_window_view(cells, weights.shape), weights))


def pool(image: ArrayLike, size: int = 2, kind: Pool = "mean") -> Array:
    """One number for every square of `size` × `size` cells: their mean, or the largest of them.

    >>> pool([[1, 3, 0, 0], [1, 3, 0, 8]], 2, "mean").tolist(), pool([[1, 3, 0, 0], [1, 3, 0, 8]], 2, "max").tolist()
    ([[2.0, 2.0]], [[3.0, 8.0]])
    """
    cells = _matrix(image, "image")
    if kind not in ("mean", "max"):
        raise SettingsError(f"kind is {kind!r}, but it is 'mean' or 'max'.")
    size = whole("size", size, 1)
    if cells.shape[0] % size or cells.shape[1] % size:
        raise DataError(f"An image of {by(cells.shape)} cannot be cut into squares of {size} × {size}; pad it.")
    squares = cells.reshape(cells.shape[0] // size, size, cells.shape[1] // size, size)
    return np.asarray(squares.mean(axis=(1, 3)) if kind == "mean" else squares.max(axis=(1, 3)))


def _matrix(given: ArrayLike, what: str) -> Array:
    try:
        cells = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The {what} is no rows of numbers of one length.") from error
    if cells.ndim != 2:
        raise DataError(f"The {what} has {cells.ndim} dimensions, but rows and columns of numbers are expected.")
    if not cells.size or not np.isfinite(cells).all():
        raise DataError(f"The {what} is empty, or a cell of it is no finite number.")
    return cells
