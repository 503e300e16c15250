"""The best edge between bins where every case weighs 1: counts of a node, and the cut that they make best.

What a cut says follows from f(k) + f(n − k), with f(x) = x log₂ x, k cases below it and n in all: for each class, and
for all cases. These sums are the same for all columns without gaps, so they are made once for a level (`both_sides`),
and a cut costs one look into them for each class, and one for its size.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.text.kernels.bits import lowest
from likely.trees.kernels.binning import GAP
from likely.trees.kernels.measuring import GAIN, TIE, WORTHLESS
from likely.trees.kernels.whole import by_counts, fewest, ratio, whole_by_counts

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

FEW_CASES = 1024
"""With more of them nearly all bins are in use, and marking costs more than it saves."""

ONE = np.uint64(1)


@numba.njit(nogil=True, cache=True)
def both_sides(counts: Array, logs: Array, cells: Array, sizes: Array) -> None:
    """For each node of a level, f(k) + f(n − k) for k up to n: of each class in `cells`, of all cases in `sizes`."""
    cell, size = 0, 0
    for node in range(len(counts)):
        n = 0
        for c in range(counts.shape[1]):
            n_class = int(counts[node, c])
            cell = _sides(n_class, logs, cells, cell)
            n += n_class
        size = _sides(n, logs, sizes, size)


@numba.njit(nogil=True, cache=True)
def _sides(n: int, logs: Array, out: Array, at: int) -> int:
    """f(k) + f(n − k) for k up to n, from a place on; the place behind them."""
    for k in range(n + 1):
        out[at + k] = logs[k] + logs[n - k]
    return at + n + 1


@numba.njit(nogil=True, cache=True)
def count_known(codes: Bytes, starts: Order, labels: Ints, known: Array) -> None:
    """The cases of each node by class, without gaps."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            if codes[i] != GAP:
                known[node, labels[i]] += 1.0


@numba.njit(nogil=True, cache=True, inline="always")
def _fill(
    codes: Bytes, labels: Ints, first: int, last: int, n_bins: int, table: Ints, held: NDArray[np.uint64], bins: Bytes
) -> int:
    """Count cases by bin and class, and list the bins that hold any; how many they are.

    Few cases mark their bins in `held`, so that the empty ones cost nothing. The bin of gaps may be listed, the last of
    all: it says nothing, because its counts are taken out. 32 bits hold any count: so many number the rows themselves.
    """
    n_held = 0
    if last - first > FEW_CASES:
        for i in range(first, last):
            table[codes[i], np.uint32(labels[i])] += 1
        for k in range(n_bins):
            for c in range(table.shape[1]):
                if table[k, c]:
                    bins[n_held] = k
                    n_held += 1
                    break
        return n_held
    for i in range(first, last):
        code = codes[i]
        table[code, np.uint32(labels[i])] += 1
        held[code >> 6] |= ONE << np.uint64(code & 63)
    for word in range(4):
        rest = held[word]
        held[word] = 0
        while rest:
            bins[n_held] = 64 * word + lowest(rest)
            n_held += 1
            rest &= rest - ONE
    return n_held


@numba.njit(nogil=True, cache=True)
def edges_by_entropy(
    codes: Bytes, starts: Order, labels: Ints, n_bins: int, known: Array, cells: Array, sizes: Array, measure: int,
    logs: Array, min_cases: float, scores: Array, edges: Order,
) -> None:  # fmt: skip
    """The best edge between bins in each node, times known / all cases; only bins that hold a case are looked at.

    `codes` and `labels` are in the order of the level's members, so that they are read from front to back; `known` are
    the known cases of each node by class, `cells` and `sizes` what `both_sides` says of them.
    """
    n_classes, least, by_gain = known.shape[1], fewest(min_cases), measure == GAIN
    table, bins = np.zeros((GAP + 1, n_classes), dtype=np.int32), np.empty(GAP + 1, dtype=np.uint8)
    held, at = np.zeros(4, dtype=np.uint64), np.empty(n_classes, dtype=np.uint64)
    cell, size = 0, 0
    for node in range(len(starts) - 1):
        n_held = _fill(codes, labels, starts[node], starts[node + 1], n_bins, table, held, bins)
        n, whole = 0, 0.0
        for c in range(n_classes):
            n_class = int(known[node, c])
            whole += logs[n_class]
            at[c] = cell
            cell += n_class + 1
            n += n_class
            table[GAP, c] = 0
        log_n, nothing, best, bar, edge, n_left = logs[n], WORTHLESS * n, 0.0, 0.0, -1, 0
        for j in range(n_held):
            below = 0.0
            for c in range(n_classes):
                here = table[bins[j], c]
                table[bins[j], c] = 0
                n_left += here
                at[c] += np.uint64(here)
                below += cells[at[c]]
            of_size = sizes[np.uint64(size + n_left)]
            value = log_n - whole - of_size + below
            if n_left < least or n - n_left < least or value <= nothing:
                continue
            if not by_gain:
                value = ratio(measure, value, log_n, whole, below, of_size)
            if value >= bar:
                best, edge = max(best, value), bins[j]
                bar = best * (1.0 - TIE)
        edges[node] = edge
        scores[node] = (best if by_gain else best * n) / (starts[node + 1] - starts[node])
        size += n + 1


@numba.njit(nogil=True, cache=True)
def edges_by_counts(
    codes: Bytes, starts: Order, labels: Ints, n_bins: int, counts: Array, measure: int, min_cases: float,
    scores: Array, edges: Order,
) -> None:  # fmt: skip
    """The same by a measure that needs no logarithms; `counts` are all cases of each node by class."""
    n_classes, least = counts.shape[1], fewest(min_cases)
    table, bins = np.zeros((GAP + 1, n_classes), dtype=np.int32), np.empty(GAP + 1, dtype=np.uint8)
    held, left, known = (
        np.zeros(4, dtype=np.uint64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
    )
    for node in range(len(starts) - 1):
        n_held, n = _fill(codes, labels, starts[node], starts[node + 1], n_bins, table, held, bins), 0
        for c in range(n_classes):
            left[c], known[c] = 0, int(counts[node, c]) - table[GAP, c]
            n += known[c]
            table[GAP, c] = 0
        whole, best, bar, edge, n_left = whole_by_counts(measure, known, max(n, 1)), 0.0, 0.0, -1, 0
        for j in range(n_held):
            for c in range(n_classes):
                left[c] += table[bins[j], c]
                n_left += table[bins[j], c]
                table[bins[j], c] = 0
            if n_left < least or n - n_left < least:
                continue
            value = by_counts(measure, left, known, n_left, n, whole)
            if value > 0.0 and value >= bar:
                best, edge = max(best, value), bins[j]
                bar = best * (1.0 - TIE)
        edges[node] = edge
        scores[node] = best * n / (starts[node + 1] - starts[node])
