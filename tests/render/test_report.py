"""Pages of results: where from, when, what to beat, and charts in the colours of the page."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import likely
from likely import BayesClassifier
from likely.errors import MissingExtra
from likely.evaluation.metrics import majority
from likely.render.page import report_page
from likely.render.picture import named_apart, themed
from likely.teaching import datasets


@pytest.fixture(scope="module")
def report() -> likely.evaluation.Report:
    return likely.evaluate(BayesClassifier(), datasets.patients(), "drug", cv=3)


def test_a_page_says_what_was_judged_and_when(report: likely.evaluation.Report) -> None:
    page = report.to_html(source="patients.csv")
    assert re.search(r"patients\.csv, \d{4}-\d\d-\d\d \d\d:\d\d", page)
    assert "Baseline: always &#x27;A&#x27;" in page
    assert "0.6931" in page
    assert "<svg" in page and "<h1>How good is BayesClassifier?</h1>" in page


def test_charts_have_the_colours_of_the_page(report: likely.evaluation.Report) -> None:
    svg = report.plot()._repr_html_()
    assert "var(--ink,#1b1f2a)" in svg and "var(--card,#ffffff)" in svg
    assert themed(report.plot()._repr_html_()).count("var(--ink") >= svg.count("var(--ink")
    assert "var(--" not in report.plot().to_svg(), "a picture alone has colours of its own"
    assert "#1c1f2a" in svg, "what is written on a shaded cell stays dark"


def test_without_the_drawing_library_the_page_has_its_tables() -> None:
    def chart() -> likely.render.Picture:
        raise MissingExtra("Pictures need matplotlib.")

    assert "Pictures need matplotlib." in report_page("Title", chart=chart)


def test_the_baseline_is_that_of_the_class_shares() -> None:
    confusion = pd.DataFrame([[6, 2], [1, 1]], index=["a", "b"], columns=["a", "b"])
    often, accuracy, log_loss = majority(confusion)
    assert (often, accuracy) == ("a", 0.8)
    assert log_loss == pytest.approx(0.5004, abs=5e-5)


@pytest.mark.parametrize(
    ("labels", "longest", "expected"),
    [
        (["red", "blue"], 10, ["red", "blue"]),
        (["house number 1", "house number 2"], 10, ["…number 1", "…number 2"]),
        (["house number 1", "house number 2"], 5, ["…1", "…2"]),
        (["alphabetical", "betabetical"], 8, ["alpha…al", "betab…al"]),
        (["a very long name indeed"], 8, ["a ver…ed"]),
    ],
)
def test_names_stay_apart_where_they_are_cut(labels: list[str], longest: int, expected: list[str]) -> None:
    assert named_apart(labels, longest) == expected
