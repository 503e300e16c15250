"""One machine for each two classes: their order, what they say together, and who wins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def pairs_of(n_classes: int) -> tuple[Ints, Ints]:
    """The earlier and the later class of every pair: (0, 1), (0, 2), …, (1, 2), …; a value above 0 is for the later.

    >>> [each.tolist() for each in pairs_of(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    earlier, later = np.triu_indices(n_classes, 1)
    return earlier.astype(np.int64), later.astype(np.int64)


def n_pairs(n_classes: int) -> int:
    """How many pairs there are."""
    return n_classes * (n_classes - 1) // 2


def class_sums(pairs: Array, n_classes: int) -> Array:
    """What all pairs together say for each class: the sum of their values, with the sign turned for the earlier one."""
    earlier, later = pairs_of(n_classes)
    sums = np.zeros((len(pairs), n_classes))
    for place, (a, b) in enumerate(zip(earlier, later, strict=True)):
        sums[:, a] -= pairs[:, place]
        sums[:, b] += pairs[:, place]
    return sums


def votes(pairs: Array, n_classes: int) -> Array:
    """How many pairs each class wins; sums of their values, squeezed to less than half a vote, break ties.

    A value of zero is a vote for the earlier class.
    """
    earlier, later = pairs_of(n_classes)
    won = np.zeros((len(pairs), n_classes))
    for place, (a, b) in enumerate(zip(earlier, later, strict=True)):
        for_later = pairs[:, place] > 0.0
        won[:, b] += for_later
        won[:, a] += ~for_later
    sums = class_sums(pairs, n_classes)
    return np.asarray(won + sums / (3.0 * (np.abs(sums) + 1.0)))
