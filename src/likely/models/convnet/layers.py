"""What a convolutional network does to an image, by hand: convolution, pooling, and the sizes of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from likely.arrays import AnyArray, Array
from likely.errors import DataError, SettingsError
from likely.models.settings import whole
from likely.table.images import by

Pool = Literal["mean", "max"]


LARGEST_SCORE = 1e30
"""What weights may make of a pixel of 1: far beyond any network that has learned, and far below what overflows."""


def largest_score(weights: Sequence[AnyArray]) -> float:
    """The largest score that an image of pixels up to 1 can have; NaN or infinite where a weight is.

    `weights` are a matrix of weights and a vector of biases of each layer, in turn.

    >>> largest_score([np.full((2, 2, 1, 3), -2.0), np.zeros(3), np.ones((12, 2)), np.ones(2)])
    97.0
    """
    bound = 1.0
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        n_inputs = weight.size // weight.shape[-1]
        bound = bound * float(np.abs(weight).max()) * n_inputs + float(np.abs(bias).max())
    return bound


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


LARGEST_LAYER = 4096
"""Pixels along a side: more would not be an image that a small network can look at."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Filters of one size, as many maps in each layer as asked for, and pooling after each of them.

    >>> Layers((4, 12), 5).sizes((28, 28))
    [(28, 28), (24, 24), (12, 12), (8, 8), (4, 4)]
    >>> Layers((4, 12), 5).padded((16, 8)), Layers((4, 12), 5).padded((16, 8), least=28)
    ((16, 16), (28, 28))
    """

    maps: tuple[int, ...]
    filter: int
    pool: Pool = "mean"
    pool_size: int = 2

    def __post_init__(self) -> None:
        if not are_maps(self.maps):
            raise SettingsError(f"maps is {self.maps!r}, but it is a tuple of numbers of maps, as in (4, 12).")
        for name, value, least in (("filter", self.filter, 1), ("pool_size", self.pool_size, 1)):
            if type(value) is not int or not least <= value <= LARGEST_LAYER:
                raise SettingsError(f"{name} is {value!r}, but it is a number of pixels from {least} up.")
        if self.pool not in ("mean", "max"):
            raise SettingsError(f"pool is {self.pool!r}, but it is 'mean' or 'max'.")

    def sizes(self, shape: tuple[int, int]) -> list[tuple[int, int]]:
        """Height and width of the image and after each convolution and each pooling; the image must fit."""
        sides = [self._side(side) for side in shape]
        if None in sides:
            raise SettingsError(f"An image of {shape[0]} × {shape[1]} pixels does not fit the layers; pad it.")
        height, width = sides
        assert height is not None and width is not None
        return list(zip(height, width, strict=True))

    def padded(self, shape: tuple[int, int], least: int = 1) -> tuple[int, int]:
        """The smallest image that holds this one, is not below `least`, and fits all layers to the last pixel."""
        height, width = (self._fitting(max(side, least)) for side in shape)
        return height, width

    def _fitting(self, side: int) -> int:
        if side > LARGEST_LAYER:
            raise SettingsError(f"{side} pixels a side are too many: at most {LARGEST_LAYER} can be looked at.")
        for more in range(side, LARGEST_LAYER + 1):
            if self._side(more) is not None:
                return more
        raise SettingsError(
            f"No image of up to {LARGEST_LAYER} pixels a side fits {len(self.maps)} layers of this kind."
        )

    def _side(self, side: int) -> list[int] | None:
        sides = [side]
        for _ in self.maps:
            convolved = sides[-1] - self.filter + 1
            if convolved < 1 or convolved % self.pool_size:
                return None
            sides += [convolved, convolved // self.pool_size]
        return sides


def are_maps(given: object) -> bool:
    """Whether they are numbers of maps, one for each layer."""
    return isinstance(given, tuple) and bool(given) and all(type(n) is int and 1 <= n <= LARGEST_LAYER for n in given)
