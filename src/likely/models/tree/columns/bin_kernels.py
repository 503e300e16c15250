"""Numeric columns in at most 255 bins: the best edge in every node of a level, from class × bin counts."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt8
from likely.models.tree.kernels import LOWER, largest, total_of
from likely.models.tree.split_measures import (
    GAIN,
    NOTHING,
    TIE,
    WORTHLESS,
    by_counts,
    fewest,
    ratio,
    value_of_two,
    whole_by_counts,
    whole_of,
    xlogx,
)
from likely.text.kernels.bytes import lowest

GAP = 255


@numba.njit(nogil=True, cache=True)
def assign(numbers: Array, edges: Array, out: UInt8) -> None:
    """The bin of every number: how many edges are not above it; a gap is 255.

    Eight steps for every number, without a branch that the processor would have to guess.
    """
    padded = np.full(256, np.inf)
    padded[: len(edges)] = edges
    for i in range(len(numbers)):
        x, at = numbers[i], 0
        at += 128 * (padded[at + 127] <= x)
        at += 64 * (padded[at + 63] <= x)
        at += 32 * (padded[at + 31] <= x)
        at += 16 * (padded[at + 15] <= x)
        at += 8 * (padded[at + 7] <= x)
        at += 4 * (padded[at + 3] <= x)
        at += 2 * (padded[at + 1] <= x)
        at += 1 * (padded[at] <= x)
        out[i] = GAP if np.isnan(x) else at


@numba.njit(nogil=True, cache=True)
def rearrange(codes: UInt8, sources: Int32, out: UInt8) -> None:
    """Codes in another order: several times as fast as by NumPy, which widens the places first."""
    for i in range(len(sources)):
        out[i] = codes[np.uint32(sources[i])]


@numba.njit(nogil=True, cache=True)
def best_edge(table: Array, size: float, measure: int, logs: Array, min_cases: float) -> tuple[float, int]:
    """The measure of the best cut of a bin × class table, times known / all weight, and the last bin below it."""
    n_bins, n_classes = table.shape
    known, left, right = np.zeros(n_classes), np.zeros(n_classes), np.empty(n_classes)
    for k in range(n_bins):
        for c in range(n_classes):
            known[c] += table[k, c]
    n = total_of(known)
    if n <= NOTHING:
        return 0.0, -1
    log_n, whole, least = xlogx(n, logs), whole_of(measure, known, n, logs), min_cases - NOTHING
    n_left, best, edge = 0.0, 0.0, -1
    for k in range(n_bins - 1):
        here = 0.0
        for c in range(n_classes):
            left[c] += table[k, c]
            here += table[k, c]
        n_left += here
        if here <= NOTHING or n_left < least:
            continue  # an empty bin: the same cut as the edge before
        n_right = n - n_left
        if n_right < least or n_right <= NOTHING:
            break
        value = value_of_two(measure, left, n_left, right, known, n, log_n, whole, logs)
        if value > 0.0 and value >= best * (1.0 - TIE):
            best, edge = max(best, value), k
    return best * n / size, edge


@numba.njit(nogil=True, cache=True)
def score_bins(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, labels: Int32, weights: Array, unit: bool, n_bins: int,
    n_classes: int, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Int64,
) -> None:  # fmt: skip
    """The best edge of each node; the cases of a node are counted and its table judged at once."""
    table = np.empty((GAP + 1, n_classes))
    for node in range(len(starts) - 1):
        table[:n_bins] = 0.0
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if unit:
                table[codes[case], labels[case]] += 1.0
            else:
                table[codes[rows[case]], labels[case]] += weights[case]
        scores[node], edges[node] = best_edge(table[:n_bins], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def score_tables(
    tables: Array, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Int64
) -> None:
    """The same from node × bin × class tables that were counted elsewhere."""
    for node in range(len(tables)):
        scores[node], edges[node] = best_edge(tables[node], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def weigh_sides(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, weights: Array, edges: Int64, sides: Array
) -> None:
    """The weight of the known cases of each node on either side of its cut."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            code = codes[rows[case]]
            if code != GAP:
                sides[node, 0 if code <= edges[node] else 1] += weights[case]


@numba.njit(nogil=True, cache=True)
def mark_bins(
    codes: UInt8,
    in_order: UInt8,
    rows: Int32,
    members: Int64,
    starts: Int64,
    edges: Int64,
    nodes: Int64,
    branches: Int32,
) -> None:
    """Cases at or below the last bin of the left side go to branch 0, others to branch 1; gaps stay as they are.

    `in_order` are the codes in the order of `members`, if there are any.
    """
    for node in nodes:
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            code = in_order[i] if len(in_order) else codes[rows[case]]
            branches[case] = -1 if code == GAP else 0 if code <= edges[node] else 1


@numba.njit(nogil=True, cache=True)
def branches_by_bin(
    codes: UInt8, rows: Int32, members: Int64, first: int, last: int, branches: Int32, weights: Array, table: Array,
    known: Array,
) -> None:  # fmt: skip
    """Weights of cases by bin and branch, and by branch, where both are known."""
    table[:] = 0.0
    known[:] = 0.0
    for i in range(first, last):
        case = members[i] & LOWER
        code = codes[rows[case]]
        if code != GAP and branches[case] >= 0:
            table[code, branches[case]] += weights[case]
            known[branches[case]] += weights[case]


@numba.njit(nogil=True, cache=True)
def agree_by_bin(
    codes: UInt8, rows: Int32, members: Int64, starts: Int64, branches: Int32, weights: Array, n_bins: int,
    n_branches: Int32, usual: Int32, gains: Array, sides: Int32, edges: Int64,
) -> None:  # fmt: skip
    """The edge that best tells the branch of another test, and how much more weight it sends right than `usual`."""
    for node in range(len(starts) - 1):
        gains[node] = 0.0
        if n_branches[node] == 0:
            continue
        table, known = np.empty((n_bins, n_branches[node])), np.empty(n_branches[node])
        branches_by_bin(codes, rows, members, starts[node], starts[node + 1], branches, weights, table, known)
        left, right, best = np.zeros(n_branches[node]), np.empty(n_branches[node]), 0.0
        followed = known[usual[node]]
        for k in range(n_bins - 1):
            if total_of(table[k]) <= NOTHING:
                continue
            for b in range(len(known)):
                left[b] += table[k, b]
                right[b] = known[b] - left[b]
            low, high = largest(left), largest(right)
            gain = left[low] + known[high] - left[high] - followed
            if gain > NOTHING and gain >= best - NOTHING:
                best = max(best, gain)
                sides[node, 0], sides[node, 1], edges[node] = low, high, k
        gains[node] = best


# The best edge between bins where every case weighs 1: counts of a node, and the cut that they make best.
#
# What a cut says follows from f(k) + f(n − k), with f(x) = x log₂ x, k cases below it and n in all: for each class,
# and
# for all cases. These sums are the same for all columns without gaps, so they are made once for a level
# (`both_sides`),
# and a cut costs one look into them for each class, and one for its size.

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
def count_known(codes: UInt8, starts: Int64, labels: Int32, known: Array) -> None:
    """The cases of each node by class, without gaps."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            if codes[i] != GAP:
                known[node, labels[i]] += 1.0


@numba.njit(nogil=True, cache=True, inline="always")
def _fill(
    codes: UInt8, labels: Int32, first: int, last: int, n_bins: int, table: Int32, held: NDArray[np.uint64], bins: UInt8
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
    codes: UInt8, starts: Int64, labels: Int32, n_bins: int, known: Array, cells: Array, sizes: Array, measure: int,
    logs: Array, min_cases: float, scores: Array, edges: Int64,
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
    codes: UInt8, starts: Int64, labels: Int32, n_bins: int, counts: Array, measure: int, min_cases: float,
    scores: Array, edges: Int64,
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
