"""Figures at their edges: classes that never occur, weights below one, curves of a single row, decisions refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.decide import Loss
from likely.evaluation.metrics import (
    Calibration,
    Curve,
    Rates,
    areas,
    brier_scores,
    figures,
    has_curves,
    majority,
    mean,
    own_places,
    ratio,
    spoken,
    thinned,
)
from likely.evaluation.predictions import PredictionBuffer, Predictions


def judged(posterior: Any, truth: Any, loss: Loss | None = None) -> Predictions:
    shares, codes = np.array(posterior, dtype=float), np.array(truth, dtype=np.int32)
    n = len(codes)
    buffer = PredictionBuffer(np.arange(shares.shape[1]), codes, np.ones(n), np.arange(n), loss)
    buffer.write(slice(0, n), shares)
    return buffer.finish()


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_classes_that_nobody_has_or_says_count_for_nothing(unit: float) -> None:
    """Of five classes one is said and never true, one true and never said, two neither."""
    table = np.zeros((5, 6))
    table[0, 0], table[0, 1], table[2, 0], table[2, 5] = 3.0, 1.0, 1.0, 1.0
    rates = Rates(unit * table, 1.0)
    assert rates.precision.tolist() == pytest.approx([0.75, 0.0, 0.0, 0.0, 0.0])
    assert rates.recall.tolist() == pytest.approx([0.75, 0.0, 0.0, 0.0, 0.0])
    assert rates.average("macro") == pytest.approx((0.25, 0.25, 0.25))
    assert rates.average("weighted") == pytest.approx((0.5, 0.5, 0.5))
    assert rates.average("micro") == pytest.approx((3 / 5, 3 / 6, 2 * 3 / (5 + 6)))
    assert rates.accuracy == pytest.approx(3 / 5) and rates.coverage == pytest.approx(5 / 6)
    assert (rates.support / unit).tolist() == pytest.approx([4.0, 0.0, 2.0, 0.0, 0.0])
    assert (rates.decided / unit).tolist() == pytest.approx([4.0, 1.0, 0.0, 0.0, 0.0])


def test_the_macro_average_counts_classes_that_are_only_true_or_only_said() -> None:
    said = Rates(np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 1.0)
    assert said.average("macro")[0] == pytest.approx(0.5)
    true = Rates(np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), 1.0)
    assert true.average("macro")[1] == pytest.approx(0.5)


def test_divisions_and_means_by_less_than_one() -> None:
    assert ratio(np.array([0.25, 0.0]), np.array([0.5, 0.0])).tolist() == [0.5, 0.0]
    assert mean(np.array([1.0, 3.0]), np.array([0.25, 0.25])) == 2.0
    assert mean(np.array([1.0, 3.0]), np.zeros(2)) == 0.0


def test_refusals_are_refusals_whether_decisions_are_classes_or_not() -> None:
    shares, truth = [[0.9, 0.1], [0.2, 0.8], [0.55, 0.45], [0.1, 0.9]], [0, 1, 0, 0]
    by_class = judged(shares, truth, Loss.zero_one([0, 1], refuse=0.3))
    by_name = judged(shares, truth, Loss({"a": {0: 0, 1: 1}, "b": {0: 1, 1: 0}}, refuse=0.3))
    turned = judged(shares, truth, Loss({1: {0: 1, 1: 0}, 0: {0: 0, 1: 1}}, refuse=0.3))
    assert by_class.decided.tolist() == by_name.decided.tolist() == [0, 1, -1, 1] and turned.decided[2] == -1
    for seen in (by_class, by_name, turned):
        rates = Rates.of(seen, 1.0)
        assert rates.table.tolist() == [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
        assert (rates.coverage, rates.accuracy) == (0.75, pytest.approx(2 / 3))
    places = own_places(turned)
    assert places is not None and turned.decisions[places.argsort()].tolist() == [0, 1]
    assert own_places(by_name) is None
    some = judged(shares, truth, Loss({0: {0: 0, 1: 1}, "ask": {0: 0.3, 1: 0.3}, 1: {0: 1, 1: 0}}))
    assert own_places(some) is None and Rates.of(some, 1.0).table[:, -1].tolist() == [0.0, 0.0]


def test_refusing_must_be_cheaper_than_deciding() -> None:
    seen = judged([[0.5, 0.5], [0.25, 0.75]], [0, 1], Loss.zero_one([0, 1], refuse=0.5))
    assert seen.decided.tolist() == [0, 1]
    cheaper = judged([[0.5, 0.5], [0.25, 0.75]], [0, 1], Loss.zero_one([0, 1], refuse=0.49))
    assert cheaper.decided.tolist() == [-1, 1] and cheaper.cost is not None and cheaper.cost.tolist() == [0.49, 0.0]


def test_brier_scores_are_halved_for_two_classes_and_never_below_zero() -> None:
    likelihood, squares = np.array([0.75, 1.0]), np.array([0.625, 1.0])
    assert brier_scores(likelihood, squares, 2).tolist() == [0.0625, 0.0]
    assert brier_scores(likelihood, squares, 3).tolist() == [0.125, 0.0]
    assert brier_scores(np.array([1.0]), np.array([1.0 - 1e-16]), 3).tolist() == [0.0]


def test_calibration_has_ten_bins_that_begin_above_their_edge() -> None:
    said = np.array([0.0, 0.05, 0.1, 0.11, 0.95, 1.0])
    bins = Calibration.of(said, np.array([False, True, True, False, True, True]), np.full(6, 0.5))
    assert bins.weight.tolist() == [1.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 1.0]
    assert bins.predicted[[0, 1, 9]].tolist() == pytest.approx([0.05, 0.11, 0.975])
    assert bins.observed[[0, 1, 9]].tolist() == pytest.approx([2 / 3, 0.0, 1.0])
    assert bins.error == pytest.approx((1.5 * abs(0.05 - 2 / 3) + 0.5 * 0.11 + 1.0 * 0.025) / 3.0)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_curve_needs_a_row_of_the_class_and_one_of_another_wherever_they_rank(unit: float) -> None:
    scores = np.array([0.9, 0.8, 0.1])
    for truth, defined, area in (
        ([False, False, True], True, 0.0), ([True, True, False], True, 1.0), ([False, True, False], True, 0.5),
        ([True, True, True], False, None), ([False, False, False], False, None),
    ):  # fmt: skip
        found = Curve.of(np.array(truth), scores, np.full(3, unit))
        assert found.is_defined is defined
        assert area is None or found.roc_auc() == pytest.approx(area)
    for truth in ([True], [False]):
        assert Curve.of(np.array(truth), np.array([0.5]), np.ones(1)).is_defined is False
    none = np.zeros(0)
    assert Curve(none, none, none).is_defined is False
    tied = Curve.of(np.array([True, False]), np.array([0.5, 0.5]), np.ones(2))
    assert tied.is_defined and tied.roc_auc() == 0.5 and tied.average_precision() == 0.5


def test_points_of_a_curve_by_hand() -> None:
    found = Curve.of(
        np.array([True, False, True, False]), np.array([0.9, 0.8, 0.8, 0.1]), np.array([1.0, 2.0, 1.0, 2.0])
    )
    assert [points.tolist() for points in found.roc()] == [
        [0.0, 0.0, 0.5, 1.0],
        [0.0, 0.5, 1.0, 1.0],
        [np.inf, 0.9, 0.8, 0.1],
    ]
    precision, recall, thresholds = found.precision_recall()
    assert precision.tolist() == [1.0, 1.0, 0.5, pytest.approx(1 / 3)] and recall.tolist() == [0.0, 0.5, 1.0, 1.0]
    assert thresholds.tolist() == [np.inf, 0.9, 0.8, 0.1]
    assert found.roc_auc() == 0.875 and found.average_precision() == 0.75


@pytest.mark.parametrize(("n_classes", "drawn"), [(100, True), (101, False)])
def test_curves_are_drawn_for_up_to_a_hundred_classes(n_classes: int, drawn: bool) -> None:
    assert has_curves(judged(np.full((2, n_classes), 1.0 / n_classes), [0, 1])) is drawn


def test_areas_are_those_of_the_classes_that_have_a_curve() -> None:
    seen = judged([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1]], [0, 1, 0])
    assert areas(seen) == {"roc_auc": 1.0, "average_precision": 1.0}
    assert "roc_auc" not in figures(seen, 1.0, with_curves=False)
    assert areas(judged([[0.7, 0.3]], [0])) == {}


def test_long_curves_keep_evenly_many_points() -> None:
    assert thinned(11, 6).tolist() == [0, 2, 4, 6, 8, 10]
    assert thinned(2, 200).tolist() == [0, 1] and thinned(1000, 200)[[0, -1]].tolist() == [0, 999]
    assert len(thinned(1000, 200)) == 200


def test_what_must_be_beaten_is_always_saying_the_most_frequent_class() -> None:
    table = pd.DataFrame([[1.0, 0.0], [2.0, 1.0]], index=["a", "b"], columns=["a", "b"])
    often, share, nats = majority(table)
    assert (often, share) == ("b", 0.75) and nats == pytest.approx(-0.25 * np.log(0.25) - 0.75 * np.log(0.75))
    assert majority(pd.DataFrame(np.zeros((0, 2))))[:2] == (None, 0.0)


def test_figures_have_the_names_that_people_say() -> None:
    told = [spoken(name, 0.5) for name in ("f_macro", "f", "roc_auc", "brier_score", "log_loss", "average_precision")]
    assert told == ["F0.5 macro", "F0.5", "ROC AUC", "Brier score", "log loss", "average precision"]


def test_rows_without_weight_change_no_figure() -> None:
    seen = judged([[0.7, 0.3], [0.4, 0.6], [0.8, 0.2], [0.1, 0.9]], [0, 1, 1, 0])
    light = replace(seen, weight=np.array([1.0, 1.0, 1.0, 0.0]))
    few = seen.take(np.array([0, 1, 2]))
    assert figures(light, 1.0) == pytest.approx(figures(few, 1.0))
