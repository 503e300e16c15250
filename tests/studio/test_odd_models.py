"""Models of odd tables: every view is drawn, no number is missing, and shares are those of `predict_proba`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import BayesClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier, evaluate
from likely.studio.columns import histogram
from likely.studio.document import packed_document
from likely.studio.material import Material
from likely.studio.page import page
from tests.studio.conftest import Open
from tests.studio.test_rules import compared

N = 80
LARGEST_PAGE = 1_000_000
WRITTEN = """() => document.querySelector('main').textContent + [...document.querySelectorAll('main svg *')].map(
  (each) => [...each.attributes].filter((own) => own.name !== 'aria-label').map((own) => own.value).join(' ')
).join(' ')"""
NO_NUMBERS = ("NaN", "undefined", "Infinity", "[object")


def tables() -> dict[str, tuple[dict[str, Any], list[Any]]]:
    rng = np.random.default_rng(0)
    y = rng.choice(["u", "v"], N).tolist()
    number, letter = rng.normal(size=N), rng.choice(["p", "q"], N).tolist()
    return {
        "one column": ({"a": number}, y),
        "one nominal column": ({"a": letter}, y),
        "three rows": ({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}, ["u", "v", "u"]),
        "constant": ({"a": [1.0] * N, "b": ["x"] * N, "c": number}, y),
        "thirty classes": ({"a": number + np.arange(N) % 30, "b": letter}, [f"class {k % 30}" for k in range(N)]),
        "labels are numbers": ({"a": number, "b": letter}, rng.integers(0, 3, N).tolist()),
        "labels are truths": ({"a": number, "b": letter}, (rng.random(N) < 0.5).tolist()),
        "labels are dates": ({"a": number}, [dt.date(2024, 1, 1 + k % 3) for k in range(N)]),
        "long names": ({"x" * 5000: number, "ab " * 800: letter}, rng.choice(["L" * 3000, "M" * 3000], N).tolist()),
        "names of JavaScript": (
            {"__proto__": number, "constructor": rng.choice(["__proto__", "toString"], N).tolist(),
             "toString": rng.integers(0, 3, N), "hasOwnProperty": rng.choice(["valueOf", "constructor"], N).tolist()},
            rng.choice(["__proto__", "constructor", "toString"], N).tolist(),
        ),
        "huge and tiny": (
            {"a": rng.choice([1e300, -1e300, 1e299], N), "b": rng.choice([1e-300, 0.0, -0.0], N), "c": number}, y,
        ),
        "sixteen digits": ({"a": [2**60 + int(k) for k in rng.integers(0, 5, N)], "b": [2**53 + 1] * N}, y),
        "far dates": ({"d": pd.to_datetime(["1700-01-01", "2200-05-05"] * (N // 2)), "e": number}, y),
    }  # fmt: skip


MODELS = [BayesClassifier, EvidenceClassifier, TreeClassifier, SVMClassifier]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", tables())
def test_every_view_of_an_odd_model(show: Open, name: str, kind: Any) -> None:
    table, y = tables()[name]
    clf = kind().fit(table, y)
    tab = show(clf, rows=table, report=evaluate(clf, table, y, cv=None))
    size = tab.evaluate("document.documentElement.outerHTML.length")
    assert size < LARGEST_PAGE
    for view in tab.evaluate("[...document.querySelectorAll('nav a')].map((each) => each.hash.slice(1))"):
        for each in range(len(table)) if view == "column" else [0]:
            tab.evaluate("(hash) => { location.hash = hash; }", f"{view}/{each}" if view == "column" else view)
            tab.wait_for_selector(f"nav a[href='#{view}'][aria-current=page]")
            written = tab.evaluate(WRITTEN)
            assert [word for word in NO_NUMBERS if word in written] == [], view
            assert tab.locator("text=could not be drawn").count() == 0, view
            assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1, view
    if tab.evaluate("likely.scorer !== null"):
        compared(show, clf, table)


def test_a_thousand_columns_and_a_thousand_support_vectors_fit_into_a_page() -> None:
    """Nothing of this can be packed small, and still the page has less than a megabyte."""
    rng = np.random.default_rng(0)
    table = {f"c{k}": rng.normal(size=N) for k in range(1000)}
    y = rng.choice(["u", "v"], N).tolist()
    for kind in (SVMClassifier, BayesClassifier):
        content = packed_document(Material(classifier=kind().fit(table, y), rows=table))
        assert len(page("wide", content).encode()) < LARGEST_PAGE


def test_a_histogram_of_numbers_with_sixteen_digits() -> None:
    found = histogram(np.array([2.0**60]), np.ones((2, 1)))["bins"]
    assert (np.diff(found["edges"]) > 0.0).all() and found["counts"].sum() == 2.0


@pytest.mark.parametrize("kind", [BayesClassifier, EvidenceClassifier])
def test_truths_beside_equal_numbers_are_left_to_the_service(show: Open, kind: Any) -> None:
    """Python takes True for 1, so rules that are written by value would hold one of them only."""
    table = {"a": pd.Series([True, "True", 1, "1", None, 2.5] * 20, dtype=object)}
    y = np.random.default_rng(0).choice(["u", "v"], 120).tolist()
    clf = kind().fit(table, y)
    tab = show(clf, rows=table)
    if tab.evaluate("likely.scorer !== null"):
        compared(show, clf, table)
    else:
        assert tab.evaluate("likely.model.scorer.why") == "kind"


@pytest.mark.parametrize("kind", MODELS)
def test_every_view_of_a_model_without_rows(show: Open, kind: Any) -> None:
    """A tree and a machine keep no counts: what they ask about and how they scale it says where numbers lie."""
    rng = np.random.default_rng(0)
    table = {"pay": rng.normal(3000.0, 200.0, 400), "plan": rng.choice(["basic", "gold", "none"], 400)}
    y = np.where((table["pay"] > 3000) ^ (table["plan"] == "gold"), "stays", "leaves")
    tab = show(kind().fit(table, y), "case")
    assert tab.locator(".field select option").all_text_contents().count("gold") == 1
    tab.evaluate("likely.state.row.set('plan', 'gold')")
    values = tab.evaluate(
        "likely.counterfactuals(likely.state.row).flatMap((f) => f.changes).filter((c) => c.column.name === 'pay')"
        ".map((c) => c.value)"
    )
    assert values and all(2400 < value < 3600 for value in values)
    for view in tab.evaluate("[...document.querySelectorAll('nav a')].map((each) => each.hash.slice(1))"):
        tab.evaluate("(hash) => { location.hash = hash; }", view)
        tab.wait_for_selector(f"nav a[href='#{view}'][aria-current=page]")
        assert [word for word in NO_NUMBERS if word in tab.evaluate(WRITTEN)] == [], view
        assert tab.locator("text=could not be drawn").count() == 0, view
