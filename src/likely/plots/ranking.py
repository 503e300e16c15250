"""A picture of the columns, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.plots.library import drawing, new_figure
from likely.plots.picture import Picture
from likely.plots.style import BLUE, ORANGE, named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_COLUMNS = 25
UNITS = {"information": "information about the class, in bits", "contribution": "mean size of the log-odds, in nats"}


def ranking(ranked: pd.DataFrame, most: int = MOST_COLUMNS) -> Picture:
    """What `rank` found, as bars: information, and mean contribution where rows were given."""
    shown = ranked.head(most)
    kinds = [kind for kind in UNITS if kind in ranked.columns]
    with drawing():
        figure = new_figure(4.2 + 2.6 * len(kinds), 0.24 * max(len(shown), 1) + 1.1)
        panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
        for axes, kind, shade in zip(panels, kinds, (BLUE, ORANGE), strict=False):
            _panel(axes, shown[kind].to_numpy(dtype=np.float64), UNITS[kind], shade)
        panels[0].set_yticks(range(len(shown)), [named(name, 34) for name in shown["column"]])
        panels[0].set_ylim(len(shown) - 0.4, -0.6)
        left = len(ranked) - len(shown)
        title = "Which columns tell about the class" + (f" (best {len(shown)} of {len(ranked)})" if left else "")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return Picture(figure, title, f"Best first: {', '.join(str(name) for name in shown['column'].head(5))}.")


def _panel(axes: Axes, values: np.ndarray, unit: str, shade: str) -> None:
    finite = np.isfinite(values)
    widest = float(values[finite].max(initial=0.0)) or 1.0
    lengths = np.where(finite, values, 1.15 * widest)
    axes.barh(np.arange(len(values)), lengths, height=0.65, color=shade)
    for place, (value, length) in enumerate(zip(values, lengths, strict=True)):
        text = f"{value:.3g}" if np.isfinite(value) else "∞"
        axes.annotate(text, (length, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0.0, 1.25 * float(lengths.max(initial=widest)))
    axes.set_xlabel(unit)
    axes.tick_params(axis="y", length=0)
