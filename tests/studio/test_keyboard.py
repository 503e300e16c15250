"""The studio without a mouse: Tab reaches what can be used, focus is seen, keys do what a click does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import BayesClassifier, TreeClassifier
from tests.studio.browser import until
from tests.studio.conftest import Open

REACHED = """() => {
  const at = document.activeElement, look = getComputedStyle(at);
  const seen = look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2;
  at.dataset.reached = 'yes';
  return [at === document.body ? '' : at.tagName, seen || at.id === 'main'];
}"""

MISSED = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]')]
  .filter((each) => !each.disabled && each.getClientRects().length && !each.dataset.reached)
  .map((each) => each.outerHTML.slice(0, 120))"""


def table(n_classes: int, n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, n)
    return pd.DataFrame({
        "length": y + rng.normal(size=n), "width": rng.normal(size=n) - y,
        "town": [f"t{(k + rng.integers(0, 2)) % 3}" for k in y], "kind": [f"class {k}" for k in y],
    })  # fmt: skip


@pytest.mark.parametrize("model", [BayesClassifier, TreeClassifier])
def test_tab_reaches_all_controls_of_all_views(show: Open, model: Any) -> None:
    rows = table(2)
    tab = show(model().fit(rows, "kind"), rows=rows)
    for view in tab.evaluate("[...document.querySelectorAll('nav a')].map((each) => each.hash.slice(1))"):
        tab.evaluate("(view) => { location.hash = view; }", view)
        until(tab, "(view) => likely.state.view === view", view)
        tab.evaluate("() => { document.activeElement.blur(); getSelection().removeAllRanges(); }")
        tab.focus(".skip")
        for step in range(200):
            tag, seen = tab.evaluate(REACHED)
            if not tag:
                break
            assert step == 0 or seen, f"{view}: no sign of focus on {tag}"
            tab.keyboard.press("Tab")
        assert tab.evaluate(MISSED) == [], view


def test_the_plane_is_moved_by_arrow_keys(show: Open) -> None:
    rows = table(2)
    tab = show(BayesClassifier().fit(rows, "kind"), "plane", rows=rows)
    across = tab.evaluate("document.querySelector('[data-use=across]').selectedOptions[0].textContent")
    before = tab.evaluate("(name) => likely.state.row.get(name)", across)
    tab.focus("svg[data-use=plane]")
    tab.keyboard.press("ArrowRight")
    after = tab.evaluate("(name) => likely.state.row.get(name)", across)
    assert after > before
    tab.keyboard.press("Shift+ArrowLeft")
    assert tab.evaluate("(name) => likely.state.row.get(name)", across) < before, "focus stays on the plane"
    tab.keyboard.press("Escape")
    assert tab.evaluate("(name) => likely.state.row.get(name)", across) is None


def test_more_than_seven_classes_differ_by_more_than_colour(show: Open) -> None:
    rows = table(16, 800)
    tab = show(BayesClassifier().fit(rows, "kind"), "overview", rows=rows)
    looks = tab.evaluate("""() => [...document.querySelectorAll('.bars .chip')].map((each) => {
      const look = getComputedStyle(each);
      return [look.backgroundImage, look.backgroundColor, look.borderTopWidth, look.color].join(' ');
    })""")
    assert len(looks) == 12 and len(set(looks)) == 12
