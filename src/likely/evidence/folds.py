"""Inner folds: parts of the training rows on which variances and shares are chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
