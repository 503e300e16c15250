"""The questions of one tree, chosen one after the other, each by what it gains over all leaves so far.

What a question gains follows from the sums of gradients and curvatures by leaf and code (`leaf_sums`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likely.arrays import Array, Flags, Int32, Int64, UInt8
from likely.jit import kernel
from likely.models.evidence.boosted_rows import LEAF_PRECISION
from likely.models.evidence.encoding import N_CODES
from likely.models.evidence.ensemble import MAX_QUESTIONS
from likely.models.evidence.leaf_sums import (
    MAX_SEARCHED,
    STRIDE,
    Added,
    add_codes,
    add_up,
    divide,
    of_smaller_sides,
    packed,
)
from likely.numerics import FOUR, ONE, THREE, TWO, ZERO, Place
from likely.parallel import WorkerPool

MOST_GROUPS = 4
"""Groups of columns that threads search side by side; a smaller group is done before its thread has woken up."""

MIN_SHARED = 1 << 19
"""Rows × columns from which it is worth it: half a millisecond of work."""

LANES = 8
"""Leaves are done so many at a time: those that are not there have sums of 0, and gain nothing."""

MIN_GAIN = 1e-9


class Kinds(NamedTuple):
    """Codes of every column, whether it is a number, and whether its last code is a gap."""

    sizes: Int64
    numeric: Flags
    gaps: Flags


class QuestionSearch:
    """Room for the sums of one tree after another; a tree may ask about so many of the columns."""

    def __init__(self, kinds: Kinds, n_tried: int, n_mixtures: int, pool: WorkerPool) -> None:
        self.kinds, self.pool, self.size = kinds, pool, MAX_SEARCHED * (n_mixtures // 2 + 1)
        self.sums = np.empty(int(np.sort(kinds.sizes)[::-1][:n_tried].sum()) * self.size, dtype=np.int64)

    def choose(
        self, codes: UInt8, tried: Int64, derivatives: tuple[Array, Array], n_given: int, columns: Int32, sides: UInt8
    ) -> None:
        """Write the columns and sides of the questions, as long as one gains, after so many that are given.

        `codes` is columns × rows, `tried` has numbers of columns, `derivatives` the gradients (rows × mixtures) and one
        curvature for each row.
        """
        words, units = packed(*derivatives)
        leaf = np.zeros(len(words), dtype=np.uint8)
        for k in range(n_given):
            divide(codes[columns[k]], sides[k], k, leaf)
        added = Added(words, np.zeros(0, dtype=np.int32), leaf, leaf[:0])
        n_groups = min(self.pool.size, MOST_GROUPS, len(tried)) if len(tried) * len(words) >= MIN_SHARED else 1
        groups = np.array_split(tried, max(n_groups, 1))
        ends = np.cumsum([self.size * int(self.kinds.sizes[group].sum()) for group in groups])
        sums = np.split(self.sums, ends)
        found_sides = np.empty((len(groups), sides.shape[1]), dtype=np.uint8)
        for k in range(n_given, MAX_QUESTIONS):

            def search(g: int, n_leaves: int = 1 << k, added: Added = added) -> tuple[int, float]:
                return best_question(codes, self.kinds, groups[g], added, units, n_leaves, sums[g], found_sides[g])

            found = self.pool.do(search, range(len(groups)))
            best = max(range(len(groups)), key=[gain for _, gain in found].__getitem__)  # the first of equals
            if found[best][0] < 0:
                return
            columns[k], sides[k] = found[best][0], found_sides[best]
            if k + 1 < MAX_QUESTIONS:
                counts = divide(codes[columns[k]], sides[k], k, leaf)
                added = of_smaller_sides(words, leaf, counts, k)


@kernel
def best_question(
    codes: UInt8, kinds: Kinds, tried: Int64, added: Added, units: Array, n_leaves: int, sums: Int64, side: UInt8
) -> tuple[int, float]:
    """The column whose best question gains most, what that is, and its sides; −1 if nothing is gained.

    `sums` has the sums of each column tried, one after the other, codes × words × MAX_SEARCHED leaves; they are those
    of half as many leaves, or anything where all rows are added up anew.
    """
    n_words, n_lanes = added.words.shape[1], max(n_leaves, LANES)
    order, gains = np.empty(N_CODES, dtype=np.int64), np.empty(N_CODES)
    whole, room = np.empty(2 * n_words * MAX_SEARCHED), np.empty(4 * MAX_SEARCHED)
    running = np.empty(n_words * MAX_SEARCHED, dtype=np.int64)
    best, found, start = MIN_GAIN, -1, Place(0)
    for column in tried:
        size = kinds.sizes[column]
        n_cells = Place(size) * Place(n_words * MAX_SEARCHED)
        table = sums[start : start + n_cells]
        start += n_cells
        add_up(codes[column], added, n_leaves, table)
        add_codes(table, n_words, n_lanes, whole)
        numeric = kinds.numeric[column]
        for turn in range(2 if numeric and kinds.gaps[column] else 1):
            n = _in_turn(size, turn, order) if numeric else _by_gradient(table, n_words, n_lanes, whole, units, order)
            place = _best_place(table, n_words, n_lanes, whole, order[: n - 1], units, True, running, room, gains)
            if place >= 0 and gains[place] > best:
                best, found = gains[place], column
                side[:] = 0
                for later in order[place + 1 : n]:
                    side[later] = 1
        if not numeric:
            place = _best_place(table, n_words, n_lanes, whole, order[:n], units, False, running, room, gains)
            if place >= 0 and gains[place] > best:
                best, found = gains[place], column
                side[:] = 0
                side[order[place]] = 1
    return found, best


@kernel
def _in_turn(size: int, turn: int, order: Int64) -> int:
    """Codes of a number from 1 on, and how many they are: a gap is last, or at the second turn first."""
    n = size - 1
    for k in range(n):
        order[k] = k + 1 - turn
    if turn == 1:
        order[0] = n
    return int(n)


@kernel
def _best_place(
    table: Int64, n_words: int, n_lanes: int, whole: Array, order: Int64, units: Array, up_to: bool, running: Int64,
    room: Array, gains: Array,
) -> int:  # fmt: skip
    """Where in the order codes are best divided, the codes up to there from the others, or that code alone from all.

    `gains` has for each place Σ G²/(H + λ) of both sides of every leaf, less that of the whole leaf; −1 without places.
    """
    lanes, best, own = Place(n_lanes), -1, 0.0
    for q in range(lanes):
        own += _squares(whole, Place(n_words), Place(q)) / (whole[q] * units[0] + LEAF_PRECISION)
    running[:] = 0
    kept = np.int64(-1) if up_to else np.int64(0)
    for p in range(len(order)):
        row = Place(order[p]) * Place(n_words) * STRIDE
        if n_words == 1:
            gain = _gain_of_one(table, row, lanes, whole, units[0], kept, running, room)
        else:
            gain = _gain_of_many(table, row, Place(n_words), lanes, whole, units[0], kept, running, room)
        gains[p] = (gain - own) * (units[1] * units[1])
        if best < 0 or gains[p] > gains[best]:
            best = p
    return best


@kernel(error_model="numpy")
def _gain_of_one(
    table: Int64, row: np.uintp, lanes: np.uintp, whole: Array, unit: float, kept: np.int64, running: Int64, room: Array
) -> float:
    """Σ G²/(H + λ) of both sides of every leaf, after one more code; a single word."""
    for q in range(lanes):
        word = (running[q] & kept) + table[row + q]
        running[q] = word
        low = np.int32(word)
        high = float(np.int32((word - low) >> 32))
        rest = whole[STRIDE + q] - high
        of_left = float(low) * unit + LEAF_PRECISION
        of_right = max(whole[q] - float(low), 0.0) * unit + LEAF_PRECISION
        room[q] = (high * high * of_right + rest * rest * of_left) / (of_left * of_right)
    return _sum(room, lanes)


@kernel(error_model="numpy")
def _gain_of_many(
    table: Int64, row: np.uintp, n_words: np.uintp, lanes: np.uintp, whole: Array, unit: float, kept: np.int64,
    running: Int64, room: Array,
) -> float:  # fmt: skip
    """The same of several words."""
    curvature, left, right = room[MAX_SEARCHED:], room[2 * MAX_SEARCHED :], room[3 * MAX_SEARCHED :]
    for w in range(n_words):
        first, low_whole, high_whole = w * STRIDE, TWO * w * STRIDE, (TWO * w + ONE) * STRIDE
        for q in range(lanes):
            word = (running[first + q] & kept) + table[row + first + q]
            running[first + q] = word
            low = np.int32(word)
            high = float(np.int32((word - low) >> 32))
            rest = whole[high_whole + q] - high
            if w == ZERO:
                curvature[q] = low
                left[q] = high * high
                right[q] = rest * rest
            else:
                other = whole[low_whole + q] - low
                left[q] += float(low) * float(low) + high * high
                right[q] += rest * rest + other * other
    for q in range(lanes):
        of_left = curvature[q] * unit + LEAF_PRECISION
        of_right = max(whole[q] - curvature[q], 0.0) * unit + LEAF_PRECISION
        room[q] = (left[q] * of_right + right[q] * of_left) / (of_left * of_right)
    return _sum(room, lanes)


@kernel
def _sum(terms: Array, n: np.uintp) -> float:
    """Several terms side by side, always in the same order."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for q in range(ZERO, n, FOUR):
        s0 += terms[q]
        s1 += terms[q + ONE]
        s2 += terms[q + TWO]
        s3 += terms[q + THREE]
    return (s0 + s1) + (s2 + s3)


@kernel
def _squares(numbers: Array, n_words: np.uintp, q: np.uintp) -> float:
    """Σ G² of a leaf, given numbers × leaves."""
    total = 0.0
    for k in range(ONE, TWO * n_words):
        total += numbers[k * STRIDE + q] ** 2
    return total


@kernel
def _by_gradient(table: Int64, n_words: int, n_lanes: int, whole: Array, units: Array, order: Int64) -> int:
    """Codes of a category from 1 on, and how many they are: by their Newton step along the mixture that says most, in
    the leaf where they differ most.
    """
    telling = _telling_leaf(table, Place(n_words), Place(n_lanes), whole, units)
    width = Place(n_words) * STRIDE
    size = int(Place(len(table)) // width)
    numbers = np.empty((size, 2 * n_words))
    for b in range(1, size):
        for w in range(n_words):
            word = table[Place(b) * width + Place(w) * STRIDE + telling]
            low = np.int32(word)
            numbers[b, 2 * w], numbers[b, 2 * w + 1] = low, np.int32((word - low) >> 32)
        numbers[b, 0] = numbers[b, 0] * units[0] + LEAF_PRECISION
    leading, most = 1, -1.0
    for k in range(1, 2 * n_words):
        energy = 0.0
        for b in range(1, size):
            energy += numbers[b, k] * numbers[b, k] / numbers[b, 0]
        if energy > most:
            leading, most = k, energy
    for b in range(1, size):
        numbers[b, 0] = numbers[b, leading] / numbers[b, 0]  # the step
        at = b - 1
        while at > 0 and numbers[order[at - 1], 0] > numbers[b, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = b
    return int(size - 1)


@kernel(error_model="numpy")
def _telling_leaf(table: Int64, n_words: np.uintp, lanes: np.uintp, whole: Array, units: Array) -> np.uintp:
    """The leaf where the codes differ most: Σ G²/(H + λ) over codes less that of the leaf."""
    energy, width = np.empty(lanes), n_words * STRIDE
    for q in range(lanes):
        energy[q] = -_squares(whole, n_words, Place(q)) / (whole[q] * units[0] + LEAF_PRECISION)
    for row in range(width, Place(len(table)), width):
        for q in range(lanes):
            low = np.int32(table[row + q])
            high = float(np.int32((table[row + q] - low) >> 32))
            squares = high * high
            for w in range(ONE, n_words):
                word = table[row + w * STRIDE + q]
                other = np.int32(word)
                high = float(np.int32((word - other) >> 32))
                squares += float(other) * float(other) + high * high
            energy[q] += squares / (float(low) * units[0] + LEAF_PRECISION)
    return Place(np.argmax(energy))
