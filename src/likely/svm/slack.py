"""How far each row is from where it should be: slack, and the three cases that it can be in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.svm.pairs import pairs_of

Array = NDArray[np.float64]


def nearest(pairs: Array, y: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.int64], Array]:
    """Of each row the rival class that comes nearest, and y·f against it: below 1 within the margin, below 0 wrong."""
    rival, least = np.full(len(y), -1, dtype=np.int64), np.full(len(y), np.inf)
    for place, (a, b) in enumerate(zip(*pairs_of(n_classes), strict=True)):
        for own, other, sign in ((a, b, -1.0), (b, a, 1.0)):
            mine = np.flatnonzero(y == own)
            values = sign * pairs[mine, place]
            nearer = values < least[mine]
            least[mine[nearer]], rival[mine[nearer]] = values[nearer], other
    return rival, least


def slack_and_case(values: Array, tolerance: float) -> tuple[Array, NDArray[np.str_]]:
    """ξ = max(0, 1 − y·f), and the case: A beyond the margin, B within it on the right side, C on the wrong side."""
    slack = np.maximum(1.0 - values, 0.0)
    slack[slack <= tolerance] = 0.0
    return slack, np.where(slack == 0.0, "A", np.where(values > 0.0, "B", "C"))
