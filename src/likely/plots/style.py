"""How all pictures look: colours that every reader can tell apart, plain lines, names on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Okabe and Ito's palette without its yellow, which is too pale for a line on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
Dashes = Literal["-"] | tuple[float, Sequence[float]]
LINES: tuple[Dashes, ...] = ("-", (0.0, (6.0, 2.0)), (0.0, (2.0, 2.0)), (0.0, (6.0, 2.0, 1.0, 2.0)))
"""Shapes change with every class, and dashes once the colours are used up: colour never stands alone."""

INK, FAINT = "#222222", "#BBBBBB"
FOR, AGAINST = BLUE, VERMILION

STYLE: dict[Any, Any] = {
    "font.family": ["sans-serif"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,  # a name with dollars in it is a name, not a formula
    "text.usetex": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "axes.facecolor": "white",
    "figure.facecolor": "white",
    "figure.titlesize": 11.0,
    "savefig.facecolor": "white",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "path",  # the same picture on every machine, whatever fonts it has
    "svg.hashsalt": "likely",  # the same bytes for the same picture
}

FALLBACK_FONTS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Segoe UI Symbol",
)


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


def legend_columns(labels: Sequence[str], width: float) -> int:
    """How many labels fit side by side into so many inches."""
    widest = max((len(label) for label in labels), default=1)
    return max(int(width / (0.08 * widest + 0.6)), 1)


def in_legend(text: str) -> str:
    """A label that begins with an underscore would be hidden; a space before it changes nothing to the eye."""
    return f" {text}" if text.startswith("_") else text
