"""Models of evidence learn on, merge, forget, are refreshed and compared by commands."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import likely as package
from likely.engines import files
from tests.cli.conftest import Likely

STALE = (
    "note: the corrections are stale, so the model predicts as weighted naive Bayes; "
    "to refit them, say: likely refresh "
)


@pytest.fixture
def trips(tmp_path: Path) -> pd.DataFrame:
    """Two columns that speak only together, a number with a gap, a text; whole and in two parts."""
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame({"a": rng.choice(["x", "y"], n), "b": rng.choice(["u", "v"], n)})
    table["size"], table["n"] = rng.normal(size=n).round(3), rng.integers(1, 3, n)
    table["note"] = rng.permutation(
        [f"{word} trip number {k} by car" for k in range(80) for word in ("wet", "dry", "")]
    )
    table["y"] = np.where((table["a"] == "x") == (table["b"] == "u"), "same", "other")
    table.loc[3, "size"] = np.nan
    for name, part in (("all", table), ("north", table[:150]), ("south", table[150:])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    return table


@pytest.fixture
def models(likely: Likely, trips: pd.DataFrame) -> pd.DataFrame:
    for name in ("all", "north", "south"):
        said = likely("train", f"{name}.csv", "-t", "y", "--weight", "n", "--model", "evidence")
        assert said.code == 0, said.err
    assert package.load("all.likely").schema_.kinds["note"] == "text"
    return trips


def test_merged_counts_are_those_of_all_rows(likely: Likely, models: pd.DataFrame) -> None:
    said = likely("merge", "north.likely", "south.likely", "-o", "both.likely")
    assert said.code == 0, said.err
    assert said.err == f"Merged 2 models: 240 rows; wrote both.likely\n{STALE}both.likely TABLE\n"
    both, whole = package.load("both.likely"), package.load("all.likely")
    assert both.stale_
    assert both.summary_.classes.weights.tolist() == whole.summary_.classes.weights.tolist()
    shown = likely("show", "both.likely")
    assert f"{STALE}both.likely TABLE" in shown.out
    assert likely("show", "both.likely", "--json").json["stale"] is True
    assert likely("show", "all.likely", "--json").json["stale"] is False
    compared = likely("show", "--diff", "all.likely", "both.likely")
    assert compared.code == 1
    kinds = {line.split("  ")[0] for line in compared.out.splitlines()[1:] if line}
    assert kinds <= {"stale", "says", "heard together", "share of text"}, "what was counted is the same"
    refreshed = likely("refresh", "both.likely", "all.csv")
    assert refreshed.code == 0, refreshed.err
    assert refreshed.err.endswith("Refreshed with 240 rows; wrote both.likely\n")
    assert "stale" not in likely("show", "both.likely").out
    assert (package.load("both.likely").predict(models) == models["y"]).all()


def test_forgetting_and_learning_on(likely: Likely, models: pd.DataFrame) -> None:
    said = likely("forget", "all.likely", "south.csv", "-o", "rest.likely", "--json")
    assert said.json == {"model": "rest.likely", "forgotten": 90, "rows": 150, "stale": True}
    assert f"{STALE}rest.likely TABLE" in said.err
    north = package.load("north.likely")
    rest = package.load("rest.likely")
    assert rest.summary_.classes.weights.tolist() == north.summary_.classes.weights.tolist()
    by_rows = package.load("all.likely").forget(models[150:], models["y"][150:])
    np.testing.assert_allclose(rest.predict_proba(models), by_rows.predict_proba(models), atol=1e-12)
    again = likely("train", "south.csv", "--onto", "rest.likely")
    assert again.code == 0, again.err
    assert again.err.endswith(f"{STALE}rest.likely TABLE\n")
    counted = likely("show", "--diff", "all.likely", "rest.likely", "--json").json
    assert {line["what"] for line in counted} <= {"stale", "says", "heard together", "share of text"}
    never = likely("forget", "north.likely", "all.csv", "-o", "less.likely")
    assert never.code == 2
    assert "these rows were not learned" in never.err
    assert not Path("less.likely").exists()


def test_refreshing_by_some_rows_and_elsewhere(
    likely: Likely, models: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert likely("train", "south.csv", "--onto", "north.likely", "-o", "more.likely").code == 0
    said = likely("refresh", "more.likely", "north.csv", "-o", "fresh.likely", "--json")
    assert said.json == {"model": "fresh.likely", "rows": 150, "counted": 240, "stale": False}
    assert "note: refitted to 150 rows of the 240 that were counted" in said.err
    assert package.load("more.likely").stale_
    monkeypatch.setattr(files, "BUDGET", 20_000)
    few = likely("refresh", "more.likely", "all.csv", "--json")
    assert 10 < few.json["rows"] < 200
    assert not package.load("more.likely").stale_
    piped = likely("refresh", "-", "all.csv", given=Path("more.likely").read_bytes())
    assert (piped.code, piped.err) == (2, "likely: Where should the model be written? Say -o FILE.\n")


def test_new_classes_and_categories(likely: Likely, models: pd.DataFrame) -> None:
    odd = models[:20].assign(a="z", y="odd")
    odd.to_csv("odd.csv", index=False)
    assert likely("train", "odd.csv", "--onto", "all.likely", "-o", "more.likely").code == 0
    more = package.load("more.likely")
    assert more.classes_.tolist() == ["odd", "other", "same"]
    assert set(more.predict(odd)) == {"odd"}
    said = likely("refresh", "more.likely", "all.csv")
    assert said.code == 2
    assert "every class needs some" in said.err
    found = likely("show", "--diff", "all.likely", "more.likely", "--json").json
    assert {"what": "values", "where": "a", "a": "—", "b": "z"} in found


def test_learned_weights_are_refreshed_too(likely: Likely, trips: pd.DataFrame) -> None:
    clf = package.BayesClassifier(weights="learned", schema={"note": "ignored"}).fit(trips, "y")
    clf.save("weighed.likely")
    said = likely("train", "south.csv", "--onto", "weighed.likely")
    assert "note: the learned weights are stale; to refit them, say: likely refresh weighed.likely" in said.err
    trips[:9].assign(y="odd").to_csv("odd.csv", index=False)
    assert likely("train", "odd.csv", "--onto", "weighed.likely", "-o", "odd.likely").code == 0
    assert package.load("odd.likely").predict_proba(trips).shape == (240, 3)
    assert likely("refresh", "weighed.likely", "all.csv").code == 0
    assert not package.load("weighed.likely").weights_stale_


def test_what_cannot_be_refreshed_or_merged(likely: Likely, models: pd.DataFrame, model: str) -> None:
    said = likely("refresh", model, "mails.csv")
    assert said.code == 2
    assert "has nothing to refresh" in said.err
    mixed = likely("merge", "all.likely", model, "-o", "x.likely")
    assert mixed.code == 2
    assert "different kinds" in mixed.err
    other = likely("train", "mails.csv", "-t", "kind", "-o", "mails2.likely", "--model", "evidence")
    assert other.code == 0
    strange = likely("merge", "all.likely", "mails2.likely", "-o", "x.likely")
    assert strange.code == 2
    assert "in the same way" in strange.err
    missing = likely("refresh", "all.likely", "mails.csv")
    assert missing.code == 2
    assert not Path("x.likely").exists()


def test_a_model_is_the_same_as_itself(likely: Likely, models: pd.DataFrame) -> None:
    said = likely("show", "--diff", "all.likely", "all.likely")
    assert (said.code, said.out) == (0, "")


def test_exports(likely: Likely, trips: pd.DataFrame) -> None:
    assert likely("train", "all.csv", "-t", "y", "--ignore", "note", "-o", "m.likely").code == 0
    said = likely("export", "m.likely", "--to", "sql", "--table", "trips")
    assert said.code == 0, said.err
    connection = duckdb.connect()
    connection.execute("CREATE TABLE trips AS SELECT * FROM read_csv('all.csv')")
    found = connection.execute(said.out).df()
    np.testing.assert_allclose(found["P(same)"], package.load("m.likely").predict_proba(trips)[:, 1], atol=1e-9)
    assert likely("export", "m.likely", "-o", "m.json").code == 0
    assert "a × b" in Path("m.json").read_text()
    assert likely("export", "m.likely", "-o", "m.csv").code == 0
    assert any(line.startswith("a × b,evidence,evidence,") for line in Path("m.csv").read_text().splitlines())
    assert likely("train", "all.csv", "-t", "y", "-o", "text.likely").code == 0
    assert likely("export", "text.likely", "--to", "sql").code == 0
