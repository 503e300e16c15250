"""Intervals: as wide as theory says, whole rows or groups drawn anew, and to the last row at their limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from likely.evaluation import intervals as module
from likely.evaluation.intervals import intervals, rows_worth, wilson
from likely.evaluation.metrics import figures
from likely.evaluation.predictions import PredictionBuffer, Predictions


def judged(
    posterior: np.ndarray, truth: np.ndarray, weight: float = 1.0, unit: np.ndarray | None = None
) -> Predictions:
    n = len(truth)
    units = np.arange(n) if unit is None else unit
    buffer = PredictionBuffer(np.arange(posterior.shape[1]), truth.astype(np.int32), np.full(n, weight), units, None)
    buffer.write(slice(0, n), posterior)
    return buffer.finish()


def two_classes(n: int, seed: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    share = 1.0 / (1.0 + np.exp(-rng.normal(size=n) - 1.5 * (truth - 0.5)))
    return judged(np.column_stack([1.0 - share, share]), truth)


def test_wilsons_interval_is_that_of_scipy_down_to_one_row_and_whole_at_its_ends() -> None:
    for n in (1, 2, 7, 1000):
        for hits in {0, 1, n // 2, n}:
            expected = binomtest(hits, n).proportion_ci(method="wilson")
            found = wilson(hits / n, n)
            assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
            assert found.method == "Wilson"
        assert wilson(0.0, n).low == 0.0 and wilson(1.0, n).high == 1.0
    for share in (0.0, 0.5, 1.0):
        assert (wilson(share, 0.0).low, wilson(share, 0.0).high) == (0.0, 1.0)
    assert wilson(0.5, 0.5).low > 0.0


def test_weight_of_nothing_is_worth_no_rows() -> None:
    assert rows_worth(np.zeros(3), 1) == 0.0
    seen = replace(two_classes(20), weight=np.zeros(20))
    ends = intervals(seen, figures(seen, 1.0), 1.0, 1, 0)["coverage"]
    assert (ends.low, ends.high) == (0.0, 1.0)


def test_one_row_that_stands_for_a_hundred_is_worth_a_hundred() -> None:
    seen = judged(np.array([[0.9, 0.1]]), np.array([0]))
    assert intervals(seen, figures(seen, 1.0), 1.0, 1, 0, rows=100)["coverage"] == wilson(1.0, 100)


def test_intervals_are_as_wide_as_theory_says() -> None:
    n = 2000
    seen = two_classes(n)
    assert seen.shares is not None and seen.posterior is not None
    found = figures(seen, 1.0)
    ends = intervals(seen, found, 1.0, 1, 0)
    losses = -np.log(seen.shares.likelihood)
    area, half = found["roc_auc"], n / 2  # Hanley and McNeil, 1982
    one, two = area / (2.0 - area), 2.0 * area**2 / (1.0 + area)
    variance = (area * (1.0 - area) + (half - 1.0) * (one + two - 2.0 * area**2)) / half**2
    for name, deviation in (("log_loss", losses.std() / np.sqrt(n)), ("roc_auc", np.sqrt(variance))):
        for reach in (ends[name].high - found[name], found[name] - ends[name].low):
            assert reach == pytest.approx(1.96 * deviation, rel=0.2), name
    assert ends["recall_micro"].high - ends["recall_micro"].low == pytest.approx(
        ends["accuracy"].high - ends["accuracy"].low, rel=0.2
    )


def test_judgements_of_one_row_are_drawn_together_wherever_they_stand() -> None:
    """Every row judged three times alike tells no more than once."""
    seen = two_classes(40)
    times, order = np.tile(np.arange(40), 3), np.random.default_rng(1).permutation(120)
    many = replace(seen.take(times[order]), weight=np.full(120, 1.0 / 3.0), unit=7 * times[order])
    once, thrice = (intervals(each, figures(each, 1.0), 1.0, repeats, 0) for each, repeats in ((seen, 1), (many, 3)))
    assert once.keys() == thrice.keys()
    for name, ends in once.items():
        assert (thrice[name].low, thrice[name].high) == pytest.approx((ends.low, ends.high), rel=1e-9, abs=1e-12), name


def test_groups_of_several_sizes_are_drawn_whole() -> None:
    """Of two groups, a draw has one of them twice, or both: three figures, and none between."""
    seen = two_classes(5)
    seen = replace(seen, unit=np.array([3, 9, 3, 9, 9]))
    assert seen.shares is not None
    losses = -np.log(seen.shares.likelihood)
    first, second = losses[[0, 2]], losses[[1, 3, 4]]
    possible = [first.mean(), losses.mean(), second.mean()]
    ends = intervals(seen, figures(seen, 1.0), 1.0, 1, 0)["log_loss"]
    spread = ends.high - ends.low
    assert spread == pytest.approx(max(possible) - min(possible), rel=1e-9)


def test_of_two_rows_either_may_be_drawn() -> None:
    seen = judged(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    found = figures(seen, 1.0)
    ends = intervals(seen, found, 1.0, 1, 0)["log_loss"]
    assert ends.low < found["log_loss"] < ends.high


def test_a_curve_that_some_draws_have_not_has_no_interval() -> None:
    seen = judged(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), np.array([0, 1, 0]))
    found = figures(seen, 1.0)
    ends = intervals(seen, found, 1.0, 1, 0)
    assert "roc_auc" in found and "roc_auc" not in ends and "log_loss" in ends
    assert list(ends) == [name for name in found if name in ends]


def test_an_interval_of_shares_ends_at_one_and_begins_at_zero() -> None:
    few, fewer = (two_classes(n, 1) for n in (10, 6))
    ends = intervals(few, figures(few, 1.0), 1.0, 1, 0)
    assert [ends[name].high for name in ("f_macro", "recall_micro", "roc_auc")] == [1.0] * 3
    assert intervals(fewer, figures(fewer, 1.0), 1.0, 1, 0)["calibration_error"].low == 0.0


def test_rows_are_drawn_two_hundred_times(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    usual = module.figures
    monkeypatch.setattr(module, "figures", lambda *given, **named: drawn.append(1) or usual(*given, **named))
    seen = two_classes(10)
    intervals(seen, usual(seen, 1.0), 1.0, 1, 0)
    assert len(drawn) == 200


@pytest.mark.parametrize(("n_units", "method"), [(5000, "bootstrap"), (5001, "bootstrap of 5,000")])
def test_five_thousand_rows_are_drawn_at_most(n_units: int, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 3)
    seen = two_classes(n_units)
    assert intervals(seen, {**figures(seen, 1.0, with_curves=False)}, 1.0, 1, 0)["log_loss"].method == method


@pytest.mark.parametrize(("n_classes", "drawn"), [(20, True), (21, False)])
def test_curves_of_up_to_twenty_classes_have_intervals(
    n_classes: int, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 3)
    rng = np.random.default_rng(0)
    seen = judged(rng.dirichlet(np.ones(n_classes), 4 * n_classes), np.arange(4 * n_classes) % n_classes)
    assert ("roc_auc" in intervals(seen, figures(seen, 1.0), 1.0, 1, 0)) is drawn
