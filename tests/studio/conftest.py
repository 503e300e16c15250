"""A browser for all tests of the studio, and a page that complains of every error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from likely.studio.document import packed_document
from likely.studio.material import Material
from likely.studio.page import page as studio_page
from tests.studio.browser import ARGUMENTS, PATIENCE, NotHere, chromium, until

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        path = chromium()
    except NotHere as reason:
        pytest.skip(str(reason))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A page of a browser; whatever goes wrong in it, or is asked of another host, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    opened.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("file:", "blob:", "data:", "http://127.0.0.1:"))
            else wrong.append(f"asked for {asked.url}")
        ),
    )
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def show(tab: Any, tmp_path: Path) -> Open:
    """Write the page of a model as one file, and open it."""

    def opened(classifier: Any, view: str = "", **more: Any) -> Any:
        path = tmp_path / "page.html"
        content = packed_document(Material(classifier=classifier, **more))
        path.write_text(studio_page("A model", content), "utf-8")
        tab.goto(path.as_uri() + (f"#{view}" if view else ""))
        until(tab, "window.likely !== undefined")
        return tab

    return opened
