"""Small pure functions on numbers and arrays: from log joints to posteriors."""

from __future__ import annotations

from numbers import Real
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import DataError, NotMergeable, SettingsError


def is_between(given: object, low: float, high: float) -> bool:
    """Whether it is a real number from `low` to `high`, compared exactly; a truth value or a decimal is none.

    >>> is_between(0.5, 0.0, 1.0), is_between(10**400, 0.0, 1e300), is_between(True, 0.0, 1.0)
    (True, False, False)
    """
    number = given.item() if isinstance(given, np.generic) else given  # a narrow float would not hold the bounds
    if not isinstance(number, int | float | Real) or isinstance(number, bool):
        return False
    exact: Any = number
    return bool(low <= exact <= high)


def normalise(log_joint: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Posterior (or its logarithm) of each row, shifted by the row's peak so that nothing overflows.

    A row that is impossible under every class (all −inf) says nothing about them: it gets the prior.
    `out` may be `log_joint` itself. NumPy's exponential, which takes several cells at once, stands
    between two compiled loops.
    """
    _lower(log_joint, out)
    with np.errstate(under="ignore"):
        shares = np.exp(out) if in_logs else np.exp(out, out=out)
    _share(shares, prior, in_logs, out)


@numba.njit(nogil=True, cache=True)
def _lower(log_joint: Array, out: Array) -> None:
    """Put the peak of each row at zero; a row without one is marked by NaN."""
    n_classes = log_joint.shape[1]
    for i in range(log_joint.shape[0]):
        peak = -np.inf
        for c in range(n_classes):
            peak = max(peak, log_joint[i, c])
        if peak == -np.inf:
            out[i, :] = np.nan
            continue
        for c in range(n_classes):
            out[i, c] = log_joint[i, c] - peak


@numba.njit(nogil=True, cache=True)
def _share(shares: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Divide each row by its sum, in logarithms if these are asked for."""
    n_classes = shares.shape[1]
    for i in range(shares.shape[0]):
        total = 0.0
        for c in range(n_classes):
            total += shares[i, c]
        if np.isnan(total):
            for c in range(n_classes):
                out[i, c] = np.log(prior[c]) if in_logs else prior[c]
        elif in_logs:
            log_total = np.log(total)
            for c in range(n_classes):
                out[i, c] -= log_total
        else:
            for c in range(n_classes):
                out[i, c] = shares[i, c] / total


def log_of(probabilities: Array) -> Array:
    """Logarithm in which zero is an honest −inf, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities), dtype=np.float64)


@numba.njit(nogil=True, cache=True)
def most_probable(log_joint: Array, prior: Array, out: NDArray[np.intp]) -> None:
    """The class with the largest log joint of each row; the first of equals, by the prior if all are impossible."""
    for i in range(log_joint.shape[0]):
        best, peak = -1, -np.inf
        for c in range(log_joint.shape[1]):
            if log_joint[i, c] > peak:
                best, peak = c, log_joint[i, c]
        out[i] = best if best >= 0 else np.argmax(prior)


def sums_of_others(table: Array) -> Array:
    """The sum of all rows of a table but each one, without subtracting anything."""
    nothing = np.zeros_like(table[:1])
    before = np.concatenate([nothing, np.cumsum(table[:-1], axis=0)])
    after = np.concatenate([np.cumsum(table[:0:-1], axis=0)[::-1], nothing])
    return np.asarray(before + after)


# Bayes' rule for one hypothesis and one observation.

ROUNDING = 1e-12


def bayes_rule(prior: float, likelihood: float, evidence: float) -> float:
    """P(hypothesis | data) = P(data | hypothesis) · P(hypothesis) / P(data).

    Four of five patients with arthrosis have a stiff joint; one person in 10,000 has arthrosis, one in
    ten a stiff joint:

    >>> round(bayes_rule(prior=0.0001, likelihood=0.8, evidence=0.1), 12)
    0.0008
    """
    for name, value in (("prior", prior), ("likelihood", likelihood), ("evidence", evidence)):
        if not 0.0 <= value <= 1.0:
            raise SettingsError(f"{name} is {value!r}, but a probability lies between 0 and 1.")
    joint = likelihood * prior
    if evidence < joint * (1.0 - ROUNDING) or evidence == 0.0:
        raise SettingsError(
            f"evidence is {evidence!r}, but data that come with the hypothesis at least {joint!r} of the time "
            "cannot be rarer than that (and must be possible)."
        )
    return joint / evidence


# How much weight and how large numbers can be learned from without leaving the floats.

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


# Places in arrays as whole numbers without a sign, for compiled loops.
#
# A signed index may count from the end, so every access by a sum or product of such numbers asks first whether it is
# negative, and that question keeps the loop from being done four cells at a time. A sum of two of these is one of
# these;
# a sum with a plain Python number is signed again, hence the names.

Place = np.uintp

ZERO: Final = np.uintp(0)
ONE: Final = np.uintp(1)
TWO: Final = np.uintp(2)
THREE: Final = np.uintp(3)
FOUR: Final = np.uintp(4)
