"""What a report prints: few measures unless all are wanted, a baseline, and nothing wider than a terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import likely
from likely.evaluation.intervals import Interval
from likely.evaluation.report import Report
from likely.evaluation.tables import (
    FIRST,
    SHOWN_MISTAKES,
    classes,
    confusion,
    confusion_that_fits,
    measures,
    mistakes,
)
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


# Limits, by hand.


def square(n: int, letters: int = 1) -> pd.DataFrame:
    names = [f"{chr(ord('a') + k):x<{letters}}" for k in range(n)]
    return pd.DataFrame(np.eye(n), index=names, columns=names)


@pytest.mark.parametrize(("n", "shown", "said"), [(20, 20, ""), (21, 20, " (the first 20 of 21)")])
def test_twenty_classes_are_shown(n: int, shown: int, said: str) -> None:
    frame = pd.DataFrame({"precision": 1.0, "recall": 0.5, "f": 0.25, "weight": 3.0}, index=square(n).index)
    by_class, matrix = classes(frame, 2.0), confusion(square(n))
    assert len(by_class.rows) == len(matrix.rows) == shown and len(matrix.columns) == shown + 1
    assert by_class.title == f"Classes{said}" and matrix.title == f"Confusion{said}"
    assert by_class.rows[0] == ["a", 1.0, 0.5, 0.25, 3.0]
    assert [column.head for column in by_class.columns] == ["class", "precision", "recall", "F2", "rows"]


def test_a_matrix_of_twenty_classes_fits_and_one_of_twenty_one_never_does() -> None:
    assert confusion_that_fits(square(20)).text() == confusion(square(20)).text()
    assert confusion_that_fits(square(21)).title == "Most frequent mistakes"


def test_cells_are_shaded_by_their_share_of_the_truth() -> None:
    truths = pd.DataFrame([[3.0, 1.0], [0.0, 0.0], [0.25, 0.75]], index=["a", "b", "c"], columns=["a", "b"])
    shades = [[cell.shade for cell in row[1:]] for row in confusion(truths).rows]  # type: ignore[attr-defined]
    assert shades == [[0.75, 0.25], [0.0, 0.0], [0.25, 0.75]]


def test_mistakes_are_sorted_and_what_is_right_is_none() -> None:
    truths = pd.DataFrame([[9.0, 1.0, 0.0], [4.0, 0.0, 2.0], [0.0, 3.0, 9.0]], index=list("abc"), columns=list("abc"))
    told = mistakes(truths)
    assert told.rows == [["b", "a", 4.0], ["c", "b", 3.0], ["b", "c", 2.0], ["a", "b", 1.0]]
    assert told.left_out == 0 and len(mistakes(square(3)).rows) == 0
    n = 12
    many = mistakes(pd.DataFrame(np.arange(n * n, dtype=float).reshape(n, n), index=range(n), columns=range(n)))
    assert len(many.rows) == 10 and many.left_out == n * n - n - 10


@pytest.mark.parametrize(("letters", "kept"), [(30, 30), (31, 30)])
def test_names_of_up_to_thirty_letters_stay_whole(letters: int, kept: int) -> None:
    first = str(confusion(square(2, letters)).rows[0][0])
    assert len(first) == kept and (first == square(2, letters).index[0]) is (letters == kept)


def test_measures_stand_beside_what_they_must_beat_and_where_they_may_lie() -> None:
    truths = pd.DataFrame([[3.0, 1.0], [0.0, 1.0]], index=["a", "b"], columns=["a", "b"])
    ends = {"accuracy": Interval(0.25, 0.875, "Wilson")}
    told = measures({"f_macro": 0.5, "accuracy": 0.8, "recall_macro": 0.7}, ends, truths, 1.0, False)
    assert told.rows == [["accuracy", 0.8, 0.8, 0.25, 0.875], ["F1 macro", 0.5, None, None, None]]
    every = measures({"error_rate": 0.2, "log_loss": 0.4}, {}, truths, 1.0, True)
    assert every.rows[0][:3] == ["error rate", 0.2, pytest.approx(0.2)] and every.rows[0][3:] == [None, None, ""]
    assert len(every.columns) == len(told.columns) + 1 and "class proportions" in every.notes[0]
    assert every.rows[1][2] == pytest.approx(-0.8 * np.log(0.8) - 0.2 * np.log(0.2))
    assert told.notes == ["Baseline: always 'a'."]


def test_a_name_that_fits_is_not_touched() -> None:
    """A soft hyphen is no letter that is printed, and belongs to the name all the same."""
    name = "Donaudampfschiff\u00adfahrtsgeselle"
    assert len(name) == 30
    frame = pd.DataFrame(np.eye(2), index=[name, "b"], columns=[name, "b"])
    assert (
        confusion(frame).rows[0][0] == name
        and mistakes(frame[["b", name]].set_axis([name, "b"], axis=1)).rows[0][0] == name
    )
