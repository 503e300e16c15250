"""How much weight and how large numbers can be learned from without leaving the floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, NotMergeable

Array = NDArray[np.float64]

HEAVIEST = 1e100
"""The most that rows may weigh together. No count is larger, so the product of three counts is a float, and so is the
square of a sum of as many counts as any memory holds."""

LARGEST = 1e305
"""The most that the sum, the deviation or the root of the squares of a column may come to: so the difference of two of
them, and the sum of a thousand, is a float."""


def refuse_heavy(weights: Array) -> None:
    """Raise for rows that weigh more together than can be counted."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not total <= HEAVIEST:
        row = int(np.argmax(weights))
        raise DataError(
            f"The weight of row {row} is {weights[row]:g} and that of all rows {total:g}, but {HEAVIEST:g} is the most "
            "that can be counted: divide all weights by one number."
        )


def together(a: Array, b: Array) -> Array:
    """`a + b` for weights and counts, none of them beyond what can be counted."""
    with np.errstate(over="ignore"):
        both = a + b
    if not (both <= HEAVIEST).all():
        raise NotMergeable(
            f"Together they come to a weight of {both.max():g}, but {HEAVIEST:g} is the most that can be counted: "
            "divide the weights of all rows by one number and count again."
        )
    return both


def too_large(n: Array, mean: Array, root: Array) -> NDArray[np.bool_]:
    """Where the sum, the deviation, or the root of the centred squares of a column leaves what can be learned from."""
    reach = LARGEST * np.sqrt(np.minimum(n, 1.0))
    fair = (np.abs(mean) <= LARGEST / np.maximum(n, 1.0)) & (root <= np.where(n > 0.0, reach, LARGEST))
    return ~fair
