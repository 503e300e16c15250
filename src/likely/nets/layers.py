"""How large the maps of each layer are, and how an image must be padded to fit."""

from __future__ import annotations

from dataclasses import dataclass

from likely.errors import SettingsError
from likely.nets.filters import Pool

LARGEST = 4096
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
        if not _are_maps(self.maps):
            raise SettingsError(f"maps is {self.maps!r}, but it is a tuple of numbers of maps, as in (4, 12).")
        for name, value, least in (("filter", self.filter, 1), ("pool_size", self.pool_size, 1)):
            if type(value) is not int or not least <= value <= LARGEST:
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
        if side > LARGEST:
            raise SettingsError(f"{side} pixels a side are too many: at most {LARGEST} can be looked at.")
        for more in range(side, LARGEST + 1):
            if self._side(more) is not None:
                return more
        raise SettingsError(f"No image of up to {LARGEST} pixels a side fits {len(self.maps)} layers of this kind.")

    def _side(self, side: int) -> list[int] | None:
        sides = [side]
        for _ in self.maps:
            convolved = sides[-1] - self.filter + 1
            if convolved < 1 or convolved % self.pool_size:
                return None
            sides += [convolved, convolved // self.pool_size]
        return sides


def _are_maps(given: object) -> bool:
    return isinstance(given, tuple) and bool(given) and all(type(n) is int and 1 <= n <= LARGEST for n in given)
