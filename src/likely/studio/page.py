"""One HTML file: the document, the styles and the modules of `web/`, put together without a build step."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from likely.markup import Markup, joined, tag
from likely.render.theme import variables

MAIN, FIRST_PAGE = "main.js", "start.js"
STYLES = "studio.css"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n?', re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)

NO_SCRIPT = (
    "This page shows a model by scripts of its own; it loads nothing from elsewhere. Please allow scripts for it."
)
NO_SCRIPT_GERMAN = (
    "Diese Seite zeigt ein Modell mit eigenen Skripten und lädt nichts von anderswo. Bitte erlauben Sie ihr Skripte."
)


def page(title: str, content: bytes | None, *, served: bool = False) -> str:
    """The page of a packed document, or the first page, which has none; `served` lets it ask its own service.

    Only the script and the styles that stand in it may run: the policy names them by their digests.
    """
    script, style = bundled(served=served), styles()
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(served=served)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    data = Markup("" if content is None else base64.b64encode(content).decode("ascii"))
    body = tag(
        "body",
        tag("div", tag("p", title, class_="loading"), id="studio", data_served="yes" if served else None),
        tag("noscript", tag("p", NO_SCRIPT), tag("p", NO_SCRIPT_GERMAN, lang="de")),
        tag("script", data, type="application/octet-stream", id="document"),
        tag("script", script, type="module"),
    )
    return joined(Markup("<!DOCTYPE html>\n"), tag("html", head, body, lang="en"), "\n")


def policy(*, served: bool) -> str:
    """What may run in the page, and whom it may ask: nothing and nobody but itself."""
    asks = "connect-src 'self'" if served else "connect-src 'none'"
    own = f"script-src '{_digest(bundled(served=served))}'", f"style-src '{_digest(styles())}'"
    return "; ".join(["default-src 'none'", *own, "img-src data: blob:", asks, "base-uri 'none'", "form-action 'none'"])


@cache
def bundled(*, served: bool) -> Markup:
    """All modules as one, each after those that it imports; names at their top level are theirs alone.

    What only a service can do (the first page, what is refused there) is in no page that is a file.
    """
    done: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        text = _web(name)
        done[name] = ""
        for other in _IMPORT.findall(text):
            visit(other)
        del done[name]
        done[name] = _INDENT.sub("", _COMMENT.sub("", _IMPORT.sub("", text))).replace("\nexport ", "\n")

    for first in (*([FIRST_PAGE] if served else []), MAIN):
        visit(first)
    return Markup('"use strict";\n' + "".join(text.removeprefix("export ") for text in done.values()))


@cache
def styles() -> Markup:
    """The theme, and how the studio uses it."""
    return Markup(variables(":root") + _INDENT.sub("", _web(STYLES)).replace("\n", ""))


def _web(name: str) -> str:
    return (files("likely.studio") / "web" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
