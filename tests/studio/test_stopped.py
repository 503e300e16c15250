"""A service that ends while its page is open: the page goes on, and says what it can no longer do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likely import BayesClassifier, evaluate
from likely.studio.material import Material
from tests.studio.browser import PATIENCE, until
from tests.studio.serving import studio
from tests.studio.test_routes import table_in
from tests.studio.test_views import go, labelled

GONE = "The service did not answer. Is it still running?"


def test_a_service_that_has_ended(browser: Any, tmp_path: Path) -> None:
    table = labelled(60)
    clf = BayesClassifier().fit(table, "risk")
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    broken: list[str] = []
    tab.on("pageerror", lambda error: broken.append(str(error)))
    with studio(Material(classifier=clf, rows=table, report=evaluate(clf, table, "risk", cv=None))) as address:
        tab.goto(f"{address}/studio")
        until(tab, "window.likely !== undefined")
    for view, work in (("comparison", "compare"), ("evaluation", "curve")):
        go(tab, view)
        tab.click(f"[data-work={work}]")
        tab.wait_for_selector(f".wrong:has-text('{GONE}')")
        assert tab.is_enabled(f"[data-work={work}]"), "it may be tried again"
    go(tab, "start")
    tab.set_input_files("input[type=file]", table_in(tmp_path, 20))
    tab.wait_for_selector(f".drop .wrong:has-text('{GONE}')")
    assert tab.text_content(".drop [role=status]") == ""
    go(tab, "case")
    before = tab.evaluate("Array.from(likely.scorer.posterior(likely.state.row))")
    tab.get_by_label("age").first.fill("71,5")
    assert tab.evaluate("Array.from(likely.scorer.posterior(likely.state.row))") != before
    assert broken == []
    context.close()
