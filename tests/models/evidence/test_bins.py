"""Bins: frequent values alone, the rest in equal shares, every value in one of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely import EvidenceClassifier
from likely.models.evidence.encoding import CodedCategories
from likely.models.evidence.kernels import find_bins
from likely.models.evidence.prepare import fit_encoding
from likely.stats.binning import cuts_between, equal_frequency_bins
from likely.table import as_table
from tests.models.evidence.counting import counted

KINDS = {"n": "numeric", "c": "nominal"}


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=60), st.integers(1, 30))
def test_groups_are_neighbours_and_not_too_small(mass: list[float], n_bins: int) -> None:
    weights = np.array(mass)
    bins = equal_frequency_bins(weights, n_bins)
    assert bins[0] == 0
    assert set(np.diff(bins)) <= {0, 1}
    sizes = np.bincount(bins, weights=weights)
    assert (sizes >= 0.1 * weights.sum() / n_bins - 1e-9).all() or len(sizes) == 1
    heavy = np.flatnonzero(weights >= weights.sum() / n_bins)
    for place in heavy:  # alone, but for slivers beside it
        assert sizes[bins[place]] <= weights[place] + 2 * 0.1 * weights.sum() / n_bins + 1e-9


def test_equal_shares() -> None:
    bins = equal_frequency_bins(np.ones(1000), 10)
    assert np.bincount(bins).tolist() == [100] * 10


@given(st.lists(st.floats(-1e3, 1e3) | st.just(float("nan")), min_size=1, max_size=80), st.lists(st.floats(-1e3, 1e3)))
def test_a_value_falls_where_its_neighbours_fell(values: list[float], cuts: list[float]) -> None:
    column, edges = np.array(values), np.unique(np.array(cuts))
    out = np.empty(len(column), dtype=np.uint8)
    find_bins(column, edges, 0, out)
    expected = np.where(np.isnan(column), 0, np.searchsorted(edges, column, side="left") + 1)
    assert out.tolist() == expected.tolist()


def test_cuts_stand_between_values_even_if_nothing_does() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    places, bins = np.array([low, high]), np.array([0, 1])
    assert low <= cuts_between(places, places, bins)[0] < high
    largest = np.array([-1.0, 1.0]) * np.finfo(np.float64).max
    assert largest[0] <= cuts_between(largest, largest, bins)[0] < largest[1]


def test_codes_of_numbers_and_categories() -> None:
    table = as_table({"n": [1.0, 1.0, 2.0, None], "c": ["x", "y", "x", None]})
    number, category = fit_encoding(*counted(table, kinds=KINDS)).columns
    assert number.codes(table).tolist() == [1, 1, 2, 3]
    assert category.codes(table).tolist() == [1, 2, 1, 3]
    other = as_table({"n": [-5.0, 9.0, None], "c": ["z", "y", None]})
    assert number.codes(other).tolist() == [1, 2, 3]
    assert category.codes(other).tolist() == [0, 2, 3]


def test_many_categories_and_many_heavy_values_go_into_a_byte() -> None:
    names = as_table({"c": [f"level {k}" for k in range(700)] * 2 + ["level 0"]})
    (column,) = fit_encoding(*counted(names, kinds={"c": "nominal"})).columns
    assert column.size <= 255
    assert isinstance(column, CodedCategories)
    assert len(column.rare) == 500
    assert column.codes(names).max() == column.size - 1
    rng = np.random.default_rng(0)
    wild = as_table({"n": np.where(rng.random(90_000) < 0.5, rng.integers(0, 130, 90_000), rng.normal(65, 40, 90_000))})
    assert fit_encoding(*counted(wild)).columns[0].size <= 255


def test_a_column_of_gaps_has_one_code() -> None:
    empty = as_table({"n": np.full(5, np.nan)})
    (column,) = fit_encoding(*counted(empty, kinds={"n": "numeric"})).columns
    assert column.codes(empty).tolist() == [1] * 5
    assert column.codes(as_table({"n": [3.0]})).tolist() == [0]


def test_values_of_one_row_each_say_nothing() -> None:
    """A column that nearly names the rows: only values that come again have a code of their own, weights or not."""
    rng = np.random.default_rng(0)
    names = np.array([f"k{row}" for row in range(400)], dtype=object)
    names[:6] = ["k7", "k7", "k8", "k9", "k9", "k9"]
    y, x = rng.integers(0, 2, 400), rng.normal(size=400)
    kinds = {"name": "nominal"}
    for weight in (None, np.full(400, 3.0)):
        clf = EvidenceClassifier(schema=kinds).fit({"name": names, "x": x + y}, y, weight)
        (column,) = [one for one in clf.model_.evidence.encoding.columns if one.name == "name"]
        assert isinstance(column, CodedCategories)
        assert set(column.levels) == {"k7", "k8", "k9"}
        assert len(column.rare) == 391
    without = EvidenceClassifier().fit({"x": x + y}, y).predict_proba({"x": x})
    new = clf.predict_proba({"name": ["stranger"] * 400, "x": x})
    assert np.abs(new - without).max() < 0.05
    few = EvidenceClassifier(schema=kinds).fit({"name": np.arange(400) % 50, "x": x}, y)
    (column,) = [one for one in few.model_.evidence.encoding.columns if one.name == "name"]
    assert isinstance(column, CodedCategories)
    assert len(column.levels) == 50
