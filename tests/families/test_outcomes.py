"""What a column may turn out to be: values, shares and densities of every family, by hand or as SciPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from likely import BayesClassifier, FullBayesClassifier
from likely.arrays import Array
from likely.families.bernoulli import Bernoulli, PresenceTable
from likely.families.gaussian import Gaussian, LogNormal
from likely.families.multivariate import MultivariateGaussian
from likely.families.outcomes import Outcomes, normalised, trapezoid_widths
from likely.families.poisson import Poisson
from likely.families.protocol import HasOutcomes


def of_bells(mean: list[float], deviation: list[float]) -> Gaussian:
    return Gaussian(("x",), np.array(mean)[:, None], np.array(deviation)[:, None])


def integral(values: Array, density: Array) -> Array:
    return np.asarray(np.trapezoid(density, values, axis=0))


def test_weights_of_the_trapezoid_rule() -> None:
    assert trapezoid_widths(np.array([0.0, 1.0, 3.0])).tolist() == [0.5, 1.5, 1.0]
    assert trapezoid_widths(np.array([0.0, 4.0])).tolist() == [2.0, 2.0]
    assert trapezoid_widths(np.array([7.0])).tolist() == [1.0]


def test_shares_sum_to_one_or_are_even() -> None:
    assert normalised(np.array([[1.0, 0.0], [3.0, 0.0]])).tolist() == [[0.25, 0.5], [0.75, 0.5]]
    assert normalised(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("points", [16, 101, 400])
def test_bells(points: int) -> None:
    found = of_bells([0.0, 100.0], [1.0, 0.01]).outcomes("x", points)
    assert found.density is not None and found.is_numeric and found.edges is None
    values = np.asarray(found.values)
    assert (np.diff(values) > 0.0).all() and len(values) <= 2 * points
    assert (values[0], values[-1]) == (pytest.approx(-8.0), pytest.approx(100.08 if points > 16 else 100.07))
    for c, bell in enumerate((stats.norm(0.0, 1.0), stats.norm(100.0, 0.01))):
        np.testing.assert_allclose(found.density[:, c], bell.pdf(values), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(integral(values, found.density), 1.0, rtol=2e-2 if points < 100 else 1e-6)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0)
    expected = normalised(found.density * trapezoid_widths(values)[:, None])
    np.testing.assert_allclose(found.shares, expected)


def test_each_class_brings_an_odd_number_of_values_and_its_mean_is_one_of_them() -> None:
    one, many = of_bells([3.0], [2.0]), of_bells([float(k) for k in range(50)], [1e-3] * 50)
    assert len(one.grid(100)) == 101 and 3.0 in one.grid(100).tolist()
    assert len(one.grid(4)) == 6, "of seventeen at the least every third, for twice as many as wanted are the most"
    assert len(many.grid(1000)) == 50 * 21
    assert of_bells([4.0, 4.0], [np.inf, np.inf]).grid(100).tolist() == [4.0]


def test_a_constant_column_is_what_it_was() -> None:
    found = of_bells([4.0, 4.0], [np.inf, np.inf]).outcomes("x", 100)
    assert np.asarray(found.values).tolist() == [4.0] and found.shares.tolist() == [[1.0, 1.0]]


def test_logarithms() -> None:
    x, y = np.exp(np.linspace(-1.0, 2.0, 40)), np.arange(40) % 2
    (belief,) = BayesClassifier(families="lognormal").fit({"x": x}, y).model_.beliefs
    assert isinstance(belief, HasOutcomes)
    found = belief.outcomes("x", 400)
    assert found is not None and found.density is not None
    logs, values = np.log(x), np.asarray(found.values)
    for c in range(2):
        own = logs[y == c]
        bell = stats.lognorm(s=own.std(ddof=1), scale=np.exp(own.mean()))
        np.testing.assert_allclose(found.density[:, c], bell.pdf(values), rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose((found.shares[:, c] * np.log(values)).sum(), own.mean(), atol=1e-6)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0)


def test_logarithms_of_narrow_and_wide_bells() -> None:
    """Values lie closer where the narrow bell is, and stand for as much less."""
    found = LogNormal(of_bells([0.0, 1.0], [0.05, 1.0])).outcomes("x", 400)
    logs = np.log(np.asarray(found.values, dtype=float))
    np.testing.assert_allclose(logs @ found.shares, [0.0, 1.0], atol=2e-3)
    squares = np.square(logs[:, None] - [0.0, 1.0])
    np.testing.assert_allclose((squares * found.shares).sum(axis=0), [0.05**2, 1.0], rtol=1e-2)


def test_logarithms_beyond_the_floats_are_left_out() -> None:
    x, y = np.exp(np.linspace(-600.0, 600.0, 40)), np.arange(40) % 2
    (belief,) = BayesClassifier(families="lognormal").fit({"x": x}, y).model_.beliefs
    assert isinstance(belief, HasOutcomes)
    found = belief.outcomes("x", 400)
    assert found is not None
    values = np.asarray(found.values, dtype=float)
    assert np.isfinite(values).all() and values[0] < 1e-290 and values[-1] > 1e290


def test_counts_are_exact_where_they_are_few() -> None:
    found = Poisson(("x",), np.array([[4.0], [0.0]])).outcomes("x", 1000)
    values = np.asarray(found.values)
    assert values.tolist() == list(np.arange(0.0, 37.0)), "eight deviations and as much again, and eight above"
    np.testing.assert_allclose(found.shares[:, 0], stats.poisson(4.0).pmf(values), rtol=1e-9, atol=1e-14)
    assert found.shares[0, 1] == 1.0 and found.density is None
    far = np.asarray(Poisson(("x",), np.array([[400.0]])).outcomes("x", 1000).values)
    assert (far[0], far[-1]) == (232.0, 576.0)


def test_of_many_counts_some_stand_for_their_neighbours() -> None:
    found = Poisson(("x",), np.array([[1e6], [1.1e6]])).outcomes("x", 500)
    values = np.asarray(found.values)
    assert len(values) <= 500 and (values == np.round(values)).all()
    np.testing.assert_allclose((found.shares * values[:, None]).sum(axis=0), [1e6, 1.1e6], rtol=1e-5)
    few = Outcomes.of_counts(Poisson(("x",), np.array([[0.5]])).bind, "x", 1, 0.0, 4.0, 5)
    assert np.asarray(few.values).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    np.testing.assert_allclose(few.shares[:, 0], normalised(stats.poisson(0.5).pmf(np.arange(5.0))[:, None])[:, 0])
    every_other = Outcomes.of_counts(Poisson(("x",), np.array([[0.5]])).bind, "x", 1, 0.0, 4.0, 3)
    assert np.asarray(every_other.values).tolist() == [0.0, 2.0, 4.0]
    mass = stats.poisson(0.5).pmf([0.0, 2.0, 4.0]) * [1.0, 2.0, 1.0]
    np.testing.assert_allclose(every_other.shares[:, 0], mass / mass.sum())


@pytest.mark.parametrize(
    ("threshold", "values"), [(0.0, [0.0, 1.0]), (0.5, [0.0, 1.0]), (1.0, [1.0, 2.0]), (-2.0, [-2.0, -1.0])]
)
def test_presence_is_one_value_or_the_other(threshold: float, values: list[float]) -> None:
    shares = PresenceTable(np.log([[0.25, 0.5]]), np.log([[0.75, 0.5]]))
    found = Bernoulli(("x",), shares, threshold).outcomes("x", 7)
    assert np.asarray(found.values).tolist() == values
    np.testing.assert_allclose(found.shares, [[0.75, 0.5], [0.25, 0.5]])


def test_values_are_as_likely_as_they_were_seen() -> None:
    """With a value never seen, and gaps, having shares of their own, those of the values are divided by their sum."""
    clf = BayesClassifier(unseen="smooth").fit({"x": ["u", "u", "v", "v"]}, [0, 0, 0, 1])
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasOutcomes)
    found = belief.outcomes("x", 7)
    assert found is not None and not found.is_numeric and tuple(found.values) == ("u", "v")
    np.testing.assert_allclose(found.shares, [[3 / 5, 1 / 3], [2 / 5, 2 / 3]])
    frame = found.to_frame(np.array(["a", "b"]))
    assert frame.index.tolist() == ["u", "v"] and frame.columns.tolist() == ["a", "b"]
    np.testing.assert_allclose(frame.to_numpy(), found.shares)


def test_bins_are_flat_between_their_edges() -> None:
    clf = BayesClassifier(families="bins", bins=2).fit({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 0, 0, 1])
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasOutcomes)
    found = belief.outcomes("x", 7)
    assert found is not None and found.density is not None and found.edges is not None
    assert found.edges.tolist() == [-0.5, 1.5, 3.5]
    assert np.asarray(found.values).tolist() == [-0.5, np.nextafter(1.5, 0.0), 1.5, np.nextafter(3.5, 0.0)]
    np.testing.assert_allclose(found.shares, [[0.3, 1 / 6], [0.3, 1 / 6], [0.2, 1 / 3], [0.2, 1 / 3]])
    np.testing.assert_allclose(found.density, [[0.3, 1 / 6], [0.3, 1 / 6], [0.2, 1 / 3], [0.2, 1 / 3]])
    assert found.to_frame(np.array([0, 1]))[0].tolist() == found.density[:, 0].tolist()


def test_the_range_that_holds_most_of_every_class_that_can_happen() -> None:
    shares = np.array([[0.05, 0.0, 0.0], [0.9, 0.5, 0.0], [0.05, 0.5, 0.5], [0.0, 0.0, 0.5]])
    found = Outcomes(np.array([1.0, 2.0, 3.0, 4.0]), shares)
    prior = np.array([0.5, 0.5, 0.0])
    assert found.central(prior, 0.8) == (2.0, 3.0)
    assert found.central(np.array([1.0, 0.0, 0.0]), 0.8) == (2.0, 2.0)
    assert found.central(np.array([1.0, 0.0, 0.0]), 0.98) == (1.0, 3.0)
    assert found.central(np.ones(3), 0.8) == (2.0, 4.0)
    assert found.central(np.zeros(3), 0.8) == (1.0, 4.0)


def test_all_values_are_in_the_range_that_holds_everything() -> None:
    """Ten tenths are a little less than one."""
    found = Outcomes(np.arange(10.0), np.full((10, 1), 0.1))
    assert found.shares.cumsum()[-1] < 1.0
    assert found.central(np.ones(1), 1.0) == (0.0, 9.0)


def test_as_much_lies_below_the_range_as_above() -> None:
    """Of a hundred values 79 % are between the eleventh and the ninetieth."""
    found = Outcomes(np.arange(100.0), np.full((100, 2), 0.01))
    assert found.central(np.ones(2), 0.79) == (10.0, 89.0)


@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal", "shrunk"])
def test_a_column_of_several_is_expected_to_be_what_its_own_bells_say(covariance: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]]) + 3.0
    (belief,) = FullBayesClassifier(covariance=covariance).fit(X, np.arange(60) % 2).model_.beliefs
    assert isinstance(belief, MultivariateGaussian)
    found, expected = belief.outcomes("x1", 50), belief.margins.outcomes("x1", 50)
    np.testing.assert_array_equal(np.asarray(found.values), np.asarray(expected.values))
    np.testing.assert_array_equal(found.shares, expected.shares)


def test_of_many_columns_one_is_asked() -> None:
    table: dict[str, Any] = {"x": [0.0, 1.0, 2.0, 5.0], "y": [10.0, 20.0, 30.0, 50.0]}
    both = BayesClassifier(families="gaussian").fit(table, [0, 0, 1, 1]).model_.beliefs
    (belief,) = both
    assert isinstance(belief, HasOutcomes)
    alone = belief.only("y")
    assert isinstance(alone, HasOutcomes)
    one, other = belief.outcomes("y", 100), alone.outcomes("y", 100)
    assert one is not None and other is not None
    np.testing.assert_array_equal(np.asarray(one.values), np.asarray(other.values))
