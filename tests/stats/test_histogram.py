"""The grid of a histogram, and where it is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import NotMergeable
from likely.stats import Histogram
from likely.stats.binning import cut
from likely.stats.histogram import MOST_CELLS, floats_at, places_of, share_out

numbers = st.floats(allow_nan=False, allow_infinity=False)


def seen_of(values: np.ndarray) -> Histogram:
    return Histogram.observe(values, np.zeros(len(values), dtype=np.int32))


@given(st.lists(numbers, min_size=1, max_size=30))
def test_places_are_in_the_order_of_the_numbers(values: list[float]) -> None:
    ordered = np.sort(np.array(values))
    places = places_of(ordered)
    assert (places[1:] >= places[:-1]).all()
    np.testing.assert_array_equal(floats_at(places), ordered)


@pytest.mark.parametrize("spread, offset", [(1.0, 0.0), (1.0, 1e8), (1e-170, 0.0), (1e300, 0.0)])
def test_many_numbers_keep_their_shape(spread: float, offset: float) -> None:
    values = offset + spread * np.random.default_rng(0).normal(size=50_000)
    seen = seen_of(values)
    assert MOST_CELLS / 3 < len(seen.cells) <= MOST_CELLS
    assert seen.counts.sum() == len(values)
    binning = cut(seen, 10)
    inside = np.bincount(np.searchsorted(binning.cuts, values, side="right"), minlength=10)
    assert len(binning) == 10
    assert abs(inside - 5000).max() < 400  # two cells of the grid at the most


def test_the_grid_does_not_depend_on_how_rows_came() -> None:
    values = np.random.default_rng(1).lognormal(size=20_000)
    whole = seen_of(values)
    parts = [seen_of(part) for part in np.array_split(values[::-1], 7)]
    merged = parts[3]
    for part in parts[:3] + parts[4:]:
        merged = part + merged
    assert merged.shift == whole.shift
    np.testing.assert_array_equal(merged.cells, whole.cells)
    np.testing.assert_array_equal(merged.counts, whole.counts)


def test_taking_out_of_a_coarse_grid_leaves_the_right_counts() -> None:
    values = np.random.default_rng(2).normal(size=20_000)
    few = seen_of(values[:100])
    left = (few + seen_of(values[100:])) - seen_of(values[100:])
    assert left.shift > few.shift  # what was rounded stays rounded
    np.testing.assert_array_equal(
        np.repeat(left.cells, left.counts[0].astype(int)), np.sort(places_of(values[:100]) >> left.shift)
    )


def test_what_was_never_there_cannot_leave() -> None:
    seen = seen_of(np.array([1.0, 2.0, 2.0]))
    for strange in ([3.0], [1.0, 1.0]):
        with pytest.raises(NotMergeable):
            _ = seen - seen_of(np.array(strange))
    with pytest.raises(NotMergeable):
        _ = seen - seen_of(np.arange(2.0 * MOST_CELLS) + 0.1)


def test_the_smallest_numbers_there_are_have_bins() -> None:
    least = np.finfo(np.float64).smallest_subnormal
    edges = cut(seen_of(np.array([0.0, least] * 20)), 2).edges
    assert (np.diff(edges) > 0.0).all()
    assert edges[0] < 0.0 < least < edges[-1]


def test_a_frequent_number_has_a_bin_of_its_own() -> None:
    values = np.concatenate([np.zeros(500), np.linspace(1.0, 2.0, 500)])
    binning = cut(seen_of(values), 5)
    assert len(binning) <= 5
    assert 0.0 < binning.cuts[0] < 1.0
    assert np.bincount(np.searchsorted(binning.cuts, values, side="right")).tolist()[0] == 500


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=40), st.integers(1, 6))
def test_bins_are_few_and_hold_everything(values: list[float], n_bins: int) -> None:
    column = np.array(values)
    seen = seen_of(column)
    binning = cut(seen, n_bins)
    assert 1 <= len(binning) <= n_bins
    assert (np.diff(binning.edges) > 0).all()
    np.testing.assert_array_equal(np.searchsorted(binning.cuts, seen.lows(), side="right"), binning.of_cell)
    assert binning.edges[0] < column.min() and column.max() < binning.edges[-1]


@pytest.mark.parametrize("mass", [0.0, 5e-324, 1e-320, 1e300, np.nan, np.inf])
@pytest.mark.parametrize("n_bins", [1, 2, 7, 20])
def test_shares_keep_to_their_bins_whatever_the_masses(mass: float, n_bins: int) -> None:
    for masses in (np.full(500, mass), np.append(np.full(499, mass), 1.0), np.array([1.0, mass]), np.array([mass])):
        bins = np.full(len(masses), -1, dtype=np.int64)
        count = share_out(masses, n_bins, bins)
        assert 1 <= count <= n_bins
        assert bins[0] == 0
        assert bins[-1] == count - 1
        assert np.isin(np.diff(bins), (0, 1)).all()


def test_numbers_of_every_size_and_both_signs_have_finite_cells() -> None:
    """More powers of two than cells: a bit of the exponent is dropped, and the last cell reaches beyond all floats."""
    powers = np.ldexp(1.0, np.arange(-1022, 1024))
    column = np.concatenate([-powers, powers])
    seen = Histogram.observe(column, np.zeros(len(column), dtype=np.int32))
    assert seen.shift == 53
    seen.validate()
    places = seen.codes(column)
    assert np.isfinite(seen.lows()).all() and np.isfinite(seen.highs()).all()
    assert (seen.lows()[places] <= column).all() and (column <= seen.highs()[places]).all()
