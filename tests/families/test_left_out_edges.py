"""Rows left out where little is left without them, or much: few numbers, light classes, floors, rows far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from likely import Laplace
from likely.families import MultivariateGaussian, Settings
from likely.families.gaussian_kernels import moments_without
from likely.families.poisson import Poisson, log_poisson
from likely.families.protocol import LeftOut
from likely.stats import Histogram, Scatter
from likely.table import as_table
from tests.families.test_left_out import (
    COUNTS,
    NUMBERS,
    SETTINGS,
    TABLES,
    WEIGHTS,
    K,
    N,
    Y,
    closed,
    holed,
    refitted,
    settings_of,
)

rng = np.random.default_rng(22)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_row_far_from_the_others_is_left_out_exactly(weights: str) -> None:
    """To subtract a number a hundred million times as far away as the others are from each other leaves no digit."""
    x, y = NUMBERS[:, 0].copy(), holed(NUMBERS[:, 1])
    x[4], y[10], y[11] = 1e9, -1e9, 1e9
    table, weight = as_table({"x": x, "y": y, "z": NUMBERS[:, 2]}), WEIGHTS[weights]
    for name in ("gaussian", "lognormal"):
        rows = table if name == "gaussian" else as_table({"x": np.exp(x / 1e7), "y": np.exp(y / 1e7)})
        joint, _ = closed(name, rows, weight, settings_of(name, {}))
        np.testing.assert_allclose(joint, refitted(name, rows, weight, settings_of(name, {})), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n_columns", [63, 64, 65, 129])
def test_rows_of_many_columns_left_out(n_columns: int) -> None:
    """Sixty-four columns go at once; of gaps, and of a row far from the others, the parts know nothing."""
    cells = rng.normal(size=(N, n_columns)) + Y[:, None]
    cells[3, 5] = cells[4, 60:] = np.nan
    cells[7] = 100.0
    table, settings = as_table(cells), Settings()
    joint, _ = closed("gaussian", table, WEIGHTS["mixed"], settings)
    np.testing.assert_allclose(joint, refitted("gaussian", table, WEIGHTS["mixed"], settings), rtol=1e-9)


@pytest.mark.parametrize("given", [{}, {"unbiased": False}, {"variance_floor": 0.4}], ids=str)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_what_varies_between_classes_only(weights: str, given: dict[str, Any]) -> None:
    """In every class, in all but one, and in all but one row."""
    apart = np.where(Y == 1, 2.5, 1.0)
    table = as_table(
        {"x": apart, "y": np.where(Y == 2, NUMBERS[:, 0], apart), "z": np.where(np.arange(N) == 8, 7.0, 3)}
    )
    joint, _ = closed("gaussian", table, WEIGHTS[weights], settings_of("gaussian", given))
    expected = refitted("gaussian", table, WEIGHTS[weights], settings_of("gaussian", given))
    np.testing.assert_allclose(joint, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("heavy", [1.0, 40.0, 60.0])
def test_floors_follow_the_whole_spread(heavy: float, unbiased: bool) -> None:
    """Without a row near the centre that has half of all weight, all other rows are twice as wide."""
    weight, x = np.ones(N), NUMBERS[:, 0].copy()
    weight[6], x[6] = heavy, np.average(x)
    table = as_table({"x": x, "z": np.where(Y == 2, 0.3, 1.0) * NUMBERS[:, 2]})
    for floor in (0.0, *np.geomspace(0.01, 2.0, 12)):
        settings = Settings(variance_floor=float(floor), unbiased=unbiased)
        joint, _ = closed("gaussian", table, weight, settings)
        np.testing.assert_allclose(joint, refitted("gaussian", table, weight, settings), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("given", [{}, {"unbiased": False}, {"variance_floor": 0.4}], ids=str)
def test_classes_of_a_single_row_borrow_their_spread(given: dict[str, Any]) -> None:
    for n_whole in (0, 1, 2):
        weight = np.where(n_whole > Y, 1.0, 0.0)
        for label in range(n_whole, K):
            weight[np.flatnonzero(label == Y)[0]] = 1.0
        for name in ("gaussian", "lognormal"):
            joint, _ = closed(name, as_table(TABLES[name]), weight, settings_of(name, given))
            expected = refitted(name, as_table(TABLES[name]), weight, settings_of(name, given))
            some = np.flatnonzero((weight == 0.0) | (n_whole > Y))  # a class without any other row does not count
            np.testing.assert_allclose(joint[some], expected[some], rtol=1e-7, atol=1e-7)


def test_what_only_one_row_counts_is_next_to_impossible_without_it() -> None:
    """Four times 1e-102: a product of these would be zero, and the row impossible."""
    table = as_table({"x": np.where(np.arange(N) == 6, 4.0, 0.0), "y": COUNTS[:, 1], "z": COUNTS[:, 2]})
    for name in ("multinomial", "complement"):
        settings = settings_of(name, {"smoothing": 1e-100})
        joint, _ = closed(name, table, None, settings)
        np.testing.assert_allclose(joint, refitted(name, table, None, settings), rtol=1e-9)
        assert np.isfinite(joint[6]).all() and np.abs(joint[6]).max() > 90.0


def test_fractions_of_counts_left_out() -> None:
    cells = COUNTS * rng.choice([0.5, 1.0, 1.25], COUNTS.shape)
    for name in ("multinomial", "complement"):
        table = as_table({"x": cells[:, 0], "y": cells[:, 1], "z": cells[:, 2]})
        joint, _ = closed(name, table, WEIGHTS["mixed"], settings_of(name, {}))
        np.testing.assert_allclose(joint, refitted(name, table, WEIGHTS["mixed"], settings_of(name, {})), rtol=1e-9)


@pytest.mark.parametrize("given", [{}, {"unbiased": False}, {"variance_floor": 0.4}], ids=str)
@pytest.mark.parametrize("light", [0.4, 0.5, 0.75, 1.0, 1.5])
def test_a_class_of_a_few_light_rows_without_one_of_them(light: float, given: dict[str, Any]) -> None:
    """Two or three rows are left of its three, with a weight below, at and above that of one or two whole rows."""
    weight = np.ones(N)
    weight[Y == 0] = 0.0
    weight[np.flatnonzero(Y == 0)[:3]] = light
    for name in ("gaussian", "lognormal"):
        joint, _ = closed(name, as_table(TABLES[name]), weight, settings_of(name, given))
        expected = refitted(name, as_table(TABLES[name]), weight, settings_of(name, given))
        np.testing.assert_allclose(joint, expected, rtol=1e-7, atol=1e-7)


def unknown_to_one(name: str) -> dict[str, Any]:
    """The table of a family in which the last class knows one cell of each column, and another class two."""
    last, other = np.flatnonzero(Y == 2)[1:], np.flatnonzero(Y == 1)[2:]
    table = {}
    for column, cells in TABLES[name].items():
        nothing = None if cells.dtype == object else 0.0 if name in ("multinomial", "complement") else np.nan
        table[column] = cells.copy()
        table[column][np.concatenate([last, other])] = nothing
    return table


@pytest.mark.parametrize("weights", ["ones", "mixed"])
@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("multivariate", "text multinomial")])
def test_the_only_cells_of_a_class_left_out(name: str, weights: str) -> None:
    """The class has other rows, but no other cell: there is nothing to say, or what all values have in common."""
    table, weight = as_table(unknown_to_one(name)), WEIGHTS[weights]
    for given in SETTINGS[name]:
        settings = settings_of(name, given)
        joint, told = closed(name, table, weight, settings)
        np.testing.assert_allclose(joint, refitted(name, table, weight, settings), rtol=1e-7, atol=1e-7)
        assert told.all()


@pytest.mark.parametrize("name", ["gaussian", "lognormal", "poisson", "bins", "tree-bins"])
@pytest.mark.parametrize("weights", ["ones", "mixed"])
@pytest.mark.parametrize(
    "column",
    [
        [],
        [1.0],
        [2.0, 2.0],
        [3.0, 3.0, 5.0],
        [1.0, 5.0],
        [4.0, 4.0, 4.0, 9.0, 9.0],
        [1.0, 2.0, 4.0, 8.0, 16.0],
        [1.0, 2.0, 3.0, 4.0, 5.0],
    ],
    ids=str,
)
def test_the_few_numbers_of_a_column_left_out(column: list[float], weights: str, name: str) -> None:
    """All other cells are gaps: without one row, one number or none may be left, and there is one bin or none."""
    table, weight = as_table({"x": np.array([*column, *[np.nan] * (N - len(column))])}), WEIGHTS[weights]
    for settings in (settings_of(name, given) for given in SETTINGS[name]):
        joint, _ = closed(name, table, weight, settings)
        np.testing.assert_allclose(joint, refitted(name, table, weight, settings), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_one_column_is_a_block_of_its_own(covariance: Any) -> None:
    table, settings = as_table({"x": NUMBERS[:, 0]}), Settings(covariance=covariance)
    joint, told = closed("multivariate", table, WEIGHTS["mixed"], settings)
    assert told.all()
    np.testing.assert_allclose(joint, refitted("multivariate", table, WEIGHTS["mixed"], settings), rtol=1e-9)


def test_a_column_that_is_constant_but_for_rounding_has_lost_nothing() -> None:
    """Of mean a million, three rows: squares below three times 1e-8² are rounding, whatever the row's own step is."""
    rows, y, weight = np.array([[1e6 + 1e-9]]), np.zeros(1, dtype=np.int32), np.ones(1)
    for squares, is_rounding in ((1e-18, True), (2.9e-16, True), (3.1e-16, False), (1e-13, False)):
        out, exact = np.zeros((3, 1, 1)), np.zeros((1, 1), dtype=np.bool_)
        one = np.ones((1, 1))
        moments_without(rows, y, weight, 3.0 * one, 1e6 * one, squares * one, out, exact)
        assert out[0, 0, 0] == 2.0 and (out[2, 0, 0] == squares) == is_rounding
        assert not is_rounding or (out[1, 0, 0] == 1e6 and not exact[0, 0])
    moments_without(rows, y, weight, 3.0 * one, 1e6 * one, 1e-30 + 0.0 * one, out, exact)
    assert out[2, 0, 0] == 1e-30
    rows[0, 0] = 1e6 + 1.0
    moments_without(rows, y, weight, 3.0 * one, 1e6 * one, 1.5 * one, out, exact)
    assert exact[0, 0], "next to nothing is left: it is counted anew"


@pytest.mark.parametrize("covariance", ["full", "pooled"])
@pytest.mark.parametrize("unbiased", [True, False])
def test_rows_that_take_too_much_along_are_left_over(covariance: Any, unbiased: bool) -> None:
    """A row that has most of the scatter in its direction, and rows of a class of which two would be left."""
    settings = Settings(covariance=covariance, unbiased=unbiased)
    cells = np.random.default_rng(3).uniform(-1.0, 1.0, (N, 2))
    cells[7] = 60.0, -60.0
    few = np.where((Y != 2) | (np.cumsum(Y == 2) <= 3), 1.0, 0.0)
    for weight, left_over in ((np.ones(N), {7}), (few, {7, *np.flatnonzero((Y == 2) & (few == 1.0)).tolist()})):
        rows = np.flatnonzero(weight)
        names = ("x", "y")
        table = as_table(dict(zip(names, cells[rows].T, strict=True)))
        seen, classes = Scatter.observe(cells[rows], Y[rows]), np.bincount(Y[rows]).astype(float)
        asked = LeftOut(table, Y[rows], np.ones(len(rows)), classes)
        most = MultivariateGaussian.leave_most_out(names, seen, asked, settings)
        assert most is not None
        joint = np.zeros((len(rows), K))
        assert set(rows[most(slice(0, len(rows)), joint)].tolist()) == left_over
        for place, row in enumerate(rows):
            if row in left_over:
                assert not joint[place].any()
                continue
            rest = rows[rows != row]
            left = Scatter.observe(cells[rest], Y[rest])
            belief = MultivariateGaussian.settle(names, left, np.bincount(Y[rest]).astype(float), settings)
            expected = np.zeros((1, K))
            belief.bind(as_table(dict(zip(names, cells[[row]].T, strict=True))))(slice(0, 1), expected)
            np.testing.assert_allclose(joint[place], expected[0], rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_floors_that_may_be_reached_are_left_to_others(scale: float) -> None:
    """Whatever the unit of the numbers; and so is a class of two rows."""
    names, cells = ("x", "y"), scale * NUMBERS[:, :2]
    table = as_table(dict(zip(names, cells.T, strict=True)))
    rows = LeftOut(table, Y, np.ones(N), np.bincount(Y).astype(float))
    for floor, told in ((1e-9, True), (1e-4, True), (0.4, False), (2.0, False)):
        for covariance in ("full", "pooled"):
            settings = Settings(covariance=covariance, variance_floor=floor)  # type: ignore[arg-type]
            most = MultivariateGaussian.leave_most_out(names, Scatter.observe(cells, Y), rows, settings)
            assert (most is not None) == told
    of = np.where(Y != 2, Y, np.where(np.cumsum(Y == 2) <= 2, 2, 1)).astype(np.int32)
    two = LeftOut(table, of, np.ones(N), np.bincount(of).astype(float))
    assert MultivariateGaussian.leave_most_out(names, Scatter.observe(cells, of), two, Settings()) is None


@pytest.mark.parametrize("n_gaps", [1, 2, 3])
@pytest.mark.parametrize("name", ["bins", "tree-bins", "categorical"])
def test_the_few_gaps_of_a_column_left_out(name: str, n_gaps: int) -> None:
    """The only gap says nothing of its row: without it, no cell of the column can be a gap."""
    towns = np.where(np.arange(N) < n_gaps, None, np.array(["u", "v", "w"], dtype=object)[np.arange(N) // 2 % 3])
    numbers = np.where(np.arange(N) < n_gaps, np.nan, np.round(NUMBERS[:, 0], 1))
    table = as_table({"x": towns if name == "categorical" else numbers})
    for given in ({"missing": "value"}, {"missing": "value", "smoothing": 0.0}):
        settings = settings_of(name, given)
        joint, _ = closed(name, table, None, settings)
        np.testing.assert_allclose(joint, refitted(name, table, None, settings), rtol=1e-9, atol=1e-9)
        assert joint[0].any() == (n_gaps > 1)


def test_rates_of_rare_events() -> None:
    """Without its only event a class has none; a count beyond all bounds is taken for the largest one."""
    values, of = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0]), np.array([0, 0, 0, 0, 1, 1, 1], dtype=np.int32)
    told = Poisson.histogram_likelihood("x", Histogram.observe(values, of), Settings(smoothing={"x": Laplace(0.5)}))
    rates = [(1.0 + 0.5 * 4 / 7) / 3.5] * 3 + [0.5 * 4 / 7 / 3.5] + [(e + 0.5 * 4 / 7) / 2.5 for e in (1.0, 3.0, 2.0)]
    assert told == pytest.approx(stats.poisson(rates).logpmf(values).sum())
    largest = log_poisson(np.array([1e302, 1.5e302, 1e308]), np.array([2.0]))
    assert np.isfinite(largest).all() and largest[0] == largest[1] == largest[2]


@pytest.mark.parametrize("lone", [0, 1, 2])
def test_a_value_that_one_row_has_is_never_seen_without_it(lone: int) -> None:
    """Whichever value it is: the first, one between the others, or the last."""
    towns = np.array(["u", "v", "w"], dtype=object)[np.arange(N) // 2 % 2 + (np.arange(N) // 2 % 2 >= lone)]
    towns = np.where(towns == ["u", "v", "w"][lone], "x", towns)
    towns[5] = ["u", "v", "w"][lone]
    for smoothing in (0.0, 0.5):
        settings = settings_of("categorical", {"unseen": "smooth", "smoothing": smoothing})
        joint, _ = closed("categorical", as_table({"x": towns}), None, settings)
        np.testing.assert_allclose(joint, refitted("categorical", as_table({"x": towns}), None, settings), rtol=1e-9)
