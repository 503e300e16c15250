"""Trees and the quadratic discriminant of evidence in the page: scored, varied and shared out as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import EvidenceClassifier
from likely.studio.document import cells_of
from likely.table import as_table
from tests.models.evidence.test_discriminant import ellipses
from tests.studio.conftest import Open
from tests.studio.test_rules import compared

N_EXPLAINED = 40
WITH_OTHERS = " with others"
EXPLAIN = """([names, rows]) => rows.map((row) => {
    const why = likely.explain(names.map((name, k) => [name, row[k]]));
    return why.terms.map((term) => [term.columns, term.name || "", Array.from(term.add)]); })"""
VARY = """([names, rows]) => rows.map((row, at) => {
    const cells = new Map(names.map((name, k) => [name, row[k]])), other = rows[(at + 1) % rows.length];
    return names.map((name, k) => {
        const varied = likely.scorer.vary(cells, name).posterior(other[k]);
        const whole = likely.posterior([...cells].map(([own, cell]) => [own, own === name ? other[k] : cell]));
        return Math.max(...varied.map((share, c) => Math.abs(share - whole[c]))); }); })"""


def together(n_classes: int, n: int = 2_500) -> tuple[dict[str, Any], list[str]]:
    """Four columns that say something only together, with gaps."""
    rng = np.random.default_rng(11)
    size, age = rng.normal(size=(2, n)).round(2)
    town, flag = rng.choice(["Ulm", "Bonn", "Köln"], n), rng.random(n) < 0.5
    odd = (size > 0.3).astype(int) + (age > -0.2) + (town == "Ulm") + flag
    y = np.where(rng.random(n) < 0.05, rng.integers(0, n_classes, n), odd % n_classes)
    age[rng.random(n) < 0.05] = np.nan
    table = {"size": size, "age": age, "town": town.tolist(), "flag": flag.tolist()}
    return table, [f"class {k}" for k in y]


def model_of(part: str, n_classes: int) -> tuple[EvidenceClassifier, dict[str, Any]]:
    """A model whose rest has trees, or a discriminant, with rows that it learned."""
    table, y = together(n_classes) if part == "trees" else ellipses(600, n_classes)
    clf = EvidenceClassifier().fit(table, y)
    assert len(getattr(clf.model_.evidence, part)) > 0
    return clf, table


def rows_of(clf: EvidenceClassifier, table: Any) -> tuple[list[str], list[list[Any]]]:
    names = list(clf.schema_.features)
    read = clf.schema_.align(as_table(table), "")
    columns = [cells_of(read, name, clf.schema_.kinds[name])[:N_EXPLAINED] for name in names]
    return names, [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("part", ["trees", "discriminant"])
def test_the_rest_is_scored_and_shared_out_as_in_python(show: Open, part: str, n_classes: int) -> None:
    clf, table = model_of(part, n_classes)
    compared(show, clf, table)
    names, rows = rows_of(clf, table)
    why = clf.explain(table)
    told = show(clf).evaluate(EXPLAIN, [names, rows])
    assert any(label.endswith(WITH_OTHERS) for label in why.columns)
    for row, terms in enumerate(told):
        mine = {" × ".join(columns) + (name and f" {name}"): np.array(add) for columns, name, add in terms}
        assert len(mine) == len(why.columns)
        for place, label in enumerate(why.columns):
            told_of_it = mine["" if label.startswith("intercept") else label]
            assert np.abs(told_of_it - why.contributions[row, place]).max() < 1e-9, (row, label)


@pytest.mark.parametrize("part", ["trees", "discriminant"])
def test_a_cell_is_varied_with_the_rest(show: Open, part: str) -> None:
    clf, table = model_of(part, 2)
    found = np.array(show(clf).evaluate(VARY, list(rows_of(clf, table))))
    assert found.max() < 1e-12


def test_the_page_names_what_a_column_adds_with_others(show: Open) -> None:
    clf, _ = model_of("discriminant", 2)
    tab = show(clf, "case")
    tab.locator(".field input").first.fill("1.5")
    said = tab.locator(".case-side").inner_text()
    assert "with others" in said
