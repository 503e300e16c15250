"""Inner folds: parts of the training rows on which variances and shares are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Int32

FEWEST_OF_A_CLASS = 50
"""Rows of each class that are drawn at least, if there are as many."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to learn from, rows to judge."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def n_inner(n_rows: int) -> int:
    """Five folds for a few rows, three for some more; from there on a fifth of the rows is held out once."""
    return 5 if n_rows < 1000 else 3 if n_rows < 3000 else 1


def inner_folds(y: NDArray[np.int32], seed: int) -> list[Fold]:
    """Stratified: the rows of each class are dealt out in turn, in random order."""
    wanted = n_inner(len(y))
    n_parts = 5 if wanted == 1 else wanted
    random = np.random.default_rng(seed)
    shuffled = random.permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    part = np.empty(len(y), dtype=np.intp)
    part[order] = (np.arange(len(y)) + random.integers(n_parts)) % n_parts
    folds = []
    for k in range(wanted):
        folds.append(Fold(np.flatnonzero(part != k), np.flatnonzero(part == k)))
    return folds


def fair_sample(classes: Callable[[], Iterable[Int32]], most: int, seed: int) -> NDArray[np.intp]:
    """Numbers of about `most` of the rows, in ascending order, a fair share of each class.

    `classes` tells the classes of all rows, part by part, as often as it is asked; how they are cut into parts does
    not matter. The rows of a class are divided into as many runs as rows are to be drawn, and one is drawn of each: so
    the sample comes from everywhere, and no rhythm in the order of rows can spoil it.
    """
    counts = reduce(_added, (np.bincount(part) for part in classes()), np.zeros(0, dtype=np.intp))
    wanted = np.round(most * counts / max(int(counts.sum()), 1)).astype(np.intp)
    wanted = np.minimum(np.maximum(wanted, FEWEST_OF_A_CLASS), counts)
    before = np.cumsum(counts) - counts
    drawn = []
    for k, (count, draws) in enumerate(zip(counts.tolist(), wanted.tolist(), strict=True)):
        bounds = np.arange(draws + 1) * count // max(draws, 1)
        runs = np.random.default_rng([seed, k]).random(draws) * np.diff(bounds)
        drawn.append(before[k] + bounds[:-1] + runs.astype(np.intp))
    return _found(classes(), np.concatenate([*drawn, np.zeros(0, dtype=np.intp)]), before)


def _found(classes: Iterable[Int32], drawn: NDArray[np.intp], before: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers of the rows that are drawn: these are places among all rows ordered by class."""
    found, passed, first = [], before.copy(), 0
    for part in classes:
        order = np.argsort(part, kind="stable")
        counts = np.bincount(part, minlength=len(passed))
        within = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(passed, counts) + within
        near = np.minimum(np.searchsorted(drawn, places), len(drawn) - 1)
        found.append(first + np.sort(order[drawn[near] == places]))
        passed += counts
        first += len(part)
    return np.concatenate([*found, np.zeros(0, dtype=np.intp)]).astype(np.intp)


def _added(a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.intp]:
    out = np.zeros(max(len(a), len(b)), dtype=np.intp)
    out[: len(a)] += a
    out[: len(b)] += b
    return out
