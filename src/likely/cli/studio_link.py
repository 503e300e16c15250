"""The address of a studio's page as another page beside it names it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from likely.cli.output import PIPE


def studio_link(studio: str | None, html: str | None) -> str | None:
    """How the page `html` links to the page `studio`: by a relative path, so that both can be moved together.

    >>> studio_link("out/studio.html", "out/why me.html"), studio_link("a b.html", "out/why.html")
    ('studio.html', '../a%20b.html')
    """
    if studio is None or html is None:
        return None
    return quote(Path(os.path.relpath(studio, os.path.dirname(html) or os.curdir)).as_posix())


def model_name(path: str) -> str:
    """What a model is called in its studio."""
    return "model" if path == PIPE else Path(path).name
