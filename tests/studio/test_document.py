"""What the page is told of a model: columns as they were counted, figures as they were found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from likely import BayesClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier, evaluate, train
from likely.studio.document import document, packed_document
from likely.studio.material import Material
from likely.table import as_table
from tests.studio.test_rules import people, posts


def column(told: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in told["columns"] if each["name"] == name)


def test_columns_are_told_as_they_were_counted() -> None:
    table, y = people(500)
    told = document(Material(classifier=BayesClassifier().fit(table, y)))
    town = column(told, "town")
    assert town["counts"].sum() == sum(cell is not None for cell in table["town"])
    assert set(town["values"]) == {"Ulm", "Bonn", "Köln"} and town["bits"] >= 0.0
    age = column(told, "age")
    assert age["is_density"] and age["shares"].shape == (len(age["grid"]), 3)
    assert np.allclose(age["shares"].sum(axis=0), 1.0, atol=1e-5)
    assert [each["rows"] for each in told["classes"]] == [y.count(f"class {k}") for k in range(3)]


def test_many_values_do_not_make_a_column_tell_much() -> None:
    y = ["a", "b"] * 100
    table = {"ticket": [f"T{k}" for k in range(200)], "hint": ["b" if k % 5 == 0 else y[k] for k in range(200)]}
    told = document(Material(classifier=BayesClassifier(schema={"ticket": "nominal"}).fit(table, y)))
    assert column(told, "ticket")["bits"] == 0.0 < column(told, "hint")["bits"]


def test_bins_of_evidence_are_its_own() -> None:
    table, y = people(500)
    clf = EvidenceClassifier().fit(table, y)
    age = column(document(Material(classifier=clf)), "age")
    assert len(age["grid"]) == len(age["edges"]) + 1
    assert age["bins"]["counts"].sum() == np.isfinite(table["age"]).sum()


def test_telling_words_come_first() -> None:
    table, y = posts(500)
    told = document(Material(classifier=BayesClassifier(schema={"body": "text"}).fit(table, y)))
    body = column(told, "body")
    assert (np.diff(body["word_bits"]) <= 0).all() and body["word_counts"].shape == (2, len(body["words"]))


@pytest.mark.parametrize("classifier", [TreeClassifier(), SVMClassifier()])
def test_models_that_keep_no_counts_are_told_as_far_as_data_tell(classifier: Any) -> None:
    table, y = people(200)
    told = document(Material(classifier=classifier.fit(table, y), rows=table))
    assert column(told, "town")["values"] and column(told, "age")["range"][0] < 40.0
    assert len(told["rows"]["cells"]) == 200


def test_an_evaluation_is_the_report_s() -> None:
    table, y = people(600)
    report = evaluate(BayesClassifier(), table, y, cv=5)
    told = document(Material(classifier=BayesClassifier().fit(table, y), report=report))["evaluation"]
    figures = {each["name"]: each["value"] for each in told["figures"]}
    assert figures["accuracy"] == report.accuracy and told["rows"] == 600
    assert told["confusion"].tolist() == report.confusion.to_numpy().tolist()
    assert all(each["from"] <= each["observed"] <= each["to"] for each in told["calibration"])
    assert told["posteriors"].shape == (600, 3) and not told["sampled"]


def test_intervals_are_the_classifier_s_where_cells_are_categories() -> None:
    table, y = people(400)
    clf = BayesClassifier().fit({"town": table["town"]}, y)
    told = document(Material(classifier=clf))["intervals"]
    town = told["columns"][0]
    assert town["variance"].shape == (3, 3) and (town["variance"] > 0.0).all()


def test_what_looks_odd_is_said() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    table = {
        "leak": np.where(y == 1, "yes", "no").tolist(),
        "gaps": [None if label and rng.random() < 0.6 else "x" for label in y],
        "fine": rng.normal(size=800),
    }
    labels = np.where(y, "ill", "well").tolist()
    clf = BayesClassifier().fit(table, labels)
    later = {**table, "fine": rng.normal(3.0, 1.0, 800)}
    found = document(Material(classifier=clf, rows=later))["suspicions"]
    assert [(each["kind"], each["column"]) for each in found] == [("leak", "leak"), ("gaps", "gaps"), ("drift", "fine")]
    assert document(Material(classifier=clf, rows=table))["suspicions"][-1]["kind"] != "drift"


def test_a_page_of_a_large_model_says_what_it_leaves_out() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(10_000)]
    texts = [" ".join(words[w] for w in rng.integers(0, len(words), 20)) for _ in range(800)]
    clf = BayesClassifier(schema={"body": "text"}).fit({"body": texts}, rng.integers(0, 10, 800).tolist())
    content = packed_document(Material(classifier=clf, rows={"body": texts}), budget=30_000)
    assert len(content) < 60_000


def test_rows_keep_their_order_and_their_labels() -> None:
    table, y = people(50)
    whole = {**table, "label": y}
    clf = BayesClassifier().fit(whole, "label")
    rows = document(Material(classifier=clf, rows=whole))["rows"]
    assert rows["truths"] == y and rows["numbers"] == list(range(50))
    assert as_table(whole).n_rows == rows["of"]


@pytest.mark.parametrize("model", ["naive", "evidence", "tree"])
def test_cells_of_rows_are_told_as_the_model_knows_them(model: str, tmp_path: Path) -> None:
    """A file that spells true and false is learned by its words; another table may have flags."""
    (tmp_path / "rows.csv").write_text("on,y\n" + "true,a\nfalse,b\n" * 20)
    clf = train(tmp_path / "rows.csv", "y", model=model)
    found = document(Material(classifier=clf, rows=pa.table({"on": [True, False, None]})))
    cells = [row[0] for row in found["rows"]["cells"]]
    values = next(column for column in found["columns"] if column["name"] == "on").get("values", cells[:2])
    assert cells[2] is None and set(cells[:2]) == set(values[:2])
    assert type(cells[0]) is type(values[0])
