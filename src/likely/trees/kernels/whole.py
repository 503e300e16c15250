"""The best cut of a numeric column where every case weighs 1: whole numbers, and logarithms from a table.

The same as `scanning.scan` says for any weights, several times as fast: no calls and no fractions in the inner loop.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.text.kernels.bits import lowest
from likely.trees.kernels.binning import GAP
from likely.trees.kernels.measuring import CHI2, GAIN, GINI, MISCLASSIFICATION, RATIO, SYMMETRIC_1, TIE, WORTHLESS
from likely.trees.kernels.scanning import HALF, LOWER

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

FEW_CASES = 512
"""With more of them nearly all bins are in use, and marking costs more than it saves."""

ONE = np.uint64(1)
NO_GAP = ~(ONE << np.uint64(63))
"""All bits but that of bin 255, where gaps are."""


@numba.njit(nogil=True, cache=True)
def scan_whole(
    order: Order,
    starts: Order,
    labels: Ints,
    n_classes: int,
    sizes: Array,
    measure: int,
    logs: Array,
    min_cases: float,
    scores: Array,
    places: Order,
) -> None:
    """The best value of the measure in each node, times known / all cases, and where in `order` the cut lies."""
    left, right = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    known, least = np.zeros(n_classes, dtype=np.int64), max(int(np.ceil(min_cases - TIE)), 1)
    for node in range(len(starts) - 1):
        first, last = starts[node], starts[node + 1]
        scores[node], places[node] = 0.0, -1
        if last - first < 2 or order[first] >> HALF == order[last - 1] >> HALF:
            continue
        for c in range(n_classes):
            left[c], right[c] = 0, 0
        for i in range(first, last):
            right[labels[order[i] & LOWER]] += 1
        if measure in (MISCLASSIFICATION, GINI, CHI2):
            value, place = _by_counts(order, first, last, labels, left, right, known, measure, least)
        else:
            value, place = _by_entropy(order, first, last, labels, left, right, measure, logs, least)
        scores[node], places[node] = value * (last - first) / sizes[node], place


@numba.njit(nogil=True, cache=True)
def _by_entropy(
    order: Order, first: int, last: int, labels: Ints, left: Order, right: Order, measure: int, logs: Array, least: int
) -> tuple[float, int]:
    """The best cut of one node by information gain or one of its ratios; `right` holds all cases at first."""
    n, n_classes, whole = last - first, len(left), 0.0
    for c in range(n_classes):
        whole += logs[right[c]]
    log_n, best, bar, place, rank = logs[n], 0.0, 0.0, -1, order[first] >> HALF
    for i in range(first, last - least):
        c = labels[order[i] & LOWER]
        left[c] += 1
        right[c] -= 1
        above, n_left = order[i + 1] >> HALF, i + 1 - first
        if above == rank or n_left < least:
            rank = above
            continue
        rank = above
        cells = 0.0
        for c in range(n_classes):
            cells += logs[left[c]] + logs[right[c]]
        sizes = logs[n_left] + logs[n - n_left]
        gain = log_n - whole - sizes + cells
        if gain <= WORTHLESS * n:
            continue
        if measure == GAIN:
            value = gain / n
        elif measure == RATIO:
            value = gain / (log_n - sizes)
        elif measure == SYMMETRIC_1:
            value = gain / (log_n - cells)
        else:
            value = gain / (log_n - sizes + log_n - whole)
        if value >= bar:
            best, place = max(best, value), i + 1
            bar = best * (1.0 - TIE)
    return best, place


@numba.njit(nogil=True, cache=True)
def _by_counts(
    order: Order, first: int, last: int, labels: Ints, left: Order, right: Order, known: Order, measure: int, least: int
) -> tuple[float, int]:
    """The same by a measure that needs no logarithms."""
    n, whole = last - first, 0.0
    if n < 2:
        return 0.0, -1
    for c in range(len(known)):
        known[c] = right[c]
        whole = whole + known[c] * known[c] / n if measure == GINI else max(whole, float(known[c]))
    best, bar, place, rank = 0.0, 0.0, -1, order[first] >> HALF
    for i in range(first, last - least):
        c = labels[order[i] & LOWER]
        left[c] += 1
        right[c] -= 1
        above, n_left = order[i + 1] >> HALF, i + 1 - first
        if above == rank or n_left < least:
            rank = above
            continue
        rank = above
        value = _other(measure, left, right, known, n_left, n - n_left, whole)
        if value > 0.0 and value >= bar:
            best, place = max(best, value), i + 1
            bar = best * (1.0 - TIE)
    return best, place


@numba.njit(nogil=True, cache=True)
def _other(measure: int, left: Order, right: Order, known: Order, n_left: int, n_right: int, whole: float) -> float:
    """The measures that need no logarithms."""
    n, low, high = n_left + n_right, 0.0, 0.0
    for c in range(len(left)):
        if measure == MISCLASSIFICATION:
            low, high = max(low, float(left[c])), max(high, float(right[c]))
        elif measure == GINI:
            low += left[c] * left[c]
            high += right[c] * right[c]
        elif known[c] > 0:
            low += left[c] * left[c] / known[c]
            high += right[c] * right[c] / known[c]
    if measure == MISCLASSIFICATION:
        value = (low + high - whole) / n
    elif measure == GINI:
        value = (low / n_left + high / n_right - whole) / n
    else:
        value = low / n_left + high / n_right - 1.0
    return value if value > WORTHLESS else 0.0


@numba.njit(nogil=True, cache=True)
def _edge_by_entropy(
    table: Order, bins: Order, n: int, left: Order, right: Order, measure: int, logs: Array, least: int
) -> tuple[float, int]:
    """The best cut of a bin × class table, and the last bin below it; `right` holds all cases at first.

    `bins` are those that are not empty, in their order.
    """
    n_classes, whole, log_n = len(left), 0.0, logs[n]
    for c in range(n_classes):
        whole += logs[right[c]]
    best, bar, edge, n_left = 0.0, 0.0, -1, 0
    each, nothing = 1.0 / max(n, 1), WORTHLESS * n
    for k in bins:
        for c in range(n_classes):
            left[c] += table[k, c]
            right[c] -= table[k, c]
            n_left += table[k, c]
        if n_left < least:
            continue
        if n - n_left < least:
            break
        cells, sizes = 0.0, logs[n_left] + logs[n - n_left]
        for c in range(n_classes):
            cells += logs[left[c]] + logs[right[c]]
        gain = log_n - whole - sizes + cells
        value = gain * each if measure == GAIN else _ratio(measure, gain, log_n, whole, cells, sizes)
        if value >= bar and gain > nothing:
            best, edge = max(best, value), k
            bar = best * (1.0 - TIE)
    return best, edge


@numba.njit(nogil=True, cache=True)
def _ratio(measure: int, gain: float, log_n: float, whole: float, cells: float, sizes: float) -> float:
    """The measures that divide a gain by entropies."""
    if measure == RATIO:
        return gain / (log_n - sizes)
    return gain / (log_n - (cells if measure == SYMMETRIC_1 else sizes + whole - log_n))


@numba.njit(nogil=True, cache=True)
def _edge_by_counts(
    table: Order, bins: Order, n: int, left: Order, right: Order, known: Order, measure: int, least: int
) -> tuple[float, int]:
    """The same by a measure that needs no logarithms."""
    whole = 0.0
    if n < 2:
        return 0.0, -1
    for c in range(len(known)):
        known[c] = right[c]
        whole = whole + known[c] * known[c] / n if measure == GINI else max(whole, float(known[c]))
    best, bar, edge, n_left = 0.0, 0.0, -1, 0
    for k in bins:
        for c in range(len(known)):
            left[c] += table[k, c]
            right[c] -= table[k, c]
            n_left += table[k, c]
        if n_left < least:
            continue
        if n - n_left < least:
            break
        value = _other(measure, left, right, known, n_left, n - n_left, whole)
        if value > 0.0 and value >= bar:
            best, edge = max(best, value), k
            bar = best * (1.0 - TIE)
    return best, edge


@numba.njit(nogil=True, cache=True)
def score_bins_whole(
    codes: NDArray[np.uint8], starts: Order, labels: Ints, n_bins: int, counts: Array, sizes: Array,
    measure: int, logs: Array, min_cases: float, scores: Array, edges: Order,
) -> None:  # fmt: skip
    """The best edge between bins in each node; only bins that hold a case are looked at.

    `codes` and `labels` are in the order of the level's members, so that they are read from front to back; `counts`
    are the cases of each node by class.
    """
    n_classes = counts.shape[1]
    left, right = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    known, least = np.zeros(n_classes, dtype=np.int64), max(int(np.ceil(min_cases - TIE)), 1)
    table, bins = np.zeros((GAP + 1, n_classes), dtype=np.int64), np.empty(GAP + 1, dtype=np.int64)
    held, by_counts = np.zeros(4, dtype=np.uint64), measure in (MISCLASSIFICATION, GINI, CHI2)
    for node in range(len(starts) - 1):
        n_held, n = _fill(codes, labels, starts[node], starts[node + 1], n_bins, table, held, bins), 0
        for c in range(n_classes):
            left[c], right[c] = 0, int(counts[node, c]) - table[GAP, c]
            n += right[c]
            table[GAP, c] = 0
        if by_counts:
            value, edges[node] = _edge_by_counts(table, bins[:n_held], n, left, right, known, measure, least)
        else:
            value, edges[node] = _edge_by_entropy(table, bins[:n_held], n, left, right, measure, logs, least)
        scores[node] = value * n / sizes[node]
        for k in bins[:n_held]:
            for c in range(n_classes):
                table[k, c] = 0


@numba.njit(nogil=True, cache=True)
def _fill(
    codes: NDArray[np.uint8], labels: Ints, first: int, last: int, n_bins: int, table: Order,
    held: NDArray[np.uint64], bins: Order,
) -> int:  # fmt: skip
    """Count cases by bin and class, and list the bins that hold any, without that of gaps; how many they are.

    Few cases mark their bins in `held`, so that the empty ones cost nothing.
    """
    n = 0
    if last - first > FEW_CASES:
        for i in range(first, last):
            table[codes[i], labels[i]] += 1
        for k in range(n_bins):
            for c in range(table.shape[1]):
                if table[k, c]:
                    bins[n] = k
                    n += 1
                    break
        return n
    for i in range(first, last):
        code = np.int64(codes[i])
        table[code, labels[i]] += 1
        held[code >> 6] |= ONE << np.uint64(code & 63)
    held[3] &= NO_GAP
    for word in range(4):
        rest = held[word]
        held[word] = 0
        while rest:
            bins[n] = 64 * word + lowest(rest)
            n += 1
            rest &= rest - ONE
    return n


@numba.njit(nogil=True, cache=True)
def move_codes(codes: NDArray[np.uint8], targets: Ints, new_starts: Order, out: NDArray[np.uint8]) -> None:
    """Codes in the order of the next level's members."""
    at = new_starts.copy()
    for i in range(len(codes)):
        node = targets[i]
        if node >= 0:
            out[at[node]] = codes[i]
            at[node] += 1
