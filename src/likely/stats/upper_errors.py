"""How many errors a leaf has to be charged with, to be on the safe side."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError

Array = NDArray[np.float64]

LEAST = 1e-300
"""Stands for no cases: what is divided by it stays finite."""


def confident_errors(n: Array, errors: Array, level: float) -> Array:
    """Cases times the upper limit of the error rate, two-sided at confidence `level`.

    With β = (1 − level) / 2: n (1 − β^(1/n)) if there is no error; n times Wilson's upper limit from one error on; and
    linear between the two for less than one.
    """
    if not 0.0 < level < 1.0:
        raise SettingsError(f"The confidence level is {level!r}, but it lies between 0 and 1.")
    beta = (1.0 - level) / 2.0
    some = np.maximum(n, LEAST)
    none = some * -np.expm1(np.log(beta) / some)
    one_or_more = wilson(some, np.maximum(errors, 1.0), NormalDist().inv_cdf(1.0 - beta))
    between = none + errors * (one_or_more - none)
    return np.asarray(np.where(n <= 0.0, 0.0, np.minimum(n, np.where(errors >= 1.0, one_or_more, between))))


def wilson(n: Array, errors: Array, z: float) -> Array:
    """n times the upper end of Wilson's interval, without a correction for continuity."""
    wrong = np.minimum(errors, n)
    root = np.sqrt(wrong * (1.0 - wrong / n) + z * z / 4.0)
    return np.asarray(n * (wrong + z * z / 2.0 + z * root) / (n + z * z))
