"""A heat map of the columns that say the same thing given the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingsError
from likely.plots.library import drawing, new_figure
from likely.plots.picture import Picture
from likely.plots.style import named

if TYPE_CHECKING:
    from likely.explain.dependence import Dependence

TITLE = "What two columns say in common, given the class"
CELL, MARGIN = 0.32, 2.2
"""Inches of a cell, and of the names beside and below."""


def heat_map(found: Dependence, most: int = 30) -> Picture:
    """Bits beyond chance of each pair, as colours; columns in their order, the least dependent left out."""
    if len(found.columns) < 2:
        raise SettingsError("There are no pairs of columns to draw: two columns are the least.")
    excess = np.maximum(found.bits - found.by_chance, 0.0)
    kept = np.sort(np.argsort(-excess.max(axis=1), kind="stable")[:most])
    shown = excess[np.ix_(kept, kept)]
    names = [named(found.columns[k], 22) for k in kept]
    strongest = found.to_frame().iloc[0]
    with drawing():
        size = CELL * len(kept)
        figure = new_figure(max(size + MARGIN + 1.0, 4.5), max(size + MARGIN, 3.5))
        axes = figure.subplots()
        np.fill_diagonal(shown, np.nan)
        image = axes.imshow(np.ma.masked_invalid(shown), cmap="cividis", vmin=0.0, interpolation="nearest")
        axes.set_xticks(range(len(kept)), names, rotation=90)
        axes.set_yticks(range(len(kept)), names)
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        figure.colorbar(image, ax=axes, label="bits beyond chance", shrink=0.8)
        left = len(found.columns) - len(kept)
        title = TITLE + (f" (not shown: {left} further columns)" if left else "")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    most_told = f"Most in common: {strongest['column']} and {strongest['other']}, {strongest['excess']:.3f} bits."
    return Picture(figure, title, most_told)
