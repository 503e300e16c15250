"""A column of texts: how often each word stands there, damped, weighed by its rarity, every text of length one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.svm.products import Matrix
from likely.table import Table
from likely.text.counting import Rows, count_rows
from likely.text.recipe import Recipe
from likely.text.words import Words

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TextPart:
    """(1 + ln count) · rarity of each word, divided by the length of the row; rarity is ln((1 + n)/(1 + texts)) + 1."""

    column: str
    recipe: Recipe
    words: Words
    rarity: Array

    @classmethod
    def of(cls, table: Table, name: str, recipe: Recipe, n_jobs: int | None) -> TextPart:
        counted = count_rows(table.strings(name), recipe, n_jobs=n_jobs)
        texts = np.bincount(counted.columns, minlength=len(counted.words))
        rarity = np.log((1.0 + table.n_rows) / (1.0 + texts)) + 1.0
        return cls(name, recipe, counted.words, rarity)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.words)

    @property
    def filled(self) -> float:
        return 0.0

    @property
    def features(self) -> list[tuple[str, str]]:
        return [(f"{self.column}: {word}", self.column) for word in self.words.to_list()]

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        return self._weighed(count_rows(table.strings(self.column), self.recipe, words=self.words, n_jobs=n_jobs))

    def _weighed(self, counted: Rows) -> Any:
        cells = (1.0 + np.log(counted.counts)) * self.rarity[counted.columns]
        starts = counted.starts
        lengths = np.sqrt(np.add.reduceat(np.append(cells**2, 0.0), np.minimum(starts[:-1], len(cells))))
        per_row = np.diff(starts)
        lengths[(per_row == 0) | ~(lengths > 0.0)] = 1.0
        cells /= np.repeat(lengths, per_row)
        return sparse.csr_array((cells, counted.columns.astype(np.int64), starts), shape=(len(per_row), self.width))
