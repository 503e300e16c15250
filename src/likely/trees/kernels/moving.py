"""From one level of nodes to the next: cases are counted in their branches, shared out, and moved along."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.scanning import HALF, LOWER

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def count(
    members: Order, starts: Order, branches: Ints, first_child: Order, labels: Ints, weights: Array, unit: bool,
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
    members: Order, starts: Order, branches: Ints, first_child: Order, child_places: Order, in_place: Ints, sizes: Order
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
def gather(in_place: Ints, first: int, last: int, at: Order, sources: Ints) -> None:
    """The places that members of the next level had in this one, in their order; `at` is where a node begins."""
    for i in range(first, last):
        node = in_place[i]
        if node >= 0:
            sources[at[node]] = i
            at[node] += 1


@numba.njit(nogil=True, cache=True)
def place(
    members: Order, starts: Order, branches: Ints, first_child: Order, child_places: Order, targets: Order
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
    members: Order, starts: Order, branches: Ints, first_child: Order, n_children: Ints, child_places: Order,
    n_copies: Order,
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
    members: Order, starts: Order, branches: Ints, first_child: Order, n_children: Ints, child_places: Order,
    shares: Array, weights: Array, copies: Order, targets: Order,
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
def sizes_of(order: Order, starts: Order, targets: Order, copies: Order, n_nodes: int) -> Order:
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
def move(order: Order, starts: Order, targets: Order, copies: Order, new_starts: Order, out: Order) -> None:
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
