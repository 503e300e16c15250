"""The Gaussian of several columns against SciPy's: whole, with gaps, column by column, and where it is singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from likely import DataError, FullBayesClassifier
from likely.families import MultivariateGaussian, Settings, multivariate_covariance
from likely.families import multivariate as module
from likely.families.gaussian import Gaussian
from likely.families.gaussian_kernels import steep_square
from likely.families.multivariate_covariance import (
    _steep_log_square,
    lower_factor,
    own_correlations,
    shrinkage_of,
    within_correlation,
)
from likely.stats import Moments, Scatter
from likely.table import as_table

rng = np.random.default_rng(11)
D = 5
y = np.repeat([0, 1, 2], [50, 60, 70]).astype(np.int32)
X = np.vstack([rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + rng.normal(size=D) for n in (50, 60, 70)])
NAMES = tuple(f"x{j}" for j in range(D))
COVARIANCES = ("full", "pooled", "diagonal", "shrunk")


def settled(rows: np.ndarray = X, of: np.ndarray = y, **settings: Any) -> MultivariateGaussian:
    seen = Scatter.observe(np.ascontiguousarray(rows), of)
    names = tuple(f"x{j}" for j in range(rows.shape[1]))
    return MultivariateGaussian.settle(names, seen, np.bincount(of).astype(float), Settings(**settings))


def evidence(belief: MultivariateGaussian, rows: np.ndarray) -> np.ndarray:
    joint = np.zeros((len(rows), len(belief.margins.mean)))
    belief.bind(as_table(rows))(slice(0, len(rows)), joint)
    return joint


def by_scipy(belief: MultivariateGaussian, rows: np.ndarray) -> np.ndarray:
    out = np.zeros((len(rows), len(belief.margins.mean)))
    for i, row in enumerate(rows):
        known = ~np.isnan(row)
        for c, (mean, matrix) in enumerate(zip(belief.margins.mean, belief.covariance(), strict=True)):
            if known.any():
                out[i, c] = multivariate_normal(mean[known], matrix[np.ix_(known, known)]).logpdf(row[known])
    return out


@pytest.mark.parametrize("unbiased", [True, False])
def test_full_covariances_are_the_plain_ones(unbiased: bool) -> None:
    belief = settled(unbiased=unbiased)
    expected = [np.cov(X[y == c].T, ddof=int(unbiased)) for c in range(3)]
    np.testing.assert_allclose(belief.covariance(), expected, rtol=1e-10)
    np.testing.assert_allclose(evidence(belief, X), by_scipy(belief, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unbiased", [True, False])
def test_the_pooled_covariance_is_the_one_within_classes(unbiased: bool) -> None:
    belief = settled(covariance="pooled", unbiased=unbiased)
    within = sum(np.cov(X[y == c].T, ddof=0) * (y == c).sum() for c in range(3)) / (len(y) - 3 * unbiased)
    np.testing.assert_allclose(belief.covariance(), np.broadcast_to(within, (3, D, D)), rtol=1e-10)
    np.testing.assert_allclose(evidence(belief, X), by_scipy(belief, X), rtol=1e-9, atol=1e-9)


def test_diagonal_is_bit_for_bit_one_gaussian_per_column() -> None:
    seen = Scatter.observe(X, y)
    alone = Gaussian.settle(NAMES, seen.moments, np.bincount(y).astype(float), Settings())
    joint = np.zeros((len(X), 3))
    alone.bind(as_table(X))(slice(0, len(X)), joint)
    np.testing.assert_array_equal(evidence(settled(covariance="diagonal"), X), joint)
    shrunk = settled(covariance="shrunk", shrinkage=1.0)
    np.testing.assert_allclose(evidence(shrunk, X), joint, rtol=1e-12)


def test_a_given_shrinkage_goes_part_of_the_way() -> None:
    full, half = settled().covariance(), settled(covariance="shrunk", shrinkage=0.25).covariance()
    diagonal = full * np.eye(D)
    np.testing.assert_allclose(half, 0.75 * full + 0.25 * diagonal, rtol=1e-10, atol=1e-12)


def test_automatic_shrinkage_is_its_formula() -> None:
    belief = settled(covariance="shrunk")
    for c in range(3):
        r, n = np.corrcoef(X[y == c].T), (y == c).sum()
        pairs = [(i, j) for i in range(D) for j in range(D) if i != j]
        noise = sum((1 - r[i, j] ** 2) ** 2 / (n - 1) for i, j in pairs)
        assert belief.shrinkage[c] == pytest.approx(noise / sum(r[i, j] ** 2 for i, j in pairs))


@pytest.mark.parametrize("true_r", [0.1, 0.3, 0.5])
def test_automatic_shrinkage_is_about_the_share_that_errs_least_on_average(true_r: float) -> None:
    draw = np.random.default_rng(0)
    true = (1 - true_r) * np.eye(20) + true_r
    root = np.linalg.cholesky(true)
    shares, own, errors = np.linspace(0, 1, 51), [], []
    for _ in range(100):
        r = np.corrcoef((draw.normal(size=(25, 20)) @ root.T).T)
        own.append(shrinkage_of(r, np.array(25.0), "auto"))
        errors.append([np.square((1 - share) * r + share * np.eye(20) - true).sum() for share in shares])
    assert np.mean(own) == pytest.approx(shares[np.mean(errors, axis=0).argmin()], abs=0.08)


def test_independent_columns_are_shrunk_all_the_way() -> None:
    noise = rng.normal(size=(30, 40))
    assert settled(noise, np.zeros(30, dtype=np.int32), covariance="shrunk").shrinkage[0] > 0.8
    assert shrinkage_of(np.eye(3), np.array(9.0), "auto") == 1.0
    assert shrinkage_of(np.array([[1.0, 0.3], [0.3, 1.0]]), np.array(100.0), "auto") == pytest.approx(
        0.91**2 / 99 / 0.09
    )
    assert settled(covariance="pooled").shrinkage.tolist() == [0.0] and not settled().shrinkage.any()
    assert settled(covariance="diagonal").shrinkage.tolist() == [1.0] * 3 and settled().shrinkage.shape == (3,)
    near = np.array([[1.0, 0.9], [0.9, 1.0]])
    assert shrinkage_of(near, np.array(2.0), "auto") == pytest.approx(0.19**2 / 0.81)
    assert shrinkage_of(near, np.array(1.0), "auto") == 1.0, "one row says nothing of how columns vary"
    four = np.where(np.eye(4) > 0.0, 1.0, 0.1)
    assert shrinkage_of(four, np.array(1001.0), "auto") == pytest.approx(0.99**2 / 1000 / 0.01)


# Gaps


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("many", [1, 3, 10_000], ids=["groups", "both", "row by row"])
def test_gaps_are_integrated_out(covariance: str, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_ROWS", many)
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    holed[:4] = np.nan
    belief = settled(covariance=covariance)
    np.testing.assert_allclose(evidence(belief, holed), by_scipy(belief, holed), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
@pytest.mark.parametrize("cells", [1, 85, 90, 200])
def test_rows_are_judged_a_tile_at_a_time(covariance: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of sixteen rows at the least, of eighteen, and of forty; the last of them is not full."""
    belief = settled(covariance=covariance)
    expected = evidence(belief, X)
    monkeypatch.setattr(multivariate_covariance, "TILE_CELLS", cells)
    np.testing.assert_allclose(evidence(belief, X), expected, rtol=1e-12)
    np.testing.assert_allclose(evidence(belief, X[:3]), expected[:3], rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_gaps_of_two_classes_and_of_one(covariance: str) -> None:
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for of in (np.minimum(y, 1), np.zeros_like(y)):
        belief = settled(of=of, covariance=covariance)
        np.testing.assert_allclose(evidence(belief, holed), by_scipy(belief, holed), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_an_infinite_cell_is_refused_by_its_place(covariance: str, cell: float) -> None:
    belief = settled(covariance=covariance)
    for gap in (0.0, np.nan):
        rows = X[:60].copy()
        rows[7, 1] = gap
        rows[40, 2], rows[40, 3] = cell, gap
        for asked in (belief, belief.only("x2")):
            with pytest.raises(DataError, match=r"Row 40 of column 'x2' holds -?inf.*must be finite"):
                evidence(asked, rows)


@pytest.mark.parametrize("unbiased", [True, False])
def test_a_class_that_saw_a_pair_once_borrows_its_correlation(unbiased: bool) -> None:
    of = np.where(np.arange(len(y)) == 5, 1, 0).astype(np.int32)
    seen = Scatter.observe(X, of)
    found, within = own_correlations(seen, unbiased=unbiased), within_correlation(seen, unbiased=unbiased)
    np.testing.assert_allclose(found[1], within, rtol=1e-12)
    np.testing.assert_allclose(within, np.corrcoef(X[of == 0].T), rtol=1e-10)


@pytest.mark.parametrize("unbiased", [True, False])
def test_what_rounding_left_of_a_column_moves_with_none(unbiased: bool) -> None:
    """Of a column at a million a spread below 4e-9 is rounding, and its correlations are noise."""
    n, cross = np.full((2, 2), 4.0), np.broadcast_to([[1.0, 0.9], [0.9, 1.0]], (2, 2, 2)).copy()
    for spread, found in ((1e-9, 0.0), (1e-8, 0.9)):
        moments = Moments(n, np.array([[1e6, 0.5], [1e6, 2.5]]), np.array([[spread, 1.0], [spread, 2.0]]))
        seen = Scatter(moments, cross.copy())
        np.testing.assert_allclose(own_correlations(seen, unbiased=unbiased)[:, 0, 1], found)
        np.testing.assert_allclose(within_correlation(seen, unbiased=unbiased)[0, 1], found * 3.0 / np.sqrt(10.0))


def test_no_correlation_is_beyond_one() -> None:
    """Rows that know both columns may vary more than all those that know either."""
    beyond = 0
    for _ in range(60):
        rows = np.where(rng.random((8, 2)) < 0.4, np.nan, rng.normal(size=(8, 1)) + 0.05 * rng.normal(size=(8, 2)))
        seen = Scatter.observe(rows, np.zeros(8, dtype=np.int32))
        if (seen.pair_n <= 1.0).any():
            continue
        raw = seen.covariance(unbiased=True)[0, 0, 1] / seen.moments.deviation(unbiased=True)[0].prod()
        beyond += abs(raw) > 1.0
        for found in (own_correlations(seen, unbiased=True)[0], within_correlation(seen, unbiased=True)):
            assert found[0, 1] == found[1, 0] == pytest.approx(np.clip(raw, -1.0, 1.0)) and found[0, 0] == 1.0
    assert beyond > 5


def test_floors_and_constants_of_the_shared_deviation() -> None:
    """Of two classes at 0.1 and 0.5, and of one column: the floor is a share of the variance of all rows."""
    x = np.array([[0.1, 3.0, 0.0], [0.1, 3.0, 0.2], [0.5, 3.0, 0.1], [0.5, 3.0, 0.3]])
    of = np.array([0, 0, 1, 1], dtype=np.int32)
    for floor, expected in ((0.0, 0.2), (0.25, 0.1), (4.0, 0.4)):
        deviation = settled(x, of, covariance="pooled", variance_floor=floor).margins.deviation
        np.testing.assert_allclose(deviation[:, 0], expected)
        assert np.isinf(deviation[:, 1]).all()
        np.testing.assert_allclose(deviation[:, 2], max(np.sqrt(0.02), np.sqrt(floor * 0.0125)))


def test_a_distance_that_leaves_the_floats_is_bent_as_that_of_a_single_column() -> None:
    for log_size in (-3.0, 0.0, 2.5, 229.0, 231.0, 400.0, 600.0):
        assert _steep_log_square(log_size) == pytest.approx(steep_square(np.exp(log_size), 1.0), rel=1e-12)


def test_rows_with_gaps_teach_what_they_know() -> None:
    holed = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    belief = settled(holed)
    np.testing.assert_allclose(belief.margins.mean[1], np.nanmean(holed[y == 1], axis=0), rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(belief.covariance()[1]), np.nanvar(holed[y == 1], axis=0, ddof=1), rtol=1e-6)


def test_a_pair_that_little_weight_knows_rests_on_that_weight() -> None:
    """Rows of half a weight: three known to either column, one and a half to both, so half a degree of freedom."""
    gap = np.nan
    rows = np.array([[3.0, 0.1], [-2.0, 0.4], [0.5, -0.2], [4.0, gap], [-5.0, gap], [1.0, gap]])
    rows = np.vstack([rows, np.column_stack([np.full(3, gap), [6.0, -5.0, 4.0]])])
    seen = Scatter.observe(rows, np.zeros(9, dtype=np.int32), np.full(9, 0.5))
    deviation, covariance = seen.moments.deviation(unbiased=True)[0], seen.covariance(unbiased=True)[0]
    expected = covariance[0, 1] / (deviation[0] * deviation[1])
    assert 0.01 < abs(expected) < 1.0
    assert own_correlations(seen, unbiased=True)[0, 0, 1] == pytest.approx(expected)
    others = np.column_stack([np.arange(9.0), -np.arange(9.0)])
    of = np.repeat([0, 1], 9).astype(np.int32)
    both = Scatter.observe(np.vstack([rows, others]), of, np.where(of == 0, 0.5, 1.0))
    found = own_correlations(both, unbiased=True)[:, 0, 1]
    assert found.tolist() == pytest.approx([expected, -1.0]), "another class does not matter"


def test_pairs_that_contradict_each_other_still_give_a_covariance() -> None:
    """r(0,1) = r(1,2) = 1 and r(0,2) = −1: each pair is known in other rows, no matrix has all three."""
    t, gap = np.linspace(-1, 1, 20), np.full(20, np.nan)
    rows = np.vstack([np.column_stack(c) for c in ((t, t, gap), (gap, t, t), (t, gap, -t))])
    belief = settled(rows, np.zeros(60, dtype=np.int32))
    values = np.linalg.eigvalsh(belief.correlation[0])
    assert values.min() > 0.0
    np.testing.assert_allclose(np.diagonal(belief.correlation[0]), 1.0, rtol=1e-12)
    assert np.isfinite(evidence(belief, rows)).all()


def test_columns_never_known_together_borrow_or_are_independent() -> None:
    rows = X.copy()
    rows[y == 0, 0] = np.where(np.arange(50) % 2, np.nan, rows[y == 0, 0])
    rows[y == 0, 1] = np.where(np.arange(50) % 2, rows[y == 0, 1], np.nan)
    belief, pooled = settled(rows), settled(rows, covariance="pooled")
    # A floor may have been needed elsewhere, so only roughly.
    assert belief.correlation[0, 0, 1] == pytest.approx(pooled.correlation[0, 0, 1], abs=0.05)
    only = settled(rows[y == 0], np.zeros(50, dtype=np.int32), covariance="pooled")
    assert abs(only.correlation[0, 0, 1]) < 0.9


# Column by column


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_chain_rule_adds_up(covariance: str) -> None:
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for rows in (X, holed):
        belief = settled(covariance=covariance)
        parts = [evidence(belief.only(name), rows) for name in NAMES]
        np.testing.assert_allclose(np.sum(parts, axis=0), evidence(belief, rows), rtol=1e-10, atol=1e-10)
        for j, part in enumerate(parts):
            np.testing.assert_array_equal(part[np.isnan(rows[:, j])], 0.0)


def test_the_share_of_a_column_is_its_density_given_the_ones_before() -> None:
    belief = settled()
    matrix, mean = belief.covariance()[1], belief.margins.mean[1]
    slope = matrix[2, :2] @ np.linalg.inv(matrix[:2, :2])
    centre = mean[2] + (X[:, :2] - mean[:2]) @ slope
    spread = np.sqrt(matrix[2, 2] - slope @ matrix[:2, 2])
    expected = -0.5 * np.log(2 * np.pi) - np.log(spread) - 0.5 * ((X[:, 2] - centre) / spread) ** 2
    np.testing.assert_allclose(evidence(belief.only("x2"), X)[:, 1], expected, rtol=1e-9, atol=1e-9)


# Singular and extreme


def test_the_floor_is_idle_where_it_is_not_needed() -> None:
    matrix = np.corrcoef(X.T)
    np.testing.assert_array_equal(lower_factor(matrix, 1e-9), np.linalg.cholesky(matrix))


@pytest.mark.parametrize("floor", [1e-9, 1e-3, 0.0])
def test_a_singular_correlation_is_raised_to_the_floor(floor: float) -> None:
    lower = lower_factor(np.ones((4, 4)), floor)
    values = np.linalg.eigvalsh(lower @ lower.T)
    assert values[0] > 0.0 or floor == 0.0
    assert np.isfinite(np.linalg.inv(lower)).all()
    np.testing.assert_allclose(values[0], floor, rtol=0.01, atol=1e-14)
    np.testing.assert_allclose(np.diagonal(lower @ lower.T), 1.0, rtol=1e-12)
    assert (np.diagonal(lower) > 0.0).all()


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_sums_copies_and_constants_among_the_columns(covariance: str) -> None:
    rows = np.column_stack([X[:, 0], X[:, 1], X[:, 0] + X[:, 1], 3 * X[:, 0], np.full(len(X), 0.1)])
    belief = settled(rows, covariance=covariance)
    joint = evidence(belief, rows)
    assert np.isfinite(joint).all()
    assert np.isfinite(belief.covariance()).all()
    known = np.isfinite(evidence(belief, np.where(rng.random(rows.shape) < 0.3, np.nan, rows)))
    assert known.all()


def test_a_query_far_away_is_nearer_to_the_nearer_class() -> None:
    belief = settled(np.vstack([X[y == 0], X[y == 0] + 3.0]), np.repeat([0, 1], 50).astype(np.int32))
    for size in (1e50, 1e99, 1e101, 1e160, 1e200, 1e307):
        joint = evidence(belief, np.full((1, D), size))
        assert np.isfinite(joint).all()
        parts = np.sum([evidence(belief.only(name), np.full((1, D), size)) for name in NAMES], axis=0)
        np.testing.assert_allclose(parts, joint, rtol=1e-9)


def test_the_size_of_columns_does_not_matter() -> None:
    factors = np.array([1e154, 1e-170, 1e-300, 1e300, 1.0])
    plain, wild = evidence(settled(), X), evidence(settled(X * factors), X * factors)
    np.testing.assert_allclose(plain - np.log(factors).sum(), wild, rtol=1e-9)
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    sizes = np.where(np.isnan(holed), 0.0, np.log(factors)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        evidence(settled(), holed) - sizes, evidence(settled(X * factors), holed * factors), rtol=1e-9
    )


@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal", "shrunk"])
def test_bells_of_some_columns_are_those_of_all(covariance: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))
    X = np.column_stack([X, np.full(60, 7.0)])
    clf = FullBayesClassifier(covariance=covariance).fit(X, np.arange(60) % 2)
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, MultivariateGaussian)
    for place, (mean, matrix) in enumerate(belief.bells(("x3", "x0"))):
        np.testing.assert_allclose(mean, [7.0, belief.margins.mean[place, 0]])
        np.testing.assert_allclose(matrix, clf.covariances_[place][np.ix_([3, 0], [3, 0])], atol=1e-12)
        assert not matrix[0].any()
