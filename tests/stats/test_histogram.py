"""The grid of a histogram, and where it is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import DataError, NotMergeable
from likely.stats import Histogram
from likely.stats.binning import cut
from likely.stats.histogram import (
    FARTHEST,
    FINER_INTERVALS,
    MOST_CELLS,
    equal_intervals,
    floats_at,
    places_of,
    share_out,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)


def seen_of(values: np.ndarray) -> Histogram:
    return Histogram.observe(values, np.zeros(len(values), dtype=np.int32))


@given(st.lists(numbers, min_size=1, max_size=30))
def test_places_are_in_the_order_of_the_numbers(values: list[float]) -> None:
    ordered = np.sort(np.array(values))
    places = places_of(ordered)
    assert (places[1:] >= places[:-1]).all()
    np.testing.assert_array_equal(floats_at(places), ordered)


def test_zero_has_no_sign() -> None:
    assert places_of(np.array([0.0, -0.0])).tolist() == [0, 0]
    assert not np.signbit(floats_at(np.zeros(1, dtype=np.int64))).any()


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
    assert seen.codes(np.array([np.inf, -np.inf, np.nan])).tolist() == [-1, -1, -1]


# What a histogram says of its column.


def two_classes(a: list[float], b: list[float]) -> Histogram:
    return Histogram.observe(np.array([*a, *b]), np.repeat([0, 1], [len(a), len(b)]).astype(np.int32), n_classes=2)


def test_how_classes_differ_is_told_where_their_shares_lie_farthest_apart() -> None:
    """Up to 2 lie three quarters of one class, and one quarter of the other."""
    seen = two_classes([1.0, 1.0, 2.0, 5.0], [1.0, 3.0, 5.0, 5.0])
    assert seen.difference(0, seen, 1) == ("share", "≤ 2", "0.7500", "0.2500")
    assert seen.difference(1, two_classes([], [0.5] * 3), 1) == ("share", "≤ 0.5", "0.0000", "1.0000")
    assert seen.difference(0, seen, 0) is None
    assert Histogram.empty(1).difference(0, Histogram.empty(1), 0) is None


def test_classes_with_the_same_shares_may_still_be_known_more_often() -> None:
    seen = two_classes([1.0, 2.0], [1.0, 1.0, 2.0, 2.0])
    assert seen.difference(0, seen, 1) == ("known", "", "2", "4")
    some = two_classes([1.0], [])
    assert some.difference(1, some, 1) is None
    assert some.difference(1, some, 0) == ("share", "≤ 1", "0.0000", "1.0000")
    apart = two_classes([1.0, 1.0, 2.0, 5.0], [1.0, 3.0, 5.0, 5.0])
    assert Histogram(0, apart.cells, 1e-200 * apart.counts).difference(0, apart, 1) == apart.difference(0, apart, 1)
    light = Histogram(0, seen.cells, 1e-200 * seen.counts)
    assert light.difference(0, light, 1) == ("known", "", "2e-200", "4e-200")


def test_tables_of_values_have_ten_intervals_or_finer_ones() -> None:
    seen = two_classes(list(np.arange(40.0)), list(np.arange(40.0, 60.0)))
    assert seen.class_value_table(0).shape == (2, 10)
    assert [table.shape for table in seen.resolutions(0)] == [(2, n) for n in (10, 30, 60, 60)]
    assert FINER_INTERVALS == (10, 30, 100)
    np.testing.assert_array_equal(seen.class_value_table(0)[0], [6.0] * 6 + [4.0] + [0.0] * 3)
    assert seen.known.tolist() == [40.0, 20.0] and seen.known_weights.tolist() == [[40.0], [20.0]]
    assert seen.shape == (2, 1)


def test_the_last_interval_holds_what_weighs_next_to_nothing() -> None:
    fine = np.array([[*[1.0] * 11, 1e-30], [*[0.0] * 11, 2e-30]])
    assert equal_intervals(fine).shape == (2, 10) and equal_intervals(fine)[1].tolist() == [0.0] * 9 + [2e-30]
    assert equal_intervals(fine, 12) is fine and equal_intervals(0.0 * fine).shape == (2, 12)
    assert equal_intervals(1e-200 * fine).shape == (2, 10)
    ten = fine[:, 2:]
    assert equal_intervals(ten) is ten


def test_moments_are_those_of_the_middles() -> None:
    seen = two_classes([1.0, 2.0, 2.0, np.nan], [7.0]).moments()
    assert seen.n.tolist() == [[3.0], [1.0]] and seen.mean[1, 0] == 7.0
    assert seen.mean[0, 0] == pytest.approx(5 / 3) and seen.root[0, 0] ** 2 == pytest.approx(2 / 3)
    coarse = Histogram(51, np.array([(0x3FF0_0000_0000_0000 >> 51)]), np.array([[1.0]]))  # from 1 to just below 1.5
    assert coarse.lows().tolist() == [1.0] and coarse.highs().tolist() == [np.nextafter(1.5, 0.0)]
    assert coarse.middles()[0] == pytest.approx(1.25)


def test_the_code_of_a_number_is_its_cell() -> None:
    seen = seen_of(np.array([-2.0, 0.0, 3.0]))
    asked = np.array([3.0, -2.0, 0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 5e-324])
    assert seen.codes(asked).tolist() == [2, 0, 1, 1, -1, -1, -1, -1, -1]
    with pytest.raises(ValueError, match="infinite"):
        seen_of(np.array([1.0, -np.inf]))
    weightless = Histogram.observe(np.array([1.0, 2.0]), np.zeros(2, dtype=np.int32), np.array([0.0, 1.0]))
    assert weightless.lows().tolist() == [2.0] and weightless.counts.tolist() == [[1.0]]


@pytest.mark.parametrize("n", [2048, 2049])
def test_so_many_numbers_are_told_apart(n: int) -> None:
    seen = seen_of(1.0 + np.arange(n) * 2.0**-52)
    assert (seen.shift, len(seen.cells)) == ((0, n) if n == 2048 else (1, n // 2 + 1))
    halves = seen_of(1.0 + np.arange(0, n, 2) * 2.0**-52) + seen_of(1.0 + np.arange(1, n, 2) * 2.0**-52)
    assert (halves.shift, halves.cells.tolist()) == (seen.shift, seen.cells.tolist())


def unsound(shift: int = 0, cells: tuple[int, ...] = (1, 2), counts: object = ((1.0, 1.0),)) -> Histogram:
    return Histogram(shift, np.array(cells, dtype=np.int64), np.array(counts))


@pytest.mark.parametrize(
    "bad",
    [
        unsound(shift=-1),
        unsound(shift=64),
        unsound(shift=64, cells=(-1, 0)),
        unsound(cells=(2, 1)),
        unsound(cells=(1, 1)),
        unsound(cells=(1, FARTHEST + 1)),
        unsound(cells=(-FARTHEST - 1, 1)),
        unsound(counts=[[1.0, -1.0]]),
        unsound(counts=[[1.0]]),
        unsound(counts=[[1.0, 0.0]]),
        unsound(cells=tuple(range(MOST_CELLS + 1)), counts=np.ones((1, MOST_CELLS + 1))),
        Histogram(0, np.ones((1, 2), dtype=np.int64), np.ones((1, 2))),
    ],
)
def test_unsound_histograms(bad: Histogram) -> None:
    for fair in (unsound(cells=(-FARTHEST, FARTHEST)), unsound(shift=63, cells=(-1, 0)), Histogram.empty(2)):
        fair.validate()
    unsound(cells=tuple(range(MOST_CELLS)), counts=np.ones((1, MOST_CELLS))).validate()
    with pytest.raises(DataError):
        bad.validate()


@pytest.mark.parametrize(
    ("mass", "n_bins", "expected"),
    [
        ([1, 1, 1, 1, 1, 1], 3, [0, 0, 1, 1, 2, 2]),
        ([1, 1, 1, 1, 1, 1, 1], 2, [0, 0, 0, 1, 1, 1, 1]),
        ([1, 2, 1], 2, [0, 0, 1]),  # half of all stands alone; then there is one too many: the lightest joins
        ([1, 9, 2], 2, [0, 0, 1]),
        ([2, 9, 1], 2, [0, 1, 1]),
        ([5, 1, 1, 1, 1, 5], 3, [0, 1, 1, 1, 1, 2]),
        ([2, 9, 1, 8, 1], 3, [0, 1, 2, 2, 2]),  # two too many: what two of them joined to is then weighed as a whole
        ([8, 1, 9, 3, 8, 3], 4, [0, 0, 1, 2, 2, 3]),
        ([9, 1, 0, 0.5, 3], 5, [0, 1, 2, 2, 3]),
        ([0.5, 8, 0, 3, 8, 0.5, 8], 4, [0, 0, 1, 1, 2, 2, 3]),
        ([8, 0.5, 0.5, 3], 4, [0, 1, 2, 3]),
        ([0.5, 12], 4, [0, 1]),
        ([0, 3], 3, [0, 1]),
        ([0, 0], 2, [0, 1]),
        ([3], 1, [0]),
    ],
)
def test_cells_in_bins_of_equal_mass(mass: list[float], n_bins: int, expected: list[int]) -> None:
    for share in (share_out, share_out.py_func):
        bins = np.full(len(mass), -1, dtype=np.int64)
        assert share(np.array(mass, dtype=np.float64), n_bins, bins) == len(set(expected))
        assert bins.tolist() == expected
