"""What to measure next: the page says what `next_measurement` says, in bits and in costs, or that it is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier
from tests.studio.conftest import Open
from tests.studio.test_rules import people
from tests.studio.test_whatif import placed, some_rows

FOUND = "likely.nextMeasurements(likely.state.row).map((e) => [e.column.name, e.bits, e.saving])"
PLACES = [0, 3, 9, 14, 22]


def compared(tab: Any, clf: Any, row: dict[str, Any], within: float) -> int:
    """How many gaps of a row are told; all of them as Python has them."""
    placed(tab, row)
    k = len(clf.classes_)
    frame = clf.next_measurement({name: [cell] for name, cell in row.items()}, 1.0 - np.eye(k))
    wanted = {each.column: (each.information, each.saving) for each in frame.itertuples()}
    found = {name: (bits, saving) for name, bits, saving in tab.evaluate(FOUND)}
    assert set(found) == set(wanted)
    for name, numbers in wanted.items():
        assert found[name] == pytest.approx(numbers, abs=within), name
    return len(found)


def speaking_gaps(n_classes: int) -> tuple[dict[str, Any], list[str]]:
    """People of whom some classes keep their age to themselves: an empty cell is evidence until it is filled."""
    table, y = people(900, n_classes)
    rng = np.random.default_rng(5)
    silent = (np.array(y) == "class 0") & (rng.random(len(y)) < 0.6)
    return {**table, "age": np.where(silent, np.nan, table["age"])}, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_with_gaps_that_speak(show: Open, n_classes: int) -> None:
    table, y = speaking_gaps(n_classes)
    clf = EvidenceClassifier().fit(table, y)
    tab = show(clf)
    told = [
        compared(tab, clf, {**row, "age": None, "visits": None, "town": None}, 1e-6) for row in some_rows(table, PLACES)
    ]
    assert min(told) >= 3


def test_numbers_that_speak_together(show: Open) -> None:
    """What a number may be depends on the others: with the correlation comes another gain than without it."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 600)
    size = rng.normal(0, 1, 600)
    table = {
        "length": 10 * size + y,
        "width": 9 * size + rng.normal(0, 1, 600) - 2 * y,
        "age": rng.normal(30 + 2 * y, 4, 600),
        "pay": rng.normal(2000 + 100 * y, 300, 600) + 80 * size,
    }
    clf = FullBayesClassifier().fit(table, [f"class {k}" for k in y])
    tab = show(clf)
    for row in some_rows(table, PLACES):
        assert compared(tab, clf, {**row, "width": None, "pay": None}, 2e-3) == 2


def test_categories_of_naive_bayes(show: Open) -> None:
    table, y = people(500)
    names = ("town", "member")
    clf = BayesClassifier().fit({name: table[name] for name in names}, y)
    tab = show(clf)
    for row in some_rows({name: table[name] for name in names}, PLACES):
        assert compared(tab, clf, {**row, "town": None}, 1e-6) >= 1


def test_where_nothing_is_open_and_where_nothing_is_known(show: Open) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    table = {"a": (y ^ (rng.random(300) < 0.2)).astype(str), "b": rng.choice(["u", "v"], 300)}
    rows = {**table, "kind": np.where(y, "yes", "no")}
    tab = show(AODEClassifier().fit(table, rows["kind"]), "case", rows=rows)
    assert "Every value is known." in tab.text_content("main")
    tab.click("button[aria-label='leave a open']")
    assert "What the open values may be is not known" in tab.text_content("main")
    assert "Every value is known." not in tab.text_content("main")
