"""The best cut of a numeric column in every node of a level, from cases that were sorted once.

`order` holds, node after node, the known cases of a column in the order of their values: the rank of the value in the
upper half of each number, the case in the lower half. So one array is read from front to back, and only the class of a
case is looked up.
"""

from __future__ import annotations

import numba
import numpy as np

from likely.arrays import Array, Int32, Int64
from likely.models.tree.split_measures import NOTHING, TIE, value_of_two, whole_of, xlogx

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
    order: Int64,
    starts: Int64,
    labels: Int32,
    weights: Array,
    unit: bool,
    complete: bool,
    totals: Array,
    sizes: Array,
    measure: int,
    logs: Array,
    min_cases: float,
    scores: Array,
    places: Int64,
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
def mark(order: Int64, starts: Int64, places: Int64, nodes: Int64, branches: Int32) -> None:
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
    order: Int64,
    starts: Int64,
    branches: Int32,
    weights: Array,
    n_branches: Int32,
    usual: Int32,
    gains: Array,
    sides: Int32,
    ranks: Int64,
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


# From one level of nodes to the next: cases are counted in their branches, shared out, and moved along.


@numba.njit(nogil=True, cache=True)
def count(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, labels: Int32, weights: Array, unit: bool,
    counts: Array, gaps: Array,
) -> int:  # fmt: skip
    """Class weights of every child from the cases whose branch is known, and those of every node's gaps.

    `labels` are in the order of `members`.
    """
    n_gaps = 0
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            branch, weight = branches[case], 1.0 if unit else weights[case]
            if branch < 0:
                gaps[node, labels[i]] += weight
                n_gaps += 1
            else:
                counts[first_child[node] + branch, labels[i]] += weight
    return n_gaps


@numba.njit(nogil=True, cache=True)
def divide(
    members: Int64,
    starts: Int64,
    branches: Int32,
    first_child: Int64,
    child_places: Int64,
    in_place: Int32,
    sizes: Int64,
) -> None:
    """The node of the next level for each member, −1 where its branch is finished, and how many each node gets."""
    for node in range(len(starts) - 1):
        first = first_child[node]
        for i in range(starts[node], starts[node + 1]):
            child = np.int64(-1) if first < 0 else child_places[first + branches[members[i]]]
            in_place[i] = child
            if child >= 0:
                sizes[child] += 1


@numba.njit(nogil=True, cache=True)
def gather(in_place: Int32, first: int, last: int, at: Int64, sources: Int32) -> None:
    """The places that members of the next level had in this one, in their order; `at` is where a node begins."""
    for i in range(first, last):
        node = in_place[i]
        if node >= 0:
            sources[at[node]] = i
            at[node] += 1


@numba.njit(nogil=True, cache=True)
def place(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, child_places: Int64, targets: Int64
) -> None:
    """The node of the next level to which each case goes, −1 where its branch is finished."""
    for node in range(len(starts) - 1):
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if first_child[node] < 0 or branches[case] < 0:
                targets[case] = -1
            else:
                targets[case] = child_places[first_child[node] + branches[case]]


@numba.njit(nogil=True, cache=True)
def count_copies(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, n_children: Int32, child_places: Int64,
    n_copies: Int64,
) -> int:  # fmt: skip
    """How often a case with a gap has to be copied: it goes to all branches that are not finished."""
    total = 0
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        wanted = -1
        for b in range(n_children[node]):
            if child_places[first_child[node] + b] >= 0:
                wanted += 1
        if wanted <= 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if branches[case] < 0:
                n_copies[case] = wanted
                total += wanted
    return total


@numba.njit(nogil=True, cache=True)
def spread(
    members: Int64, starts: Int64, branches: Int32, first_child: Int64, n_children: Int32, child_places: Int64,
    shares: Array, weights: Array, copies: Int64, targets: Int64,
) -> None:  # fmt: skip
    """Send each case with a gap to all branches, with its share of the weight; `copies` says where copies begin."""
    for node in range(len(starts) - 1):
        if first_child[node] < 0:
            continue
        for i in range(starts[node], starts[node + 1]):
            case = members[i] & LOWER
            if branches[case] >= 0:
                continue
            whole, used, copy = weights[case], False, copies[case]
            for b in range(n_children[node]):
                child = first_child[node] + b
                if child_places[child] < 0:
                    continue
                if not used:
                    used = True
                    targets[case], weights[case] = child_places[child], whole * shares[child]
                else:
                    targets[copy], weights[copy] = child_places[child], whole * shares[child]
                    copy += 1


@numba.njit(nogil=True, cache=True)
def sizes_of(order: Int64, starts: Int64, targets: Int64, copies: Int64, n_nodes: int) -> Int64:
    """How many cases of an order each node of the next level gets."""
    found = np.zeros(n_nodes, dtype=np.int64)
    for i in range(starts[0], starts[-1]):
        case = order[i] & LOWER
        if targets[case] >= 0:
            found[targets[case]] += 1
        if len(copies):
            for copy in range(copies[case], copies[case + 1]):
                found[targets[copy]] += 1
    return found


@numba.njit(nogil=True, cache=True)
def move(order: Int64, starts: Int64, targets: Int64, copies: Int64, new_starts: Int64, out: Int64) -> None:
    """The order of the next level: the cases of each node stay in their order, copies beside their originals."""
    at = new_starts.copy()
    for i in range(starts[0], starts[-1]):
        case = order[i] & LOWER
        node = targets[case]
        if node >= 0:
            out[at[node]] = order[i]
            at[node] += 1
        if len(copies):
            rank = order[i] >> HALF
            for copy in range(copies[case], copies[case + 1]):
                node = targets[copy]
                out[at[node]] = rank << HALF | copy
                at[node] += 1
