"""What a report prints: few measures unless all are wanted, a baseline, and nothing wider than a terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import likely
from likely.evaluation.report import Report
from likely.evaluation.tables import FIRST, SHOWN_MISTAKES, classes, confusion, confusion_that_fits, mistakes
from likely.teaching.datasets import dataset


@pytest.fixture(scope="module")
def report() -> Report:
    return likely.evaluate(likely.BayesClassifier(), dataset("golf"), "play", cv=7)


@pytest.fixture(scope="module")
def letters() -> Report:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=780).tolist(), "y": [f"letter {place % 26:02}" for place in range(780)]}
    return likely.evaluate(likely.BayesClassifier(), table, "y", cv=3)


def test_few_measures_are_shown_and_all_on_request(report: Report) -> None:
    short, every = report.measures(), report.measures(every=True)
    assert len(short.rows) == 5 < len(every.rows)
    assert "precision micro" not in report.text()
    assert "precision micro" in report.text(all_measures=True)
    assert [row[0] for row in short.rows] == ["accuracy", "log loss", "calibration error", "ROC AUC", "F1 macro"]


def test_costs_and_refusals_are_among_the_first() -> None:
    loss = likely.Loss.zero_one(["no", "yes"], refuse=0.1)
    told = likely.evaluate(likely.BayesClassifier(), dataset("golf"), "play", cv=7, loss=loss)
    shown = [row[0] for row in told.measures().rows]
    assert shown[:3] == ["accuracy", "coverage", "expected cost"]
    assert len(shown) == len(FIRST)


def test_the_baseline_is_the_majority_class(report: Report) -> None:
    found = {record["measure"]: record["baseline"] for record in report.measures(every=True).records()}
    assert found["accuracy"] == pytest.approx(9 / 14)
    assert found["error rate"] == pytest.approx(5 / 14)
    shares = np.array([5, 9]) / 14
    assert found["log loss"] == pytest.approx(-(shares * np.log(shares)).sum())
    assert found["F1 macro"] is None
    assert "Baseline: always 'yes'" in report.text()


def test_a_matrix_that_is_too_wide_becomes_a_list_of_mistakes(report: Report, letters: Report) -> None:
    assert "truth \\ decision" in report.text()
    text = letters.text()
    assert "truth \\ decision" not in text
    assert "Most frequent mistakes" in text
    assert max(map(len, text.splitlines())) <= 80
    rows = [float(str(record["rows"])) for record in mistakes(letters.confusion).records()]
    assert len(rows) == SHOWN_MISTAKES
    assert rows == sorted(rows, reverse=True)
    counts = letters.confusion.to_numpy() * ~np.eye(26, dtype=bool)
    assert rows[0] == counts.max()
    assert mistakes(letters.confusion).left_out == np.count_nonzero(counts) - SHOWN_MISTAKES


def test_long_class_names_are_cut() -> None:
    table = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a" * 50, "b" * 50] * 10}
    told = likely.evaluate(likely.BayesClassifier(), table, "y", cv=2)
    assert max(len(str(row[0])) for row in (*classes(told.by_class, 1.0).rows, *confusion(told.confusion).rows)) == 30


def test_repr_is_one_line(report: Report) -> None:
    assert repr(report).startswith("Report(BayesClassifier, 7-fold cross-validation, stratified, seed 0: accuracy 0.")
    assert "log_loss 0." in repr(report) and "\n" not in repr(report)


def test_a_matrix_of_eighty_characters_is_shown_and_one_of_eighty_one_is_not() -> None:
    widths = set()
    for more in range(24):
        truths = pd.DataFrame(np.eye(6), index=["a"] * 6, columns=[*["b" * 8] * 5, "b" * (6 + more)])
        width = max(map(len, confusion(truths).text().splitlines()))
        assert (confusion_that_fits(truths).text() == confusion(truths).text()) == (width <= 80)
        widths.add(width)
    assert {80, 81} <= widths


def test_classes_with_long_names_stay_different() -> None:
    names = [f"a class whose name is rather long and ends in {letter}" for letter in "abc"]
    told = likely.evaluate(likely.BayesClassifier(), {"x": list(range(90)), "y": names * 30}, "y", cv=3)
    for grid in (classes(told.by_class, 1.0), confusion(told.confusion)):
        first = [row[0] for row in grid.rows]
        assert len({*first}) == 3
        assert max(len(str(name)) for name in first) <= 30
    lines = mistakes(told.confusion).records()
    assert len({(line["truth"], line["decision"]) for line in lines}) == len(lines)
