"""What is believed of one column once others are known: the conditional bell curve, as the textbook has it."""

from __future__ import annotations

import numpy as np
import pytest

from likely.families import MultivariateGaussian, Settings
from likely.families.gaussian import Gaussian
from likely.families.multivariate import LEAST_SHARE
from likely.stats import Scatter
from likely.table import as_table

rng = np.random.default_rng(4)
Y = np.repeat([0, 1], [40, 60]).astype(np.int32)
X = np.vstack([rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=4) for n in (40, 60)])
NAMES = ("x0", "x1", "x2", "x3")
ROWS = np.array([[0.1, 0.2, np.nan, 0.4], [np.nan, 2.0, 7.0, np.nan], [np.nan, np.nan, 5.0, np.nan]])


def settled(rows: np.ndarray, **settings: object) -> MultivariateGaussian:
    seen = Scatter.observe(np.ascontiguousarray(rows), Y)
    names = NAMES[: rows.shape[1]]
    return MultivariateGaussian.settle(names, seen, np.bincount(Y).astype(float), Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal", "shrunk"])
def test_mean_and_deviation_are_those_of_the_conditional_distribution(covariance: str) -> None:
    """What the column itself holds in a row makes no difference; of the others, those that are known count."""
    belief = settled(X, covariance=covariance)
    found = list(belief.given_others(as_table(ROWS), "x2", np.arange(3)))
    assert len(found) == 3 and all(each.columns == ("x2",) and isinstance(each, Gaussian) for each in found)
    for row, each in zip(ROWS, found, strict=True):
        known = [place for place in (0, 1, 3) if not np.isnan(row[place])]
        for c, (mean, matrix) in enumerate(zip(belief.margins.mean, belief.covariance(), strict=True)):
            slope = np.linalg.solve(matrix[np.ix_(known, known)], matrix[known, 2]) if known else np.zeros(0)
            assert each.mean[c, 0] == pytest.approx(mean[2] + slope @ (row[known] - mean[known]))
            assert each.deviation[c, 0] == pytest.approx(np.sqrt(matrix[2, 2] - slope @ matrix[known, 2]))
    (alone,) = belief.given_others(as_table(ROWS), "x2", np.array([2]))
    assert alone.mean[:, 0].tolist() == belief.margins.mean[:, 2].tolist(), "no other column of that row is known"


def test_a_column_that_the_others_determine_keeps_a_little_spread() -> None:
    rows = np.column_stack([X[:, 0], X[:, 1], X[:, 0] + X[:, 1]])
    belief = settled(rows, variance_floor=0.0)
    asked = np.array([[1.0, 2.0, np.nan]])
    (found,) = belief.given_others(as_table(asked), "x2", np.array([0]))
    np.testing.assert_allclose(found.mean[:, 0], 3.0, rtol=1e-6)
    np.testing.assert_allclose(found.deviation[:, 0], belief.margins.deviation[:, 2] * np.sqrt(LEAST_SHARE))


def test_a_constant_column_tells_nothing_and_is_told_nothing() -> None:
    rows = np.column_stack([X[:, 0], np.full(100, 7.0), X[:, 1]])
    belief, without = settled(rows), settled(rows[:, [0, 2]])
    (found,) = belief.given_others(as_table([[0.5, 9.0, np.nan]]), "x2", np.array([0]))
    (same,) = without.given_others(as_table([[0.5, np.nan]]), "x1", np.array([0]))
    np.testing.assert_allclose(found.mean, same.mean)
    np.testing.assert_allclose(found.deviation, same.deviation)
    (constant,) = belief.given_others(as_table([[0.5, 9.0, 1.0]]), "x1", np.array([0]))
    assert constant.mean.tolist() == [[7.0], [7.0]] and np.isinf(constant.deviation).all()
