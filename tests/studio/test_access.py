"""Everyone can use the page: axe finds nothing serious, in light and dark, on a phone; keys reach everything."""

from __future__ import annotations

from typing import Any

import pytest

from likely import BayesClassifier, EvidenceClassifier, TreeClassifier, evaluate
from tests.studio.conftest import Open
from tests.studio.test_views import go, labelled

VIEWS = ("overview", "column", "case", "nomogram", "decisions", "evaluation", "comparison", "plane")


def serious(tab: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.fixture
def whole(show: Open) -> Any:
    table = labelled()
    clf = BayesClassifier().fit(table, "risk")
    return show(clf, rows=table, report=evaluate(clf, table, "risk", cv=3))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(whole: Any, theme: str) -> None:
    whole.emulate_media(color_scheme=theme)
    for view in VIEWS:
        go(whole, view)
        assert serious(whole) == [], view


def test_on_a_phone_and_in_german(whole: Any) -> None:
    whole.set_viewport_size({"width": 390, "height": 844})
    whole.click("#language")
    for view in VIEWS:
        go(whole, view)
        assert whole.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1, view
    assert serious(whole) == []


@pytest.mark.parametrize("kind", [TreeClassifier, EvidenceClassifier])
def test_trees_and_heat_maps(show: Open, kind: Any) -> None:
    table = labelled()
    tab = show(kind().fit(table, "risk"), "tree" if kind is TreeClassifier else "column/0", rows=table)
    assert serious(tab) == []


def test_keys_reach_every_view_and_every_cell(whole: Any) -> None:
    whole.focus("nav a >> nth=2")
    whole.keyboard.press("Enter")
    whole.wait_for_selector("h1:has-text('A case')")
    reached = set()
    for _ in range(60):
        whole.keyboard.press("Tab")
        reached.add(whole.evaluate("document.activeElement.id"))
    fields = set(whole.evaluate("[...document.querySelectorAll('.field input, .field select')].map((e) => e.id)"))
    assert fields <= reached


def test_printed_pages_have_no_controls_and_no_dark_ground(whole: Any) -> None:
    whole.emulate_media(media="print", color_scheme="dark")
    go_dark = whole.evaluate("getComputedStyle(document.body).backgroundColor")
    assert go_dark == "rgb(255, 255, 255)" and not whole.locator(".side").is_visible()


def test_without_scripts_it_says_what_it_needs(browser: Any, whole: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(whole.url.split("#")[0])
    assert "allow scripts" in plain.text_content("noscript")
    context.close()
