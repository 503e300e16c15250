"""Rows made ready for a matrix product: sorted by class, centred, brought to one size."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]


@numba.njit(nogil=True, cache=True)
def sort_by_class(y: Ints, n_classes: int) -> tuple[Order, Order]:
    """Rows of each class in their order, and where each class begins (one entry more than classes)."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(y.shape[0]):
        starts[y[i] + 1] += 1
    for c in range(n_classes):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    order = np.empty(y.shape[0], dtype=np.int64)
    for i in range(y.shape[0]):
        order[place[y[i]]] = i
        place[y[i]] += 1
    return order, starts


@numba.njit(nogil=True, cache=True)
def centre(rows: Array, order: Order, mean: Array, scale: Array, weight: Array, out: Array) -> bool:
    """√weight · (row − mean) / scale for some rows; False if there is a gap among them."""
    check = 0.0
    for k in range(order.shape[0]):
        row, root_weight, of_row = rows[order[k]], np.sqrt(weight[order[k]]), out[k]
        for j in range(row.shape[0]):
            of_row[j] = root_weight * ((row[j] - mean[j]) / scale[j])
        for j in range(row.shape[0]):
            check += of_row[j]
    return not np.isnan(check)


@numba.njit(nogil=True, cache=True)
def centre_known(rows: Array, order: Order, mean: Array, scale: Array, out: Array, known: Array) -> None:
    """(row − mean) / scale, zero for a gap; and one where a cell is known, zero where it is not."""
    for k in range(order.shape[0]):
        row, of_row, is_known = rows[order[k]], out[k], known[k]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            is_known[j] = 0.0 if gap else 1.0
            of_row[j] = 0.0 if gap else (row[j] - mean[j]) / scale[j]
