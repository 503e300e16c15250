"""A report says the same in a terminal, a notebook, a frame and a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import likely
from likely import BayesClassifier, Loss, SettingsError
from likely.decide import REFUSED, decide_posterior
from likely.evaluation import predictions
from likely.teaching import datasets

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def report() -> likely.Report:
    return likely.evaluate(BayesClassifier(), IRIS, np.array(["setosa", "versicolor", "virginica"])[SPECIES], beta=2.0)


def test_the_name_is_the_function_even_after_its_package_was_imported() -> None:
    import likely.evaluation

    assert callable(likely.evaluate)
    assert likely.evaluation.evaluate is not None


def test_to_frame_has_all_figures_with_named_intervals(report: likely.Report) -> None:
    frame = report.to_frame()
    assert frame.loc["accuracy", "value"] == report.accuracy == 1.0 - report.error_rate
    assert frame.loc["log_loss", "value"] == report.log_loss
    assert frame.loc["accuracy", "interval"] == "Wilson"
    assert set(frame["interval"]) == {"Wilson", "bootstrap"}
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()
    assert frame.notna().all(axis=None)
    for name, attribute in (("f_macro", "f"), ("precision_macro", "precision"), ("recall_macro", "recall")):
        assert frame.loc[name, "value"] == getattr(report, attribute)
    for name in ("roc_auc", "average_precision", "brier_score", "calibration_error"):
        assert frame.loc[name, "value"] == getattr(report, name)


def test_tables(report: likely.Report) -> None:
    assert report.confusion.to_numpy().dtype == np.int64
    assert report.confusion.to_numpy().trace() == round(150 * report.accuracy)
    assert report.confusion.index.tolist() == report.confusion.columns.tolist() == report.classes
    by_class = report.by_class
    assert by_class["weight"].tolist() == [50, 50, 50]
    assert ((by_class["recall_low"] <= by_class["recall"]) & (by_class["recall"] <= by_class["recall_high"])).all()
    assert report.averages.loc["macro", "f"] == report.f
    assert report.folds["rows"].sum() == 150
    assert np.average(report.folds["accuracy"], weights=report.folds["rows"]) == pytest.approx(report.accuracy)


def test_curves_are_frames(report: likely.Report) -> None:
    roc, thin = report.roc(), report.roc(most=10)
    assert roc.columns.tolist() == ["class", "false_positive_rate", "true_positive_rate", "threshold"]
    assert set(roc["class"]) == set(report.classes)
    assert (thin.groupby("class").size() <= 10).all()
    assert thin.groupby("class")["true_positive_rate"].max().eq(1.0).all()
    assert report.precision_recall().columns.tolist() == ["class", "precision", "recall", "threshold"]
    bins = report.calibration()
    assert bins["weight"].sum() == 150
    gap = np.average((bins["predicted"] - bins["observed"]).abs(), weights=bins["weight"])
    assert gap == pytest.approx(report.calibration_error)
    assert report.calibration("setosa")["weight"].sum() == 150
    with pytest.raises(SettingsError, match="no class"):
        report.calibration("rose")


def test_json_is_plain(report: likely.Report, tmp_path: Path) -> None:
    text = report.to_json(tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == text

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    content = json.loads(text, parse_constant=refuse)
    assert content["measures"]["accuracy"]["value"] == report.accuracy
    assert content["measures"]["log_loss"]["interval"] == "bootstrap"
    assert content["confusion"]["counts"] == report.confusion.to_numpy().tolist()
    assert content["classes"] == report.classes
    assert len(content["folds"]) == 10


def test_html_needs_nothing_else(report: likely.Report, tmp_path: Path) -> None:
    page = report.to_html(tmp_path / "report.html")
    assert page.startswith("<!DOCTYPE html>")
    assert "http" not in re.sub(r' xmlns(:\w+)?="[^"]*"', "", page), "a namespace is a name, nothing that is fetched"
    assert "<script" not in page
    assert "versicolor" in page
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert report._repr_html_() in page


def test_labels_are_escaped() -> None:
    labels = np.array(["<b>", "&"])[(SPECIES > 0).astype(int)]
    page = likely.evaluate(BayesClassifier(), IRIS, labels, cv=3).to_html()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_text(report: likely.Report) -> None:
    text = str(report)
    assert text.startswith("BayesClassifier: 150 rows, 3 classes\n10-fold cross-validation, stratified, seed 0")
    assert "F2 macro" in text
    assert "Wilson" in report.text(all_measures=True)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert repr(report).startswith("Report(BayesClassifier, 10-fold")


# Losses


def test_a_loss_counts_refusals_and_costs() -> None:
    loss = Loss.zero_one([0, 1, 2], refuse=0.1)
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, loss=loss)
    assert report.confusion.columns.tolist() == [0, 1, 2, REFUSED]
    refused = int(report.confusion[REFUSED].sum())
    wrong = 150 - refused - int(report.confusion.to_numpy()[:, :3].trace())
    assert refused > 0
    assert report.coverage == pytest.approx(1 - refused / 150)
    assert report.expected_cost == pytest.approx((wrong + 0.1 * refused) / 150)
    assert report.accuracy > likely.evaluate(BayesClassifier(), IRIS, SPECIES).accuracy
    assert "REFUSED" in str(report)
    assert json.loads(report.to_json())["confusion"]["decisions"][-1] == "REFUSED"


def test_refusals_count_where_decisions_are_no_classes() -> None:
    loss = Loss({f"call it {k}": {j: float(k != j) for j in range(3)} for k in range(3)}, refuse=0.1)
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, loss=loss)
    same = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, loss=Loss.zero_one([0, 1, 2], refuse=0.1))
    assert report.coverage == same.coverage < 1.0
    assert report.accuracy == same.accuracy


@pytest.mark.parametrize("cv", [5, "loo", 0.4, (IRIS, SPECIES), None])
def test_decisions_are_those_of_decide(cv: object) -> None:
    loss = Loss({k: {j: float(abs(k - j) * (3 if j == 2 else 1)) for j in range(3)} for k in range(3)}, refuse=0.3)
    clf = BayesClassifier().fit(IRIS, SPECIES)
    report = likely.evaluate(clf, IRIS, SPECIES, cv=cv, loss=loss)
    if cv is None or isinstance(cv, tuple):
        decided = clf.decide(IRIS, loss)
        assert report.expected_cost == pytest.approx(loss.paid(decided, SPECIES).mean())
        assert report.confusion[REFUSED].sum() == sum(label is REFUSED for label in decided)
    else:
        seen = report.predictions
        assert seen.posterior is not None
        decided = decide_posterior(seen.posterior, seen.classes, loss)
        assert report.expected_cost == pytest.approx(loss.paid(decided, seen.truth).mean())


def test_costs_of_every_row_follow_their_rows_into_the_folds() -> None:
    costs = np.tile(1.0 - np.eye(3), (150, 1, 1)) * np.linspace(0.1, 5.0, 150)[:, None, None]
    loss = Loss(costs, decisions=[0, 1, 2], truths=[0, 1, 2], refuse=0.2)
    plain = Loss.zero_one([0, 1, 2])
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, loss=loss)
    most_probable = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, loss=plain).predictions
    wrong = most_probable.decided != most_probable.truth
    assert report.expected_cost is not None
    assert report.expected_cost < (wrong * np.linspace(0.1, 5.0, 150)).mean()
    paid = loss.paid(
        [REFUSED if k < 0 else k for k in report.predictions.decided.tolist()], report.predictions.truth.tolist()
    )
    assert report.expected_cost == pytest.approx(paid.mean())


def test_decisions_that_are_no_classes() -> None:
    loss = Loss({"pick": {0: 0, 1: 5, 2: 5}, "leave": {0: 1, 1: 0, 2: 0}})
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, loss=loss)
    assert report.confusion.columns.tolist() == ["pick", "leave"]
    assert report.confusion.loc[0].tolist() == [50, 0]
    # Rates are about classes, so they are those of the most probable class.
    assert report.accuracy == likely.evaluate(BayesClassifier(), IRIS, SPECIES).accuracy
    assert report.expected_cost == 0.0


def test_what_is_right_stands_on_the_diagonal_however_the_loss_is_ordered() -> None:
    X, y = load_iris(return_X_y=True)
    costs = 1.0 - np.eye(3)[::-1]
    turned = Loss(np.vstack([np.full(3, 0.3), costs]), decisions=["ask", 2, 1, 0], truths=[0, 1, 2])
    report = likely.evaluate(BayesClassifier(), X, y, cv=5, loss=turned.refusing(0.9))
    assert report.confusion.columns.tolist() == [0, 1, 2, "ask", REFUSED]
    assert report.confusion.to_numpy()[:, :3].trace() > 120
    assert turned.to_frame().columns.tolist() == [0, 1, 2, "ask"]


# Edges


def test_one_class_only() -> None:
    report = likely.evaluate(BayesClassifier(), IRIS, np.zeros(150, dtype=int), cv=3)
    assert report.accuracy == 1.0
    assert report.roc_auc is None
    assert report.to_frame().notna().all(axis=None)
    assert "accuracy" in str(report)


def test_without_posteriors_in_memory_all_but_curves_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=3)
    monkeypatch.setattr(predictions, "MOST_CELLS", 10)
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=3)
    assert report.predictions.posterior is None
    assert report.log_loss == whole.log_loss
    assert report.brier_score == whole.brier_score
    assert report.roc_auc is None
    assert "accuracy" in report.to_html()
    with pytest.raises(SettingsError, match="not kept"):
        report.calibration(1)


def test_many_rows_are_resampled_in_part() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 2)) + y[:, None]
    intervals = likely.evaluate(BayesClassifier(), X, y, cv=3).intervals
    assert intervals["log_loss"].method == "bootstrap of 5,000"
    # The share of hits is also a recall: two methods, one answer.
    widths = [intervals[name].high - intervals[name].low for name in ("accuracy", "recall_micro")]
    assert widths[0] == pytest.approx(widths[1], rel=0.25)


def test_strange_labels_come_back() -> None:
    table = datasets.patients()
    labels = [("drug", label) for label in table.pop("drug")]
    report = likely.evaluate(BayesClassifier(), table, labels, cv=3)
    assert report.classes == [("drug", "A"), ("drug", "B")]
    assert json.loads(report.to_json())["rows"] == 12


def test_where_all_rows_are_counted_rates_are_theirs_and_curves_those_of_the_rows_at_hand() -> None:
    def judged(truth: list[int]) -> predictions.Predictions:
        codes, n = np.array(truth, dtype=np.int32), len(truth)
        buffer = predictions.PredictionBuffer(np.arange(2), codes, np.ones(n), np.arange(n), None)
        buffer.write(slice(0, n), np.tile([0.75, 0.25], (n, 1)))
        return buffer.finish()

    some, every = judged([0, 1]), judged([0, 0, 0, 1])
    report = likely.Report(some, "counted", "BayesClassifier", 1.0, 0, counted=(every, np.array([10, 20, 30, 40])))
    alone = likely.Report(some, "alone", "BayesClassifier", 1.0, 0)
    assert (report.accuracy, alone.accuracy) == (0.75, 0.5)
    assert report.n_rows == 100
    assert report.roc_auc == alone.roc_auc == 0.5
