"""Numeric columns in at most 255 bins: the best edge in every node of a level, from class × bin counts."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.measuring import NOTHING, TIE, value_of_two, whole_of, xlogx
from likely.trees.kernels.scanning import LOWER, largest, total_of

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

GAP = 255


@numba.njit(nogil=True, cache=True)
def assign(numbers: Array, edges: Array, out: Bytes) -> None:
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
def rearrange(codes: Bytes, sources: Ints, out: Bytes) -> None:
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
    codes: Bytes, rows: Ints, members: Order, starts: Order, labels: Ints, weights: Array, unit: bool, n_bins: int,
    n_classes: int, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Order,
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
    tables: Array, sizes: Array, measure: int, logs: Array, min_cases: float, scores: Array, edges: Order
) -> None:
    """The same from node × bin × class tables that were counted elsewhere."""
    for node in range(len(tables)):
        scores[node], edges[node] = best_edge(tables[node], sizes[node], measure, logs, min_cases)


@numba.njit(nogil=True, cache=True)
def weigh_sides(
    codes: Bytes, rows: Ints, members: Order, starts: Order, weights: Array, edges: Order, sides: Array
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
    codes: Bytes, in_order: Bytes, rows: Ints, members: Order, starts: Order, edges: Order, nodes: Order, branches: Ints
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
    codes: Bytes, rows: Ints, members: Order, first: int, last: int, branches: Ints, weights: Array, table: Array,
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
    codes: Bytes, rows: Ints, members: Order, starts: Order, branches: Ints, weights: Array, n_bins: int,
    n_branches: Ints, usual: Ints, gains: Array, sides: Ints, edges: Order,
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
