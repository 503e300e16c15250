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


@pytest.mark.parametrize("kind", [EvidenceClassifier, TreeClassifier])
def test_the_smallest_change_is_found_however_narrow_its_interval(show: Open, kind: Any) -> None:
    """A fortieth of the range is a wide step: between two of them lies a class of its own."""
    rng = np.random.default_rng(0)
    number = rng.integers(0, 2000, 4000)
    inside = (number >= 900) & (number < 915)
    number = np.where(rng.random(4000) < 0.15, rng.integers(900, 915, 4000), number)
    inside = (number >= 900) & (number < 915)
    table = {"number": number.astype(float) + 0.25}
    clf = kind().fit(table, np.where(inside, "in", "out"))
    tab = show(clf)
    close = np.linspace(850.0, 990.0, 1401)
    flips = close[clf.predict({"number": close}) == "in"]
    assert len(flips)
    for now in (850.25, 960.25, 989.25):
        placed(tab, {"number": now})
        value = tab.evaluate("likely.counterfactuals(likely.state.row)[0].changes[0].value")
        assert clf.predict({"number": [value]})[0] == "in"
        assert abs(value - now) <= 1.1 * np.abs(flips - now).min() + 0.2


def test_the_smallest_change_of_a_whole_number_is_the_next_that_flips(show: Open) -> None:
    """A border that is itself a whole number belongs to one of its sides, and is not passed by one."""
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 3000)
    clf = EvidenceClassifier().fit({"age": age}, np.where(age <= 43, "young", "old"))
    tab = show(clf)
    ages = np.arange(18, 80)
    predicted = clf.predict({"age": ages})
    for now in range(36, 50):
        placed(tab, {"age": now})
        value = tab.evaluate("likely.counterfactuals(likely.state.row)[0].changes[0].value")
        other = ages[predicted != predicted[now - 18]]
        assert value == other[np.abs(other - now).argmin()]


def test_whole_numbers_have_the_intervals_of_python(show: Open) -> None:
    """Few of them are not interpolated, however steep the curve is between two."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    table = {"legs": np.where(y == 0, 4, np.where(y == 1, rng.choice([2, 2, 2, 4], 400), rng.choice([6, 8, 0], 400)))}
    clf = BayesClassifier(families={"legs": "gaussian"}).fit(table, [f"class {k}" for k in y])
    tab = show(clf)
    cells = np.arange(0, 9)
    low, high = clf.predict_interval({"legs": cells})
    for place, cell in enumerate(cells.tolist()):
        placed(tab, {"legs": cell})
        assert np.abs(np.array(tab.evaluate(ENDS)) - [low[place], high[place]]).max() < 1e-5


def test_many_categories_have_intervals_and_a_page_that_leaves_them_out_says_so(show: Open) -> None:
    rng = np.random.default_rng(6)
    y = np.arange(500) % 25
    table = {f"column {j}": rng.choice(["a", "b", "c"], 500) for j in range(80)}
    clf = BayesClassifier(weights=None).fit(table, [f"class {k}" for k in y])
    tab = show(clf, "case")
    low, high = clf.predict_interval({name: cells[:1] for name, cells in table.items()})
    placed(tab, some_rows(table, [0])[0])
    assert np.abs(np.array(tab.evaluate(ENDS)) - [low[0], high[0]]).max() < 1e-6
    tab.evaluate("() => { likely.model.intervals = { is: 'left out' }; document.querySelector('#theme').click(); }")
    assert "it would make the page too large" in tab.text_content("main")
