"""The drawing library: imported when the first picture is drawn, and asked for by the name of its extra."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from likely.errors import MissingExtra
from likely.plots.style import FALLBACK_FONTS, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
