"""Pages of results lead into the studio: by relative links to a page that was written beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from likely import BayesClassifier, compare, evaluate
from likely.cli.run import run
from likely.cli.studio_link import model_name, studio_link
from likely.studio import write_page
from tests.studio.browser import until
from tests.studio.test_rules import people


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table and a model of it."""
    table, y = people(150, 2)
    rows = pd.DataFrame({**table, "label": y})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    BayesClassifier().fit(rows, "label").save(tmp_path / "model.likely")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def followed(tab: Any, page: Path) -> str:
    """What the studio shows behind the link of a page."""
    tab.goto(page.as_uri())
    with tab.expect_navigation():
        tab.click("a[href*='studio']")
    until(tab, "window.likely !== undefined")
    return str(tab.inner_text("h1"))


def test_a_report_of_a_model(folder: Path, tab: Any) -> None:
    told = ["evaluate", "model.likely", "rows.csv", "--html", "out/report.html", "--studio", "my studio.html"]
    assert run(told) == 0
    assert followed(tab, folder / "out" / "report.html") == "Evaluation"
    assert tab.evaluate("[likely.model.model.name, likely.model.evaluation.rows]") == ["model.likely", 150]


def test_a_report_of_folds_shows_what_has_learned_all_rows(folder: Path, tab: Any) -> None:
    told = [
        "evaluate",
        "rows.csv",
        "-t",
        "label",
        "--model",
        "tree",
        "--html",
        "report.html",
        "--studio",
        "studio.html",
    ]
    assert run(told) == 0
    assert followed(tab, folder / "report.html") == "Evaluation"
    assert tab.evaluate("[likely.model.model.kind, likely.model.model.rows]") == ["TreeClassifier", 150]
    assert tab.evaluate("likely.model.evaluation.how[0]") == "10"


def test_a_comparison_shows_the_best_model_of_ours(folder: Path, tab: Any) -> None:
    told = ["compare", "rows.csv", "-t", "label", "--with", "naive,logistic", "--cv", "3"]
    assert run([*told, "--html", "board.html", "--studio", "studio.html"]) == 0
    assert followed(tab, folder / "board.html") == "Comparison"
    assert tab.evaluate("likely.model.model.kind") == "BayesClassifier"
    assert tab.evaluate("likely.model.comparison.lines.length") == 3  # and the majority class


def test_a_comparison_without_a_model_of_ours_has_no_studio(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["compare", "rows.csv", "-t", "label", "--with", "logistic", "--cv", "3", "--studio", "studio.html"]
    assert run(told) == 2
    assert "has a studio" in capsys.readouterr().err
    assert not (folder / "studio.html").exists()


def test_an_explanation_leads_to_its_row(folder: Path, tab: Any) -> None:
    told = ["explain", "model.likely", "rows.csv", "--row", "17", "--rows", "3"]
    assert run([*told, "--html", "why.html", "--studio", "studio.html"]) == 0
    page = (folder / "why.html").read_text("utf-8")
    assert "Why rows 17 to 19" in page and all(f"row {number}<" in page for number in (17, 18, 19))
    assert "row 0" not in page  # rows are counted from 1 in files, from 0 in Python
    assert followed(tab, folder / "why.html") == "A case"
    assert tab.evaluate("[likely.state.rowNumber, likely.model.rows.numbers]") == [16, [16, 17, 18]]
    tab.evaluate("location.hash = '#case/19'")
    until(tab, "likely.state.rowNumber === 18")


def test_python_writes_and_links_pages(tmp_path: Path, tab: Any) -> None:
    table, y = people(120, 2)
    clf = BayesClassifier().fit(table, y)
    report, board = evaluate(clf, table, y, cv=3), compare(table, y, ["naive", "tree"], cv=3)
    write_page(tmp_path / "studio.html", clf, rows=table, report=report, comparison=board)
    report.to_html(tmp_path / "report.html", studio="studio.html")
    board.to_html(tmp_path / "board.html", studio="studio.html")
    assert followed(tab, tmp_path / "report.html") == "Evaluation"
    assert followed(tab, tmp_path / "board.html") == "Comparison"
    assert "in the studio" not in report.to_html()


def test_links_are_relative() -> None:
    assert studio_link("a.html", None) is None and studio_link(None, "a.html") is None
    assert studio_link("x/50%.html", "x/y/page.html") == "../50%25.html"
    assert (model_name("-"), model_name("a/b.likely")) == ("model", "b.likely")
