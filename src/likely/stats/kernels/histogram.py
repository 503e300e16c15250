"""Which cells of the grid of floats a column occupies, and which cell each of its numbers lies in.

Floats in their order are whole numbers in theirs: the bits of a float from zero up, taken as an integer; for one below
zero the negative of its bits without the sign. A grid is made by dropping the last bits of that integer.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Longs = NDArray[np.int64]

SLOT_BITS = 13
"""A table of 8192 places, of which at most a half is taken."""

MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)
INFINITE = np.int64(0x7FF0_0000_0000_0000)
SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)


@numba.njit(nogil=True, cache=True)
def in_order(bits: int) -> int:
    """The place of a float among all floats, from its bits; both zeros have the place 0."""
    return bits if bits >= 0 else -int(bits & MAGNITUDE)


@numba.njit(nogil=True, cache=True)
def _place_of(cell: int, slots: Longs, taken: NDArray[np.bool_]) -> int:
    mask = len(slots) - 1
    place = np.int64((np.uint64(cell) * SPREAD) >> np.uint64(64 - SLOT_BITS))
    while taken[place] and slots[place] != cell:
        place = (place + 1) & mask
    return int(place)


@numba.njit(nogil=True, cache=True)
def occupied_cells(bits: Longs, weight: Array, most: int) -> tuple[int, Longs]:
    """The finest grid on which the numbers take no more than `most` cells, and these, in no order.

    NaN and what weighs nothing takes no cell. Bits that are dropped: −1 if a number is infinite.
    """
    slots, taken = np.zeros(1 << SLOT_BITS, dtype=np.int64), np.zeros(1 << SLOT_BITS, dtype=np.bool_)
    cells = np.empty(most + 1, dtype=np.int64)
    n_cells, shift = 0, 0
    for i in range(bits.shape[0]):
        size = bits[i] & MAGNITUDE
        if size > INFINITE:
            continue
        if size == INFINITE:
            return -1, cells[:0]
        if weight[i] == 0.0:
            continue
        cell = in_order(bits[i]) >> shift
        place = _place_of(cell, slots, taken)
        if taken[place]:
            continue
        slots[place], taken[place], cells[n_cells] = cell, True, cell
        n_cells += 1
        while n_cells > most:
            shift += 1
            before, n_cells = n_cells, 0
            taken[:] = False
            for k in range(before):
                cell = cells[k] >> 1
                place = _place_of(cell, slots, taken)
                if not taken[place]:
                    slots[place], taken[place], cells[n_cells] = cell, True, cell
                    n_cells += 1
    return shift, cells[:n_cells].copy()


@numba.njit(nogil=True, cache=True)
def code_cells(bits: Longs, shift: int, cells: Longs, codes: NDArray[np.int32]) -> None:
    """The place of each number's cell among `cells`, which ascend; −1 for a gap and for a cell that is not there."""
    slots, taken = np.zeros(1 << SLOT_BITS, dtype=np.int64), np.zeros(1 << SLOT_BITS, dtype=np.bool_)
    code_at = np.empty(1 << SLOT_BITS, dtype=np.int32)
    for k in range(cells.shape[0]):
        place = _place_of(cells[k], slots, taken)
        slots[place], taken[place], code_at[place] = cells[k], True, k
    for i in range(bits.shape[0]):
        codes[i] = -1
        if bits[i] & MAGNITUDE < INFINITE:
            place = _place_of(in_order(bits[i]) >> shift, slots, taken)
            if taken[place]:
                codes[i] = code_at[place]


@numba.njit(nogil=True, cache=True)
def share_out(mass: Array, n_bins: int, bins: Longs) -> int:
    """Put neighbouring cells into at most `n_bins` bins of about equal mass; how many there are.

    A cell with an equal share of its own stands alone. A bin that is cut in two by such a cell may be one too many:
    then the lightest bin joins its lighter neighbour.
    """
    n_cells = mass.shape[0]
    total, rest, n_heavy = 0.0, 0.0, 0
    for k in range(n_cells):
        total += mass[k]
    for k in range(n_cells):
        if mass[k] * n_bins >= total:
            n_heavy += 1
        else:
            rest += mass[k]
    share = rest / max(n_bins - n_heavy, 1)
    sizes = np.zeros(n_cells)  # no more bins than cells, whatever the masses are
    count, last, before = 0, -1, 0.0
    for k in range(n_cells):
        if mass[k] * n_bins >= total:
            count, last = count + 1, -1
        else:
            index = int((before + 0.5 * mass[k]) / share) if share > 0.0 else 0
            before += mass[k]
            if index != last:
                count, last = count + 1, index
        bins[k] = count - 1
        sizes[count - 1] += mass[k]
    while count > n_bins:
        small = np.argmin(sizes[:count])
        left = small > 0 and (small == count - 1 or sizes[small - 1] <= sizes[small + 1])
        joined = small - 1 if left else small
        sizes[joined] += sizes[joined + 1]
        sizes[joined + 1 : count - 1] = sizes[joined + 2 : count]
        count -= 1
        for k in range(n_cells):
            if bins[k] > joined:
                bins[k] -= 1
    return count
