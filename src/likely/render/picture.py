"""A finished picture, which shows and saves itself, and how all pictures look.

Colours that every reader can tell apart, plain lines, names on one line.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.arrays import Array
from likely.errors import MissingExtra, SettingsError, to_install
from likely.markup import Markup, tag
from likely.render.page import fragment, page
from likely.render.theme import CLASSES, FAINT, GRID, INK, MUTED, PAPER, RULE, SHADE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

DOTS_PER_INCH = 150
SUFFIXES = (".png", ".svg", ".html")
_ASIDE = re.compile(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", re.DOTALL)
"""What a drawing library writes about itself."""


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
        from likely.io.outputs import Output, refuse, write_text, write_whole

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
        """The picture as vector graphics; letters are shapes as well, so that it looks the same everywhere."""
        return f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{self._svg()}\n'

    def to_html(self) -> str:
        """A page that needs nothing but itself."""
        return page(self.title, self._repr_html_())

    def _repr_html_(self) -> Markup:
        return fragment(tag("figure", themed(self._svg()), tag("figcaption", self.description, hidden="")))

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"

    def _svg(self) -> Markup:
        text = _ASIDE.sub("", self._drawn("svg", 72).decode("utf-8"))
        opened = tag("svg", role="img", aria_label=f"{self.title}. {self.description}").removesuffix("></svg>")
        return Markup(opened + text[text.index("<svg") + len("<svg") :].rstrip())

    def _drawn(self, kind: str, dots_per_inch: int) -> bytes:
        out = BytesIO()
        with drawing():
            metadata = {"Date": None, "Creator": None} if kind == "svg" else None
            self.figure.savefig(out, format=kind, dpi=dots_per_inch, metadata=metadata)
        return out.getvalue()


_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")


def themed(svg: Markup) -> Markup:
    """A picture for a page: our colours become those of the page, which differ where it is dark."""

    def variable(found: re.Match[str]) -> str:
        name = VARIABLES.get(found.group().upper())
        return found.group() if name is None else f"var(--{name},{found.group()})"

    return Markup(_COLOUR.sub(variable, svg))


# How pictures look.

VARIABLES = {
    PAPER: "card", INK: "ink", MUTED: "muted", FAINT: "edge", RULE: "edge", GRID: "rule", SHADE: "shade",
    **{colour: f"class-{k}" for k, colour in enumerate(CLASSES)},
}  # fmt: skip
"""Colours of pictures, and what a page calls them."""

COLOURS = CLASSES

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
Dashes = Literal["-"] | tuple[float, Sequence[float]]
LINES: tuple[Dashes, ...] = ("-", (0.0, (6.0, 2.0)), (0.0, (2.0, 2.0)), (0.0, (6.0, 2.0, 1.0, 2.0)))
"""Shapes change with every class, and dashes once the colours are used up: colour never stands alone."""

STYLE: dict[Any, object] = {
    "font.family": ["sans-serif"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,  # a name with dollars in it is a name, not a formula
    "text.usetex": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "figure.titlesize": 11.0,
    "savefig.facecolor": PAPER,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "path",  # the same picture on every machine, whatever fonts it has
    "svg.hashsalt": "likely",  # the same bytes for the same picture
}

FALLBACK_FONTS = (
    "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Arabic", "Noto Sans Devanagari",
    "Arial Unicode MS", "Hiragino Sans", "Microsoft YaHei", "Segoe UI Symbol",
)  # fmt: skip


def colour(place: int) -> str:
    """The colour of the class at that place."""
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    """The shape of that class's points."""
    return MARKERS[place % len(MARKERS)]


def dashes(place: int) -> Dashes:
    """The dashes of that class's line."""
    return LINES[(place // len(COLOURS)) % len(LINES)]


def named(text: object, longest: int = 32) -> str:
    """A name for a picture: on one line, printable, cut in its middle where it is too long."""
    line = "".join(letter if letter.isprintable() else " " for letter in str(text))
    line = " ".join(line.split()) or "(empty)"
    if len(line) <= longest:
        return line
    tail = longest // 3
    return f"{line[: longest - 1 - tail].rstrip()}…{line[-tail:].lstrip()}"


def named_apart(labels: Iterable[object], longest: int = 32) -> list[str]:
    """Names that stay different where they are cut: words with which all of them begin are left out, if need be.

    >>> named_apart(["department of physics", "department of geology"], 12)
    ['…of physics', '…of geology']
    """
    lines = [named(label, sys.maxsize) for label in labels]
    if len(lines) > 1 and max(map(len, lines)) > longest:
        first, last = min(lines), max(lines)
        common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        cuts = [k + 1 for k in range(common) if first[k] == " " and k + 1 >= FEWEST_LETTERS]
        short = [cut for cut in cuts if max(map(len, lines)) - cut < longest]
        if cuts:
            lines = [f"…{line[(short or cuts[-1:])[0] :]}" for line in lines]
    return [named(line, longest) for line in lines]


FEWEST_LETTERS = 6
"""Letters that all names must have in common before these are left out."""


def legend_columns(labels: Sequence[str], width: float) -> int:
    """How many labels fit side by side into so many inches."""
    widest = max((len(label) for label in labels), default=1)
    return max(int(width / (0.08 * widest + 0.6)), 1)


def in_legend(text: str) -> str:
    """A label that begins with an underscore would be hidden; a space before it changes nothing to the eye."""
    return f" {text}" if text.startswith("_") else text


# Ticks: round numbers in a range, and probabilities along a scale of log-odds.

_MIDDLE = (1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
_CHANCES = {
    1e-9: "10⁻⁹", 1e-6: "10⁻⁶", 1e-4: "10⁻⁴", **{chance: f"{chance:g}" for chance in _MIDDLE},
    1 - 1e-6: "1 − 10⁻⁶", 1 - 1e-9: "1 − 10⁻⁹",
}  # fmt: skip
"""Probabilities that may stand along a scale, and how they are written."""


def round_values(low: float, high: float, most: int) -> Array:
    """At most so many round numbers from low to high, a step of 1, 2 or 5 times a power of ten apart."""
    if not high > low:
        return np.array([low])
    rough = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * (1.0 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 1.0) * step + 0.0)


def written(value: float) -> str:
    """A round number, shortly."""
    return f"{value:.6g}".replace("-", "−")


def chances(low: float, high: float, apart: float) -> list[tuple[float, str]]:
    """Places on a scale of log-odds and the probabilities there; the middle ones first, no two too near."""
    kept: list[tuple[float, str]] = []
    for chance in sorted(_CHANCES, key=lambda c: abs(c - 0.5)):
        place = float(np.log(chance) - np.log1p(-chance))
        if low <= place <= high and all(abs(place - other) > apart * (high - low) for other, _ in kept):
            kept.append((place, _CHANCES[chance]))
    return sorted(kept)


# The drawing library: imported when the first picture is drawn, and asked for by the name of its extra.


@contextmanager
def drawing() -> Iterator[None]:
    """Our style and no other: a user's settings come back afterwards, and no window is ever opened.

    A name may hold letters that no font here has. They become empty boxes, which is no reason for a warning.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtra(f"Pictures need matplotlib: {to_install('plot')}.") from None
    with rc_context({**STYLE, "font.sans-serif": list(_fonts())}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, drawn without pyplot and its global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


@cache
def _fonts() -> tuple[str, ...]:
    """matplotlib's own font, and those of the machine that know further scripts."""
    from matplotlib.font_manager import fontManager

    there = set(fontManager.get_font_names())
    return ("DejaVu Sans", *(name for name in FALLBACK_FONTS if name in there))


# What several pictures have in common.


def head_line(figure: Figure, title: str) -> None:
    """The title of a whole figure, at its left."""
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")


def lines_down(axes: Axes, labels: Sequence[str]) -> None:
    """A line for each label, the first at the top."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def beside(axes: Axes, text: str, x: float, y: float, right: float = 3.0, **look: Any) -> Annotation:
    """Words beside a point, so many dots to its right (or left, below zero)."""
    look = {"fontsize": 8, "ha": "left" if right >= 0.0 else "right", "va": "center", **look}
    return axes.annotate(text, (x, y), (right, 0), textcoords="offset points", **look)
