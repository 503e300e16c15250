"""Training rows as a source of blocks: codes, classes, weights, scores of texts, and offsets of the scores.

Every fit needs only sums over rows (log loss and gradient, counts), so rows may lie in memory (`RowsInMemory`) or
on disk (`spill.DiskRows`); sums are made in the same order, and give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32, UInt8
from likely.evaluation.folds import stratified_sample
from likely.models.evidence.kernels import add_scores, cell_weights, class_counts, loss_and_gradient, row_hashes
from likely.parallel import WorkerPool

Codes = AnyArray
Recoding = Callable[[UInt8], Codes]
"""From codes of columns to others: to coarse ones, say, or with cells of pairs behind them."""

PARTITION_WORK = 1 << 17
"""Codes × scores of a part: half a millisecond, which is worth a task."""

MAX_PARTITIONS = 32
SUM_SHARE = 16
"""So many times the work of a part is that of adding up its tables, which leave the cache in between."""

MAX_DISTINCT_SHARE = 0.8
SOME_HASHES, FEWEST_HASHES, MOSTLY_DISTINCT = 32, 1000, 0.95
"""Of so many rows one is looked at first, if these are not few: where so many differ, most do."""

DEDUPLICATED_ROWS = 1 << 18
"""Rows that are searched for duplicates at once."""

BLOCK_CODES = 1 << 22
MIN_BLOCK_ROWS = 1 << 10
"""Codes that a thread holds at once, unless these are fewer rows. It is the same for rows in memory, so that sums are
made in the same order."""

RECODED_ROWS = 1 << 14
"""Rows whose codes a thread looks up at once."""

FEW_CODES = 1 << 14
"""So few codes take two bytes each where one would do, as they do beside pairs: no loop is compiled for both."""

MAX_SEARCH_ROWS = 200_000
"""Rows on which hyperparameters are chosen: a stratified sample, if there are more. The final fit takes all."""

MAX_SEARCH_SCORES = 1 << 24
MIN_ROWS_PER_CLASS = 5
"""Rows × scores on which they are chosen, unless these are fewer rows for each class: every candidate keeps the scores
of all rows, so that a thousand classes would fill the memory."""


def max_search_rows(n_scores: int) -> int:
    """How many rows choose hyperparameters for so many scores."""
    return min(MAX_SEARCH_ROWS, max(MAX_SEARCH_SCORES // n_scores, MIN_ROWS_PER_CLASS * n_scores))


class RowBlock(NamedTuple):
    """The rows from `first` to `last` of some arrays; see `RowsInMemory`."""

    codes: Codes
    y: Int32
    weight: Array
    offset: Array
    text_scores: Array
    first: int
    last: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.last)


class RowSource(ABC):
    """Rows that are passed over block by block, wherever they lie."""

    n_classes: int
    pool: WorkerPool

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """Codes of a row."""

    @abstractmethod
    def blocks(self, part: slice) -> Iterator[RowBlock]:
        """The rows of a part, in blocks that fit into memory."""

    @abstractmethod
    def take(self, rows: Index) -> RowsInMemory:
        """Some of the rows, by their numbers in ascending order, in memory."""

    @abstractmethod
    def in_memory(self) -> RowsInMemory:
        """All rows, in memory."""

    @abstractmethod
    def recode(self, recoding: Recoding, n_codes: int) -> Self:
        """The same rows with other codes, so many to a row."""

    @abstractmethod
    def with_offset(self, text_weights: Array) -> Self:
        """The same rows with the offset Σ weight of text · scores of text."""

    @abstractmethod
    def without_offset(self) -> Self:
        """The same rows with no offset."""

    @abstractmethod
    def deduplicate(self) -> Self:
        """Equal rows as one row with the sum of their weights, where that makes them far fewer."""

    @property
    def n_scores(self) -> int:
        """Two classes have one score, the log odds of the second."""
        return 1 if self.n_classes == 2 else self.n_classes

    def partition(self, n_cells: int) -> list[slice]:
        """Parts that are worth a thread each; they depend on the rows alone, not on the number of threads."""
        work = len(self) * self.n_codes * self.n_scores
        reduction = n_cells * self.n_scores
        n = max(min(work // PARTITION_WORK, work // (SUM_SHARE * reduction + 1), MAX_PARTITIONS), 1)
        bounds = [len(self) * k // n for k in range(n + 1)]
        return [slice(a, b) for a, b in pairwise(bounds)]

    def block_slices(self, part: slice) -> list[slice]:
        """A part of the rows in blocks."""
        size = max(BLOCK_CODES // max(self.n_codes, 1), MIN_BLOCK_ROWS)
        return [slice(at, min(at + size, part.stop)) for at in range(part.start, max(part.stop, part.start + 1), size)]

    def sum_over_blocks(self, statistics: Callable[[RowBlock], list[Array]], n_cells: int) -> list[Array]:
        """Sums of some statistics of all blocks, always in the same order."""

        def sum_of(part: slice) -> list[Array]:
            return _sum(statistics(block) for block in self.blocks(part))

        return _sum(iter(self.pool.do(sum_of, self.partition(n_cells))))

    def loss_and_gradient(self, starts: Int32, tables: Array, intercept: Array) -> tuple[float, Array, Array]:
        """Σ weight · log loss of all rows, and its gradient by the cells of the tables and by the intercept."""

        def statistics(b: RowBlock) -> list[Array]:
            gradient, intercept_gradient = np.empty_like(tables), np.empty_like(intercept)
            loss = loss_and_gradient(
                b.codes, starts, tables, intercept, b.offset, b.y, b.weight, b.first, b.last, gradient,
                intercept_gradient,
            )  # fmt: skip
            return [np.array(loss), gradient, intercept_gradient]

        loss, gradient, intercept_gradient = self.sum_over_blocks(statistics, len(tables))
        return float(loss), gradient, intercept_gradient

    def class_weights(self) -> Array:
        """Weight of each class."""
        out = np.zeros(self.n_classes)
        for b in self.blocks(slice(0, len(self))):
            out += np.bincount(b.y[b.rows], weights=b.weight[b.rows], minlength=self.n_classes)
        return out

    def cell_weights(self, starts: Int32, n_cells: int) -> Array:
        """Weight of the rows in each cell of each table."""
        return self.sum_over_blocks(
            lambda b: [cell_weights(b.codes[b.rows], starts, b.weight[b.rows], n_cells)], n_cells
        )[0]

    def class_counts(self, starts: Int32, n_cells: int) -> Array:
        """Weight of the rows of each class in each cell: cells × classes."""

        def statistics(b: RowBlock) -> list[Array]:
            out = np.zeros((n_cells, self.n_classes))
            class_counts(b.codes[b.rows], starts, b.y[b.rows], b.weight[b.rows], out)
            return [out]

        return self.sum_over_blocks(statistics, n_cells * self.n_classes)[0]

    def sample(self, most: int, seed: int) -> RowsInMemory:
        """A stratified sample of about so many rows; all of them where they are no more."""
        if len(self) <= most:
            return self.in_memory()
        whole = slice(0, len(self))
        return self.take(stratified_sample(lambda: (b.y[b.rows] for b in self.blocks(whole)), most, seed))


@dataclass(frozen=True, slots=True, eq=False)
class RowsInMemory(RowSource):
    """Rows in memory: codes are rows × tables.

    `text_scores` is rows × (texts × scores), out of fold; it has no rows where there are no texts. `offset` is rows ×
    scores, added to the intercept; it has no rows where there is none.
    """

    codes: Codes
    y: Int32
    weight: Array
    n_classes: int
    offset: Array
    pool: WorkerPool
    text_scores: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_codes(self) -> int:
        return int(self.codes.shape[1])

    def blocks(self, part: slice) -> Iterator[RowBlock]:
        for rows in self.block_slices(part):
            yield RowBlock(self.codes, self.y, self.weight, self.offset, self.text_scores, rows.start, rows.stop)

    def take(self, rows: Index) -> RowsInMemory:
        offset = self.offset[rows] if len(self.offset) else self.offset
        text_scores = self.text_scores[rows] if len(self.text_scores) else self.text_scores
        codes, y, weight = self.codes[rows], self.y[rows], self.weight[rows]
        return replace(self, codes=codes, y=y, weight=weight, offset=offset, text_scores=text_scores)

    def in_memory(self) -> RowsInMemory:
        return self

    def recode(self, recoding: Recoding, n_codes: int) -> RowsInMemory:
        none = self.codes[:0]
        like = recoding(none)
        few = len(self) * n_codes <= FEW_CODES
        if like is none and not few:
            return self
        out = np.empty((len(self), n_codes), dtype=np.uint16 if few else like.dtype)

        def recode(rows: slice) -> None:
            out[rows] = recoding(self.codes[rows])

        blocks = [slice(at, at + RECODED_ROWS) for at in range(0, len(self), RECODED_ROWS)]
        self.pool.do(recode, blocks)
        return replace(self, codes=out)

    def with_offset(self, text_weights: Array) -> RowsInMemory:
        return replace(self, offset=text_offset(self.text_scores, text_weights))

    def without_offset(self) -> RowsInMemory:
        return replace(self, offset=self.offset[:0])

    def deduplicate(self) -> Self:
        if len(self.offset) or not len(self):
            return self
        parts = [slice(at, at + DEDUPLICATED_ROWS) for at in range(0, len(self), DEDUPLICATED_ROWS)]
        distinct = self.pool.do(lambda part: distinct_rows(self, part), parts)
        if sum(len(y) for _, y, _ in distinct) > MAX_DISTINCT_SHARE * len(self):
            return self
        codes, y, weight = (np.concatenate(arrays) for arrays in zip(*distinct, strict=True))
        return replace(self, codes=codes, y=y, weight=weight)

    def scores(self, starts: Int32, tables: Array, intercept: Array) -> Array:
        """Scores of all rows: intercept + offset + Σ tables."""
        out = np.tile(intercept, (len(self), 1)) if not len(self.offset) else intercept + self.offset

        def add(part: slice) -> None:
            add_scores(self.codes, starts, tables, part.start, part.stop, out)

        self.pool.do(add, self.partition(1))
        return out


def log_prior(class_weights: Array) -> Array:
    """Intercept of a model: log odds of the second of two classes, else log shares; a class without rows is rare."""
    floor = 1e-3 * class_weights.max() / len(class_weights)
    logs = np.log(np.maximum(class_weights, floor) / class_weights.sum())
    return np.asarray(logs[1:] - logs[:1] if len(logs) == 2 else logs)


def text_offset(text_scores: Array, text_weights: Array) -> Array:
    """Σ weight of text · scores of text: rows × scores."""
    n_scores = text_scores.shape[1] // len(text_weights)
    parts = (text_scores[:, t * n_scores : (t + 1) * n_scores] for t in range(len(text_weights)))
    return np.asarray(sum(weight * part for weight, part in zip(text_weights, parts, strict=True)))


def distinct_rows(rows: RowsInMemory, part: slice) -> tuple[Codes, Int32, Array]:
    """Codes, classes and summed weights of the distinct rows of a part; of all of them if most are distinct."""
    codes, y, weight = rows.codes[part], rows.y[part], rows.weight[part]
    hashes = np.empty(len(y), dtype=np.uint64)
    row_hashes(codes, y, hashes)
    some = hashes[hashes >> np.uint64(32) & np.uint64(SOME_HASHES - 1) == 0]  # all or none of rows that are equal
    if len(some) > FEWEST_HASHES and len(np.unique(some)) > MOSTLY_DISTINCT * len(some):
        return codes, y, weight
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > MAX_DISTINCT_SHARE * len(hashes):
        return codes, y, weight
    if not ((codes[first][place] == codes).all() and (y[first][place] == y).all()):
        return codes, y, weight  # two rows that differ have the same hash
    return codes[first], y[first], np.bincount(place, weights=weight, minlength=len(first)).astype(np.float64)


def _sum(found: Iterator[list[Array]]) -> list[Array]:
    total = next(found)
    for more in found:
        for k, one in enumerate(more):
            total[k] += one
    return total
