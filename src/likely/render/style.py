"""How all pictures look: colours that every reader can tell apart, plain lines, names on one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.arrays import Array
from likely.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


# Ticks: round numbers in a range, and probabilities along a scale of log-odds.

_CHANCES = (
    1e-9,
    1e-6,
    1e-4,
    1e-3,
    0.01,
    0.05,
    0.1,
    0.25,
    0.5,
    0.75,
    0.9,
    0.95,
    0.99,
    0.999,
    0.9999,
    1 - 1e-6,
    1 - 1e-9,
)
_NAMES = dict(zip(_CHANCES[-2:], ("1 − 10⁻⁶", "1 − 10⁻⁹"), strict=True)) | {1e-9: "10⁻⁹", 1e-6: "10⁻⁶", 1e-4: "10⁻⁴"}


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
            kept.append((place, _NAMES.get(chance, f"{chance:g}")))
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
        raise MissingExtra('Pictures need matplotlib: install it with `pip install "likely[plot]"`.') from None
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
