"""Every command does what the function of the same name does in Python."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import likely as package
from likely import BayesClassifier
from likely.cli.models import shares_learned
from likely.streaming.evaluate import evaluate_file
from tests.cli.conftest import Likely


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_train_writes_what_python_learns(likely: Likely, tmp_path: Path) -> None:
    said = likely("train", "mails.csv", "--target", "kind", "--model", "naive", "-o", "m.likely")
    assert said.code == 0
    assert said.out == ""
    assert "model:" not in said.err, "who names a model knows why"
    assert "8 rows, 3 columns, 2 classes" in said.err
    ours, theirs = package.load("m.likely"), package.train("mails.csv", "kind", model="naive")
    new = pd.read_csv("new.csv")
    np.testing.assert_array_equal(ours.predict_proba(new), theirs.predict_proba(new))  # type: ignore[attr-defined]


def test_train_names_the_model_after_the_table(likely: Likely) -> None:
    assert likely("train", "mails.csv", "-t", "kind", "-q").err == ""
    assert Path("mails.likely").is_file()


def test_train_tells_programs_in_json(likely: Likely) -> None:
    said = likely("train", "mails.csv", "-t", "kind", "--json", "-q")
    assert said.json["rows"] == 8
    assert said.json["model"] == "mails.likely"
    assert said.json["classes"] == {"read": 0.5, "skip": 0.5}


@pytest.mark.parametrize("model", ["naive", "evidence", "tree"])
def test_train_tells_the_shares_of_the_rows(likely: Likely, model: str) -> None:
    table = pd.DataFrame({"x": np.arange(60) % 7, "z": np.arange(60) % 5, "y": np.where(np.arange(60) < 45, "a", "b")})
    table.to_csv("t.csv", index=False)
    priors = [] if model == "tree" else ["--priors", "a=0.1,b=0.9"]
    said = likely("train", "t.csv", "-t", "y", "--model", model, *priors)
    assert "2 classes (a 75.0%, b 25.0%)" in said.err


def test_corrected_priors_are_no_shares_of_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.2
    said = 2 * y + rng.exponential(size=400)
    table = pd.DataFrame({f"x{k}": said for k in range(6)} | {"y": np.where(y, "few", "many")})
    clf = BayesClassifier(weights="learned").fit(table, "y")
    assert abs(clf.model_.prior[0] - y.mean()) > 1e-3
    assert shares_learned(clf) == pytest.approx({"few": y.mean(), "many": 1 - y.mean()})


def test_train_learns_on(likely: Likely, model: str) -> None:
    assert likely("train", "mails.csv", "--onto", model, "-o", "twice.likely").code == 0
    assert package.load("twice.likely").summary_.n_rows == 16
    assert likely("train", "mails.csv", "--onto", model).code == 0
    assert package.load(model).summary_.n_rows == 16


def test_live_model_on_changes_nothing_else(likely: Likely, model: str) -> None:
    more = ["train", "mails.csv", "--onto", model, "-o", "more.likely"]
    for said in (["--smoothing", "2"], ["--model", "evidence"], ["--weight", "links"], ["--checkpoint", "half.likely"]):
        refused = likely(*more, *said)
        assert refused.code == 2
        assert repr(said[0]) in refused.err
    feature = likely(*more, "-t", "links")
    assert feature.code == 2
    assert "learns from the column 'links'" in feature.err
    assert not Path("more.likely").exists()
    assert likely(*more, "-t", "kind", "--n-jobs", "1").code == 0


def test_smoothing_may_choose_itself(likely: Likely) -> None:
    assert likely("train", "mails.csv", "-t", "kind", "--smoothing", "auto", "-o", "m.likely").code == 0
    assert package.load("m.likely").smoothing == "auto"


def test_train_resumes_from_a_checkpoint(likely: Likely) -> None:
    assert likely("train", "mails.csv", "-t", "kind", "--checkpoint", "half.likely").code == 0
    assert not Path("half.likely").exists()


def test_a_model_goes_through_pipes(likely: Likely) -> None:
    Path("m.likely").unlink(missing_ok=True)
    said = likely("predict", "-", "new.csv", "--keep", "none", "--no-probabilities", given=_model_bytes(likely))
    assert said.code == 0
    assert said.out == "prediction\nskip\nread\n"


def _model_bytes(likely: Likely) -> bytes:
    likely("train", "mails.csv", "-t", "kind", "-o", "m.likely")
    return Path("m.likely").read_bytes()


def test_predict_writes_beside_the_rows(likely: Likely, model: str) -> None:
    found = rows(likely("predict", model, "new.csv").out)
    shares = package.train("mails.csv", "kind", model="naive").predict_proba(pd.read_csv("new.csv"))
    assert [line["sender"] for line in found] == ["bank", "friend"]
    assert [line["prediction"] for line in found] == ["skip", "read"]
    np.testing.assert_allclose([[float(line["P(read)"]), float(line["P(skip)"])] for line in found], shares, rtol=1e-12)


def test_predict_reads_standard_input_and_writes_json_lines(likely: Likely, model: str) -> None:
    said = likely("predict", model, "-", "--json", given=b"links;hour;sender\n8;5;bank\n")
    assert json.loads(said.out)["prediction"] == "skip"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "jsonl", "csv.gz", "jsonl.zst"])
def test_predict_writes_by_suffix(likely: Likely, model: str, suffix: str) -> None:
    said = likely("predict", model, "new.csv", "-o", f"out.{suffix}")
    assert said.code == 0
    assert said.out == ""
    assert package.open_table(f"out.{suffix}").read().column("prediction").to_pylist() == ["skip", "read"]


def test_predict_gives_the_strongest_reasons(likely: Likely, model: str) -> None:
    found = rows(likely("predict", model, "new.csv", "--explain", "2").out)
    why = package.train("mails.csv", "kind", model="naive").explain(pd.read_csv("new.csv"))
    gap = why.contributions[0, :, 1] - why.contributions[0, :, 0]
    first = why.columns[int(np.abs(gap).argmax())]
    assert found[0]["because_1"].startswith(f"{first} = ")
    assert found[0]["because_1"].endswith(f"{np.abs(gap).max():+.2f}")
    assert not any("links" in found[1][f"because_{place}"] for place in (1, 2)), "a gap is no reason"


def test_labels_that_are_numbers(likely: Likely) -> None:
    Path("n.csv").write_text("x,y\n1,0\n2,0\n8,1\n9,1\n")
    Path("costs.csv").write_text("decision,0,1\n0,0,1\n1,100,0\n")
    assert likely("train", "n.csv", "-t", "y", "--priors", "0=0.5,1=0.5").code == 0
    found = rows(likely("predict", "n.likely", "n.csv", "--loss", "costs.csv").out)
    assert [line["prediction"] for line in found] == ["0", "0", "1", "1"]
    assert [line["decision"] for line in found][:2] == ["0", "0"]
    assert likely("evaluate", "n.likely", "n.csv", "--json").json["measures"]["accuracy"]["value"] == 1.0
    assert likely("explain", "n.likely", "n.csv", "--contrast", "1").code == 0


def test_evaluate_a_table(likely: Likely) -> None:
    said = likely("evaluate", "mails.csv", "-t", "kind", "--model", "naive", "--cv", "4", "--json")
    report = evaluate_file(BayesClassifier(), "mails.csv", "kind", cv=4)
    assert said.json["measures"]["accuracy"]["value"] == report.accuracy
    assert said.json["how"] == "4-fold cross-validation, stratified, seed 0"


@pytest.mark.parametrize("how", ["loo", "0.5", "2"])
def test_ways_to_hold_out(likely: Likely, how: str) -> None:
    said = likely("evaluate", "mails.csv", "-t", "kind", "--cv", how)
    assert said.code == 0
    assert "accuracy" in said.out


def test_evaluate_a_model_on_a_test_table(likely: Likely, model: str) -> None:
    Path("test.csv").write_text("".join(Path("mails.csv").read_text().splitlines(keepends=True)[:5]))
    said = likely("evaluate", model, "test.csv")
    assert said.code == 0
    assert "4 rows" in said.out and "a given test set" in said.out
    assert said.err == ""
    assert "too good" in likely("evaluate", model, "mails.csv").err


def test_evaluate_with_costs_pages_and_pictures(likely: Likely) -> None:
    said = likely(
        "evaluate", "mails.csv", "-t", "kind", "--cv", "2", "--refuse", "0.2", "--html", "r.html", "--plot", "r.svg"
    )
    assert said.code == 0
    assert "expected cost" in said.out
    assert "<table" in Path("r.html").read_text()
    assert "<svg" in Path("r.svg").read_text()


def test_evaluate_can_fail_a_script(likely: Likely, model: str) -> None:
    assert likely("evaluate", model, "mails.csv", "--fail-under", "0.1").code == 0
    said = likely("evaluate", model, "mails.csv", "--fail-under", "1.1")
    assert said.code == 1
    assert "below 1.1" in said.err


def test_explain_is_the_blackboard(likely: Likely, model: str) -> None:
    why = package.train("mails.csv", "kind", model="naive").explain(pd.read_csv("new.csv"))
    said = likely("explain", model, "new.csv")
    assert why.blackboard(0, logs=False) in said.out
    assert "Row 1: skip" in said.out
    assert why.blackboard(1, logs=True) in likely("explain", model, "new.csv", "--row", "2", "--logs").out
    both = likely("explain", model, "new.csv", "--rows", "2", "--json").json
    assert {line["row"] for line in both} == {1, 2}


def test_explain_contrasts_draws_and_writes_pages(likely: Likely, model: str) -> None:
    said = likely("explain", model, "new.csv", "--contrast", "skip,read", "--plot", "w.svg", "--html", "w.html")
    assert "skip against read" in said.out
    assert "<svg" in Path("w.svg").read_text()
    assert Path("w.html").read_text().startswith("<!DOCTYPE html>")
    assert "<h1>Why row 1 is &#x27;skip&#x27;</h1>" in Path("w.html").read_text()


def test_explain_names_the_words(likely: Likely) -> None:
    texts = ["cheap pills now for you", "meet me at noon today", "cheap cheap offer for you", "noon is fine for me"]
    Path("t.csv").write_text("body,kind\n" + "".join(f"{t},{k}\n" for t, k in zip(texts, "shsh", strict=True)))
    assert likely("train", "t.csv", "-t", "kind", "--kind", "body=text").code == 0
    assert "cheap" in likely("explain", "t.likely", "t.csv", "--contrast", "h").out.split("(ratio: h against s)")[1]
    assert rows(likely("predict", "t.likely", "t.csv", "-e", "1").out)[2]["because_1"].startswith("body has 'cheap'")


def test_show(likely: Likely, model: str) -> None:
    said = likely("show", model)
    for word in ("trained on 8 rows of mails.csv", "'kind'", "categorical", "gaussian", "Strongest values"):
        assert word in said.out
    content = likely("show", model, "--json").json
    assert [entry["class"] for entry in content["classes"]] == ["read", "skip"]
    assert sum(entry["rows"] for entry in content["classes"]) == 8


def test_show_writes_a_page(likely: Likely, tmp_path: Path) -> None:
    Path("odd.csv").write_text("<script>,y\n<b>&,p\nx,q\n<b>&,p\n")
    assert likely("train", "odd.csv", "-t", "y").code == 0
    assert likely("show", "odd.likely", "--html", "m.html").code == 0
    page = Path("m.html").read_text()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "<b>&" not in page


def test_show_diff(likely: Likely, model: str) -> None:
    assert likely("show", "--diff", model, model).code == 0
    likely("train", "mails.csv", "-t", "kind", "--smoothing", "0.5", "-o", "other.likely")
    said = likely("show", "--diff", model, "other.likely")
    assert said.code == 1
    assert "smoothing" in said.out
    assert likely("show", "--diff", model, "other.likely", "--json").json == [
        {"what": "setting", "where": "smoothing", "a": "1.0", "b": "0.5"}
    ]


def test_rank(likely: Likely, model: str) -> None:
    by_model = likely("rank", model, "--json").json
    by_table = likely("rank", "mails.csv", "-t", "kind", "--model", "naive", "--json").json
    assert by_model == by_table
    frame = package.train("mails.csv", "kind", model="naive").rank()
    assert [line["column"] for line in by_model] == frame["column"].tolist()
    gains = [line["gini"] for line in likely("rank", model, "--by", "gini", "--json").json]
    assert gains == sorted(gains, reverse=True)
    assert likely("rank", model).out.startswith("column")


def test_merge_and_forget(likely: Likely, model: str) -> None:
    lines = Path("mails.csv").read_text().splitlines(keepends=True)
    Path("a.csv").write_text("".join(lines[:5]))
    Path("b.csv").write_text("".join([lines[0], *lines[5:]]))
    for part in "ab":
        assert likely("train", f"{part}.csv", "-t", "kind", "--model", "naive").code == 0
    assert likely("merge", "a.likely", "b.likely", "-o", "whole.likely").code == 0
    assert likely("show", "--diff", model, "whole.likely").code == 0
    said = likely("forget", "whole.likely", "b.csv", "-o", "rest.likely", "--json")
    assert said.json == {"model": "rest.likely", "forgotten": 4, "rows": 4, "stale": False}
    assert likely("show", "--diff", "a.likely", "rest.likely").code == 0


def test_export(likely: Likely, model: str) -> None:
    content = likely("export", model).json
    clf = package.load(model)
    assert content["columns"]["links"]["parameters"]["mean"]["read"] == pytest.approx(1.75)
    assert content["rows"] == clf.summary_.n_rows
    numbers = rows(likely("export", model, "--to", "csv").out)
    assert {line["class"] for line in numbers} == {"read", "skip"}
    assert likely("export", model, "-o", "n.parquet").code == 0
    assert pq.read_table("n.parquet").num_rows == len(numbers)
    assert '"P(skip)"' in likely("export", model, "--to", "sql", "--table", "mails").out


def test_export_as_a_query(likely: Likely, model: str) -> None:
    """The file is the query for that engine, table and loss; options of queries go with queries only."""
    Path("costs.csv").write_text("truth\\decision,answer,drop\nread,0,9\nskip,1,0\n")
    asked = ["--dialect", "postgres", "--table", "sales.mails", "--loss", "costs.csv", "--refuse", "0.5"]
    said = likely("export", model, "-o", "q.sql", *asked)
    assert said.code == 0, said.err
    clf, query = package.load(model), Path("q.sql").read_text()
    loss = package.Loss({"answer": {"read": 0, "skip": 1}, "drop": {"read": 9, "skip": 0}}, refuse=0.5)
    assert query == clf.to_sql("postgres", "sales.mails", "decision", loss)
    assert '"sales"."mails"' in query and "'REFUSED'" in query
    why = likely("export", model, "--to", "sql", "--output", "explanation")
    assert why.out == clf.to_sql(output="explanation")
    for arguments, refusal in (
        (["--to", "sql", "--dialect", "cobol"], "dialect is 'cobol'"),
        (["--dialect", "spark"], "--dialect is for SQL"),
        (["-o", "m.json", "--output", "decision"], "--output is for SQL"),
        (["-o", "m.json", "--refuse", "0.1"], "--loss or --refuse is for SQL"),
        (["--to", "sql", "--dialect", "trino"], "trino cannot name all columns but some"),
    ):
        refused = likely("export", model, *arguments)
        assert (refused.code, refusal in refused.err) == (2, True), refused.err


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "tsv", "arrow", "csv.zst"])
def test_convert_there_and_back(likely: Likely, suffix: str) -> None:
    assert likely("convert", "mails.csv", "-o", f"x.{suffix}").code == 0
    assert package.open_table(f"x.{suffix}").read().equals(package.open_table("mails.csv").read())


def test_convert_keeps_text_as_it_is_written(likely: Likely) -> None:
    Path("x.csv").write_text("a;b\n1,50;007\n2,00;\n")
    assert likely("convert", "x.csv").out == 'a,b\n"1,50",007\n"2,00",\n'


def test_convert_leaves_out_what_it_may(likely: Likely) -> None:
    Path("x.csv").write_text("a,b\n1,2\n3\n5,6\n")
    said = likely("convert", "x.csv", "--rejects", "bad.csv")
    assert said.code == 0
    assert said.out == "a,b\n1,2\n5,6\n"
    assert "1 line left out" in said.err
    assert "too short" in Path("bad.csv").read_text()


def test_schema(likely: Likely) -> None:
    said = likely("schema", "mails.csv", "--target", "kind")
    assert "',' between cells" in said.out
    content = likely("schema", "mails.csv", "--json").json
    assert {entry["name"]: entry["kind"] for entry in content["columns"]}["links"] == "numeric"


def test_demo(likely: Likely, tmp_path: Path) -> None:
    told = likely("demo", "-o", str(tmp_path / "shown"))
    for said in (
        "$ likely train mails.csv --target kind",
        "majority class",
        "read against skip",
        "REFUSED",
        "What next",
    ):
        assert said in told.out, said
    for made in ("mails.likely", "mails.html", "why.svg", "decided.csv", "inside.likely", "score.sql"):
        assert (tmp_path / "shown" / made).stat().st_size > 0, made
    assert "Twelve patients" in likely("demo", "blackboard").out


def test_demo_writes_into_a_folder(likely: Likely, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused = likely("demo", "-o", str(tmp_path / "file"))
    assert refused.code == 2 and "is a file" in refused.err


def test_version_and_help(likely: Likely) -> None:
    assert likely("--version").out == f"likely {package.__version__}\n"
    assert likely().out == likely("--help").out
    assert likely().code == 0


def test_full_bayes(likely: Likely) -> None:
    said = likely("train", "mails.csv", "-t", "kind", "--model", "full", "--covariance", "pooled", "-o", "f.likely")
    assert said.code == 0
    assert package.load("f.likely").get_params()["covariance"] == "pooled"
    assert likely("predict", "f.likely", "new.csv", "--explain", "2").code == 0
    assert likely("evaluate", "mails.csv", "-t", "kind", "--model", "full", "--cv", "2").code == 0


@pytest.mark.parametrize("kind", ["TreeClassifier", "EvidenceClassifier"])
def test_models_that_keep_more_than_counts(likely: Likely, kind: str) -> None:
    getattr(package, kind)().fit(pd.read_csv("mails.csv"), "kind").save("other.likely")
    assert rows(likely("predict", "other.likely", "new.csv").out)[0]["prediction"] in ("read", "skip")
    assert "accuracy" in likely("evaluate", "other.likely", "mails.csv").out
    assert kind in likely("show", "other.likely").out
    assert likely("show", "other.likely", "--html", "o.html").code == 0
    assert likely("explain", "other.likely", "new.csv").code == 0
    if kind == "TreeClassifier":
        said = likely("merge", "other.likely", "other.likely", "-o", "x.likely")
        assert said.code == 2
        assert f"The {kind} in 'other.likely' cannot be merged; a model made of counts can: --model naive." in said.err


def test_the_studio_as_one_page(likely: Likely, model: str) -> None:
    assert likely("show", model, "-o", "page.html").code == 0
    assert "window.likely" in Path("page.html").read_text("utf-8")
    assert likely("show", model, "--data", "mails.csv", "-o", "judged.html").code == 0
    assert Path("judged.html").stat().st_size < 1_000_000
    said = likely("show", model, "--data", "mails.csv")
    assert said.code == 2 and "-o" in said.err
    assert likely("show", model, "-o", "mails.csv").code == 2  # it would write over a table


def test_factors_of_long_names_fit_a_line_and_stay_different(likely: Likely) -> None:
    lines = [f"{k},{k % 7},a class whose name is rather long and ends in {'abcd'[k % 4]}" for k in range(80)]
    Path("long.csv").write_text("\n".join(["the quantity that was measured before,the quantity that lasted,y", *lines]))
    assert likely("train", "long.csv", "-t", "y", "--model", "naive").code == 0
    told = likely("explain", "long.likely", "long.csv").out.split("\n\n")[1].splitlines()
    assert max(map(len, told)) <= 80
    assert len({line.split("  ")[0] for line in told if line.startswith("the quantity")}) == 2
    assert len({*told[0].split("  ")[1:]} - {""}) == 3
