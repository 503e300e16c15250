"""Without a name the best model that fits is taken, and said; a name or an option decides."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import likely as package
from likely.engines import files
from tests.cli.conftest import Likely


def kind_of(path: str) -> str:
    return type(package.load(path)).__name__


@pytest.fixture
def trips(tmp_path: Path) -> pd.DataFrame:
    """A table whose columns speak together, with an id, a gap and weights."""
    rng = np.random.default_rng(0)
    n = 150
    table = pd.DataFrame(
        {"id": [f"t{k}" for k in range(n)], "a": rng.choice(["x", "y"], n), "b": rng.choice(["u", "v"], n)}
    )
    table["n"], table["size"] = rng.integers(1, 4, n), rng.normal(size=n).round(3)
    table["y"] = np.where((table["a"] == "x") == (table["b"] == "u"), "same", "other")
    table.loc[3, "size"] = np.nan
    table.to_csv(tmp_path / "trips.csv", index=False)
    return table


def test_evidence_is_taken_where_it_fits_and_a_line_says_so(likely: Likely, trips: pd.DataFrame) -> None:
    said = likely("train", "trips.csv", "-t", "y")
    assert said.code == 0
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "model: evidence, best on average over 45 tables (textbook model: --model naive)"
    assert lines[-1].startswith("Learned 150 rows, ")
    clf = package.load("trips.likely")
    assert isinstance(clf, package.EvidenceClassifier)
    assert ("a", "b") in clf.pairs_
    assert (clf.predict(trips) == trips["y"]).all()
    assert clf.schema_.target == "y"
    assert clf.schema_["id"].kind == "ignored"
    assert clf.schema_["size"].gaps == 1
    python = package.EvidenceClassifier().fit(trips[["a", "b", "n", "size"]], trips["y"])
    np.testing.assert_allclose(clf.predict_proba(trips), python.predict_proba(trips), atol=1e-12)


@pytest.mark.parametrize("options", [[], ["--model", "evidence"]])
def test_evidence_learns_a_large_table_from_codes_on_disk(
    likely: Likely, options: list[str], trips: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = likely("train", "trips.csv", "-t", "y", "--model", "evidence")
    assert said.code == 0
    assert "model:" not in said.err
    small = package.load("trips.likely")
    for budget in (1000, 10_000):
        monkeypatch.setattr(files, "BUDGET", budget)
        before = sorted(tmp_path.iterdir())
        said = likely("train", "trips.csv", "-t", "y", *options)
        assert said.code == 0, said.err
        assert said.err.startswith(
            "model: evidence; the table would need more than 1 MiB of memory, so it is read twice"
        )
        assert str(tmp_path) in said.err.splitlines()[0]
        assert sorted(tmp_path.iterdir()) == before
        clf = package.load("trips.likely")
        np.testing.assert_array_equal(clf.predict_proba(trips), small.predict_proba(trips))
        for a, b in zip(clf.schema_, small.schema_, strict=True):
            assert (a.name, a.kind, a.why) == (b.name, b.kind, b.why)
            assert a.kind == "ignored" or a.gaps == b.gaps
    refused = likely("train", "trips.csv", "-t", "y", "--model", "evidence", "--checkpoint", "half.likely")
    assert refused.code == 2
    assert "evidence reads the files twice" in refused.err
    monkeypatch.setattr(files, "BUDGET", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    refused = likely("train", "trips.csv", "-t", "y", *options)
    assert refused.code == 2
    assert "nowhere: No such file or directory; name another one (the variable TMPDIR)." in refused.err


def test_a_large_table_is_evaluated_by_rows_drawn_at_random(
    likely: Likely, trips: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--json")
    monkeypatch.setattr(files, "BUDGET", 20_000)
    some = likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--json")
    assert some.code == 0, some.err
    n_rows = [json.loads(said.out)["rows"] for said in (whole, some)]
    assert n_rows[0] == 150 > n_rows[1] > 30
    assert f"The folds are of {n_rows[1]} rows drawn at random, which fit into memory; all rows teach more." in some.err
    assert likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--model", "evidence").code == 0


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--smoothing", "0.5"], "BayesClassifier"),
        (["--family", "links=poisson"], "BayesClassifier"),
        (["--missing", "value"], "BayesClassifier"),
        (["--checkpoint", "half.likely"], "BayesClassifier"),
        (["--priors", "uniform", "--kind", "links=nominal", "--ignore", "hour"], "EvidenceClassifier"),
        (["--model", "naive"], "BayesClassifier"),
        (["--model", "full"], "FullBayesClassifier"),
        (["--model", "aode"], "AODEClassifier"),
        (["--model", "tree"], "TreeClassifier"),
        (["--model", "svm", "--ignore", "hour"], "SVMClassifier"),
        (["--model", "evidence", "--priors", "uniform"], "EvidenceClassifier"),
    ],
)
def test_names_and_options_decide(likely: Likely, options: list[str], kind: str) -> None:
    said = likely("train", "mails.csv", "-t", "kind", *options, "-o", "m.likely")
    assert said.code == 0, said.err
    assert kind_of("m.likely") == kind
    assert ("model:" in said.err) == (kind == "EvidenceClassifier" and "--model" not in options)
    assert likely("predict", "m.likely", "new.csv").out.count("\n") == 3
    assert likely("show", "m.likely").code == 0
    assert likely("train", "mails.csv", "-t", "kind", *options, "-o", "j.likely", "--json", "-q").json["kind"] == kind


def test_evidence_is_judged_by_fitting_anew(likely: Likely, trips: pd.DataFrame) -> None:
    said = likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--json")
    assert said.code == 0, said.err
    assert said.json["classifier"] == "EvidenceClassifier"
    assert said.json["measures"]["accuracy"]["value"] > 0.95
    assert said.err.startswith("model: evidence")
    naive = likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--json", "--model", "naive").json
    assert naive["measures"]["accuracy"]["value"] < 0.75
    alone = likely("evaluate", "trips.csv", "-t", "y", "--cv", "loo", "--json")
    assert alone.json["classifier"] == "BayesClassifier", "it alone can forget one row at a time"
    grouped = likely("evaluate", "trips.csv", "-t", "y", "--cv", "3", "--groups", "id", "--weight", "n", "--json")
    assert "in whole groups" in grouped.json["how"]


def test_weights_are_no_column(likely: Likely, trips: pd.DataFrame) -> None:
    assert likely("train", "trips.csv", "-t", "y", "--weight", "n").code == 0
    clf = package.load("trips.likely")
    assert clf.schema_.weight == "n"
    assert clf.summary_.classes.weights.sum() == trips["n"].sum()
    assert likely("predict", "trips.likely", "trips.csv").code == 0
    assert "accuracy" in likely("evaluate", "trips.likely", "trips.csv").out


def test_a_model_of_evidence_ranks_and_shows_itself(likely: Likely, trips: pd.DataFrame) -> None:
    assert likely("train", "trips.csv", "-t", "y").code == 0
    ranked = likely("rank", "trips.likely", "--json").json
    assert {line["column"] for line in ranked} == {"a", "b", "n", "size"}
    assert all(line["gini"] is not None for line in ranked)
    told = likely("explain", "trips.likely", "trips.csv").out
    assert "\nintercept  " in told, "it has no value to be named"
    shown = likely("show", "trips.likely").out
    for word in ("trained on 150 rows of trips.csv", "predicts 'y'", "a × b", "prior"):
        assert word in shown
    assert likely("rank", "trips.csv", "-t", "y", "--model", "evidence").out.startswith("column")
    assert likely("train", "trips.csv", "-t", "y", "--model", "tree", "-o", "tree.likely").code == 0
    by_tests = likely("rank", "tree.likely", "--json").json
    assert by_tests[0]["column"] == "b" and by_tests[0]["held_out"] > 0.5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model", "evidence", "--smoothing", "1"], "--smoothing is nothing that --model evidence knows."),
        (["--model", "tree", "--checkpoint", "x"], "--checkpoint is for models that count"),
        (["--model", "forest"], "'evidence', 'naive', 'full', 'aode', 'tree', 'svm'"),
    ],
)
def test_what_does_not_go_together(likely: Likely, options: list[str], told: str) -> None:
    said = likely("train", "mails.csv", "-t", "kind", *options)
    assert said.code == 2
    assert told in said.err
    assert not Path("mails.likely").exists()


def test_a_bad_row_is_told_with_its_line(likely: Likely) -> None:
    Path("bad.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20 + "inf,a\n")
    said = likely("train", "bad.csv", "-t", "y", "--model", "evidence")
    assert said.code == 2
    assert "line 42" in said.err


def test_numbers_of_a_table_are_ranked_by_their_counts(likely: Likely, tmp_path: Path) -> None:
    """A bell would make much of a few huge numbers that tell nothing; counts do not."""
    rng = np.random.default_rng(0)
    y, size = rng.integers(0, 2, 400), rng.normal(size=400)
    rare = np.where(np.arange(400) % 50 == 0, rng.choice([1e5, 3e5], 400) * (1 + y), 0.0)
    lines = [f"{a:.3f},{b:.0f},{c}" for a, b, c in zip(size + y, rare, y, strict=True)]
    Path("odd.csv").write_text("\n".join(["size,rare,y", *lines]) + "\n")
    ranked = {line["column"]: line["information"] for line in likely("rank", "odd.csv", "-t", "y", "--json").json}
    assert ranked["size"] > 5 * ranked["rare"]
    said = likely("rank", "odd.csv", "-t", "y", "--by", "gain_ratio", "--json")
    assert all(line["gain_ratio"] is not None for line in said.json)
    believed = likely("rank", "odd.csv", "-t", "y", "--model", "naive", "--json")
    assert {line["column"]: line["information"] for line in believed.json}["rare"] > ranked["rare"]


def test_a_table_without_anything_to_learn_from(likely: Likely, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("a,b,y\n,,x\n,,z\n,,x\n")
    said = likely("train", "empty.csv", "-t", "y")
    assert said.code == 0 and "model: naive Bayes, since there are no columns to learn from" in said.err
    said = likely("train", "empty.csv", "-t", "y", "--model", "evidence")
    assert said.code == 2 and "No column is left to learn from" in said.err


def test_a_model_is_drawn(likely: Likely, trips: pd.DataFrame) -> None:
    assert likely("train", "trips.csv", "-t", "y", "--model", "tree", "-o", "tree.likely").code == 0
    assert likely("train", "trips.csv", "-t", "y", "--model", "naive", "-o", "naive.likely").code == 0
    for name, start in (("t.png", b"\x89PNG"), ("t.svg", b"<svg"), ("t.html", b"<!DOCTYPE"), ("t.dot", b"digraph")):
        assert "Wrote" in likely("show", "tree.likely", "-o", name, "--depth", "1").err
        assert Path(name).read_bytes().startswith(start)
    assert likely("show", "tree.likely", "--depth", "0").out.rstrip().endswith("…")
    assert likely("show", "naive.likely", "-o", "n.svg").code == 0
    assert ".png" in likely("show", "tree.likely", "-o", "t.pdf").err
