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
from likely.evaluation.intervals import wilson
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


# Tables and curves, to the last bin and point.


def judged(posterior: np.ndarray, truth: object, weight: float = 1.0, classes: object = None) -> likely.Report:
    codes, n = np.array(truth, dtype=np.int32), len(posterior)
    labels = np.arange(posterior.shape[1]) if classes is None else np.array(classes)
    buffer = predictions.PredictionBuffer(labels, codes, np.full(n, weight), np.arange(n), None)
    buffer.write(slice(0, n), posterior)
    return likely.Report(buffer.finish(), "by hand", "Oracle", 1.0, 0)


SAID = np.array([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0], [1.0, 0.0]])


def test_bins_without_rows_are_left_out_and_bins_of_little_weight_are_not() -> None:
    for weight in (1.0, 0.01):
        report = judged(SAID, [0, 1, 1, 0, 0], weight)
        bins = report.calibration()
        assert bins.columns.tolist() == ["low", "high", "predicted", "observed", "weight"]
        assert bins["weight"].tolist() == pytest.approx([3 * weight, 2 * weight])
        assert bins[["low", "high"]].to_numpy().ravel().tolist() == pytest.approx([0.7, 0.8, 0.9, 1.0])
        assert bins["predicted"].tolist() == pytest.approx([0.75, 1.0])
        assert bins["observed"].tolist() == pytest.approx([2 / 3, 0.5])
        assert bins.index.tolist() == [0, 1]
        of_second = report.calibration(1)
        assert of_second["predicted"].tolist() == pytest.approx([0.0, 0.25, 0.75, 1.0])
        assert of_second["observed"].tolist() == pytest.approx([0.0, 0.5, 1.0, 0.0])


def test_a_classifier_without_probabilities_has_no_bins_but_the_same_columns() -> None:
    buffer = predictions.PredictionBuffer(np.arange(2), np.zeros(3, np.int32), np.ones(3), np.arange(3), None)
    buffer.write_labels(np.arange(3), np.array([0, 1, 0], dtype=np.int32))
    report = likely.Report(buffer.finish(), "by hand", "Oracle", 1.0, 0)
    assert report.calibration().columns.tolist() == ["low", "high", "predicted", "observed", "weight"]
    assert len(report.calibration()) == len(report.roc()) == 0 and report.impossible == 0
    assert report.roc().columns.tolist() == ["class", "false_positive_rate", "true_positive_rate", "threshold"]
    assert report.log_loss is None and report.roc_auc is None and report.folds.columns.tolist() == ["rows", "accuracy"]
    with pytest.raises(SettingsError, match="not kept"):
        report.calibration(1)
    with pytest.raises(SettingsError, match="no class"):
        report.calibration(2)
    assert "log loss" not in report.measures().notes[0] and "class proportions" in judged(SAID, [0, 1, 1, 0, 0]).text()


def test_rows_whose_class_was_ruled_out_are_counted() -> None:
    assert judged(SAID, [0, 1, 1, 0, 0]).impossible == 1
    assert judged(SAID, [0, 1, 1, 0, 1]).impossible == 2
    assert judged(SAID[:3], [0, 1, 1]).impossible == 0


def test_tables_have_whole_numbers_where_weights_are_whole() -> None:
    report = judged(SAID, [0, 1, 1, 0, 0], 2.0)
    assert report.confusion.to_numpy().tolist() == [[4, 2], [2, 2]] and report.confusion.to_numpy().dtype == np.int64
    halves = judged(SAID, [0, 1, 1, 0, 0], 0.5).confusion.to_numpy()
    assert halves.tolist() == [[1.0, 0.5], [0.5, 0.5]] and halves.dtype == np.float64


@pytest.mark.parametrize("weight", [1.0, 3.0, 0.001])
def test_shares_of_a_class_have_the_intervals_of_their_rows(weight: float) -> None:
    report = judged(SAID, [0, 1, 1, 0, 0], weight)
    by_class = report.by_class
    assert by_class["recall"].tolist() == pytest.approx([2 / 3, 1 / 2])
    assert by_class["precision"].tolist() == pytest.approx([2 / 3, 1 / 2])
    assert by_class["weight"].tolist() == pytest.approx([3 * weight, 2 * weight])
    for name in ("recall", "precision"):
        for place, n in enumerate((3, 2)):
            ends = wilson(by_class[name].iloc[place], n)
            assert by_class[f"{name}_low"].iloc[place] == pytest.approx(ends.low)
            assert by_class[f"{name}_high"].iloc[place] == pytest.approx(ends.high)
    assert by_class["roc_auc"].tolist() == pytest.approx([7 / 12, 7 / 12])


def test_a_class_without_rows_has_no_area() -> None:
    by_class = judged(np.tile([0.5, 0.3, 0.2], (3, 1)), [0, 1, 0]).by_class
    assert by_class["roc_auc"].isna().tolist() == by_class["average_precision"].isna().tolist() == [False, False, True]


def test_labels_that_are_tuples_are_single_labels() -> None:
    table = datasets.patients()
    report = likely.evaluate(BayesClassifier(), table, [("drug", label) for label in table.pop("drug")], cv=3)
    for index in (report.confusion.index, report.confusion.columns, report.by_class.index):
        assert index.nlevels == 1 and index.tolist() == [("drug", "A"), ("drug", "B")]
    assert report.confusion.index.name == "truth" and report.confusion.columns.name == "decision"


def test_curves_in_a_file_have_two_hundred_points_and_in_a_frame_all() -> None:
    share = np.random.default_rng(0).random(600)
    report = judged(np.column_stack([1.0 - share, share]), np.arange(600) % 2, classes=["Köln", "Ulm"])
    text = report.to_json()
    content = json.loads(text)
    assert [sum(point["class"] == label for point in content["roc"]) for label in ("Köln", "Ulm")] == [200, 200]
    assert len(report.roc()) == 2 * 601 and report.roc().index.tolist() == list(range(2 * 601))
    assert len(report.roc(50)) == len(report.precision_recall(50)) == 100
    assert "Köln" in text and text.startswith('{\n "classifier": "Oracle",\n "how": "by hand",\n "rows": 600,')


def test_rows_of_folds_are_counted_whole_or_as_cells() -> None:
    some, every = judged(SAID[:2], [0, 1]).predictions, judged(SAID, [0, 1, 1, 0, 0]).predictions
    every.fold[:] = [0, 0, 1, 1, 1]
    counted = likely.Report(some, "counted", "Oracle", 1.0, 0, counted=(every, np.array([10, 20, 30, 40, 50])))
    assert counted.folds["rows"].tolist() == [30, 120] and counted.n_rows == 150
    assert counted.roc_auc == 0.5  # of the two rows at hand, which nothing tells apart
    assert counted.figures["accuracy"] == counted.accuracy == pytest.approx(3 / 5)
    assert counted.intervals["accuracy"] == wilson(counted.accuracy, 150)
    assert counted.calibration()["weight"].sum() == 5 and counted.calibration(0)["weight"].sum() == 2
    alone = likely.Report(every, "alone", "Oracle", 1.0, 0)
    assert alone.folds["rows"].tolist() == [2, 3] and alone.n_rows == 5
    assert alone.intervals["accuracy"] == wilson(alone.accuracy, 5)
    assert alone.folds["accuracy"].tolist() == pytest.approx([1 / 2, 2 / 3]) and alone.folds.index.tolist() == [0, 1]
    assert likely.Report(every, "thrice", "Oracle", 1.0, 0, repeats=5).n_rows == 1


def test_a_page_has_all_measures_folded_away(report: likely.Report) -> None:
    page = report._repr_html_()
    assert page.count("precision micro") == 1 and page.count("accuracy") >= 2


def test_a_picture_has_names_that_fit_and_curves_if_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[object, ...]] = []
    monkeypatch.setattr("likely.evaluation.report.quality", lambda *parts: drawn.append(parts))
    whole = judged(SAID, [0, 1, 1, 0, 0])
    likely.Report(whole.predictions, "h" * 70, "c" * 50, 1.0, 0).plot()
    likely.Report(whole.predictions, "h" * 60, "c" * 40, 1.0, 0).plot()
    one_class = judged(SAID, [0] * 5)
    one_class.plot()
    title, note, confusion, curves = drawn[0]
    assert [len(part) for part in str(title).split(", ")] == [40, 60]
    assert str(drawn[1][0]) == f"{'c' * 40}, {'h' * 60}"
    assert note == "Accuracy 0.6 on 5 rows." and confusion.equals(whole.confusion)  # type: ignore[attr-defined]
    assert curves is not None and curves.roc_auc == whole.roc_auc  # type: ignore[attr-defined]
    assert drawn[2][3] is None


def test_a_page_links_to_the_studio_only_where_there_is_one(report: likely.Report) -> None:
    assert "#evaluation" not in report.to_html() and "s.html#evaluation" in report.to_html(studio="s.html")
