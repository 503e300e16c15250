"""A product of two small matrices that lie anywhere in flat arrays."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from likely.unsigned import FOUR, ONE, THREE, TWO, ZERO, Place

Array = NDArray[np.float64]

Whole = int | np.int64

WIDE = 16
"""Columns from which a row is done by itself, not four columns at a time."""


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def multiply(
    left: Array, left_at: Whole, left_down: Whole, left_along: Whole, n_rows: Whole, n_inner: Whole,
    right: Array, right_at: Whole, right_down: Whole, n_columns: Whole,
    scale: float, out: Array, out_at: Whole, out_down: Whole, out_along: Whole,
) -> None:  # fmt: skip
    """out[i, c] = scale · Σ left[i, q] right[q, c]; four columns of `right`, which lie side by side, at a time.

    `…_at` is where a matrix begins, `…_down` and `…_along` are the ways from one row and one column to the next.
    """
    if n_columns >= WIDE and out_along == 1:
        _multiply_wide(
            left, left_at, left_down, left_along, n_rows, n_inner, right, right_at, right_down, n_columns,
            scale, out, out_at, out_down,
        )  # fmt: skip
        return
    left_row, out_row, first = Place(left_at), Place(out_at), Place(right_at)
    to_left, to_right, across = Place(left_along), Place(right_down), Place(out_along)
    width, inner = Place(n_columns), Place(n_inner)
    for _ in range(n_rows):
        column, cell = ZERO, out_row
        while column + THREE < width:
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            a, b = left_row, first + column
            for _ in range(inner):
                factor = left[a]
                s0 += factor * right[b]
                s1 += factor * right[b + ONE]
                s2 += factor * right[b + TWO]
                s3 += factor * right[b + THREE]
                a += to_left
                b += to_right
            out[cell] = scale * s0
            out[cell + across] = scale * s1
            out[cell + TWO * across] = scale * s2
            out[cell + THREE * across] = scale * s3
            column += FOUR
            cell += FOUR * across
        while column < width:
            total = 0.0
            a, b = left_row, first + column
            for _ in range(inner):
                total += left[a] * right[b]
                a += to_left
                b += to_right
            out[cell] = scale * total
            column += ONE
            cell += across
        left_row += Place(left_down)
        out_row += Place(out_down)


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _multiply_wide(
    left: Array, left_at: Whole, left_down: Whole, left_along: Whole, n_rows: Whole, n_inner: Whole,
    right: Array, right_at: Whole, right_down: Whole, n_columns: Whole,
    scale: float, out: Array, out_at: Whole, out_down: Whole,
) -> None:  # fmt: skip
    """The same where rows are so long that each is worth a loop of its own."""
    left_row, out_row, width = Place(left_at), Place(out_at), Place(n_columns)
    for _ in range(n_rows):
        for c in range(width):
            out[out_row + c] = 0.0
        a, b = left_row, Place(right_at)
        for _ in range(n_inner):
            factor = scale * left[a]
            for c in range(width):
                out[out_row + c] += factor * right[b + c]
            a += Place(left_along)
            b += Place(right_down)
        left_row += Place(left_down)
        out_row += Place(out_down)


@numba.njit(nogil=True, cache=True)
def copy_scaled(source: Array, source_at: Whole, n: Whole, scale: float, out: Array, out_at: Whole) -> None:
    """A stretch of one array, scaled, into another."""
    a, b = Place(source_at), Place(out_at)
    for i in range(Place(n)):
        out[b + i] = scale * source[a + i]
