"""Calibrators against their definitions, and against scikit-learn's isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from likely.decide.calibration import METHODS, Isotonic, Temperature, VennAbers, log_odds

rng = np.random.default_rng(2)
N = 400
TRUE_ODDS = rng.normal(size=N)
TRUTH = (rng.random(N) < 1 / (1 + np.exp(-TRUE_ODDS))).astype(np.int32)
WEIGHT = rng.choice([1.0, 2.0], N)


def posterior_of(odds: np.ndarray) -> np.ndarray:
    share = 1 / (1 + np.exp(-odds))
    return np.column_stack([1 - share, share])


def test_temperature_undoes_a_power() -> None:
    sure, right = posterior_of(3.0 * TRUE_ODDS), posterior_of(TRUE_ODDS)
    power = Temperature.settle(right, TRUTH, WEIGHT).power
    assert Temperature.settle(sure, TRUTH, WEIGHT).power == pytest.approx(power / 3.0, rel=1e-3)
    np.testing.assert_allclose(Temperature(1 / 3).apply(sure), right, rtol=1e-9)


def test_temperature_is_one_where_nothing_can_be_told() -> None:
    """For a single class, and where no row has weight; and as cold as can be where all rows were right."""
    assert Temperature.settle(np.ones((3, 1)), np.zeros(3, dtype=np.int32), np.ones(3)).power == 1.0
    assert Temperature.settle(posterior_of(TRUE_ODDS), TRUTH, np.zeros(N)).power == 1.0
    right = posterior_of(np.where(TRUTH == 1, 0.5, -0.5))
    assert Temperature.settle(right, TRUTH, WEIGHT).power == pytest.approx(50.0, abs=1e-3)


def test_temperature_is_the_best_power() -> None:
    sure = posterior_of(3.0 * TRUE_ODDS)
    best = Temperature.settle(sure, TRUTH, WEIGHT).power

    def loss(power: float) -> float:
        own = Temperature(power).apply(sure)[np.arange(N), TRUTH]
        return float(-WEIGHT @ np.log(own))

    assert all(loss(best) <= loss(best * factor) for factor in (0.9, 0.99, 1.01, 1.1))


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_temperature_does_not_depend_on_the_unit_of_weights(unit: float) -> None:
    sure = posterior_of(3.0 * TRUE_ODDS)
    assert Temperature.settle(sure, TRUTH, unit * WEIGHT).power == pytest.approx(
        Temperature.settle(sure, TRUTH, WEIGHT).power, rel=1e-4
    )


def test_temperature_keeps_zeros_and_order() -> None:
    given = np.array([[0.0, 0.2, 0.8], [0.5, 0.5, 0.0]])
    told = Temperature(0.5).apply(given)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    assert told[0, 0] == 0.0 and told[1, 0] == told[1, 1] == 0.5
    np.testing.assert_allclose(Temperature(0.0).apply(given)[0], [0.0, 0.5, 0.5])


def test_isotonic_is_scikit_learns() -> None:
    odds = np.round(2.0 * TRUE_ODDS, 1)
    curve = Isotonic.settle(posterior_of(odds), TRUTH, WEIGHT)
    expected = IsotonicRegression(out_of_bounds="clip").fit(odds, TRUTH, WEIGHT).predict(odds)
    least = 1 / (WEIGHT.sum() + 2)
    np.testing.assert_allclose(
        curve.apply(posterior_of(odds))[:, 1], np.clip(expected, least, 1 - least), rtol=1e-9, atol=1e-9
    )


def test_venn_abers_is_isotonic_regression_with_one_row_more() -> None:
    odds = np.round(TRUE_ODDS[:60], 1)
    truth = TRUTH[:60]
    found = VennAbers.settle(posterior_of(odds), truth, np.ones(60))
    for query in (-9.0, -0.55, float(odds[7]), 0.0, 1.23, 9.0):
        low, high = found.bounds(posterior_of(np.array([query])))
        for told, label in ((low[0, 1], 0), (high[0, 1], 1)):
            more = IsotonicRegression().fit(np.append(odds, query), np.append(truth, label))
            assert told == pytest.approx(more.predict([query])[0], abs=1e-9)
        share = found.apply(posterior_of(np.array([query])))[0, 1]
        assert low[0, 1] <= share <= high[0, 1]
        assert share == pytest.approx(high[0, 1] / (1 - low[0, 1] + high[0, 1]))


def test_venn_abers_of_shares_that_rise() -> None:
    """No two scores share a block, so that every cell of the kernel's stack is in use from the first query on."""
    odds = np.repeat(np.arange(5.0) - 2.0, 10)
    truth = np.concatenate([np.arange(10) < hits for hits in (1, 3, 5, 7, 9)]).astype(np.int32)
    found = VennAbers.settle(posterior_of(odds), truth, np.ones(50))
    for query in (-2.5, -2.0, -1.5, 0.0, 0.5, 1.5, 2.0, 2.5):
        low, high = found.bounds(posterior_of(np.array([query])))
        for told, label in ((low[0, 1], 0), (high[0, 1], 1)):
            more = IsotonicRegression().fit(np.append(odds, query), np.append(truth, label))
            assert told == pytest.approx(more.predict([query])[0], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_posteriors_stay_posteriors(method: str, n_classes: int) -> None:
    given = rng.dirichlet(np.full(n_classes, 0.05), size=80)
    truth = rng.integers(0, n_classes, 80).astype(np.int32)
    told = METHODS[method].settle(given, truth, np.ones(80)).apply(given)
    assert told.shape == given.shape and np.isfinite(told).all() and (told >= 0.0).all()
    np.testing.assert_allclose(told.sum(axis=1), 1.0)


def test_log_odds_do_not_round() -> None:
    assert log_odds(np.array([[1.0, 1e-30]]))[0].tolist() == pytest.approx([np.log(1e30), np.log(1e-30)])
    assert log_odds(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist() == [[700.0, -700.0], [0.0, 0.0]]
