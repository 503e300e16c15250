"""A nomogram: every value can be named and taken, however crowded its line, and no words lie upon each other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier
from tests.studio.browser import until
from tests.studio.conftest import Open

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('main svg text')].filter((each) => each.textContent.trim())
    .map((each) => [each.getBoundingClientRect(), each.textContent]), found = [];
  boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, other]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && up > 3) found.push([one, other]);
  }));
  const frame = document.querySelector('main svg').getBoundingClientRect();
  const isCut = ([a]) => a.left < frame.left - 1 || a.right > frame.right + 1;
  return [...found, ...boxes.filter(isCut).map((each) => each[1])];
}"""
HINT = "[...document.querySelectorAll('main svg > g')].at(-1).textContent"
N = 600


def crowded() -> tuple[dict[str, Any], np.ndarray]:
    """A column of twenty values that say nearly the same, next to one that says a great deal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    return {
        "occupation of the whole household": [f"occupation {k}" for k in (rng.integers(0, 20, N) + y) % 20],
        "sure": np.where(rng.random(N) < 0.03, 1 - y, y).astype(str),
        "children": rng.poisson(1 + y),
        "pay": np.abs(rng.normal(1 + y, 2, N)),
    }, np.where(y, "yes", "no")


@pytest.mark.parametrize("width", [390, 820, 1600])
def test_words_never_lie_upon_each_other(show: Open, tab: Any, width: int) -> None:
    table, y = crowded()
    tab.set_viewport_size({"width": width, "height": 900})
    show(BayesClassifier().fit(table, y), "nomogram", rows={**table, "y": y})
    assert tab.evaluate(OVERLAPS) == []
    for place in range(4):
        for key in ("Home", "End", "Delete"):
            tab.locator(f"[data-slider='{place}']").focus()
            tab.keyboard.press(key)
            tab.evaluate("document.activeElement.blur()")
            assert tab.evaluate(OVERLAPS) == [], (place, key)


def test_values_are_named_under_the_mouse_and_taken_by_a_click(show: Open, tab: Any) -> None:
    table, y = crowded()
    show(BayesClassifier().fit(table, y), "nomogram", rows={**table, "y": y})
    line = tab.locator("main svg > g:has([data-slider])").filter(has_text="occupation of")
    frame, dots = line.locator("rect").bounding_box(), line.locator("circle").all()
    named, middle = set(), frame["y"] + frame["height"] / 2
    for box in [dot.bounding_box() for dot in dots]:
        tab.mouse.move(box["x"] + box["width"] / 2, middle)
        named |= {*tab.evaluate(HINT).split("  ")[0].split(", ")} - {"", "…"}
    values = {*table["occupation of the whole household"]}
    assert len(named) >= 10 and named <= values
    tab.mouse.move(5, 5)
    assert tab.evaluate(HINT) == ""
    tab.mouse.click(frame["x"] + 2, middle)
    taken = tab.evaluate("likely.state.row.get('occupation of the whole household')")
    assert (
        tab.evaluate(HINT).startswith(taken) and tab.evaluate("document.activeElement.getAttribute('role')") == "slider"
    )
    tab.evaluate("document.activeElement.blur()")
    assert tab.evaluate(HINT) == ""


def test_every_value_is_named_as_keys_move_along(show: Open) -> None:
    table, y = crowded()
    tab = show(BayesClassifier().fit(table, y), "nomogram", rows={**table, "y": y})
    tab.locator("[role=slider][aria-label^=occupation]").focus()
    tab.keyboard.press("Home")
    named = [tab.evaluate(HINT)]
    for _ in range(19):
        tab.keyboard.press("ArrowRight")
        named.append(tab.evaluate(HINT))
    first = {re.split(",|  ", text)[0] for text in named}
    assert first == {*table["occupation of the whole household"]}


def test_a_tap_takes_a_value(browser: Any, show: Open, tab: Any, tmp_path: Any) -> None:
    table, y = crowded()
    show(BayesClassifier().fit(table, y), "nomogram")
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(tab.url)
        until(page, "window.likely !== undefined")
        line = page.locator("main svg > g:has([data-slider])").first
        line.scroll_into_view_if_needed()
        box = line.locator("rect").bounding_box()
        taken = "[...likely.state.row.values()].filter((cell) => cell !== null).length"
        assert page.evaluate(taken) == 0
        page.touchscreen.tap(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
        assert page.evaluate(taken) == 1
        assert page.evaluate(HINT) != ""


def test_scales_end_where_values_do(show: Open) -> None:
    """A bell curve goes on below zero; what was seen does not. Whole numbers stay whole."""
    table, y = crowded()
    clf = BayesClassifier(families={"pay": "gaussian", "children": "gaussian"}).fit(table, y)
    tab = show(clf, "nomogram", rows={**table, "y": y})
    for name in ("pay", "children"):
        slider = tab.locator(f"[role=slider][aria-label='{name}']")
        for key, least in (("Home", float(table[name].min())), ("End", float(table[name].max()))):
            slider.focus()
            tab.keyboard.press(key)
            value = tab.evaluate("(name) => likely.state.row.get(name)", name)
            assert table[name].min() - 1e-3 <= value <= table[name].max() + 1e-3
            assert key == "End" or value == pytest.approx(least, rel=1e-4)
            assert name == "pay" or value == round(value)


@pytest.mark.parametrize("more", [{}, {"sky": ["blue", "grey"] * 30}])
def test_texts_have_no_scale_and_the_page_says_so(show: Open, more: dict[str, Any]) -> None:
    table = {"text": ["good and cheap", "bad and dear"] * 30, **more}
    clf = BayesClassifier(schema={"text": "text"}).fit(table, ["yes", "no"] * 30)
    said = "Texts have no scale" if more else "a text has no scale"
    assert show(clf, "nomogram").locator(f"text={said}").count() == 1


def test_a_crowded_line_names_all_its_values_where_the_page_is_wide(show: Open, tab: Any) -> None:
    """Its labels are spread out beneath, in the order of their points, with a thread to each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    work = [f"work {k}" for k in (rng.integers(0, 12, N) + y) % 12]
    table = {"work": work, "sure": (y ^ (rng.random(N) < 0.02)).astype(str)}
    rows = {**table, "y": y}
    tab.set_viewport_size({"width": 1600, "height": 900})
    show(BayesClassifier().fit(table, y), "nomogram", rows=rows)
    line = tab.locator("main svg > g:has([data-slider])").filter(has_text="work 1")
    for _ in range(2):  # also after a value was taken: the line keeps its room
        named = [text for text in line.locator("text.halo").all_text_contents() if text.startswith("work ")]
        assert sorted(named) == sorted(set(table["work"]))
        assert tab.evaluate(OVERLAPS) == []
        tab.locator("[data-slider='1']").press("ArrowRight")
        tab.evaluate("document.activeElement.blur()")
    places = [line.locator(f"text.halo:text-is('{name}')").bounding_box()["x"] for name in named]
    assert places == sorted(places)
