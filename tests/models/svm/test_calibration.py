"""Probabilities of pairs and of classes beside slow oracles."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from likely.models.svm import Gauss, Linear
from likely.models.svm.calibration import (
    LazyCalibration,
    PlattScaling,
    calibrate,
    fit_calibration,
    fit_sigmoid,
    fit_slope,
    pairwise_coupling,
    stratified_folds,
)
from likely.models.svm.kernels import Kernel
from likely.models.svm.machine import class_pairs
from likely.models.svm.solver import Problem, SolverPlan


@given(st.lists(st.floats(0.01, 0.99), min_size=6, max_size=6))
def test_coupling_minimises_its_sum_of_squares(shares: list[float]) -> None:
    r = np.zeros((4, 4))
    for share, a, b in zip(shares, *class_pairs(4), strict=True):
        r[b, a], r[a, b] = share, 1.0 - share

    def squares(p: np.ndarray) -> float:
        return float(sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j))

    found = pairwise_coupling(np.array([shares]), 4)[0]
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0.0).all()
    slow = minimize(
        squares, np.full(4, 0.25), constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0}, tol=1e-12,
        bounds=[(0.0, 1.0)] * 4,
    )  # fmt: skip
    assert squares(found) <= squares(slow.x) + 1e-9


@given(st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5))
def test_pairs_that_agree_give_back_their_classes(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    earlier, later = class_pairs(5)
    np.testing.assert_allclose(pairwise_coupling((p[later] / (p[earlier] + p[later]))[None], 5)[0], p, atol=1e-9)


def test_no_pair_is_certain() -> None:
    found = pairwise_coupling(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), 3)
    assert np.isfinite(found).all()
    assert (found > 0.0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@given(st.integers(0, 50))
def test_the_sigmoid_has_the_least_log_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    is_later = rng.random(80) < 0.3
    values, weight = 2.0 * is_later - 0.5 + rng.normal(size=80), rng.random(80) + 0.1
    later, earlier = weight @ is_later, weight @ ~is_later
    truth = np.where(is_later, (later + 1.0) / (later + 2.0), 1.0 / (earlier + 2.0))

    def loss(at: np.ndarray) -> float:
        p = np.clip(expit(at[0] * values + at[1]), 1e-15, 1.0 - 1e-15)
        return -float(weight @ (truth * np.log(p) + (1.0 - truth) * np.log(1.0 - p)))

    slope, shift = fit_sigmoid(values, is_later, weight)
    slow = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    if slow.x[0] > 0.0:
        assert (slope, shift) == (pytest.approx(slow.x[0], abs=1e-4), pytest.approx(slow.x[1], abs=1e-4))
    else:
        assert slope == 0.0


def test_values_that_speak_the_wrong_way_say_nothing() -> None:
    is_later = np.array([True, True, False, False, False, False] * 5)
    slope, shift = fit_sigmoid(np.where(is_later, -1.0, 1.0), is_later, np.ones(30))
    assert slope == 0.0
    assert expit(shift) == pytest.approx(11.0 / 32.0)  # Laplace's rule: (10 + 1) / (30 + 2)


def test_few_values_that_speak_the_wrong_way_are_chance() -> None:
    is_later = np.array([True, True, False, False, False, False])
    assert fit_sigmoid(np.where(is_later, -1.0, 1.0), is_later, np.ones(6)) == (1.0, 0.0)


def test_a_slope_alone_keeps_the_sides() -> None:
    """Three of four rows of each value are right: even odds at zero, and the least loss of all slopes there."""
    values, is_later = (
        np.array([1.0, -1.0] * 8 + [3.0] * 4),
        np.array([True, False] * 6 + [False, True] * 2 + [True] * 4),
    )
    slope, shift = fit_slope(values, is_later, np.ones(20))
    assert shift == 0.0
    soft = np.where(is_later, 21.0 / 22.0, 1.0 / 22.0)  # mirrored there are 20 rows of either class

    def loss(at: float) -> float:
        p = expit(at * values)
        return -float((soft * np.log(p) + (1.0 - soft) * np.log(1.0 - p)).sum())

    assert loss(slope) < min(loss(0.99 * slope), loss(1.01 * slope))
    assert fit_slope(np.array([-1.0, 1.0]), np.array([True, False]), np.ones(2)) == (1.0, 0.0)


@pytest.mark.parametrize(("kernel", "way"), [(Linear(), "plane"), (Gauss(1.0), "landmarks")])
def test_parts_are_solved_in_the_way_of_the_whole(kernel: Kernel, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of five rows are few enough for another way, whose values are no measure of this one."""
    from likely.models.svm import calibration

    rng = np.random.default_rng(0)
    problem, taken = Problem(rng.normal(size=(200, 2)), rng.integers(0, 2, 200).astype(np.int32), 2), []

    def watched(part: Problem, plan: SolverPlan, wanted: str) -> object:
        from likely.models.svm.solver import solve

        machine, found = solve(part, plan, wanted)
        taken.append((found, machine.n_support is None))
        return machine, found

    monkeypatch.setattr(calibration, "solve", watched)
    calibrate(problem, SolverPlan(1.0, kernel, max_rows=180, landmarks=50), 5)
    assert taken == [(way, True)] * 5


def test_a_pair_without_judged_rows_takes_values_for_log_odds() -> None:
    assert fit_sigmoid(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0)) == (1.0, 0.0)


def test_every_row_is_judged_once_by_machines_that_know_all_classes() -> None:
    y = np.repeat([0, 1, 2, 3], [1, 2, 7, 30]).astype(np.int32)
    judged = np.zeros(len(y), dtype=int)
    for train, test in stratified_folds(y, 4, 5, seed=0):
        judged[test] += 1
        assert set(np.unique(y[train])) == {0, 1, 2, 3}
        assert not set(train) & set(test)
    assert judged.tolist() == [0, *[1] * 39]  # the only row of a class is always learned


def test_probabilities_come_true() -> None:
    """Rows whose class is drawn with a known probability: what is said is near to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 1))
    chance = expit(2.0 * X[:, 0])
    y = (rng.random(1500) < chance).astype(np.int32)
    problem = Problem(X, y, 2)
    plan = SolverPlan(1.0, Gauss(2.0))
    from likely.models.svm.solver import solve

    calibration = calibrate(problem, plan, 5)
    said = calibration.posterior(solve(problem, plan)[0].decision_values(X))[:, 1]
    assert np.abs(said - chance).mean() < 0.05


def test_many_rows_hold_out_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely.models.svm import calibration

    rng = np.random.default_rng(0)
    problem = Problem(rng.normal(size=(200, 2)), rng.integers(0, 2, 200).astype(np.int32), 2)
    asked: list[int] = []

    def counted(part: Problem, plan: SolverPlan, way: str) -> object:
        from likely.models.svm.solver import solve

        asked.append(len(part))
        return solve(part, plan, way)

    monkeypatch.setattr(calibration, "solve", counted)
    calibrate(problem, SolverPlan(1.0, Gauss(1.0)), 5)
    monkeypatch.setattr(calibration, "MANY_ROWS", 100)
    calibrate(problem, SolverPlan(1.0, Gauss(1.0)), 5)
    assert asked == [160] * 6


def test_later_lets_the_rows_go() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(rng.normal(size=(40, 2)), rng.integers(0, 2, 40).astype(np.int32), 2)
    later = LazyCalibration(task=partial(calibrate, problem, SolverPlan(1.0, Gauss(1.0)), 3))
    assert later.__getstate__()["_task"] is not None
    first = later.get()
    assert later.get() is first
    assert later.__getstate__()["_task"] is None


def test_three_classes_from_their_pairs() -> None:
    calibration = fit_calibration(np.zeros((0, 3)), np.zeros(0, dtype=np.int32), np.zeros(0), 3)
    assert isinstance(calibration, PlattScaling)
    np.testing.assert_allclose(calibration.posterior(np.zeros((2, 3))), 1.0 / 3.0)
