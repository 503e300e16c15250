"""Trees and support vector machines keep no counts: what the page shows of their columns, rows with labels show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import BayesClassifier, SVMClassifier, TreeClassifier
from likely.studio.document import document
from likely.studio.material import Material
from likely.studio.observed import observed
from likely.table import as_table
from tests.studio.conftest import Open
from tests.studio.test_views import go, labelled

KINDS = [TreeClassifier, SVMClassifier]


def told(classifier: Any, rows: Any) -> Any:
    return document(Material(classifier=classifier, rows=rows))


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_counted_as_naive_bayes_counts_them(kind: Any) -> None:
    table = labelled(120)
    found, wanted = told(kind().fit(table, "risk"), table), told(BayesClassifier().fit(table, "risk"), table)
    assert found["counted_in"] == "data" and wanted["counted_in"] == "model"
    own, other = ({each["name"]: each for each in page["columns"]} for page in (found, wanted))
    order = [other["town"]["values"].index(value) for value in own["town"]["values"]]
    assert np.array_equal(own["town"]["counts"], other["town"]["counts"][:, order])
    assert own["age"]["bits"] > 0.0 and own["age"]["bins"]["counts"].sum() > 100


def test_gaps_that_speak_and_leaks_are_found_for_trees() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    table = {
        "a": np.where((y == 1) & (rng.random(400) < 0.6), np.nan, rng.normal(size=400)),
        "same": y.astype(str).tolist(),
    }
    table["class"] = np.where(y, "yes", "no").tolist()
    clf = TreeClassifier().fit(table, "class")
    assert {(each["kind"], each["column"]) for each in told(clf, table)["suspicions"]} == {
        ("gaps", "a"),
        ("leak", "same"),
    }


def test_without_labels_or_with_a_class_that_is_missing_nothing_is_counted() -> None:
    table = labelled(90)
    clf = TreeClassifier().fit(table, "risk")
    bare = {name: cells for name, cells in table.items() if name != "risk"}
    few = {**table, "risk": ["class 0", "class 1"] * 45}
    for rows in (bare, few):
        read = as_table(rows)
        assert observed(clf, read, clf.schema_.align(read)) is None
        assert told(clf, rows)["counted_in"] is None


def test_parts_of_dates_are_counted_and_labels_that_are_unknown_are_left_out() -> None:
    n = 60
    frame = pd.DataFrame({
        "day": pd.date_range("2024-01-01", periods=n, freq="9D"), "size": np.arange(n) % 7,
        "class": ["a", "b"] * (n // 2),
    })  # fmt: skip
    clf = TreeClassifier().fit(frame, "class")
    frame.loc[:9, "class"] = None
    frame.loc[10:14, "class"] = "never seen"
    by_name = {each["name"]: each for each in told(clf, frame)["columns"]}
    assert by_name["size"]["bins"]["counts"].sum() == n - 15
    assert by_name["day: weekday"]["counts"].sum() == n - 15


def test_the_page_says_whose_counts_these_are_and_what_to_measure_next(show: Open) -> None:
    table = labelled(200)
    tab = show(TreeClassifier().fit(table, "risk"), rows=table)
    assert tab.locator(".bars .value:has-text('bits')").count() == 6
    go(tab, "column")
    assert tab.locator("text=this kind of model keeps no counts").count() == 1
    go(tab, "case")
    tab.click("button:has-text('Leave all open')")
    assert tab.locator("section:has-text('What to measure next') tbody tr").count() > 1


def test_without_rows_columns_are_listed_by_name(show: Open) -> None:
    tab = show(TreeClassifier().fit(labelled(200), "risk"))
    assert tab.locator(".listed li").count() == 6 and tab.locator(".listed .track").count() == 0
    tab.click(".listed button >> nth=0")
    assert tab.evaluate("location.hash").startswith("#column/")
