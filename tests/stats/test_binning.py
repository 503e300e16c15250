"""Bins and edges by hand."""

from __future__ import annotations

import numpy as np
import pytest

from likely.stats import Histogram
from likely.stats.binning import (
    _without_small_bins,
    cells_between,
    cut,
    cuts_between,
    equal_frequency_bins,
    equal_frequency_edges,
    interval_of,
    log_widths,
    mid_points,
    outer_edges,
)
from likely.stats.histogram import N_INTERVALS, equal_intervals

LARGEST = float(np.finfo(np.float64).max)


def seen_of(values: list[float]) -> Histogram:
    return Histogram.observe(np.array(values), np.zeros(len(values), dtype=np.int32))


def test_widths_in_logarithms() -> None:
    np.testing.assert_allclose(log_widths(np.array([1.0, 3.0, 3.5])), np.log([2.0, 0.5]))
    np.testing.assert_allclose(log_widths(np.array([-LARGEST, LARGEST])), np.log(LARGEST) + np.log(2.0))
    np.testing.assert_allclose(log_widths(np.array([2.0, 2.0])), np.log(2.0 * np.finfo(np.float64).tiny))


def test_outer_edges_lie_half_a_gap_beyond() -> None:
    assert outer_edges(np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.0, 5.0])) == (-0.5, 7.0)
    assert outer_edges(np.array([3.0]), np.array([3.0])) == (2.5, 3.5)
    low, high = outer_edges(np.array([1e300]), np.array([1e300]))  # half is nothing there: one float at the least
    assert low == np.nextafter(1e300, 0.0) and high == np.nextafter(1e300, np.inf)
    assert outer_edges(np.array([-LARGEST, LARGEST]), np.array([-LARGEST, LARGEST])) == (-LARGEST, LARGEST)


def test_a_cut_lies_half_way_between_two_cells() -> None:
    seen = seen_of([0.0, 1.0, 4.0, 6.0])
    assert cut(seen, 2).edges.tolist() == [-0.5, 2.5, 7.0]
    assert cut(seen, 2).of_cell.tolist() == [0, 0, 1, 1]
    assert cut(seen_of([]), 3).edges.tolist() == [0.0, 1.0]
    assert cut(seen_of([2.0, 2.0, 2.0, 7.0, 8.0, 9.0]), 2).cuts.tolist() == [4.5]
    assert cells_between(seen, np.array([1]), np.array([2])).tolist() == seen_of([2.5]).cells.tolist()


@pytest.mark.parametrize(
    ("mass", "n_bins", "expected"),
    [
        ([1, 1, 1, 1], 2, [0, 0, 1, 1]),
        ([1, 1, 1, 1, 1, 1], 3, [0, 0, 1, 1, 2, 2]),
        ([1, 1, 8, 1, 1], 2, [0, 0, 1, 2, 2]),  # what is heavy stands alone, the runs beside it do not join
        ([8, 1, 1, 8], 3, [0, 1, 1, 2]),
        ([5, 5], 1, [0, 0]),
        ([3], 4, [0]),
        ([], 4, []),
        ([1, 1000, 1000], 2, [0, 0, 1]),  # a bin below a tenth of an equal share joins its lighter neighbour
        ([1000, 1, 1200], 2, [0, 0, 1]),
        ([1200, 1, 1000], 2, [0, 1, 1]),
        ([1000, 1000, 1], 2, [0, 1, 1]),
    ],
)
def test_atoms_in_bins_of_equal_weight(mass: list[float], n_bins: int, expected: list[int]) -> None:
    assert equal_frequency_bins(np.array(mass, dtype=np.float64), n_bins).tolist() == expected


@pytest.mark.parametrize(
    ("mass", "least", "expected"),
    [
        ([1, 3, 3, 0.5, 5, 2, 1], 4.0, [0, 0, 0, 0, 1, 1, 1]),
        ([2, 0.5, 0.5], 4.0, [0, 0, 0]),
        ([3, 5, 1, 5, 1, 0.5], 1.5, [0, 1, 1, 2, 3, 3]),
        ([4, 1, 4, 1, 5], 2.0, [0, 0, 1, 1, 2]),
        ([2, 4, 2, 4, 2], 2.0, [0, 1, 2, 3, 4]),
    ],
)
def test_small_bins_join_the_lighter_neighbour(mass: list[float], least: float, expected: list[int]) -> None:
    """From the left to the right; what joined the next one may be small still, and goes on."""
    bins = np.arange(len(mass))
    assert _without_small_bins(bins, np.array(mass, dtype=np.float64), least).tolist() == expected


def test_cuts_between_atoms() -> None:
    lows, highs = np.array([0.0, 2.0, 6.0, 7.0]), np.array([1.0, 3.0, 6.0, 7.0])
    assert cuts_between(lows, highs, np.array([0, 0, 1, 2])).tolist() == [4.5, 6.5]
    near = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert cuts_between(near, near, np.array([0, 1])).tolist() == [1.0]  # nothing lies between them


@pytest.mark.parametrize(
    ("numbers", "n_bins", "weights", "expected"),
    [
        ([1, 2, 3, 4], 2, None, [2.5]),
        ([4, 3, 2, 1], 4, None, [1.5, 2.5, 3.5]),
        ([1, 1, 1, 2], 2, None, [1.5]),
        ([1, np.nan, 3], 5, None, [2.0]),
        ([1, 2, 3, 4], 2, [1, 1, 1, 9], [3.5]),
        ([1, 2, 3, 4, np.nan], 2, [9, 1, 1, 1, 50], [1.5]),
        ([1, 2, 3, 4, 5, 6], 3, None, [2.5, 4.5]),
        ([7, 7], 3, None, []),
        ([], 3, None, []),
    ],
)
def test_edges_of_equal_frequency(
    numbers: list[float], n_bins: int, weights: list[float] | None, expected: list[float]
) -> None:
    given = None if weights is None else np.array(weights, dtype=np.float64)
    assert equal_frequency_edges(np.array(numbers, dtype=np.float64), n_bins, given).tolist() == expected


def test_the_interval_of_a_number() -> None:
    assert interval_of(np.array([0.0, 1.0, 1.5, 2.0, np.nan]), np.array([1.0, 2.0])).tolist() == [0, 1, 1, 2, -1]


def test_middles() -> None:
    next_to_one = np.nextafter(1.0, 2.0)
    found = mid_points(np.array([1.0, LARGEST / 2, 1.0]), np.array([2.0, LARGEST, next_to_one]))
    assert found.tolist() == [1.5, 0.75 * LARGEST, next_to_one]


def test_values_in_ten_intervals_of_equal_weight() -> None:
    """Twenty values of weight one, in two classes: two to an interval; ten and fewer stay as they are."""
    fine = np.vstack([np.ones(20), np.arange(20) % 2])
    few = equal_intervals(np.ones((1, 20)))
    assert N_INTERVALS == 10 and few.tolist() == [[2.0] * 10]
    assert equal_intervals(fine).sum(axis=1).tolist() == [20.0, 10.0]
    assert equal_intervals(np.ones((2, 10))).tolist() == np.ones((2, 10)).tolist()
    assert equal_intervals(np.zeros((1, 12))).tolist() == np.zeros((1, 12)).tolist()
    heavy = np.array([[0.0] * 11 + [5.0]])
    assert equal_intervals(heavy).sum() == 5.0
