"""Scatter against NumPy's own covariances: gaps, weights, extremes, what leaves and what never came."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from likely.errors import DataError, NotMergeable, TooLarge
from likely.stats import Moments, Scatter, scatter
from likely.stats.scatter import Pairs

rng = np.random.default_rng(5)
TURN = rng.normal(size=(4, 4))
X = rng.normal(size=(300, 4)) @ TURN + [0.0, 5.0, -3.0, 100.0]
y = rng.integers(0, 3, 300).astype(np.int32)


def test_covariances_are_those_of_numpy() -> None:
    seen = Scatter.observe(X, y)
    for c in range(3):
        for unbiased in (True, False):
            expected = np.cov(X[y == c].T, ddof=int(unbiased))
            np.testing.assert_allclose(seen.covariance(unbiased=unbiased)[c], expected, rtol=1e-11, atol=1e-12)


def test_moments_are_bit_for_bit_those_of_single_columns() -> None:
    weight = rng.random(300)
    seen, alone = Scatter.observe(X, y, weight).moments, Moments.observe(X, y, weight)
    for ours, theirs in ((seen.n, alone.n), (seen.mean, alone.mean), (seen.root, alone.root)):
        np.testing.assert_array_equal(ours, theirs)


def test_without_gaps_cross_is_the_correlation() -> None:
    seen = Scatter.observe(X, np.zeros(300, dtype=np.int32))
    np.testing.assert_allclose(seen.cross[0], np.corrcoef(X.T), rtol=1e-11, atol=1e-13)
    assert seen.pairs is None


def test_gaps_count_pair_by_pair_as_pandas_does_it() -> None:
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    seen = Scatter.observe(holed, y)
    assert seen.pairs is not None
    for c in range(3):
        np.testing.assert_allclose(
            seen.covariance(unbiased=True)[c], pd.DataFrame(holed[y == c]).cov().to_numpy(), rtol=1e-10
        )
        known = (~np.isnan(holed[y == c])).astype(float)
        np.testing.assert_array_equal(seen.pair_n[c], known.T @ known)


def test_whole_weights_are_repeated_rows() -> None:
    times = rng.integers(0, 4, 300)
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for rows in (X, holed):
        weighted = Scatter.observe(rows, y, times.astype(float)).covariance(unbiased=True)
        repeated = Scatter.observe(np.repeat(rows, times, axis=0), np.repeat(y, times)).covariance(unbiased=True)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cells", [1, 64, 1000])
def test_the_size_of_chunks_does_not_matter(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Scatter.observe(X, y).covariance(unbiased=True)
    monkeypatch.setattr(scatter, "CHUNK_CELLS", cells)
    np.testing.assert_allclose(Scatter.observe(X, y).covariance(unbiased=True), whole, rtol=1e-11, atol=1e-12)


def test_once_all_gaps_are_forgotten_pairs_are_gone() -> None:
    holed = X[:10].copy()
    holed[:, 1] = np.nan
    whole, part = Scatter.observe(X, y), Scatter.observe(holed, y[:10])
    assert (whole + part).pairs is not None
    back = whole + part - part
    assert back.pairs is None
    np.testing.assert_allclose(back.cross, whole.cross, rtol=1e-9, atol=1e-12)


def test_rows_without_any_cell_need_no_pairs() -> None:
    seen = Scatter.observe(np.vstack([X, np.full((3, 4), np.nan)]), np.append(y, [0, 1, 2]).astype(np.int32))
    assert seen.pairs is None
    np.testing.assert_allclose(seen.cross, Scatter.observe(X, y).cross, rtol=1e-12, atol=1e-14)


def test_extreme_columns_keep_their_correlation() -> None:
    plain = Scatter.observe(X, y)
    wild = Scatter.observe(X * [1e154, 1e-170, 1e-300, 1e300], y)
    np.testing.assert_allclose(wild.cross, plain.cross, rtol=1e-9, atol=1e-12)
    halves = [Scatter.observe((X * [1e154, 1e-170, 1e-300, 1e300])[k::2], y[k::2]) for k in (0, 1)]
    np.testing.assert_allclose((halves[0] + halves[1]).cross, plain.cross, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((wild - halves[1]).cross, halves[0].cross, rtol=1e-9, atol=1e-12)


def test_far_from_zero_nothing_is_lost() -> None:
    exact = np.round(X * 1024) / 1024  # so that adding 1e8 is exact
    near, far = Scatter.observe(exact, y), Scatter.observe(exact + 1e8, y)
    np.testing.assert_allclose(far.cross, near.cross, atol=1e-8)


def test_what_never_came_is_noticed_where_it_can_be() -> None:
    line = np.arange(20.0)
    seen = Scatter.observe(np.column_stack([line, line]), np.zeros(20, dtype=np.int32))
    stranger = Scatter.observe(np.array([[0.0, 19.0], [19.0, 0.0]]), np.zeros(2, dtype=np.int32))
    assert (seen.moments - stranger.moments).n[0, 0] == 18  # column by column they could have been there
    with pytest.raises(NotMergeable):
        seen - stranger
    with pytest.raises(NotMergeable):
        stranger - seen


@pytest.mark.parametrize("scale", [1e154, 1e-170, 1.0, 1e300])
def test_parts_of_a_constant_column_can_be_taken_out(scale: float) -> None:
    """The mean of a part may be rounded otherwise than that of the whole: that is no spread."""
    draw = np.random.default_rng(0)
    for _ in range(50):
        weight, k = draw.choice([1.0, 2.0, 0.5, 3.25], 12), int(draw.integers(1, 12))
        rows = np.column_stack([np.full(12, scale * draw.integers(1, 1000) / 1000), draw.normal(size=12)])
        whole, part = (Scatter.observe(rows[:n], np.zeros(n, dtype=np.int32), weight[:n]) for n in (12, k))
        left = whole - part
        assert np.isfinite(left.cross).all()
        # A spread that rounding left to the whole column may stay, but no more than that.
        assert (left.moments.root[:, 0] <= 1e-7 * scale).all()


def test_columns_are_selected_with_their_pairs() -> None:
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for rows in (X, holed):
        some = Scatter.observe(rows, y).select(np.array([3, 1]))
        alone = Scatter.observe(np.ascontiguousarray(rows[:, [3, 1]]), y)
        np.testing.assert_allclose(some.covariance(unbiased=True), alone.covariance(unbiased=True), rtol=1e-9)


def test_constant_columns_and_single_rows_have_no_scatter() -> None:
    seen = Scatter.observe(np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 5.0]]), np.array([0, 0, 1], dtype=np.int32))
    np.testing.assert_array_equal(seen.cross, [[[1, 0], [0, 0]], [[0, 0], [0, 0]]])


def of(cross: list[list[float]], pairs: Pairs | None = None) -> Scatter:
    """One class and two columns."""
    moments = Moments(np.full((1, 2), 4.0), np.array([[1.0, 2.0]]), np.ones((1, 2)))
    return Scatter(moments, np.array([cross]), pairs)


FAIR = Pairs(np.full((1, 2, 2), 3.0), np.full((1, 2, 2), 1.5))


@pytest.mark.parametrize(
    "bad",
    [
        of([[1.0, 1.001], [1.001, 1.0]]),
        of([[1.0, 0.5], [0.25, 1.0]]),
        of([[1.0, -1.001], [-1.001, 1.0]]),
        of([[1.0, np.nan], [np.nan, 1.0]]),
        Scatter(of([[1.0, 0.5], [0.5, 1.0]]).moments, np.ones((1, 2, 1))),
        of([[1.0, 0.5], [0.5, 1.0]], Pairs(-FAIR.n, FAIR.mean)),
        of([[1.0, 0.5], [0.5, 1.0]], Pairs(FAIR.n[:, :1], FAIR.mean)),
        of([[1.0, 0.5], [0.5, 1.0]], Pairs(FAIR.n, FAIR.mean[:, :1])),
        of([[1.0, 0.5], [0.5, 1.0]], Pairs(FAIR.n, 1e306 * FAIR.mean)),
        of([[1.0, 0.5], [0.5, 1.0]], Pairs(FAIR.n, np.nan * FAIR.mean)),
    ],
)
def test_unsound_scatters(bad: Scatter) -> None:
    for fair in (
        of([[1.0, 0.5], [0.5, 1.0]]),
        of([[1.0, -1.0], [-1.0, 1.0]], FAIR),
        Scatter.empty(2, 3),
        Scatter.empty(),
    ):
        fair.validate()
    assert Scatter.empty().shape == (0, 0) and Scatter.empty(2, 3).cross.shape == (2, 3, 3)
    with pytest.raises(DataError):
        bad.validate()


def test_means_of_pairs_that_leave_the_floats_are_refused_by_the_number_of_the_column() -> None:
    mean = FAIR.mean.copy()
    mean[0, 1, 0] = -1e306
    far, near = of([[1.0, 0.5], [0.5, 1.0]], Pairs(FAIR.n, mean)), of([[1.0, 0.5], [0.5, 1.0]], FAIR)
    assert (near + near).pair_n.tolist() == [[[8.0, 6.0], [6.0, 8.0]]]
    for one, other in ((far, near), (near, far)):
        with pytest.raises(TooLarge, match="Column 1 "):
            one + other


@pytest.mark.parametrize("holed", [False, True])
def test_classes_and_columns_that_only_one_side_knows(holed: bool) -> None:
    """A wider table has more columns, which the rows of the other do not know; a class may be there once."""
    rows = np.where(rng.random(X.shape) < 0.2, np.nan, X) if holed else X
    few = np.column_stack([rows[:120, :3], np.full(120, np.nan)])
    few[:, 3] = np.nan
    expected = Scatter.observe(np.vstack([few, rows[120:]]), y)
    narrow = Scatter.observe(np.ascontiguousarray(rows[:120, :3]), y[:120])
    wide = Scatter.observe(rows[120:], y[120:])
    for both in (narrow + wide, wide + narrow):
        np.testing.assert_allclose(both.covariance(unbiased=True), expected.covariance(unbiased=True), rtol=1e-9)
        np.testing.assert_allclose(both.pair_n, expected.pair_n)
    left = (narrow + wide) - narrow
    np.testing.assert_allclose(left.covariance(unbiased=False), wide.covariance(unbiased=False), rtol=1e-7, atol=1e-9)
    one = Scatter.observe(rows[y == 0], np.zeros((y == 0).sum(), dtype=np.int32))
    joined = one + Scatter.observe(rows[y == 2], np.full((y == 2).sum(), 2, dtype=np.int32))
    whole = Scatter.observe(rows[y != 1], y[y != 1], n_classes=3)
    np.testing.assert_allclose(joined.covariance(unbiased=True), whole.covariance(unbiased=True), rtol=1e-9)
