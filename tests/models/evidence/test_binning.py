"""Bins from what was counted: those of the rows themselves, whoever counted; and counts fall into them whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from likely.errors import DataError
from likely.models.evidence import encoding
from likely.models.evidence.encoding import BinnedNumber, CodedCategories, encode_table
from likely.models.evidence.prepare import BinCounts, binned_summary, code_counts, fit_encoding
from likely.stats import ValueCounts
from likely.stats.binning import equal_frequency_bins
from likely.table import as_table
from tests.models.evidence.counting import counted

Array = NDArray[np.float64]
KINDS = {"n": "numeric", "c": "nominal"}

numbers = st.integers(-20, 20).map(float) | st.floats(-1e6, 1e6) | st.just(float("nan"))
letters = st.sampled_from(["a", "b", "c", None])
rows = st.lists(st.tuples(numbers, letters, st.integers(0, 2)), min_size=1, max_size=60)


def table_of(some: list[tuple[float, str | None, int]]) -> tuple[dict[str, Any], NDArray[np.int64]]:
    columns = {"n": np.array([row[0] for row in some]), "c": np.array([row[1] for row in some], dtype=object)}
    return columns, np.array([row[2] for row in some], dtype=np.int64)


def cut_by_rows(values: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Cuts, means and masses of bins from the rows themselves: every distinct number by itself."""
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    mass = np.bincount(places, weights=weight[known], minlength=len(distinct)).astype(np.float64)
    bins = equal_frequency_bins(mass, BinCounts.for_rows(len(values)).fine)
    ends = np.flatnonzero(np.diff(bins))
    low, high = distinct[ends], distinct[ends + 1]
    halves = low + 0.5 * (high - low)
    mass_of = np.bincount(bins, weights=mass).astype(np.float64)
    means = np.bincount(bins, weights=distinct * mass) / mass_of
    if (~known).any():
        mass_of = np.append(mass_of, weight[~known].sum())
    return np.where(halves < high, halves, low), means, mass_of


def check_bins(values: Array, weight: Array) -> None:
    (column,) = fit_encoding(*counted({"n": values}, weight=weight, kinds={"n": "numeric"})).columns
    assert isinstance(column, BinnedNumber)
    cuts, means, mass = cut_by_rows(values, weight)
    np.testing.assert_array_equal(column.cuts, cuts)
    # Bit for bit, but for numbers below the smallest normal one, which round on the way.
    np.testing.assert_allclose(column.means, means, rtol=0.0, atol=np.finfo(np.float64).tiny)
    np.testing.assert_array_equal(column.mass, mass)
    assert column.gap == bool(np.isnan(values).any())


@given(st.lists(numbers, min_size=1, max_size=120))
def test_a_few_distinct_numbers_are_cut_as_the_rows_are(values: list[float]) -> None:
    check_bins(np.array(values), np.ones(len(values)))


@given(st.lists(st.tuples(numbers, st.integers(1, 4)), min_size=1, max_size=120))
def test_weights_move_cuts(given_rows: list[tuple[float, int]]) -> None:
    check_bins(np.array([row[0] for row in given_rows]), np.array([row[1] for row in given_rows], dtype=np.float64))


def test_two_thousand_and_forty_eight_distinct_numbers_are_few() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=2048)
    check_bins(np.append(values, values[:500]), np.ones(2548))


def test_many_distinct_numbers_come_in_bins_of_about_equal_weight() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.lognormal(0.0, 2.0, 30_000), np.full(3_000, 7.0), np.full(500, np.nan)])
    summary, schema = counted({"n": values}, y=rng.integers(0, 3, len(values)))
    (column,) = fit_encoding(summary, schema).columns
    assert isinstance(column, BinnedNumber)
    exact, _, _ = cut_by_rows(values, np.ones(len(values)))
    assert abs(len(column.cuts) - len(exact)) <= 3
    seven = column.codes_of(np.array([7.0]))[0]
    assert column.mass[seven - 1] == column.mass.max() >= 3_000
    rest = np.delete(column.mass[:-1], seven - 1)
    assert np.quantile(rest, 0.1) > 0.5 * np.median(rest)
    assert np.quantile(rest, 0.9) < 1.5 * np.median(rest)
    assert column.mass[-1] == 500


def test_categories_go_by_weight_and_then_by_name() -> None:
    (column,) = fit_encoding(*counted({"c": ["z", "y", "y", "x", None, "z"]}, kinds={"c": "nominal"})).columns
    assert isinstance(column, CodedCategories)
    assert column.levels == ("y", "z", "x")
    assert column.mass.tolist() == [2.0, 2.0, 1.0, 1.0]
    assert column.gap


def by_row(table: Any, y: NDArray[np.int64], weight: Array, columns: Any, n_classes: int) -> list[Array]:
    """Codes × classes, row by row."""
    codes, found = encode_table(columns, as_table(table)), []
    for place, column in enumerate(columns):
        out = np.zeros((column.size, n_classes))
        for row in range(len(y)):
            out[codes[row, place], y[row]] += weight[row]
        found.append(out)
    return found


@given(rows, st.integers(1, 3))
def test_what_was_counted_falls_into_bins_as_the_rows_do(some: list[Any], weight: int) -> None:
    table, y = table_of(some)
    weights = 1.0 + (np.arange(len(y)) % weight).astype(np.float64)
    summary, schema = counted(table, y, weights, KINDS)
    frame = fit_encoding(summary, schema)
    labels = np.unique(y, return_inverse=True)[1]
    expected = by_row(table, labels, weights, frame.columns, len(summary.classes))
    for column, counts in zip(frame.columns, expected, strict=True):
        np.testing.assert_array_equal(code_counts(column, summary), counts)
        assert counts[1:].sum() == weights.sum()
    binned = binned_summary(frame, summary)
    assert all(isinstance(seen, ValueCounts) for seen in binned.parts.values())


def test_cells_fall_into_bins_whole() -> None:
    rng = np.random.default_rng(2)
    table = {"n": np.append(rng.normal(size=20_000) * 10.0 ** rng.integers(-3, 4, 20_000), [np.nan] * 9)}
    y = rng.integers(0, 2, 20_009)
    summary, schema = counted(table, y)
    frame = fit_encoding(summary, schema)
    (expected,) = by_row(table, y, np.ones(len(y)), frame.columns, 2)
    np.testing.assert_array_equal(code_counts(frame.columns[0], summary), expected)


@given(rows, rows)
@settings(deadline=None)
def test_parts_that_were_counted_apart_have_the_bins_of_the_whole(a: list[Any], b: list[Any]) -> None:
    (first, y), (second, z), (whole, both) = table_of(a), table_of(b), table_of(a + b)
    parts = counted(first, y, kinds=KINDS)[0] + counted(second, z, kinds=KINDS)[0]
    summary, schema = counted(whole, both, kinds=KINDS)
    for left, right in zip(fit_encoding(parts, schema).columns, fit_encoding(summary, schema).columns, strict=True):
        same_column(left, right)
    back = parts - counted(second, z, kinds=KINDS)[0]
    for left, right in zip(
        fit_encoding(back, schema).columns, fit_encoding(counted(first, y, kinds=KINDS)[0], schema).columns, strict=True
    ):
        same_column(left, right)


def same_column(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    for name in ("name", "gap", "mass", "coarse", "tiny"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    if isinstance(a, BinnedNumber):
        np.testing.assert_array_equal(a.cuts, b.cuts)
        np.testing.assert_array_equal(a.means, b.means)
    else:
        assert (a.levels, a.rare) == (b.levels, b.rare)


def test_rounding_is_no_gap() -> None:
    weight = np.random.default_rng(3).random(5_000)
    values = np.random.default_rng(4).normal(size=5_000)
    whole, schema = counted({"n": values}, weight=weight)
    most, _ = counted({"n": values[1:]}, weight=weight[1:])
    for summary in (whole, whole - most):
        assert not fit_encoding(summary, schema).columns[0].gap


def test_counts_of_other_bins_are_refused() -> None:
    summary, schema = counted({"n": [1.0, 2.0, 3.0], "c": ["x", "y", "y"]}, kinds=KINDS)
    number, category = fit_encoding(summary, schema).columns
    other, _ = counted({"n": [1.0, 2.0, None], "c": ["x", "y", "z"]}, kinds=KINDS)
    for column in (number, category):
        with pytest.raises(DataError, match=f"{column.name!r} does not fit"):
            code_counts(column, other)
    swapped, _ = counted({"n": ["x", "y"], "c": [1.0, 2.0]}, kinds={"n": "nominal", "c": "numeric"})
    with pytest.raises(DataError, match="'n' is not what"):
        code_counts(number, swapped)


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("cuts", [[], [0.0], [-1.5, 0.0, 2.0, 2.5]])
def test_few_numbers_fall_into_the_bins_of_many(cuts: list[float], gap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compiled loop, and with it."""
    n = len(cuts) + 1
    groups = np.arange(n + 1 + gap, dtype=np.uint8)
    column = BinnedNumber("x", np.array(cuts), np.arange(float(n)), np.ones(n + gap), groups, groups, gap)
    values = np.array([-9.0, *cuts, *np.nextafter(cuts, 9.0), *np.nextafter(cuts, -9.0), 9.0, np.nan, -0.0])
    few = column.codes_of(values)
    monkeypatch.setattr(encoding, "FEW_NUMBERS", 0)
    np.testing.assert_array_equal(few, column.codes_of(values))
