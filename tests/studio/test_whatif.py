"""What the page says of a case beyond its posterior is what the package says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier, CalibratedClassifier, EvidenceClassifier, TreeClassifier
from tests.studio.conftest import Open
from tests.studio.test_rules import people

SET = "([name, cell]) => likely.state.row.set(name, cell)"


def placed(tab: Any, row: dict[str, Any]) -> None:
    for name, cell in row.items():
        tab.evaluate(SET, [name, cell])


def some_rows(table: dict[str, Any], places: list[int]) -> list[dict[str, Any]]:
    def plain(cell: Any) -> Any:
        cell = cell.item() if isinstance(cell, np.generic) else cell
        return None if isinstance(cell, float) and np.isnan(cell) else cell

    return [{name: plain(cells[k]) for name, cells in table.items()} for k in places]


def test_the_next_measurement(show: Open) -> None:
    table, y = people(500)
    clf = BayesClassifier().fit(table, y)
    tab = show(clf)
    for row in some_rows(table, [0, 3, 9]):
        opened = {**row, "town": None, "age": None, "code": None}
        placed(tab, opened)
        found = tab.evaluate("likely.nextMeasurements(likely.state.row).map((e) => [e.column.name, e.bits])")
        frame = clf.next_measurement({name: [cell] for name, cell in opened.items()})
        wanted = dict(zip(frame["column"], frame["information"], strict=True))
        assert set(wanted) <= {name for name, _ in found}
        for name, bits in found:
            assert bits == pytest.approx(wanted[name], abs=4e-3)


def test_intervals(show: Open) -> None:
    table, y = people(300)
    clf = BayesClassifier().fit(table, y)
    low, high = clf.predict_interval({name: [cells[k] for k in range(8)] for name, cells in table.items()})
    tab = show(clf)
    for k, row in enumerate(some_rows(table, list(range(8)))):
        placed(tab, row)
        ends = tab.evaluate(
            "(() => { const e = likely.interval(likely.state.row); return [[...e.low], [...e.high]]; })()"
        )
        assert np.abs(np.array(ends) - [low[k], high[k]]).max() < 0.01


ENDS = "(() => { const e = likely.interval(likely.state.row); return [[...e.low], [...e.high]]; })()"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_of_evidence(show: Open, n_classes: int) -> None:
    """Rows, pairs, triples and gaps: the page follows Laplace's approximation to the last digits that matter."""
    table, y = people(900, n_classes)
    clf = EvidenceClassifier(max_triples=1).fit(table, y)
    places = list(range(12))
    low, high = clf.predict_interval({name: [cells[k] for k in places] for name, cells in table.items()})
    tab = show(clf)
    for k, row in enumerate(some_rows(table, places)):
        placed(tab, row)
        assert np.abs(np.array(tab.evaluate(ENDS)) - [low[k], high[k]]).max() < 1e-7


def test_bounds_of_venn_and_abers(show: Open) -> None:
    table, y = people(400, 2)
    clf = CalibratedClassifier(method="venn-abers").fit(table, y)
    low, high = clf.predict_bounds({name: [cells[k] for k in range(6)] for name, cells in table.items()})
    tab = show(clf)
    for k, row in enumerate(some_rows(table, list(range(6)))):
        placed(tab, row)
        assert np.abs(np.array(tab.evaluate(ENDS)) - [low[k], high[k]]).max() < 1e-9


@pytest.mark.parametrize("kind", [BayesClassifier, EvidenceClassifier, TreeClassifier])
def test_a_flip_is_one_for_the_package_too(show: Open, kind: Any) -> None:
    table, y = people(400)
    clf = kind().fit(table, y)
    tab = show(clf)
    flips = 0
    for row in some_rows(table, [1, 5, 12, 30]):
        placed(tab, row)
        before = clf.predict({name: [cell] for name, cell in row.items()})[0]
        for change in tab.evaluate(
            "likely.counterfactuals(likely.state.row).map((f) => f.changes.map((c) => [c.column.name, c.value]))"
        ):
            other = {**row, **dict(change)}
            assert clf.predict({name: [cell] for name, cell in other.items()})[0] != before
            flips += 1
    assert flips > 3


def test_the_cheapest_decision(show: Open) -> None:
    table, y = people(100, 2)
    tab = show(BayesClassifier().fit(table, y))
    decide = "([p, costs, refuse]) => likely.decide(p, costs, refuse).decision"
    assert tab.evaluate(decide, [[0.5, 0.5], [[0, 1], [1, 0]], None]) == 0  # ties go to the first class
    assert tab.evaluate(decide, [[0.8, 0.2], [[0, 9], [1, 0]], None]) == 1
    assert tab.evaluate(decide, [[0.6, 0.4], [[0, 1], [1, 0]], 0.3]) == -1


def test_changes_of_whole_numbers_are_whole(show: Open) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    table = {"visits": 3 + 2 * y + rng.integers(0, 4, 400), "weight": y + rng.normal(0, 1, 400)}
    for kind in (BayesClassifier, EvidenceClassifier, TreeClassifier):
        clf = kind().fit(table, np.where(y, "yes", "no"))
        tab = show(clf, rows={**table, "y": np.where(y, "yes", "no")})
        tab.reload()
        placed(tab, {"visits": 3, "weight": -0.4})
        found = tab.evaluate(
            "likely.counterfactuals(likely.state.row).flatMap((e) => e.changes).map((e) => [e.column.name, e.value])"
        )
        assert found
        for name, value in found:
            assert name == "weight" or value == round(value), kind
            assert name == "weight" or 3 <= value <= 8
            flipped = {"visits": [3], "weight": [-0.4], name: [value]}
            assert len(found) > 1 or clf.predict(flipped)[0] != clf.predict({"visits": [3], "weight": [-0.4]})[0]
