"""Everyone can use the page: axe finds nothing serious, in light and dark, on a phone; keys reach everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely import (
    BayesClassifier,
    CalibratedClassifier,
    ConvNetClassifier,
    EvidenceClassifier,
    SVMClassifier,
    TreeClassifier,
    evaluate,
)
from tests.studio.conftest import Open
from tests.studio.serving import studio
from tests.studio.test_routes import table_in
from tests.studio.test_rules import posts
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


LOOKS = [(theme, language) for theme in ("light", "dark") for language in ("en", "de")]


def look(tab: Any, theme: str, language: str) -> None:
    """Light or dark, English or German."""
    tab.emulate_media(color_scheme=theme)
    if language == "de":
        tab.click("#language")


@pytest.mark.parametrize(("theme", "language"), LOOKS)
def test_axe_finds_nothing_serious(whole: Any, theme: str, language: str) -> None:
    look(whole, theme, language)
    for view in VIEWS:
        go(whole, view)
        assert serious(whole) == [], view


@pytest.mark.parametrize(("theme", "language"), LOOKS)
def test_the_first_page(tab: Any, tmp_path: Path, theme: str, language: str) -> None:
    with studio() as address:
        tab.goto(f"{address}/studio")
        look(tab, theme, language)
        assert serious(tab) == []
        tab.set_input_files("input[type=file]", table_in(tmp_path, 60))
        tab.wait_for_selector("[data-use=target]")
        assert serious(tab) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_refused_file(browser: Any, tmp_path: Path, theme: str) -> None:
    (tmp_path / "odd.csv").write_bytes("имя,вид\nМосква,да\n".encode("cp1251"))
    with studio() as address, browser.new_context(locale="en-GB") as context:
        page = context.new_page()
        page.goto(f"{address}/studio")
        look(page, theme, "en")
        page.set_input_files("input[type=file]", tmp_path / "odd.csv")
        page.wait_for_selector(".ways button")
        assert serious(page) == []


@pytest.mark.parametrize(("theme", "language"), LOOKS)
def test_letters(show: Open, theme: str, language: str) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 17, (40, 8, 8)).astype(float)
    table = {f"p{k}": images.reshape(40, 64)[:, k] for k in range(64)} | {"letter": ["a", "b"] * 20}
    clf = ConvNetClassifier(epochs=1).fit(table, "letter")
    tab = show(clf, "letters", rows=table)
    look(tab, theme, language)
    tab.click(".row button:has(canvas) >> nth=0")
    tab.wait_for_selector("[role=status] .bars")
    assert serious(tab) == []


@pytest.mark.parametrize("width", [320, 390, 768, 1920])
def test_on_screens_of_every_width_and_in_german(whole: Any, width: int) -> None:
    whole.set_viewport_size({"width": width, "height": 844})
    whole.click("#language")
    for view in VIEWS:
        go(whole, view)
        assert whole.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1, view
    assert serious(whole) == []


MODELS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "tree": (TreeClassifier, ("tree", "case", "nomogram")),
    "evidence": (lambda: EvidenceClassifier(max_triples=1), ("column", "case")),
    "SVM": (lambda: SVMClassifier(kernel="linear"), ("plane", "case")),
    "calibrated": (lambda: CalibratedClassifier(method="venn-abers"), ("overview", "case")),
}


@pytest.mark.parametrize(("theme", "language"), LOOKS)
@pytest.mark.parametrize("name", MODELS)
def test_views_of_other_models(show: Open, name: str, theme: str, language: str) -> None:
    make, views = MODELS[name]
    table = labelled(150)
    tab = show(make().fit(table, "risk"), rows=table)
    look(tab, theme, language)
    for view in views:
        go(tab, view)
        assert serious(tab) == [], view


@pytest.mark.parametrize(("theme", "language"), LOOKS)
def test_texts_and_empty_states(show: Open, theme: str, language: str) -> None:
    table, y = posts(150)
    clf = BayesClassifier(schema={"body": "text"}).fit(table, y)
    tab = show(clf, rows={name: cells[:20] for name, cells in table.items()})
    look(tab, theme, language)
    for view in ("overview", "column", "case", "decisions", "evaluation", "comparison"):
        go(tab, view)
        assert serious(tab) == [], view


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


def test_a_tree_is_printed_whole(show: Open) -> None:
    table = labelled(400)
    tab = show(TreeClassifier(prune=None).fit(table, "risk"), "tree", rows=table)
    tab.click("button:has-text('Unfold all')")
    before = tab.locator(".pan svg > g").get_attribute("transform")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    box = tab.locator(".pan svg > g").bounding_box()
    assert box["width"] <= 690 and box["x"] >= tab.locator(".pan").bounding_box()["x"] - 1
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator(".pan svg > g").get_attribute("transform") == before


def test_without_scripts_it_says_what_it_needs(browser: Any, whole: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(whole.url.split("#")[0])
    assert "allow scripts" in plain.text_content("noscript")
    context.close()
