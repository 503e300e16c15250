"""Every figure against scikit-learn's, and worked example N by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from likely.decide import Loss
from likely.evaluation.intervals import MOST_CURVED, intervals, rows_worth, wilson
from likely.evaluation.metrics import (
    CURVES,
    MOST_CURVES,
    UNBOUNDED,
    Rates,
    areas,
    calibration,
    crossed,
    curve,
    figures,
    has_curves,
    log_losses,
    majority,
    thinned,
)
from likely.evaluation.predictions import PredictionBuffer, Predictions

EXACT = 1e-12


def predictions(
    n_classes: int, seed: int = 0, weighted: bool = False, truths: int | None = None, n: int = 300, ties: bool = False
) -> tuple[Predictions, np.ndarray]:
    """Random posteriors; `truths` classes occur, the others are never true."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, truths or n_classes, n).astype(np.int32)
    posterior = rng.dirichlet(np.ones(n_classes), n)
    posterior[np.arange(n), truth] += 0.4
    if ties:
        posterior = posterior.round(1) + 0.05
    posterior /= posterior.sum(axis=1, keepdims=True)
    weight = rng.random(n) if weighted else np.ones(n)
    buffer = PredictionBuffer(np.arange(n_classes), truth, weight, np.arange(n), None)
    buffer.write(slice(0, n), posterior)
    return buffer.finish(), weight


CASES = [
    (2, False, None),
    (2, True, None),
    (3, False, None),
    (5, False, None),
    (5, True, None),
    (5, True, 3),
    (4, False, 1),
    (1, False, 1),
]
cases = pytest.mark.parametrize(("n_classes", "weighted", "truths"), CASES)


# scikit-learn warns of a table with a single class, which is what is asked for here.
@pytest.mark.filterwarnings("ignore:A single label was found")
@cases
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_rates(n_classes: int, weighted: bool, truths: int | None, beta: float) -> None:
    seen, weight = predictions(n_classes, weighted=weighted, truths=truths)
    rates, given = Rates.of(seen, beta), {"sample_weight": weight}
    labels = np.arange(n_classes)
    expected = metrics.precision_recall_fscore_support(
        seen.truth, seen.top, beta=beta, labels=labels, zero_division=0, **given
    )
    for mine, theirs in zip((rates.precision, rates.recall, rates.f, rates.support), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=EXACT, atol=EXACT)
    for kind in ("macro", "micro", "weighted"):
        theirs = metrics.precision_recall_fscore_support(
            seen.truth, seen.top, beta=beta, average=kind, zero_division=0, **given
        )
        np.testing.assert_allclose(rates.average(kind), theirs[:3], rtol=EXACT)
    assert rates.accuracy == pytest.approx(metrics.accuracy_score(seen.truth, seen.top, **given), rel=EXACT)
    table = crossed(seen.truth, seen.top, weight, n_classes, n_classes)[:, :-1]
    np.testing.assert_allclose(
        table, metrics.confusion_matrix(seen.truth, seen.top, labels=labels, **given), rtol=EXACT
    )


@cases
def test_probabilities(n_classes: int, weighted: bool, truths: int | None) -> None:
    seen, weight = predictions(n_classes, weighted=weighted, truths=truths)
    found = figures(seen, 1.0)
    if n_classes == 1:
        assert found["log_loss"] == pytest.approx(0.0, abs=1e-15)
        assert found["brier_score"] == found["calibration_error"] == 0.0
        return
    given = {"labels": np.arange(n_classes), "sample_weight": weight}
    shares = seen.posterior
    assert shares is not None
    assert found["log_loss"] == pytest.approx(metrics.log_loss(seen.truth, shares, **given), rel=EXACT)
    assert found["brier_score"] == pytest.approx(metrics.brier_score_loss(seen.truth, shares, **given), rel=EXACT)


def test_a_share_of_zero_for_the_truth_costs_much_but_not_everything() -> None:
    buffer = PredictionBuffer(np.arange(2), np.array([0, 1], dtype=np.int32), np.ones(2), np.arange(2), None)
    buffer.write(slice(0, 2), np.array([[0.0, 1.0], [0.0, 1.0]]))
    seen = buffer.finish()
    expected = metrics.log_loss(seen.truth, seen.posterior, labels=[0, 1])
    assert figures(seen, 1.0)["log_loss"] == pytest.approx(expected, rel=EXACT)


@cases
@pytest.mark.parametrize("ties", [False, True])
def test_curves(n_classes: int, weighted: bool, truths: int | None, ties: bool) -> None:
    seen, weight = predictions(n_classes, weighted=weighted, truths=truths, ties=ties)
    assert seen.posterior is not None
    drawn = []
    for label in range(n_classes):
        mine, is_class, score = curve(seen, label), seen.truth == label, seen.posterior[:, label]
        if not mine.is_defined:
            assert is_class.all() or not is_class.any()
            continue
        drawn.append(label)
        points = metrics.roc_curve(is_class, score, sample_weight=weight, drop_intermediate=False)
        for own, other in zip(mine.roc(), points, strict=True):
            np.testing.assert_allclose(own, other, rtol=EXACT, atol=EXACT)
        area = metrics.roc_auc_score(is_class, score, sample_weight=weight)
        assert mine.roc_auc() == pytest.approx(area, rel=EXACT)
        area = metrics.average_precision_score(is_class, score, sample_weight=weight)
        assert mine.average_precision() == pytest.approx(area, rel=EXACT)
        precision, recall, _ = metrics.precision_recall_curve(is_class, score, sample_weight=weight)
        np.testing.assert_allclose(mine.precision_recall()[0], precision[::-1], rtol=EXACT)
        np.testing.assert_allclose(mine.precision_recall()[1], recall[::-1], rtol=EXACT, atol=EXACT)
    assert (areas(seen) == {}) == (not drawn)
    if n_classes > 2 and truths is None:
        expected = metrics.roc_auc_score(seen.truth, seen.posterior, multi_class="ovr", sample_weight=weight)
        assert areas(seen)["roc_auc"] == pytest.approx(expected, rel=EXACT)


def test_calibration_bins() -> None:
    seen, _ = predictions(2, n=2000)
    assert seen.posterior is not None
    observed, predicted = calibration_curve(seen.truth == 1, seen.posterior[:, 1], n_bins=10)
    mine = calibration(seen, 1)
    filled = mine.weight > 0
    np.testing.assert_allclose(mine.observed[filled], observed, rtol=EXACT)
    np.testing.assert_allclose(mine.predicted[filled], predicted, rtol=EXACT)


def test_a_classifier_that_means_what_it_says_is_calibrated() -> None:
    rng = np.random.default_rng(0)
    share = rng.random(200_000)
    truth = (rng.random(200_000) < share).astype(np.int32)
    buffer = PredictionBuffer(np.arange(2), truth, np.ones(200_000), np.arange(200_000), None)
    buffer.write(slice(0, 200_000), np.column_stack([1 - share, share]))
    assert figures(buffer.finish(), 1.0)["calibration_error"] < 0.005


def test_worked_example_n() -> None:
    """tp 6, fn 2, fp 4 for the second of two classes, 8 true negatives: by hand, in fractions."""
    truth = np.repeat([1, 1, 0, 0], [6, 2, 4, 8]).astype(np.int32)
    chosen = np.repeat([1, 0, 1, 0], [6, 2, 4, 8]).astype(np.int32)
    table = crossed(truth, chosen, np.ones(20), 2, 2)
    plain, recall_first, precision_first = (Rates(table, beta) for beta in (1.0, 2.0, 0.5))
    precision, recall = Fraction(6, 10), Fraction(6, 8)
    assert plain.accuracy == pytest.approx(float(Fraction(14, 20)))
    assert plain.precision[1] == pytest.approx(float(precision))
    assert plain.recall[1] == pytest.approx(float(recall))
    for rates, beta in ((plain, 1), (recall_first, 2), (precision_first, Fraction(1, 2))):
        by_hand = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert rates.f[1] == pytest.approx(float(by_hand), rel=EXACT)
    # Recall is the larger of the two here, and it is β > 1 that moves F towards it.
    assert precision_first.f[1] < plain.f[1] < recall_first.f[1] < float(recall)
    macro = (precision + Fraction(8, 10)) / 2
    assert plain.average("macro")[0] == pytest.approx(float(macro))
    # Pooled one-vs-rest tables: tp 6 + 8, fp 4 + 2, fn 2 + 4.
    assert plain.average("micro") == pytest.approx((14 / 20, 14 / 20, 14 / 20))


def test_f_tends_to_precision_and_recall() -> None:
    table = crossed(np.array([1, 1, 0], np.int32), np.array([1, 0, 0], np.int32), np.ones(3), 2, 2)
    assert Rates(table, 0.0).f[1] == Rates(table, 1.0).precision[1] == 1.0
    assert Rates(table, np.inf).f[1] == Rates(table, 1.0).recall[1] == 0.5


def test_nothing_out_of_nothing_is_zero() -> None:
    rates = Rates(np.zeros((2, 3)), 1.0)
    assert rates.accuracy == rates.coverage == 0.0
    assert rates.average("macro") == rates.average("micro") == rates.average("weighted") == (0.0, 0.0, 0.0)


def test_refused_rows_are_missed_but_not_wrong() -> None:
    table = crossed(np.array([0, 0, 1, 1], np.int32), np.array([0, -1, 1, 0], np.int32), np.ones(4), 2, 2)
    rates = Rates(table, 1.0)
    assert rates.coverage == 0.75
    assert rates.accuracy == pytest.approx(2 / 3)
    assert rates.recall.tolist() == [0.5, 0.5]
    assert rates.precision.tolist() == [0.5, 1.0]


def test_wilson() -> None:
    for hits, n in ((81, 263), (15, 148), (0, 20), (1, 29), (29, 29)):
        low, high = binomtest(hits, n).proportion_ci(method="wilson")
        assert (wilson(hits / n, n).low, wilson(hits / n, n).high) == pytest.approx((low, high), abs=EXACT)
    assert wilson(0.0, 10).low == 0.0
    assert wilson(1.0, 10).high == 1.0
    assert (wilson(0.0, 0).low, wilson(0.0, 0).high) == (0.0, 1.0)


def test_weights_are_worth_fewer_rows_the_more_they_differ() -> None:
    assert rows_worth(np.full(40, 2.5), 1) == pytest.approx(40)
    assert rows_worth(np.full(120, 1 / 3), 3) == pytest.approx(40)
    assert rows_worth(np.array([1.0] + 9 * [1e-9]), 1) == pytest.approx(1)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_figures_do_not_depend_on_the_unit_of_weights(unit: float) -> None:
    seen, weight = predictions(5, weighted=True, truths=3)
    other = replace(seen, weight=unit * weight)
    assert figures(other, 1.0) == pytest.approx(figures(seen, 1.0), rel=1e-9)
    np.testing.assert_allclose(Rates.of(other, 1.0).average("macro"), Rates.of(seen, 1.0).average("macro"), rtol=1e-9)


def test_no_probability_is_certain() -> None:
    eps = np.finfo(np.float64).eps
    assert log_losses(np.array([1.0, 0.0])).tolist() == [-np.log(1.0 - eps), -np.log(eps)]


def decided(refuse: float, n: int = 300) -> Predictions:
    """Predictions of three classes with a price for refusing."""
    seen, weight = predictions(3, n=n)
    loss = Loss.zero_one(np.arange(3), refuse=refuse)
    buffer = PredictionBuffer(np.arange(3), seen.truth, weight, np.arange(n), loss)
    buffer.write(slice(0, n), seen.posterior)
    return buffer.finish()


def test_intervals_of_rates_rest_on_the_rows_that_were_decided() -> None:
    seen = decided(0.45)
    found = figures(seen, 1.0)
    assert 0.2 < found["coverage"] < 0.9
    ends = intervals(seen, found, 1.0, 1, 0)
    for name in ("accuracy", "error_rate"):
        assert ends[name] == wilson(found[name], 300 * found["coverage"])
    assert ends["coverage"] == wilson(found["coverage"], 300)
    assert ends["log_loss"].method == "bootstrap"


def test_a_sample_of_more_rows_has_narrower_intervals_but_for_curves() -> None:
    seen = decided(0.45)
    found = figures(seen, 1.0)
    few, many = intervals(seen, found, 1.0, 1, 0), intervals(seen, found, 1.0, 1, 0, rows=300 * 100)
    assert many["accuracy"] == wilson(found["accuracy"], 300 * 100 * found["coverage"])
    for name in ("log_loss", "brier_score", "expected_cost", "f_macro", *CURVES):
        times = 1.0 if name in CURVES else 10.0
        assert found[name] - few[name].low == pytest.approx(times * (found[name] - many[name].low), rel=1e-6), name
        assert few[name].high - found[name] == pytest.approx(times * (many[name].high - found[name]), rel=1e-6), name


def test_intervals_end_where_figures_do() -> None:
    n = 12
    posterior = np.tile([0.999, 0.001], (n, 1))
    truth = np.array([0] * 5 + [1] * 7, dtype=np.int32)
    loss = Loss({0: {0: -3.0, 1: 1.0}, 1: {0: 1.0, 1: -3.0}})
    buffer = PredictionBuffer(np.arange(2), truth, np.ones(n), np.arange(n), loss)
    buffer.write(slice(0, n), posterior)
    seen = buffer.finish()
    found = figures(seen, 1.0)
    ends = intervals(seen, found, 1.0, 1, 0)
    assert ends["log_loss"].high > found["log_loss"] > 1.0
    assert ends["expected_cost"].low < found["expected_cost"] < 0.0
    assert all(0.0 <= ends[name].low <= ends[name].high <= 1.0 for name in ends if name not in UNBOUNDED)
    assert ends["recall_macro"].high <= 1.0 and ends["calibration_error"].high <= 1.0


@pytest.mark.parametrize(("n_classes", "drawn"), [(MOST_CURVED, True), (MOST_CURVED + 1, False)])
def test_curves_of_many_classes_have_no_interval(n_classes: int, drawn: bool) -> None:
    seen, _ = predictions(n_classes, n=n_classes * 4)
    ends = intervals(seen, figures(seen, 1.0), 1.0, 1, 0)
    assert [name in ends for name in CURVES] == [drawn, drawn]


def test_the_baseline_of_small_weights_is_that_of_the_same_rows_with_large_ones() -> None:
    rows = np.array([[3.0, 1.0], [0.0, 12.0]])
    often, share, nats = majority(pd.DataFrame(rows / 1000.0, index=["a", "b"]))
    assert (often, share) == ("b", pytest.approx(0.75))
    assert nats == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))


@pytest.mark.parametrize(("n", "most", "kept"), [(5, 10, [0, 1, 2, 3, 4]), (101, 3, [0, 50, 100]), (1, 10, [0])])
def test_a_thinned_curve_keeps_both_ends(n: int, most: int, kept: list[int]) -> None:
    assert thinned(n, most).tolist() == kept


def test_of_classes_that_are_equally_probable_the_first_is_chosen() -> None:
    posterior = np.array([[0.2, 0.4, 0.4], [0.5, 0.0, 0.5], [1 / 3] * 3])
    buffer = PredictionBuffer(np.arange(3), np.zeros(3, dtype=np.int32), np.ones(3), np.arange(3), None)
    buffer.write(slice(0, 3), posterior)
    assert buffer.finish().top.tolist() == [1, 0, 0]


def test_what_a_classifier_chose_without_shares_is_kept() -> None:
    buffer = PredictionBuffer(np.arange(3), np.zeros(3, dtype=np.int32), np.ones(3), np.arange(3), None)
    buffer.write_labels(np.array([2, 0]), np.array([1, 2], dtype=np.int32))
    found = buffer.finish()
    assert found.top.tolist() == [2, 0, 1]
    assert found.posterior is None


def test_curves_are_drawn_up_to_the_most_classes() -> None:
    assert has_curves(predictions(MOST_CURVES)[0])
    assert not has_curves(predictions(MOST_CURVES + 1)[0])
