"""Findings that are none: chance, a few rows, columns that only look sure."""

from __future__ import annotations

import numpy as np

from likely import BayesClassifier
from likely.studio.suspicions import identifiers, suspicions
from likely.table import as_table


def test_chance_is_no_finding() -> None:
    rng = np.random.default_rng(5)
    table = {
        "town": rng.choice(["a", "b", None], 600, p=[0.45, 0.45, 0.1]).tolist(),
        "x": np.where(rng.random(600) < 0.1, np.nan, rng.normal(size=600)),
    }
    clf = BayesClassifier().fit(table, rng.choice(["u", "v"], 600).tolist())
    assert suspicions(clf.summary_, {"town": 0.001, "x": 0.001}, as_table(table)) == []


def test_new_values_and_moved_numbers_are_drift() -> None:
    rng = np.random.default_rng(6)
    table = {"town": rng.choice(["a", "b"], 400).tolist(), "x": rng.normal(size=400)}
    clf = BayesClassifier(families={"x": "bins"}).fit(table, rng.choice(["u", "v"], 400).tolist())
    later = as_table({"town": ["c"] * 400, "x": rng.normal(2.0, 1.0, 400)})
    found = suspicions(clf.summary_, {}, later)
    assert {each["column"] for each in found if each["kind"] == "drift"} == {"town", "x"}
    assert suspicions(clf.summary_, {}, as_table({"town": ["c"] * 5, "x": [9.0] * 5})) == []  # too few rows to say


def test_identifiers_are_odd_and_quantities_are_not() -> None:
    n = 200
    table = {
        "number": np.arange(n), "size": np.random.default_rng(0).normal(size=n), "y": ["u", "v"] * (n // 2),
        "town": ["a", "b", "c", "d"] * (n // 4),
    }  # fmt: skip
    clf = BayesClassifier().fit(table, "y")
    found = identifiers(as_table(table), clf.schema_)
    assert [(each["kind"], each["column"], each["share"]) for each in found] == [("identifier", "number", 1.0)]
