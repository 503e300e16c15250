"""What is said of tables at the doors, in Python and in the shell: once, in the words of each."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import likely as package
from likely import BayesClassifier, evaluate, train
from likely.errors import DataError
from likely.streaming.notes import changed_columns, rows_with_label
from tests.cli.conftest import Likely, likely

__all__ = ["likely"]


def table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, town = rng.normal(size=n), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    return pd.DataFrame({"x": x, "town": town, "y": np.where(x + rng.normal(size=n) > 0, "yes", "no")})


@pytest.mark.parametrize("model", ["naive", "tree"])
def test_train_notes_a_leak_on_the_schema_and_in_the_log(model: str, caplog: pytest.LogCaptureFixture) -> None:
    leaking = table().assign(after=lambda rows: rows["y"].map({"yes": "paid", "no": "open"}))
    with caplog.at_level(logging.WARNING, "likely"):
        clf = train(leaking, "y", model=model)
    assert [(note.about, note.column) for note in clf.schema_.notes] == [("leak", "after")]
    assert caplog.text.count("column 'after' alone decides the class") == 1
    assert "note: column 'after' alone" in str(clf.schema_)
    assert train(table(), "y", model=model).schema_.notes == ()


def test_rows_without_a_label_are_refused_or_left_out_with_a_count(tmp_path: Path) -> None:
    rows = table()
    rows.loc[[3, 77], "y"] = None
    with pytest.raises(DataError, match=r"row 3 is missing.*drop_unlabelled=True"):
        train(rows, "y", model="naive")
    clf = train(rows, "y", model="naive", drop_unlabelled=True)
    assert [str(note) for note in clf.schema_.notes] == ["2 rows without a label were left out"]
    np.testing.assert_array_equal(clf.predict_proba(rows), train(rows.dropna(), "y", model="naive").predict_proba(rows))
    rows.to_csv(tmp_path / "t.csv", index=False)
    of_file = train(tmp_path / "t.csv", "y", model="naive", drop_unlabelled=True)
    assert [note.about for note in of_file.schema_.notes] == ["unlabelled"]
    assert of_file._rows_learned() == 298
    report = evaluate(BayesClassifier(), rows.drop(columns="y"), rows["y"], drop_unlabelled=True)
    assert (report.n_rows, report.notes[0].about) == (298, "unlabelled")
    assert evaluate(BayesClassifier(), tmp_path / "t.csv", "y", drop_unlabelled=True).n_rows == 298


def test_a_bad_row_is_named_by_its_line_even_if_rows_before_it_are_left_out(tmp_path: Path) -> None:
    lines = ["x,y", "1,", *[f"{k},{'ab'[k % 2]}" for k in range(100)], "inf,a"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="line 103"):
        train(tmp_path / "t.csv", "y", model="naive", drop_unlabelled=True, schema={"x": "numeric"})


def test_labels_beside_the_table_are_left_out_with_their_rows() -> None:
    X, y, dropped = rows_with_label({"x": [1, 2, 3]}, ["a", None, "b"])
    assert (X.numbers("x").tolist(), y, dropped) == ([1.0, 3.0], ["a", "b"], 1)  # type: ignore[union-attr]


def test_what_has_changed_since_training_is_told() -> None:
    clf = BayesClassifier().fit(table().drop(columns="y"), table()["y"])
    assert changed_columns(clf, table(seed=1)) == ()
    other = table(seed=2)
    other["town"] = np.where(np.arange(300) % 3 == 0, "Rom", other["town"])
    other["x"] = np.where(np.arange(300) % 2 == 0, other["x"] + 50, np.nan)
    found = {note.about: note for note in changed_columns(clf, other)}
    assert set(found) == {"new values", "missing values", "range"}
    assert found["new values"].column == "town"
    assert found["new values"].share == pytest.approx(1 / 3)
    assert found["missing values"].share == pytest.approx(0.5)
    assert found["range"].share == pytest.approx(1.0)
    assert changed_columns(clf, other.head(10)) == (), "ten rows prove nothing"


def test_the_range_survives_the_file(tmp_path: Path) -> None:
    clf = BayesClassifier().fit(table().drop(columns="y"), table()["y"])
    clf.save(tmp_path / "m.likely")
    far = table().assign(x=99.0)
    assert [note.about for note in changed_columns(package.load(tmp_path / "m.likely"), far)] == ["range"]
    report = evaluate(clf, far.drop(columns="y"), far["y"], cv=None)
    assert [note.about for note in report.notes] == ["range"]
    assert "note: column 'x' is outside" in str(report)


def test_the_shell_says_it_once_and_in_options(likely: Likely) -> None:
    rows = table().assign(after=lambda found: found["y"].map({"yes": "paid", "no": "open"}))
    rows.loc[5, "y"] = None
    rows.to_csv("t.csv", index=False)
    assert "--drop-unlabelled" in likely("train", "t.csv", "-t", "y").err
    said = likely("train", "t.csv", "-t", "y", "--drop-unlabelled", "--model", "naive")
    assert said.code == 0
    assert said.err.count("alone decides the class") == 1
    assert "(--kind after=ignored)" in said.err
    assert "note: 1 row without a label was left out" in said.err
    for command in (["schema"], ["evaluate", "--drop-unlabelled", "--model", "naive"]):
        said = likely(command[0], "t.csv", "-t", "y", *command[1:])
        assert said.err.count("alone decides the class") == 1, command
        assert "alone decides" not in said.out
    told = likely("evaluate", "t.csv", "-t", "y", "--drop-unlabelled", "--model", "naive", "--json").json["notes"]
    assert {note["about"] for note in told} == {"leak", "unlabelled"}
    rows.drop(columns="y").assign(x=99.0).to_csv("new.csv", index=False)
    assert "column 'x' is outside" in likely("predict", "t.likely", "new.csv", "-o", "out.csv").err


def test_the_schema_of_a_price_is_shown(likely: Likely) -> None:
    table().assign(price=lambda rows: rows["x"] * 1.5).to_csv("t.csv", index=False)
    said = likely("schema", "t.csv", "-t", "price")
    assert said.code == 0
    assert "cut the values into bins first" in said.err
