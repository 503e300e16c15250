"""The best cut of a numeric column in every node of a level, from cases that were sorted once.

`order` holds, node after node, the known cases of a column in the order of their values: the rank of the value in the
upper half of each number, the case in the lower half. So one array is read from front to back, and only the class of a
case is looked up.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.measuring import NOTHING, TIE, value_of_two, whole_of, xlogx

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

HALF = 32
LOWER = (1 << HALF) - 1


@numba.njit(nogil=True, cache=True)
def total_of(weights: Array) -> float:
    """The sum of a few weights."""
    total = 0.0
    for weight in weights:
        total += weight
    return total


@numba.njit(nogil=True, cache=True)
def scan(
    order: Order,
    starts: Order,
    labels: Ints,
    weights: Array,
    unit: bool,
    complete: bool,
    totals: Array,
    sizes: Array,
    measure: int,
    logs: Array,
    min_cases: float,
    scores: Array,
    places: Order,
) -> None:
    """The best value of the measure in each node, times known / all weight, and where in `order` the cut lies.

    A cut lies between two different values with at least `min_cases` on either side; of equals the last wins.
    `unit` says that every case weighs 1, `complete` that the column has no gaps.
    """
    n_classes = totals.shape[1]
    known, left, right = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    least = min_cases - NOTHING
    for node in range(len(starts) - 1):
        first, last = starts[node], starts[node + 1]
        scores[node], places[node] = 0.0, -1
        if last - first < 2 or order[first] >> HALF == order[last - 1] >> HALF:
            continue
        if complete:
            known[:] = totals[node]
        else:
            known[:] = 0.0
            for i in range(first, last):
                case = order[i] & LOWER
                known[labels[case]] += 1.0 if unit else weights[case]
        n = total_of(known)
        log_n, whole = xlogx(n, logs), whole_of(measure, known, n, logs)
        left[:] = 0.0
        n_left, best, place = 0.0, 0.0, -1
        for i in range(first, last - 1):
            case = order[i] & LOWER
            weight = 1.0 if unit else weights[case]
            left[labels[case]] += weight
            n_left += weight
            if order[i] >> HALF == order[i + 1] >> HALF or n_left < least:
                continue
            if n - n_left < least:
                break
            value = value_of_two(measure, left, n_left, right, known, n, log_n, whole, logs)
            if value > 0.0 and value >= best * (1.0 - TIE):
                best, place = max(best, value), i + 1
        scores[node], places[node] = best * n / sizes[node], place


@numba.njit(nogil=True, cache=True)
def mark(order: Order, starts: Order, places: Order, nodes: Order, branches: Ints) -> None:
    """Cases before the cut go to branch 0, those after it to branch 1; gaps stay as they are."""
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            branches[order[i] & LOWER] = 0 if i < places[node] else 1


@numba.njit(nogil=True, cache=True)
def largest(weights: Array) -> int:
    """The place of the largest weight; the first of equals, rounding not considered."""
    best = 0
    for place in range(len(weights)):
        if weights[place] > weights[best] + NOTHING:
            best = place
    return best


@numba.njit(nogil=True, cache=True)
def agree(
    order: Order,
    starts: Order,
    branches: Ints,
    weights: Array,
    n_branches: Ints,
    usual: Ints,
    gains: Array,
    sides: Ints,
    ranks: Order,
) -> None:
    """The cut that best tells the branch of another test, and how much more weight it sends right than `usual`.

    Only cases that are known to both count. `sides` are the branches below and above the cut, `ranks` the values
    around it.
    """
    for node in range(len(starts) - 1):
        gains[node] = 0.0
        if n_branches[node] == 0:
            continue
        known, left = np.zeros(n_branches[node]), np.zeros(n_branches[node])
        right = np.empty(n_branches[node])
        for i in range(starts[node], starts[node + 1]):
            case = order[i] & LOWER
            if branches[case] >= 0:
                known[branches[case]] += weights[case]
        followed, best, before = known[usual[node]], 0.0, -1
        for i in range(starts[node], starts[node + 1]):
            case, rank = order[i] & LOWER, order[i] >> HALF
            if branches[case] < 0:
                continue
            if before >= 0 and rank != before:
                for b in range(len(known)):
                    right[b] = known[b] - left[b]
                low, high = largest(left), largest(right)
                gain = left[low] + known[high] - left[high] - followed
                if gain > NOTHING and gain >= best - NOTHING:
                    best = max(best, gain)
                    sides[node, 0], sides[node, 1] = low, high
                    ranks[node, 0], ranks[node, 1] = before, rank
            left[branches[case]] += weights[case]
            before = rank
        gains[node] = best
