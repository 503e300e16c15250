"""Two passes over the rows of files: the first counts their folds, the second judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32, UInt8
from likely.engines.files import Counter, Pass, Result, RunningSum
from likely.errors import DataError, FileError, SettingsError
from likely.evaluation.cross_validation import fold_summaries
from likely.evaluation.folds import stratified
from likely.io.file_table import FileTable
from likely.progress import Shown
from likely.stats import Summary
from likely.table import Table, merge_classes

STEP = 104_729
"""Seeds of the pieces of a file lie this far apart."""


@dataclass(frozen=True, slots=True)
class CountedPiece:
    """What the first pass keeps of a piece: the labels and weights of its rows, and the summaries of its folds."""

    classes: AnyArray
    y: Int32
    weight: Array
    folds: list[Summary]


@dataclass(frozen=True, slots=True)
class Folds:
    """Which rows of a piece are held out together: each class of the piece is dealt out by itself."""

    counter: Counter
    n_folds: int
    seed: int

    def deal(self, number: int, y: Int32) -> Int32:
        """The fold of each row of a piece; those of the first piece are those of a table in memory."""
        seed = self.seed + STEP * number
        if len(y) < self.n_folds:
            return np.random.default_rng(seed).permutation(self.n_folds)[: len(y)].astype(np.int32)
        fold = stratified(y, self.n_folds, seed)
        # What is left over goes to the first folds: with many pieces it should not always be the same ones.
        return np.asarray((fold + number) % self.n_folds, dtype=np.int32)

    def count(self, rows: Table, number: int) -> CountedPiece:
        """Count each fold of a piece."""
        task = self.counter.task(rows)
        seen, folds = task.rows, fold_summaries(task, self.deal(number, task.rows.y), self.n_folds)
        return CountedPiece(seen.classes, seen.y, seen.weight, folds)


MOST_FOLDS = 1_000
"""Folds that are counted side by side, each with a summary of its own: for more, the rows are read into memory."""

MOST_ROWS = 2_000_000
"""Rows that are judged at most: more would tell nothing new, and memory must not grow with the file."""


def ranks(seed: int, number: int, n_rows: int) -> UInt8:
    """A rank for each row of a piece: half of them have at least 1, a quarter at least 2; one of 2²⁵⁵ more than 255."""
    drawn = np.random.default_rng([seed, number]).geometric(0.5, n_rows) - 1
    return np.minimum(drawn, 255).astype(np.uint8)


Kept = tuple[AnyArray, Int32, Array, UInt8]
"""Of a piece: its classes, and label, weight and rank of each row."""


class Seen:
    """All that the first pass found: truths and weights of the rows to be judged, and where each piece begins there.

    While they are too many, every second one is dropped by chance: the rows of the lowest rank.
    """

    def __init__(self, seed: int = 0, most: int = MOST_ROWS) -> None:
        self.level = 0
        self.n_rows = 0
        self._seed, self._most, self._kept = seed, most, 0
        self._labels: list[Kept | None] = []
        self._sums: list[RunningSum] = []

    def take(self, piece: CountedPiece | None) -> None:
        """The next piece; None if none of its lines is left."""
        if piece is None:
            self._labels.append(None)
            return
        self.n_rows += len(piece.y)
        rank = ranks(self._seed, len(self._labels), len(piece.y))
        self._labels.append((piece.classes, piece.y, piece.weight, rank))
        self._sums = self._sums or [RunningSum() for _ in piece.folds]
        for total, summary in zip(self._sums, piece.folds, strict=True):
            total.add(summary)
        self._thin(len(self._labels) - 1)
        while self._kept > self._most:
            self.level += 1
            self._kept = 0
            for place in range(len(self._labels)):
                self._thin(place)

    def _thin(self, place: int) -> None:
        """Drop the rows of a piece that are below the level."""
        piece = self._labels[place]
        if piece is not None:
            classes, y, weight, rank = piece
            keep = rank >= self.level
            self._labels[place] = (classes, y[keep], weight[keep], rank[keep])
            self._kept += int(keep.sum())

    def chosen(self, number: int, n_rows: int) -> Index:
        """Which rows of a piece are to be judged."""
        return np.flatnonzero(ranks(self._seed, number, n_rows) >= self.level)

    def __len__(self) -> int:
        """How many rows are to be judged."""
        return self._kept

    @property
    def drawn(self) -> str:
        """How these rows were chosen, in words; nothing to say if they are all rows."""
        return f"; {len(self):,} of {self.n_rows:,} rows, drawn by chance, are judged" if self.level else ""

    @cached_property
    def starts(self) -> list[int]:
        """Where each piece begins among the rows to be judged."""
        sizes = [0 if piece is None else len(piece[1]) for piece in self._labels]
        return [0, *accumulate(sizes)][:-1]

    @cached_property
    def _pieces(self) -> list[Kept]:
        return [piece for piece in self._labels if piece is not None]

    @cached_property
    def classes(self) -> AnyArray:
        """All labels that occur."""
        first, *others = (piece[0] for piece in self._pieces)
        return reduce(lambda known, labels: merge_classes(known, labels)[0], others, first)

    @cached_property
    def truth(self) -> Int32:
        """Which of the classes each row has."""
        places = [merge_classes(self.classes, own)[2].astype(np.int32)[y] for own, y, _, _ in self._pieces]
        return np.concatenate(places)

    @cached_property
    def weight(self) -> Array:
        """What each row counts for."""
        return np.concatenate([weight for _, _, weight, _ in self._pieces])

    def folds(self, n_folds: int) -> list[Summary]:
        """The summary of each fold of the whole table."""
        if self.n_rows < n_folds:
            raise SettingsError(f"cv asks for {n_folds} folds, but there are only {self.n_rows} rows.")
        return [summary for total in self._sums if (summary := total.total()) is not None]


@dataclass(frozen=True, slots=True)
class Passes:
    """Two passes over the same rows."""

    table: FileTable
    wanted: dict[str, str]
    n_jobs: int | None
    progress: Shown
    seed: int = 0
    most: int = MOST_ROWS

    def first(self, count: Callable[[Table, int], CountedPiece]) -> Seen:
        """Count every piece with its number."""
        seen = Seen(self.seed, self.most)
        for counted in self._each(count, 0.0):
            seen.take(counted)
        if not len(seen):
            raise DataError(f"{self.table.sources[0].name}: no row is left to judge.")
        return seen

    def second(self, judge: Callable[[Table, int], int], seen: Seen) -> None:
        """Judge every piece with its number; the rows must be those of the first pass."""
        rows = sum(done for done in self._each(judge, 0.5) if done is not None)
        if rows != seen.n_rows:
            raise FileError(f"{self.table.sources[0].name} has changed while it was read; begin again.")

    def _each(self, task: Callable[[Table, int], Result], done: float) -> Iterator[Result | None]:
        half = Pass(self.table, self.wanted, self.n_jobs, self.progress, "judging", done, 0.5)
        for _, result in half.tables(lambda rows, turn: task(rows, turn.number)):
            yield result
