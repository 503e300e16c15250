"""Class × bin and class × value counts of all open nodes of a tree at once, and the best tests from them."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.trees.kernels.binning import GAP
from likely.trees.kernels.counting import judge, number_branches
from likely.trees.kernels.descending import Flat, branch_at, go_down
from likely.trees.kernels.measuring import NOTHING

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def count_open(
    flat: Flat, sizes: Array, places: Order, numbers: Array, codes: Ints, bins: Bytes, labels: Ints, given: Array,
    widths: Order, offsets: Order, n_classes: int, out: Array,
) -> None:  # fmt: skip
    """Add rows to the tables of the open leaves that they come to; a gap on the way shares a row out.

    `places` is the place of each open node among them, −1 for others. The tables of feature j begin at `offsets[j]`:
    node × bin × class, with `widths[j]` bins.
    """
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in range(len(labels)):
        pending[0], weights[0], n = 0, given[i], 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            if flat.column[node] < 0:
                if places[node] >= 0:
                    for j in range(len(widths)):
                        slot = flat.slot[j]
                        code = int(bins[i, slot]) if flat.numeric[j] else int(codes[i, slot])
                        if code >= 0 and not (flat.numeric[j] and code == GAP):
                            at = (places[node] * widths[j] + code) * n_classes + labels[i]
                            out[offsets[j] + at] += weight
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            n = go_down(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)


@numba.njit(nogil=True, cache=True)
def _present(table: Array, values: Ints, some: Array) -> int:
    """The lines of a value × class table that have weight."""
    n = 0
    for value in range(len(table)):
        if table[value].sum() > NOTHING:
            values[n] = value
            some[n] = table[value]
            n += 1
    return n


@numba.njit(nogil=True, cache=True)
def score_values(
    tables: Array, sizes: Array, used: Bytes, mode: int, measure: int, logs: Array, min_cases: float, scores: Array
) -> None:
    """The best test on a nominal column in each node, from node × value × class tables."""
    n_values = tables.shape[1]
    values, groups = np.empty(n_values, dtype=np.int32), np.empty(n_values, dtype=np.int32)
    some = np.empty((n_values, tables.shape[2]))
    for node in range(len(tables)):
        scores[node] = 0.0
        if not used[node]:
            n = _present(tables[node], values, some)
            value, known = judge(mode, some[:n], measure, logs, min_cases, groups)
            scores[node] = value * known / sizes[node]


@numba.njit(nogil=True, cache=True)
def settle_values(
    tables: Array, nodes: Order, mode: int, measure: int, logs: Array, min_cases: float, maps: Ints, n_branches: Ints
) -> None:
    """The branch of every value in some nodes, numbered in the order of their first values."""
    n_values = tables.shape[1]
    values, groups = np.empty(n_values, dtype=np.int32), np.empty(n_values, dtype=np.int32)
    numbers, some = np.empty(n_values, dtype=np.int32), np.empty((n_values, tables.shape[2]))
    for k, node in enumerate(nodes):
        n = _present(tables[node], values, some)
        judge(mode, some[:n], measure, logs, min_cases, groups)
        n_branches[k] = number_branches(mode, n, values, groups, numbers, maps[k])
