"""A finished picture: it shows itself in notebooks and saves itself as PNG, SVG or a page that opens offline."""

from __future__ import annotations

import re
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from likely.errors import SettingsError
from likely.io.outputs import Output, refuse, write_text, write_whole
from likely.markup import Markup, tag
from likely.render.page import fragment, page
from likely.render.style import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 150
SUFFIXES = (".png", ".svg", ".html")
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)


def suffix_of(path: str | PathLike[str]) -> str:
    """How a picture is to be written; a suffix that says nothing is refused."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*SUFFIXES, ".htm"):
        raise SettingsError(f"A picture is saved as {', '.join(SUFFIXES)}, not as {Path(path).name!r}.")
    return suffix


class Picture:
    """A matplotlib `figure`, its title, and a description for those who cannot see it."""

    def __init__(self, figure: Figure, title: str, description: str) -> None:
        self.figure, self.title, self.description = figure, title, description

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture; the suffix says how: .png, .svg or .html."""
        suffix = suffix_of(path)
        refuse([Output(path)])
        if suffix == ".png":
            write_whole(path, self.to_png())
        else:
            write_text(path, self.to_svg() if suffix == ".svg" else self.to_html())
        return Path(path)

    def to_png(self, dots_per_inch: int = DOTS_PER_INCH) -> bytes:
        """The picture as pixels."""
        return self._drawn("png", dots_per_inch)

    def to_svg(self) -> str:
        """The picture as a document of shapes; letters are shapes, too, so that it looks the same everywhere."""
        return f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{self._svg()}\n'

    def to_html(self) -> str:
        """A page that needs nothing but itself."""
        return page(self.title, self._repr_html_())

    def _repr_html_(self) -> Markup:
        return fragment(tag("figure", self._svg(), tag("figcaption", self.description, hidden="")))

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"

    def _svg(self) -> Markup:
        text = _COMMENT.sub("", self._drawn("svg", 72).decode("utf-8"))
        opened = tag("svg", role="img", aria_label=f"{self.title}. {self.description}").removesuffix("></svg>")
        return Markup(opened + text[text.index("<svg") + len("<svg") :].rstrip())

    def _drawn(self, kind: str, dots_per_inch: int) -> bytes:
        out = BytesIO()
        with drawing():
            metadata = {"Date": None, "Creator": None} if kind == "svg" else None
            self.figure.savefig(out, format=kind, dpi=dots_per_inch, metadata=metadata)
        return out.getvalue()
