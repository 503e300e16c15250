"""Rows to learn from: codes, classes, weights, and scores that they have beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.evidence.crew import Crew
from likely.evidence.kernels.codes import row_marks
from likely.evidence.kernels.passes import add_scores, pass_over

Array = NDArray[np.float64]

BLOCK_WORK = 1 << 20
MOST_BLOCKS = 16
WORTH_MERGING = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes are rows × blocks; `offset` has no rows where nothing is known beforehand."""

    codes: NDArray[Any]
    y: NDArray[np.int32]
    weight: Array
    n_classes: int
    offset: Array
    crew: Crew

    @property
    def n_scores(self) -> int:
        """Two classes need one score, the log odds."""
        return 1 if self.n_classes == 2 else self.n_classes

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        offset = self.offset[rows] if len(self.offset) else self.offset
        return replace(self, codes=self.codes[rows], y=self.y[rows], weight=self.weight[rows], offset=offset)

    def merged(self) -> Rows:
        """The same rows with those that are alike taken together, if there are many of them."""
        if len(self.offset) or not len(self):
            return self
        marks = np.empty(len(self), dtype=np.uint64)
        row_marks(self.codes, self.y, marks)
        _, first, place = np.unique(marks, return_index=True, return_inverse=True)
        if len(first) > WORTH_MERGING * len(self):
            return self
        codes, y = self.codes[first], self.y[first]
        if not ((codes[place] == self.codes).all() and (y[place] == self.y).all()):
            return self  # two rows that differ have the same mark
        weight = np.bincount(place, weights=self.weight, minlength=len(first)).astype(np.float64)
        return replace(self, codes=codes, y=y, weight=weight)

    def with_codes(self, codes: NDArray[Any]) -> Rows:
        """The same rows seen by other codes."""
        return replace(self, codes=codes)

    def class_weights(self) -> Array:
        """Weight of each class."""
        return np.bincount(self.y, weights=self.weight, minlength=self.n_classes).astype(np.float64)

    def slices(self, n_cells: int) -> list[slice]:
        """Parts that are worth a thread each; they depend on the rows alone."""
        work = len(self) * self.codes.shape[1] * self.n_scores
        reduction = n_cells * self.n_scores
        n = max(min(work // BLOCK_WORK, work // (4 * reduction + 1), MOST_BLOCKS), 1)
        bounds = [len(self) * k // n for k in range(n + 1)]
        return [slice(a, b) for a, b in pairwise(bounds)]

    def slope(self, starts: NDArray[np.int32], tables: Array, base: Array) -> tuple[float, Array, Array]:
        """Log loss of all rows, and its slope by every cell of the tables and by the base."""

        def one(part: slice) -> tuple[float, Array, Array]:
            slope, base_slope = np.empty_like(tables), np.empty_like(base)
            loss = pass_over(
                self.codes, starts, tables, base, self.offset, self.y, self.weight, part.start, part.stop,
                slope, base_slope,
            )  # fmt: skip
            return loss, slope, base_slope

        parts = self.crew.do(one, self.slices(len(tables)))
        loss, slope, base_slope = parts[0]
        for more in parts[1:]:
            loss += more[0]
            slope += more[1]
            base_slope += more[2]
        return loss, slope, base_slope

    def scores(self, starts: NDArray[np.int32], tables: Array, base: Array) -> Array:
        """Scores of all rows."""
        out = np.tile(base, (len(self), 1)) if not len(self.offset) else base + self.offset

        def one(part: slice) -> None:
            add_scores(self.codes, starts, tables, part.start, part.stop, out)

        self.crew.do(one, self.slices(1))
        return out
