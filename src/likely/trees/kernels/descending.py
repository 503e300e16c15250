"""Rows down a tree: to their leaf, or, where a test meets a gap, to several with a part of their weight each."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]

NO_LEAF = -1


class Flat(NamedTuple):
    """A tree as compiled loops read it; `slot` is the place of a feature among those of its kind."""

    column: Ints
    threshold: Array
    first_child: Ints
    n_children: Ints
    values: Order
    branches: Ints
    usual: Ints
    numeric: NDArray[np.uint8]
    slot: Ints
    stand_in_starts: Order
    stand_in_column: Ints
    stand_in_threshold: Array
    stand_in_low: Ints
    stand_in_high: Ints
    stand_in_values: Order


@numba.njit(nogil=True, cache=True)
def branch_at(flat: Flat, node: int, numbers: Array, codes: Ints, i: int) -> int:
    """The branch that a row takes, −1 where its value is a gap or leads nowhere."""
    column = flat.column[node]
    if flat.numeric[column]:
        x = numbers[i, flat.slot[column]]
        if x >= flat.threshold[node]:
            return 1
        return -1 if np.isnan(x) else 0
    code = codes[i, flat.slot[column]]
    return -1 if code < 0 else int(flat.branches[flat.values[node] + code])


@numba.njit(nogil=True, cache=True)
def stand_in_branch(flat: Flat, node: int, numbers: Array, codes: Ints, i: int) -> int:
    """The branch by the first stand-in that can tell, or the usual one."""
    for k in range(flat.stand_in_starts[node], flat.stand_in_starts[node + 1]):
        column = flat.stand_in_column[k]
        if flat.numeric[column]:
            x = numbers[i, flat.slot[column]]
            if not np.isnan(x):
                return int(flat.stand_in_high[k]) if x >= flat.stand_in_threshold[k] else int(flat.stand_in_low[k])
        else:
            code = codes[i, flat.slot[column]]
            if code >= 0:
                branch = flat.branches[flat.stand_in_values[k] + code]
                if branch >= 0:
                    return int(branch)
    return int(flat.usual[node])


@numba.njit(nogil=True, cache=True)
def find_leaves(flat: Flat, stand_ins: bool, numbers: Array, codes: Ints, out: Ints) -> int:
    """The leaf of each row, −1 where a gap was met and there are no stand-ins; returns how many are −1."""
    # As locals, and with the test written out: a call would touch the reference counts of all arrays at every node.
    column, threshold, first_child, values = flat.column, flat.threshold, flat.first_child, flat.values
    branches, numeric, slot = flat.branches, flat.numeric, flat.slot
    n_open = 0
    for i in range(len(out)):
        node = 0
        at = column[node]
        while at >= 0:
            if numeric[at]:
                x = numbers[i, slot[at]]
                branch = 1 if x >= threshold[node] else -1 if np.isnan(x) else 0
            else:
                code = codes[i, slot[at]]
                branch = -1 if code < 0 else branches[values[node] + code]
            if branch < 0:
                if not stand_ins:
                    node = NO_LEAF
                    n_open += 1
                    break
                branch = stand_in_branch(flat, node, numbers, codes, i)
            node = first_child[node] + branch
            at = column[node]
        out[i] = node
    return n_open


@numba.njit(nogil=True, cache=True)
def go_down(
    first: int, n_children: int, branch: int, weight: float, sizes: Array, pending: Order, weights: Array, n: int
) -> int:
    """Put what comes next behind the n nodes that are pending: the branch, or all of them for a gap; how many are then.

    A gap is shared out as the training cases went.
    """
    if branch >= 0:
        pending[n], weights[n] = first + branch, weight
        return n + 1
    total = sizes[first : first + n_children].sum()
    for child in range(first + n_children - 1, first - 1, -1):
        if sizes[child] > 0.0:
            pending[n], weights[n] = child, weight * sizes[child] / total
            n += 1
    return n


@numba.njit(nogil=True, cache=True)
def spread_rows(flat: Flat, sizes: Array, numbers: Array, codes: Ints, rows: Order, shares: Array, out: Array) -> None:
    """P(class) of rows that reach several leaves: each branch counts with its share of the training cases."""
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in rows:
        out[i] = 0.0
        pending[0], weights[0], n = 0, 1.0, 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            if flat.column[node] < 0:
                for c in range(out.shape[1]):
                    out[i, c] += weight * shares[node, c]
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            before = n
            n = go_down(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)
            if n == before:  # no branch has had a case
                out[i] += weight * shares[node]


@numba.njit(nogil=True, cache=True)
def tally(
    flat: Flat, stand_ins: bool, sizes: Array, numbers: Array, codes: Ints, labels: Ints, given: Array, out: Array
) -> None:
    """Class weights that rows leave in every node that they pass."""
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in range(len(labels)):
        pending[0], weights[0], n = 0, given[i], 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            out[node, labels[i]] += weight
            if flat.column[node] < 0:
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            if branch < 0 and stand_ins:
                branch = stand_in_branch(flat, node, numbers, codes, i)
            n = go_down(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)


@numba.njit(nogil=True, cache=True)
def first_infinite(numbers: Array) -> int:
    """The place of the first infinite cell in reading order, −1 if there is none."""
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            if np.isinf(numbers[i, j]):
                return int(i * numbers.shape[1] + j)
    return -1


@numba.njit(nogil=True, cache=True)
def branches_of(flat: Flat, stand_ins: bool, node: int, numbers: Array, codes: Ints, rows: Order, out: Ints) -> None:
    """The branch that each of some rows takes at one node, −1 where a gap sends it everywhere."""
    for k in range(len(rows)):
        out[k] = branch_at(flat, node, numbers, codes, rows[k])
        if out[k] < 0 and stand_ins:
            out[k] = stand_in_branch(flat, node, numbers, codes, rows[k])
