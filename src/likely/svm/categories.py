"""A column of categories: one feature for each value that was learned, and one for a gap where there were some."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from likely.svm.products import Matrix
from likely.table import Table, index_levels
from likely.table.labels import ordered_labels
from likely.table.levels import level_map, written


@dataclass(frozen=True, eq=False)
class CategoryPart:
    """One-hot cells; a value never seen has none."""

    column: str
    levels: tuple[Hashable, ...]
    holed: bool

    @classmethod
    def of(cls, table: Table, name: str) -> CategoryPart:
        found = table.codes(name)
        return cls(name, ordered_labels(found.levels), bool((found.codes < 0).any()))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.levels) + self.holed

    @property
    def filled(self) -> float:
        return 1.0

    @property
    def features(self) -> list[tuple[str, str]]:
        names = [f"{self.column} = {written(level)}" for level in self.levels]
        return [(name, self.column) for name in [*names, *([f"{self.column} (gap)"] if self.holed else [])]]

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return level_map(self.levels)

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        found = table.codes(self.column)
        places = np.append(index_levels(found.levels, self._places), len(self.levels) if self.holed else -1)
        place = places[found.codes]
        hit = place >= 0
        starts = np.concatenate([[0], np.cumsum(hit)])
        return sparse.csr_array((np.ones(int(hit.sum())), place[hit], starts), shape=(len(place), self.width))
