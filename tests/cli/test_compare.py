"""`likely compare` judges what `likely.compare` judges."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import likely as package
from tests.cli.conftest import Likely


def test_the_board_is_that_of_python(likely: Likely) -> None:
    said = likely("compare", "mails.csv", "-t", "kind", "--with", "bayes,tree", "--cv", 2, "--json", "--ignore", "hour")
    assert said.code == 0
    board = package.compare(pd.read_csv("mails.csv").drop(columns="hour"), "kind", ["bayes", "tree"], cv=2)
    shown = {entry["classifier"]: entry["error"] for entry in said.json["classifiers"]}
    assert shown == pytest.approx(board.to_frame()["error"].to_dict())


def test_a_board_for_people(likely: Likely) -> None:
    said = likely(
        "compare", "mails.csv", "-t", "kind", "--with", "bayes", "--with", "logistic", "--cv", 2, "--refuse", 0.3,
        "--html", "board.html", "--plot", "board.svg",
    )  # fmt: skip
    assert said.code == 0
    assert "naive Bayes" in said.out
    assert "cost" in said.out
    assert "Wrote board.html" in said.err
    assert "<html" in Path("board.html").read_text()
    assert "<svg" in Path("board.svg").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--with", "bays"), "no classifier 'bays'"),
        (("--with", "bayes,svn"), "Did you mean 'SVM'?"),
        (("--by", "beauty"), "beauty"),
        (("--ignore", "shoes"), "lacks the column 'shoes'"),
        (("--cv", "many"), "--cv is 'many'"),
    ],
)
def test_what_it_refuses(likely: Likely, options: tuple[str, ...], words: str) -> None:
    said = likely("compare", "mails.csv", "-t", "kind", *options)
    assert said.code == 2
    assert words in said.err
    assert said.err.count("\n") == 1


def test_pages_that_cannot_be_written_are_refused_first(likely: Likely, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,x\n2,z\n" * 5)
    for command in ("compare", "evaluate"):
        said = likely(command, "t.csv", "-t", "y", "--plot", "board.foo")
        assert said.code == 2 and said.out == "" and "not as 'board.foo'" in said.err
        said = likely(command, "t.csv", "-t", "y", "--html", "nowhere/board.html")
        assert said.code == 2 and said.out == "" and "There is no folder 'nowhere'" in said.err
