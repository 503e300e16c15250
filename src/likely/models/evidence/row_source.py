"""Rows to learn from: codes, classes, weights, what texts say, and scores that rows have beforehand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.folds import fair_sample
from likely.models.evidence.kernels import add_scores, cell_weights, class_counts, pass_over, row_marks
from likely.parallel import WorkerPool

Codes = NDArray[Any]
View = Callable[[NDArray[np.uint8]], Codes]
"""How codes of columns are seen: coarsely, say, or with those of pairs behind them."""

BLOCK_WORK = 1 << 20
MOST_BLOCKS = 16
WORTH_MERGING = 0.8
MERGED_ROWS = 1 << 18
"""Rows that are looked through at once for rows that are alike."""

READ_CODES = 1 << 22
FEWEST_READ = 1 << 10
"""Codes that a thread holds at once, unless these are fewer rows. It is the same for rows in memory, so that sums are
made in the same order."""

MOST_TRIED = 200_000
"""Rows on which variances, terms and shares are chosen: a fair sample, if there are more. The final fit takes all."""


class Block(NamedTuple):
    """The rows from `first` to `last` of some arrays. `offset` has no rows where nothing is known beforehand."""

    codes: Codes
    y: NDArray[np.int32]
    weight: Array
    offset: Array
    texts: Array
    first: int
    last: int


class RowSource(ABC):
    """Rows that passes run over, block by block, wherever they are kept."""

    n_classes: int
    crew: WorkerPool

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """Codes of a row."""

    @abstractmethod
    def reads(self, part: slice) -> Iterator[Block]:
        """The rows of a part, in blocks that are small enough to be held."""

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows, by their numbers in ascending order, in memory."""

    @abstractmethod
    def held(self) -> Rows:
        """All of them, in memory."""

    @abstractmethod
    def viewed(self, view: View, n_codes: int) -> Self:
        """The same rows seen by other codes."""

    @abstractmethod
    def trusting(self, trust: Array) -> Self:
        """The same rows with what is known beforehand: what each text says, with its share."""

    @abstractmethod
    def without_offset(self) -> Self:
        """The same rows as if nothing were known beforehand."""

    @abstractmethod
    def merged(self) -> Self:
        """The same rows with those that are alike taken together, if there are many of them."""

    @property
    def n_scores(self) -> int:
        """Two classes need one score, the log odds."""
        return 1 if self.n_classes == 2 else self.n_classes

    def slices(self, n_cells: int) -> list[slice]:
        """Parts that are worth a thread each; they depend on the rows alone."""
        work = len(self) * self.n_codes * self.n_scores
        reduction = n_cells * self.n_scores
        n = max(min(work // BLOCK_WORK, work // (4 * reduction + 1), MOST_BLOCKS), 1)
        bounds = [len(self) * k // n for k in range(n + 1)]
        return [slice(a, b) for a, b in pairwise(bounds)]

    def blocks(self, part: slice) -> list[slice]:
        """Parts of a part that are held at once."""
        size = max(READ_CODES // max(self.n_codes, 1), FEWEST_READ)
        return [slice(at, min(at + size, part.stop)) for at in range(part.start, max(part.stop, part.start + 1), size)]

    def summed(self, look: Callable[[Block], list[Any]], n_cells: int) -> list[Any]:
        """Sums over all blocks of what is seen in each, always in the same order."""

        def one(part: slice) -> list[Any]:
            return _sum(look(block) for block in self.reads(part))

        return _sum(iter(self.crew.do(one, self.slices(n_cells))))

    def slope(self, starts: NDArray[np.int32], tables: Array, base: Array) -> tuple[float, Array, Array]:
        """Log loss of all rows, and its slope by every cell of the tables and by the base."""

        def look(b: Block) -> list[Any]:
            slope, base_slope = np.empty_like(tables), np.empty_like(base)
            loss = pass_over(
                b.codes, starts, tables, base, b.offset, b.y, b.weight, b.first, b.last, slope, base_slope
            )  # fmt: skip
            return [loss, slope, base_slope]

        loss, slope, base_slope = self.summed(look, len(tables))
        return loss, slope, base_slope

    def class_weights(self) -> Array:
        """Weight of each class."""

        def look(b: Block) -> list[Any]:
            here = slice(b.first, b.last)
            return [np.bincount(b.y[here], weights=b.weight[here], minlength=self.n_classes).astype(np.float64)]

        return np.asarray(_sum(look(block) for block in self.reads(slice(0, len(self))))[0])

    def cell_weights(self, starts: NDArray[np.int32], n_cells: int) -> Array:
        """The weight of the rows in each cell of each table."""

        def look(b: Block) -> list[Any]:
            here = slice(b.first, b.last)
            return [cell_weights(b.codes[here], starts, b.weight[here], n_cells)]

        return np.asarray(_sum(look(block) for block in self.reads(slice(0, len(self))))[0])

    def class_counts(self, starts: NDArray[np.int32], n_cells: int) -> Array:
        """The weight of the rows of each class in each cell."""
        out = np.zeros((n_cells, self.n_classes))
        for b in self.reads(slice(0, len(self))):
            here = slice(b.first, b.last)
            class_counts(b.codes[here], starts, b.y[here], b.weight[here], out)
        return out

    def sampled(self, most: int, seed: int) -> Rows:
        """At most about so many of the rows, a fair share of each class; all of them where they are no more."""
        if len(self) <= most:
            return self.held()
        whole = slice(0, len(self))
        return self.take(fair_sample(lambda: (b.y[b.first : b.last] for b in self.reads(whole)), most, seed))


@dataclass(frozen=True, slots=True, eq=False)
class Rows(RowSource):
    """Codes are rows × blocks, in memory.

    `offset` has no rows where nothing is known beforehand, `texts` (rows × (texts × scores), what texts say, each row
    judged honestly) has none where there are no texts.
    """

    codes: Codes
    y: NDArray[np.int32]
    weight: Array
    n_classes: int
    offset: Array
    crew: WorkerPool
    texts: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_codes(self) -> int:
        """Codes of a row."""
        return int(self.codes.shape[1])

    def reads(self, part: slice) -> Iterator[Block]:
        """The arrays themselves, to be read in parts."""
        for block in self.blocks(part):
            yield Block(self.codes, self.y, self.weight, self.offset, self.texts, block.start, block.stop)

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        offset = self.offset[rows] if len(self.offset) else self.offset
        texts = self.texts[rows] if len(self.texts) else self.texts
        return replace(
            self, codes=self.codes[rows], y=self.y[rows], weight=self.weight[rows], offset=offset, texts=texts
        )

    def held(self) -> Rows:
        """Themselves."""
        return self

    def viewed(self, view: View, n_codes: int) -> Rows:
        """The same rows seen by other codes."""
        return replace(self, codes=view(self.codes))

    def trusting(self, trust: Array) -> Rows:
        """The same rows with what is known beforehand."""
        return replace(self, offset=known_by_texts(self.texts, trust))

    def without_offset(self) -> Rows:
        """The same rows as if nothing were known beforehand."""
        return replace(self, offset=self.offset[:0])

    def merged(self) -> Self:
        """The same rows with those that are alike taken together, if there are many of them."""
        if len(self.offset) or not len(self):
            return self
        found = [alike(self, slice(at, at + MERGED_ROWS)) for at in range(0, len(self), MERGED_ROWS)]
        if sum(len(part.y) for part in found) > WORTH_MERGING * len(self):
            return self
        codes, y, weight = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return replace(self, codes=codes, y=y, weight=weight)

    def scores(self, starts: NDArray[np.int32], tables: Array, base: Array) -> Array:
        """Scores of all rows."""
        out = np.tile(base, (len(self), 1)) if not len(self.offset) else base + self.offset

        def one(part: slice) -> None:
            add_scores(self.codes, starts, tables, part.start, part.stop, out)

        self.crew.do(one, self.slices(1))
        return out


def known_by_texts(texts: Array, trust: Array) -> Array:
    """Scores of rows by what their texts say, each text with its share."""
    n_scores = texts.shape[1] // len(trust)
    parts = (texts[:, t * n_scores : (t + 1) * n_scores] for t in range(len(trust)))
    return np.asarray(sum(share * part for share, part in zip(trust, parts, strict=True)))


class Alike(NamedTuple):
    """Rows of which each stands for all that are like it, with their weights taken together."""

    codes: Codes
    y: NDArray[np.int32]
    weight: Array


def alike(rows: Rows, part: slice) -> Alike:
    """The distinct rows of a part; the part as it is if most of its rows are distinct."""
    whole = Alike(rows.codes[part], rows.y[part], rows.weight[part])
    marks = np.empty(len(whole.y), dtype=np.uint64)
    row_marks(whole.codes, whole.y, marks)
    _, first, place = np.unique(marks, return_index=True, return_inverse=True)
    if len(first) > WORTH_MERGING * len(marks):
        return whole
    codes, y = whole.codes[first], whole.y[first]
    if not ((codes[place] == whole.codes).all() and (y[place] == whole.y).all()):
        return whole  # two rows that differ have the same mark
    return Alike(codes, y, np.bincount(place, weights=whole.weight, minlength=len(first)).astype(np.float64))


def _sum(found: Iterator[list[Any]]) -> list[Any]:
    total = next(found)
    for more in found:
        for k, one in enumerate(more):
            total[k] += one
    return total
