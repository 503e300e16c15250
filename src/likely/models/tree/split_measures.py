"""The measures of `likely.measures` for compiled loops: from running sums, one split at a time.

`likely.measures` names and defines them; a test holds these to that. With n cases, n_c of class c, n_j in branch j and
n_jc in both, and f(x) = x log₂ x:

    whole    Σ_c f(n_c)      cells    Σ_jc f(n_jc)      sizes    Σ_j f(n_j)
    n I = f(n) − whole − sizes + cells,   n H(A) = f(n) − sizes,   n H(A, C) = f(n) − cells,   n H(C) = f(n) − whole

One text is compiled several times, by the types that it is called with: with whole numbers where every case weighs 1
and with fractions elsewhere; and without any logarithm (`logs` is None) for measures that need none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.jit import compiled_as, kernel

if TYPE_CHECKING:
    from numba import types

MISCLASSIFICATION, GAIN, RATIO, SYMMETRIC_1, SYMMETRIC_2, CHI2, GINI = range(7)

IDS: dict[str, int] = {
    "misclassification": MISCLASSIFICATION,
    "information_gain": GAIN,
    "gain_ratio": RATIO,
    "symmetric_gain_ratio_1": SYMMETRIC_1,
    "symmetric_gain_ratio_2": SYMMETRIC_2,
    "chi2": CHI2,
    "gini": GINI,
}

WITHOUT_LOGARITHMS = (MISCLASSIFICATION, GINI, CHI2)

MIN_GAIN = 1e-12
"""What is not above this tells nothing: it is rounding."""

TIE = 1e-10
"""Values whose relative difference is below this are equal, so that rounding decides nothing."""

ZERO_WEIGHT = 1e-12
"""Weight below which a cell is empty: what subtraction of fractions leaves."""


def logarithms(n: int) -> Array:
    """Table of x log₂ x for whole numbers up to n."""
    x = np.arange(n + 1, dtype=np.float64)
    return np.asarray(x * np.log2(x, out=np.zeros_like(x), where=x > 0.0))


def xlogx(x: float, logs: Array | None) -> float:
    """Look up x log₂ x, or compute it for a fraction; 0 for a measure that needs no logarithms."""
    if logs is None or x <= ZERO_WEIGHT:
        return 0.0
    return float(logs[int(x)]) if x == int(x) and x < len(logs) else float(x * math.log2(x))


@compiled_as(xlogx, inline="always", strict=False)
def _compiled_xlogx(x: types.Type, logs: types.Type) -> Callable[..., float]:
    from numba import types

    if isinstance(logs, types.NoneType):
        return lambda x, logs: 0.0
    if isinstance(x, types.Integer):
        return lambda x, logs: logs[np.uint64(x)]

    def of_fraction(x: float, logs: Array) -> float:
        if x <= ZERO_WEIGHT:
            return 0.0
        k = int(x)
        if k == x and k < len(logs):
            return float(logs[k])
        return float(x * math.log2(x))

    return of_fraction


@kernel(inline="always")
def parent_term(measure: int, totals: AnyArray, n: float, logs: Array | None) -> float:
    """What a measure needs to know of the classes of all cases."""
    found = 0.0
    for c in range(len(totals)):
        if logs is not None:
            found += xlogx(totals[c], logs)
        elif measure == MISCLASSIFICATION:
            found = max(found, float(totals[c]))
        else:
            found += totals[c] * totals[c] / n
    return found


@kernel(inline="always")
def branch_term(measure: int, counts: AnyArray, size: float, totals: AnyArray, logs: Array | None) -> float:
    """What a measure needs to know of the classes in one branch; the sum over branches goes to `split_value`."""
    found = 0.0
    if logs is not None:
        for c in range(len(counts)):
            found += xlogx(counts[c], logs)
        return found
    for c in range(len(counts)):
        if measure == MISCLASSIFICATION:
            found = max(found, float(counts[c]))
        elif measure == GINI:
            found += counts[c] * counts[c]
        elif totals[c] > ZERO_WEIGHT:
            found += counts[c] * counts[c] / totals[c]
    return found if measure == MISCLASSIFICATION else found / size


@kernel(inline="always")
def split_value(
    measure: int, n: float, log_n: float, whole: float, cells: float, sizes: float, logs: Array | None
) -> float:
    """The measure itself; `log_n` is f(n), and `sizes` the sum of f over the sizes of the branches."""
    if logs is None:
        found = cells - 1.0 if measure == CHI2 else (cells - whole) / n
        return found if found > MIN_GAIN else 0.0
    gain = log_n - whole - sizes + cells
    if gain <= MIN_GAIN * n:
        return 0.0
    if measure == GAIN:
        return gain / n
    if measure == RATIO:
        return gain / (log_n - sizes)
    if measure == SYMMETRIC_1:
        return gain / (log_n - cells)
    return gain / (log_n - sizes + log_n - whole)


@kernel(inline="always")
def binary_split_value(
    measure: int, one: AnyArray, n_one: float, other: AnyArray, n_other: float, totals: AnyArray, n: float,
    log_n: float, whole: float, logs: Array | None,
) -> float:  # fmt: skip
    """The measure of a test with two branches, from the classes in both."""
    cells = branch_term(measure, one, n_one, totals, logs) + branch_term(measure, other, n_other, totals, logs)
    sizes = xlogx(n_one, logs) + xlogx(n_other, logs)
    return split_value(measure, n, log_n, whole, cells, sizes, logs)


@kernel(interpretable=True)
def choose_columns(values: Array, winners: Index) -> None:
    """The best line of columns × nodes for each node, the first of equals; winners stay where nothing is above zero."""
    for node in range(len(winners)):
        best = 0.0
        for column in range(len(values)):
            if values[column, node] > best * (1.0 + TIE):
                best, winners[node] = values[column, node], column


@kernel
def largest(weights: Array) -> int:
    """The place of the largest weight; the first of equals, rounding not considered."""
    best = 0
    for place in range(len(weights)):
        if weights[place] > weights[best] + ZERO_WEIGHT:
            best = place
    return best


# Gain ratio with C4.5's two restraints, which keep it from cutting off a few cases at the edge, again and again: a
# number is cut where the information gain is largest, and only columns whose gain is at least average are compared.


def gain_ratios_of_cuts(gains: Array, left: Array, known: Array) -> Array:
    """Gain over entropy of the cut, from the weights below it and of all known cases; 0 where nothing is gained."""
    share = np.divide(left, known, out=np.full_like(known, 0.5), where=(gains > 0.0) & (known > 0.0))
    entropy = -(share * np.log2(share) + (1.0 - share) * np.log2(1.0 - share))
    return np.asarray(np.where(gains > 0.0, gains / entropy, 0.0))


def above_average_ratios(gains: Array, ratios: Array) -> Array:
    """Ratios (columns × nodes), but 0 for columns that gain less than the average of those that gain anything."""
    average = gains.sum(axis=0) / np.maximum((gains > 0.0).sum(axis=0), 1)
    return np.asarray(np.where(gains >= average * (1.0 - TIE), ratios, 0.0))
