"""Five hundred names and values that want to be more than that: no script runs, nothing overflows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier, EvidenceClassifier, TreeClassifier, evaluate
from likely.studio.document import packed_document
from likely.studio.material import Material
from likely.studio.page import page
from tests.studio.conftest import Open

SCRIPTS = [
    "<script>window.hacked=1</script>", "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>", '"><svg onload=window.hacked=1>', "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}", "${window.hacked=1}", "<!--", "-->", "]]>",
    "<style>*{display:none}</style>", "<base href=//evil.example>", "&lt;script&gt;", "&#x3c;",
    "'); window.hacked=1; ('", '\\"\n', "__proto__", "constructor", "toString", "hasOwnProperty",
]  # fmt: skip
SCRIPTS_OF_THE_WORLD = [
    "שלום עולם", "مرحبا بالعالم", "\u202egnp.exe", "\u2066a\u2069", "日本語の列", "ภาษาไทย", "हिन्दी",
    "e\u0301\u0301\u0301" * 20, "👩\u200d👩\u200d👧", "\u0000null", "tab\there", "line\nbreak", "\u2028\u2029",
    "a" * 5000, " ", "\u00a0", "\ufeff", "ﷺ" * 40, "𝕏" * 300,
]  # fmt: skip
NAMES = [*SCRIPTS, *SCRIPTS_OF_THE_WORLD]
VIEWS = ("overview", "column", "case", "nomogram", "decisions", "evaluation", "comparison", "plane")


def hostile_names(n: int) -> list[str]:
    """So many different ones."""
    return [f"{NAMES[k % len(NAMES)]}{'' if k < len(NAMES) else k}" for k in range(n)]


def assert_tame(tab: Any) -> None:
    """Nothing ran, nothing was added to the page, and nothing is wider than the window."""
    assert tab.evaluate("window.hacked") is None
    assert tab.evaluate("document.querySelectorAll('script').length") == 2
    assert tab.evaluate("document.querySelectorAll('img, iframe, object, base, style').length") == 1  # our own style
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1


def walk(tab: Any) -> None:
    for view in VIEWS:
        if tab.locator(f"nav a[href='#{view}']").count():
            tab.click(f"nav a[href='#{view}']")
            assert tab.locator("main h1").count() == 1
            assert_tame(tab)


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_columns_classes_and_values(show: Open, width: int) -> None:
    rng = np.random.default_rng(0)
    names, values, classes = hostile_names(150), hostile_names(300), hostile_names(50)
    n = 400
    table: dict[str, Any] = {}
    for k, name in enumerate(names):
        table[name] = rng.normal(size=n) if k % 3 == 0 else rng.choice(values[2 * k : 2 * k + 12], n).tolist()
    y = [classes[k] for k in rng.integers(0, len(classes), n)]
    clf = BayesClassifier(schema={name: "numeric" if k % 3 == 0 else "nominal" for k, name in enumerate(names)})
    clf.fit(table, y)
    report = evaluate(clf, table, y, cv=2)
    tab = show(clf, rows=table, report=report, name=SCRIPTS[0], data_name=SCRIPTS[2])
    tab.set_viewport_size({"width": width, "height": 800})
    walk(tab)
    assert tab.evaluate("likely.model.columns.map((c) => c.name)") == names
    for place in (1, 2, 40):
        tab.goto(f"{tab.url.split('#')[0]}#column/{place}")
        assert_tame(tab)


def test_texts_are_shown_as_they_are(show: Open) -> None:
    texts = [f"{text} money" for text in hostile_names(200)]
    clf = BayesClassifier(schema={"body": "text"}).fit({"body": texts}, ["a", "b"] * 100)
    tab = show(clf, "case", rows={"body": texts})
    for place in (0, 2, 11):
        tab.select_option("[data-use=row]", index=place)
        assert_tame(tab)
        shown = tab.evaluate("document.querySelector('.words').textContent")
        assert shown == texts[place]


@pytest.mark.parametrize("kind", [TreeClassifier, EvidenceClassifier])
def test_trees_and_pairs(show: Open, kind: Any) -> None:
    rng = np.random.default_rng(3)
    names, n = hostile_names(6), 300
    table = {name: rng.choice(SCRIPTS[:6], n).tolist() for name in names}
    y = [SCRIPTS[0] if (a == SCRIPTS[0]) ^ (b == SCRIPTS[1]) else SCRIPTS[1]
         for a, b in zip(table[names[0]], table[names[1]], strict=True)]  # fmt: skip
    tab = show(kind().fit(table, y), rows=table)
    walk(tab)
    if kind is TreeClassifier:
        tab.click("nav a[href='#tree']")
        assert_tame(tab)


def test_a_value_of_a_megabyte_and_ten_thousand_columns(show: Open) -> None:
    rng = np.random.default_rng(1)
    huge = "<b>" + "x" * 1_000_000
    table: dict[str, Any] = {f"c{k}": rng.integers(0, 2, 40).astype(float) for k in range(10_000)}
    table["huge"] = [huge, "small"] * 20
    clf = BayesClassifier(families={f"c{k}": "bernoulli" for k in range(10_000)}, schema={"huge": "nominal"})
    clf.fit(table, ["a", "b", "b", "a"] * 10)
    tab = show(clf, rows=table)
    walk(tab)
    assert tab.evaluate("likely.model.columns.length") == 10_001


def test_the_page_itself_holds_no_text_of_the_data() -> None:
    clf = BayesClassifier().fit({SCRIPTS[1]: ["u", "v"] * 5}, [SCRIPTS[0], SCRIPTS[1]] * 5)
    text = page(SCRIPTS[1], packed_document(Material(classifier=clf, name=SCRIPTS[0])))
    assert "window.hacked" not in text.replace("&lt;script&gt;window.hacked=1&lt;/script&gt;", "").replace(
        "&lt;/script&gt;", ""
    )
    assert text.count("<script") == 2
