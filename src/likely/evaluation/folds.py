"""Which rows are held out together, or sampled: dealt out class by class, group by group, or split once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import zip_longest
from numbers import Integral
from typing import TypeVar

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64
from likely.errors import About, SettingsError
from likely.jit import kernel
from likely.numerics import MOST_PLACES, is_between

Summed = TypeVar("Summed")

MOST_BETA = 1e100
"""Recall beyond doubt: the square of a larger weight might leave the floats."""


def check_design(beta: object, repeats: object, random_state: object) -> None:
    """Refuse what no F measure weighs recall by, and what no folds are dealt by."""
    if not is_between(beta, 0.0, MOST_BETA):
        raise SettingsError(f"beta is {beta!r}, but it is a number from 0 to {MOST_BETA:g}; above 1 it favours recall.")
    if not is_between(repeats, 1, MOST_PLACES) or int(repeats) != repeats:
        raise SettingsError(f"repeats is {repeats!r}, but folds are dealt at least once, and a whole number of times.")
    if not isinstance(random_state, Integral) or not is_between(random_state, 0, np.inf):
        raise SettingsError(f"random_state is {random_state!r}, but it is a whole number from 0 up.")


FEW_FOLDS = 64
"""Up to so many it is faster to draw from the cards that are left than to shuffle all rows."""


def stratified(y: Int32, n_folds: int, random_state: int) -> Int32:
    """The fold of each row: every class is dealt out like cards, and the next class goes on where it stopped.

    So folds differ by one row at most, in all and in each class.

    >>> stratified(np.array([0, 0, 0, 0, 1, 1], dtype=np.int32), 2, random_state=0).tolist()
    [1, 0, 0, 1, 1, 0]
    """
    _check(n_folds, len(y), "rows")
    fold, rng, sizes = np.empty(len(y), dtype=np.int32), np.random.default_rng(random_state), np.bincount(y)
    start = np.cumsum(sizes) - sizes
    if n_folds > FEW_FOLDS:
        _deal(rng.permutation(len(y)), y, start, n_folds, fold)
        return fold
    last = n_folds - 1 - np.arange(n_folds)
    cards = (start[:, None] + sizes[:, None] + last) // n_folds - (start[:, None] + last) // n_folds
    _draw(rng.random(len(y)), y, cards, sizes.copy(), fold)
    return fold


def grouped(y: Int32, groups: Int32, n_folds: int, random_state: int) -> Int32:
    """The same with whole groups: the largest first, each to the fold that has least of its classes so far."""
    n_groups = int(groups.max(initial=-1)) + 1
    _check(n_folds, n_groups, "groups")
    sizes = np.bincount(groups, minlength=n_groups)
    shuffled = np.random.default_rng(random_state).permutation(n_groups)
    by_size = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    rows = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    per_row = 1.0 / np.bincount(y).astype(np.float64).clip(1.0) ** 2
    held, size, fold_of = np.zeros((n_folds, len(per_row))), np.zeros(n_folds), np.empty(n_groups, dtype=np.int32)
    for group in by_size:
        labels, counts = np.unique(y[rows[starts[group] : starts[group + 1]]], return_counts=True)
        burden = held[:, labels] @ (counts * per_row[labels])
        best = np.lexsort((size, burden))[0]
        fold_of[group] = best
        held[best, labels] += counts
        size[best] += sizes[group]
    return np.asarray(fold_of[groups], dtype=np.int32)


def split(y: Int32, groups: Int32 | None, share: float, random_state: int) -> Flags:
    """Which rows are held out for the test: about `share` of each class, or of the rows in whole groups."""
    if not 0.0 < share < 1.0:
        raise SettingsError(f"cv is {share!r}, but the share of rows to test on lies between 0 and 1.")
    if groups is not None:
        sizes = np.bincount(groups)
        order = np.random.default_rng(random_state).permutation(len(sizes))
        _check(2, len(sizes), "groups")
        before = np.cumsum(sizes[order]) - sizes[order]
        chosen = order[(before + 0.5 * sizes[order]) < share * len(y)]
        chosen = chosen[: len(sizes) - 1] if len(chosen) else order[:1]
        return np.isin(groups, chosen)
    _check(2, len(y), "rows")
    # A class of any size gives up its share of rows: place · share passes a whole number that often.
    place = np.empty(len(y), dtype=np.int32)
    sizes = np.bincount(y)
    _deal(np.random.default_rng(random_state).permutation(len(y)), y, np.cumsum(sizes) - sizes, len(y), place)
    test = np.floor((place + 1) * share + 0.5) > np.floor(place * share + 0.5)
    if test.all() or not test.any():
        raise SettingsError(f"cv is {share!r}, which leaves no row of {len(y)} on one side of the split.")
    return np.asarray(test)


def by_fold(fold: Int32, n_folds: int) -> list[Index]:
    """Numbers of the rows of each fold, in ascending order; a row of −1 is in none."""
    place = fold + np.int32(1)
    small = place.astype(np.uint8) if n_folds < 256 else place  # NumPy sorts small integers in one pass
    order = np.argsort(small, kind="stable")
    return np.split(order, np.cumsum(np.bincount(place, minlength=n_folds + 1))[:-1])[1:]


@kernel
def _draw(chance: Array, y: Int32, cards: Int64, left: Int64, out: Int32) -> None:
    """The same as shuffling and dealing, without a shuffle: each row draws one of the cards that its class has left."""
    for i in range(y.shape[0]):
        own, k = cards[y[i]], 0
        place = np.int64(chance[i] * left[y[i]])
        while place >= own[k]:
            place -= own[k]
            k += 1
        out[i] = k
        own[k] -= 1
        left[y[i]] -= 1


@kernel
def _deal(order: Int64, y: Int32, start: Int64, n_folds: int, out: Int32) -> None:
    """Deal rows to folds in the given order; class `c` begins with the card numbered `start[c]`."""
    card = start.copy()
    for row in order:
        out[row] = card[y[row]] % n_folds
        card[y[row]] += 1


def _check(n_folds: int, available: int, what: str) -> None:
    if n_folds < 2:
        raise SettingsError(f"cv is {n_folds}, but at least two folds are needed: one to learn from, one to test on.")
    if n_folds > available:
        why = f"cv asks for {n_folds} folds, but there are only {available} {what}."
        raise SettingsError(About("few rows", available), why)


def shuffled_by_class(y: Int32, rng: np.random.Generator) -> Index:
    """All rows, class after class, in random order within each class."""
    shuffled = rng.permutation(len(y))
    return np.asarray(shuffled[np.argsort(y[shuffled], kind="stable")])


MIN_PER_CLASS = 50
"""Rows of each class that are sampled at least, if there are as many."""


def stratified_sample(classes: Callable[[], Iterable[Int32]], most: int, seed: int) -> Index:
    """Numbers of about `most` of the rows, in ascending order, the same share of each class.

    `classes` tells the classes of all rows, part by part, as often as it is asked; how they are cut into parts does
    not matter. The rows of a class are divided into as many runs as rows are to be drawn, and one is drawn of each: so
    the sample comes from everywhere, and no rhythm in the order of rows can spoil it.
    """
    of_parts = zip_longest(*(np.bincount(part) for part in classes()), fillvalue=0)
    counts = np.array([sum(of_class) for of_class in of_parts], dtype=np.intp)
    wanted = np.round(most * counts / max(int(counts.sum()), 1)).astype(np.intp)
    wanted = np.minimum(np.maximum(wanted, MIN_PER_CLASS), counts)
    before = np.cumsum(counts) - counts
    drawn = []
    for k, (count, draws) in enumerate(zip(counts.tolist(), wanted.tolist(), strict=True)):
        bounds = np.arange(draws + 1) * count // max(draws, 1)
        within = np.random.default_rng([seed, k]).random(draws) * np.diff(bounds)
        drawn.append(before[k] + bounds[:-1] + within.astype(np.intp))
    return _rows_at(classes(), np.concatenate([*drawn, np.zeros(0, dtype=np.intp)]), before)


def _rows_at(classes: Iterable[Int32], places: Index, before: Index) -> Index:
    """Numbers of the rows that stand at some places if all rows are ordered by class."""
    found, passed, first = [], before.copy(), 0
    for part in classes:
        order = np.argsort(part, kind="stable")
        counts = np.bincount(part, minlength=len(passed))
        within = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
        own = np.repeat(passed, counts) + within
        near = np.minimum(np.searchsorted(places, own), len(places) - 1)
        found.append(first + np.sort(order[places[near] == own]))
        passed += counts
        first += len(part)
    return np.concatenate([*found, np.zeros(0, dtype=np.intp)]).astype(np.intp)


def sums_without_each(
    parts: Sequence[Summed], add: Callable[[Summed, Summed], Summed], outside: Sequence[Summed] = ()
) -> Iterator[Summed]:
    """For each part the sum of `outside` and of all other parts, without a subtraction; few sums are held at a time.

    Halves of the parts are added at a time: K·log₂K additions in all.

    >>> list(sums_without_each([1, 2, 4, 8], lambda a, b: a + b))
    [14, 13, 11, 7]
    """
    if len(parts) == 1:
        yield reduce(add, outside)
        return
    half = len(parts) // 2
    left, right = parts[:half], parts[half:]
    yield from sums_without_each(left, add, [reduce(add, [*outside, *right])])
    yield from sums_without_each(right, add, [reduce(add, [*outside, *left])])
