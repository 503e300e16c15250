"""Trees on the command line, drawn by `show` and written by `export`; and explanations that fit a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from likely import SVMClassifier, load
from tests.cli.conftest import Likely


@pytest.fixture
def tree(likely: Likely, tmp_path: Path) -> str:
    lines = [f"{k},{'wool' if k % 2 else 'silk'},{'sold' if k > 20 and k % 2 else 'kept'}" for k in range(40)]
    (tmp_path / "cloth.csv").write_text("\n".join(["price,what's it,fate", *lines]))
    assert (
        likely("train", str(tmp_path / "cloth.csv"), "--target", "fate", "--model", "tree", "-o", "t.likely").code == 0
    )
    return "t.likely"


def test_show_draws_a_tree(likely: Likely, tree: str) -> None:
    shown = likely("show", tree).out
    assert "kept   0.7500\nsold   0.2500" in shown
    assert "├─ < 20" in shown


def test_a_tree_has_no_log_odds_by_column(likely: Likely, tree: str, tmp_path: Path) -> None:
    assert likely("explain", tree, str(tmp_path / "cloth.csv")).code == 0
    said = likely("explain", tree, str(tmp_path / "cloth.csv"), "--row", "22", "--rows", "2").out
    assert said.startswith("row 22: sold") and "\n\nrow 23: kept" in said
    refused = likely("explain", tree, str(tmp_path / "cloth.csv"), "--contrast", "sold")
    assert refused.code == 2
    assert refused.err == "likely: A TreeClassifier has no log-odds per column; leave out --contrast.\n"


def test_a_tree_is_exported_as_a_query(likely: Likely, tree: str, tmp_path: Path) -> None:
    query = likely("export", tree, "--to", "sql", "--table", "cloth").out
    found = duckdb.connect()
    found.execute("CREATE TABLE cloth AS SELECT * FROM read_csv(?)", [str(tmp_path / "cloth.csv")])
    rows = found.execute(query).df()
    assert rows["prediction"].tolist() == load(tree).predict(rows).tolist()


def test_a_tree_is_exported_as_json_and_as_a_graph(likely: Likely, tree: str) -> None:
    assert json.loads(likely("export", tree).out)["classes"] == ["kept", "sold"]
    assert likely("export", tree, "--to", "dot").out.startswith("digraph")
    refused = likely("export", tree, "-o", "t.csv")
    assert refused.code == 2 and "A tree is exported as" in refused.err


def test_a_plane_has_no_picture_of_a_row(likely: Likely) -> None:
    table = {"a": [1.0, 2.0, 3.0, 4.0, 1.5, 3.5], "b": [2.0, 1.0, 4.0, 3.0, 1.0, 3.0]}
    SVMClassifier(kernel="linear").fit(table, ["x", "x", "y", "y", "x", "y"]).save("plane.likely")
    Path("rows.csv").write_text("a,b\n1,2\n")
    said = likely("explain", "plane.likely", "rows.csv", "--plot", "why.svg")
    assert (said.code, said.err) == (2, "likely: There is no picture of this explanation; leave out --plot.\n")
    assert not Path("why.svg").exists()
    assert "a = 1" in likely("explain", "plane.likely", "rows.csv").out


def test_explain_fits_80_columns_with_many_classes(likely: Likely) -> None:
    rows = [f"{k % 26},word{k % 26} of letter number {k},letter {k % 26:02}" for k in range(260)]
    Path("letters.csv").write_text("\n".join(["n,text,letter", *rows]))
    made = likely(
        "train", "letters.csv", "-t", "letter", "--model", "naive", "--kind", "text=text", "-o", "letters.likely"
    )
    assert made.code == 0
    said = likely("explain", "letters.likely", "letters.csv").out
    assert max(map(len, said.splitlines())) <= 80
    assert "less probable classes" in said
    assert "Top words" in said
