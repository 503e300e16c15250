"""One file that needs nothing else: its policy, its bytes, its modules."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import likely.studio
from likely.studio.page import bundled, page, styles

WEB = Path(likely.studio.__file__).parent / "web"
MOST_BYTES = 235_000
MOST_SERVED_BYTES = 280_000
MOST_LINES = 400


def test_only_what_stands_in_the_page_may_run() -> None:
    text = page("A model", None)
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script.group(1).encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;" in text
    assert "unsafe" not in text.split("</head>")[0] and "connect-src &#x27;none&#x27;" in text
    assert "connect-src &#x27;self&#x27;" in page("A model", None, served=True)


def test_a_title_stays_a_title() -> None:
    assert "<script>alert" not in page("<script>alert(1)</script>", None)


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = bundled(served=True) + styles()
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert "</script" not in text and "eval(" not in text and "innerHTML" not in text


def test_a_budget_of_bytes() -> None:
    assert len(bundled(served=False).encode()) + len(styles().encode()) < MOST_BYTES
    assert len(bundled(served=True).encode()) + len(styles().encode()) < MOST_SERVED_BYTES


def test_modules_are_short_and_all_of_them_are_used() -> None:
    modules = sorted(WEB.glob("*.js"))
    assert modules and all(len(path.read_text("utf-8").splitlines()) <= MOST_LINES for path in modules)
    imported = {name for path in modules for name in re.findall(r'from "\./([\w-]+\.js)"', path.read_text("utf-8"))}
    assert {path.name for path in modules} - imported == {"main.js", "start.js"}


def test_a_file_does_without_what_only_a_service_can_do() -> None:
    assert "Drop a table here" in bundled(served=True) and "Drop a table here" not in bundled(served=False)


def test_names_at_the_top_of_modules_are_theirs_alone() -> None:
    """They are put together into one scope."""
    named = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
    top = [name for path in WEB.glob("*.js") for name in named.findall(path.read_text("utf-8"))]
    assert len(top) == len(set(top)), sorted(name for name in set(top) if top.count(name) > 1)
