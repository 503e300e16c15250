"""Which rows are learned and which are judged, as somebody else says: a splitter of scikit-learn, pairs of rows, folds.

A split may be any pair of rows that are learned and rows that are judged, and a row may be judged often or never. Where
a classifier counts, rows that belong to the same splits are counted together, once: a training set is a sum of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import NamedTuple, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Index, Int32
from likely.engines.plan import Task
from likely.errors import DataError, Message, SettingsError
from likely.evaluation.cross_validation import fold_summaries
from likely.stats import Summary

MOST_PARTS = 64
"""Of more groups of rows that belong to the same splits, each training set is counted in a pass of its own."""

BLOCKS = 50
"""In so many blocks rows are judged before they are learned, one block after the other."""


@runtime_checkable
class Splitter(Protocol):
    """What scikit-learn calls a splitter: `KFold`, `TimeSeriesSplit`, `PredefinedSplit` …"""

    def split(self, X: object, y: object = None, groups: object = None) -> Iterable[Pair]: ...


Pair: TypeAlias = tuple[AnyArray, AnyArray]
"""Rows to learn and rows to judge, as somebody else has them: numbers in arrays or lists."""


class Split(NamedTuple):
    """Numbers of the rows that are learned, and of those that are then judged."""

    learned: Index
    judged: Index


SplitLike: TypeAlias = Splitter | Iterable[object]
"""A splitter, pairs of rows to learn and rows to judge, or the fold of each row (−1: always learned, never judged)."""


def is_split(cv: object) -> TypeGuard[SplitLike]:
    """Whether rows are divided by somebody else, and not by a number, a word or a test set."""
    return not isinstance(cv, str | tuple) and isinstance(cv, Splitter | Iterable)


def read_splits(cv: SplitLike, y: Int32, groups: Int32 | None) -> tuple[list[Split], str]:
    """The splits in full, checked, and what they are called."""
    if isinstance(cv, Splitter):
        if groups is None and "Group" in type(cv).__name__:
            raise SettingsError(f"{type(cv).__name__} holds out whole groups: say in groups which one each row is of.")
        pairs, name = list(cv.split(np.zeros((len(y), 1)), y, groups)), type(cv).__name__
    else:
        given = list(cv)
        of_folds = bool(given) and not isinstance(given[0], tuple | list)
        pairs = _pairs_of_folds(np.asarray(given), len(y)) if of_folds else cast(list[Pair], given)
        name = "given folds" if of_folds else "given splits"
    if not pairs:
        raise SettingsError("cv has no split: give pairs of rows to learn and rows to judge.")
    splits = [_read_pair(number, pair, len(y)) for number, pair in enumerate(pairs)]
    n_splits = str(len(splits))
    return splits, Message(n_splits, " ", name) if isinstance(cv, Iterable) else Message(
        name, ", ", n_splits, " splits"
    )


def _pairs_of_folds(folds: AnyArray, n_rows: int) -> list[Pair]:
    if folds.shape != (n_rows,):
        raise DataError(f"cv has the folds of {len(folds)} rows, but there are {n_rows}: give one fold per row.")
    labels = [fold for fold in np.unique(folds).tolist() if fold != -1]
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in labels]


def _read_pair(number: int, pair: Pair, n_rows: int) -> Split:
    if len(pair) != 2:
        raise SettingsError(f"Split {number} of cv has {len(pair)} entries: give the rows to learn and those to judge.")
    learned, judged = (np.asarray(rows) for rows in pair)
    for rows in (learned, judged):
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise SettingsError(f"Split {number} of cv must be two lists of row numbers, and neither may be empty.")
        if rows.min() < 0 or rows.max() >= n_rows:
            strange = rows.max() if rows.max() >= n_rows else rows.min()
            raise DataError(f"Split {number} of cv names row {strange}, but rows go from 0 to {n_rows - 1}.")
        if len(np.unique(rows)) < len(rows):
            raise DataError(f"Split {number} of cv names a row twice: give sample_weight where a row counts for more.")
    both = np.intersect1d(learned, judged)
    if len(both):
        raise DataError(f"Row {both[0]} is both learned and judged in split {number} of cv, so it would be known.")
    return Split(learned.astype(np.intp), judged.astype(np.intp))


def prequential(n_rows: int) -> list[Split]:
    """Rows in their order, block by block: each block is judged by all rows before it, then learned as well."""
    if n_rows < 2:
        raise SettingsError("cv is 'prequential', which needs at least two rows: one to learn from, one to judge.")
    bounds = np.unique(np.linspace(0, n_rows, BLOCKS + 1).astype(np.intp))
    return [Split(np.arange(a), np.arange(a, b)) for a, b in pairwise(bounds[1:].tolist())]


def training_sums(task: Task, splits: Sequence[Split]) -> Iterator[Summary]:
    """The summary of the rows that each split learns."""
    learned = np.zeros((len(task.rows.y), len(splits)), dtype=np.bool_)
    for k, split in enumerate(splits):
        learned[split.learned, k] = True
    kinds, part = np.unique(np.packbits(learned, axis=1), axis=0, return_inverse=True)
    if len(kinds) > MOST_PARTS:
        for k in range(len(splits)):
            yield fold_summaries(task, learned[:, k].astype(np.int32), 2)[1]
        return
    parts = fold_summaries(task, part.ravel().astype(np.int32), len(kinds))
    belongs = np.unpackbits(kinds, axis=1)[:, : len(splits)].T == 1
    for own in belongs:
        yield reduce(add, [parts[place] for place in np.flatnonzero(own).tolist()])
