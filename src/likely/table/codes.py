"""A column as codes into a short list of its values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.table.levels import level_key, plain

GAP = -1


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """The distinct values of a column, all of them in use, and the place of each row's value; −1 is a gap."""

    levels: tuple[Hashable, ...]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: NDArray[np.intp] | slice) -> Codes:
        """These rows only, with the levels that occur in them."""
        return used(self.levels, self.codes[rows])


def used(levels: tuple[Hashable, ...], codes: NDArray[np.int32]) -> Codes:
    """Codes without the levels that no row has."""
    seen = np.zeros(len(levels) + 1, dtype=np.bool_)
    seen[codes] = True  # a gap, −1, marks the last cell, which belongs to no level
    if seen[:-1].all():
        return Codes(levels, codes)
    table = (np.cumsum(seen, dtype=np.int32) - 1).astype(np.int32)
    table[-1] = GAP
    return Codes(tuple(level for level, is_used in zip(levels, seen, strict=False) if is_used), table[codes])


def settled(levels: Sequence[Any], codes: NDArray[np.int32]) -> Codes:
    """Codes from any dictionary: gaps, repeated and unused entries in it are taken out."""
    index: dict[Hashable, int] = {}
    kept: list[Hashable] = []
    table = np.full(len(levels) + 1, GAP, dtype=np.int32)
    for place, level in enumerate(levels):
        value = plain(level)
        if value is None:
            continue
        key = level_key(value)
        if key not in index:
            index[key] = len(kept)
            kept.append(value)
        table[place] = index[key]
    if len(kept) < len(levels):
        codes = table[codes]
    return used(tuple(kept), codes)
