"""Sums of gradients and curvatures by leaf and code, while the questions of a tree are chosen.

To add quickly, two numbers of a row are whole numbers of 32 bits in one word: number k is in word k // 2, an even one
in the lower half. Number 0 is the curvature, the others are gradients. Units are such that the sum over all rows still
fits; so sums are exact, whatever the order of the rows. After a question only the rows of the smaller side of each leaf
are added up: the larger side is what remains of the sums of the leaf. Question k divides leaf q into q and q + 2^k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likely.arrays import Array, Int32, Int64, UInt8
from likely.jit import kernel
from likely.models.evidence.ensemble import MAX_QUESTIONS
from likely.numerics import ONE, TWO, Place

MAX_SEARCHED = 1 << (MAX_QUESTIONS - 1)
"""Leaves that the last question divides."""

STRIDE = Place(MAX_SEARCHED)

LARGEST_SUM = float(1 << 30)
"""What all rows add up to at most; with half a unit of rounding for each row it fits into 32 bits."""

TINY = 1e-300
"""A unit is above zero, also where nothing is left to explain."""


class Added(NamedTuple):
    """Rows to be added up: the words of each, its number, and the leaf of which it is the smaller side.

    `smaller` says for each leaf which side that is; it is empty where all rows are added up anew.
    """

    words: Int64
    rows: Int32
    leaf: UInt8
    smaller: UInt8


def packed(gradient: Array, curvature: Array) -> tuple[Int64, Array]:
    """Words of rows, rows × words, and the units of curvature and of gradients."""
    units, words = np.empty(2), np.empty((len(gradient), gradient.shape[1] // 2 + 1), dtype=np.int64)
    pack(gradient, curvature, units, words)
    return words, units


@kernel
def pack(gradient: Array, curvature: Array, units: Array, words: Int64) -> None:
    """Write units and words."""
    n_mixtures, n_words = gradient.shape[1], words.shape[1]
    whole, largest = 0.0, np.zeros(n_mixtures)
    for i in range(len(curvature)):
        whole += curvature[i]
        for k in range(n_mixtures):
            largest[k] += abs(gradient[i, k])
    units[0], units[1] = max(whole, TINY) / LARGEST_SUM, max(largest.max(), TINY) / LARGEST_SUM
    of_curvature, of_gradient = 1.0 / units[0], 1.0 / units[1]
    for i in range(len(curvature)):
        words[i, 0] = np.int64(np.rint(curvature[i] * of_curvature))
    for i in range(len(curvature)):
        words[i, 0] += np.int64(np.rint(gradient[i, 0] * of_gradient)) << 32
        for w in range(1, n_words):
            low = np.int64(np.rint(gradient[i, 2 * w - 1] * of_gradient))
            high = np.int64(np.rint(gradient[i, 2 * w] * of_gradient)) if 2 * w < n_mixtures else np.int64(0)
            words[i, w] = low + (high << 32)


@kernel
def divide(codes: UInt8, side: UInt8, k: int, leaf: UInt8) -> Int64:
    """Put rows of side 1 into the leaves from 2^k on; the number of rows of each leaf and side."""
    counts = np.zeros((1 << k, 2), dtype=np.int64)
    for i in range(len(leaf)):
        answer = side[codes[i]]
        counts[leaf[i], answer] += 1
        leaf[i] |= answer << np.uint8(k)
    return counts


def of_smaller_sides(words: Int64, leaf: UInt8, counts: Int64, k: int) -> Added:
    """The rows that the last question has put on the smaller side of their leaf."""
    n = int(counts.min(axis=1).sum())
    rows, leaves = np.empty(n + 1, dtype=np.int32), np.empty(n + 1, dtype=np.uint8)
    added = Added(np.empty((n, words.shape[1]), dtype=np.int64), rows, leaves, np.empty(len(counts), dtype=np.uint8))
    collect(words, leaf, counts, k, added)
    return added._replace(rows=rows[:n], leaf=leaves[:n])


@kernel
def collect(words: Int64, leaf: UInt8, counts: Int64, k: int, added: Added) -> None:
    """Write all about these rows; of numbers and leaves there is one more, so that no row needs a branch."""
    at, below = Place(0), np.uint8((1 << k) - 1)
    for q in range(len(counts)):
        added.smaller[q] = counts[q, 1] <= counts[q, 0]
    for i in range(len(leaf)):
        q = leaf[i] & below
        added.rows[at], added.leaf[at] = i, q
        at += Place(leaf[i] >> np.uint8(k) == added.smaller[q])
    for i in range(len(added.words)):
        for w in range(words.shape[1]):
            added.words[i, w] = words[Place(added.rows[i]), w]


@kernel
def add_up(codes: UInt8, added: Added, n_leaves: int, table: Int64) -> None:
    """Sums by code and leaf: codes × words × MAX_SEARCHED leaves one after the other."""
    n_words, half = added.words.shape[1], Place(n_leaves >> 1)
    if len(added.smaller) == 0:
        table[:] = 0
        add_rows(codes, added.words.reshape(-1), n_words, added.leaf, table)
        return
    few = np.empty(len(added.rows), dtype=np.uint8)
    for i in range(len(few)):
        few[i] = codes[Place(added.rows[i])]
    add_rows(few, added.words.reshape(-1), n_words, added.leaf, table[half:])
    for row in range(Place(0), Place(len(table)), Place(MAX_SEARCHED)):
        for q in range(half):
            part = table[row + half + q]
            rest = table[row + q] - part
            table[row + q] = rest if added.smaller[q] else part
            table[row + half + q] = part if added.smaller[q] else rest


@kernel
def add_rows(codes: UInt8, words: Int64, n_words: int, leaf: UInt8, table: Int64) -> None:
    """Add the words of rows to the cells of their codes and leaves."""
    if n_words == 1:
        for i in range(len(codes)):
            table[Place(codes[i]) * STRIDE + Place(leaf[i])] += words[i]
        return
    width = Place(n_words) * STRIDE
    if n_words == 2:
        for i in range(Place(len(codes))):
            cell = Place(codes[i]) * width + Place(leaf[i])
            table[cell] += words[i * TWO]
            table[cell + STRIDE] += words[i * TWO + ONE]
        return
    for i in range(Place(len(codes))):
        cell = Place(codes[i]) * width + Place(leaf[i])
        for w in range(Place(n_words)):
            table[cell + w * STRIDE] += words[i * Place(n_words) + w]


@kernel
def add_codes(table: Int64, n_words: int, n_lanes: int, whole: Array) -> None:
    """Numbers × leaves, summed over the codes."""
    total = np.empty(n_lanes, dtype=np.int64)
    for w in range(Place(n_words)):
        total[:] = 0
        for row in range(w * STRIDE, Place(len(table)), Place(n_words) * STRIDE):
            for q in range(Place(n_lanes)):
                total[q] += table[row + q]
        for q in range(Place(n_lanes)):
            low = np.int32(total[q])
            whole[TWO * w * STRIDE + q] = low
            whole[(TWO * w + ONE) * STRIDE + q] = np.int32((total[q] - low) >> 32)
