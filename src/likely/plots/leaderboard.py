"""A picture of a comparison: who is worse than the best, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.plots.library import drawing, new_figure
from likely.plots.picture import Picture
from likely.plots.style import BLUE, FAINT, GREEN, INK, VERMILION, named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS = {"error": "error", "log_loss": "log loss in nats", "brier": "Brier score", "expected_cost": "expected cost"}


def leaderboard(frame: pd.DataFrame, by: str, how: str) -> Picture:
    """From the frame of a comparison: the measure, the difference to the best with its interval, seconds to fit."""
    shown = frame[frame["reason"] == ""]
    places = np.arange(len(shown))
    shades = [
        GREEN if simple else BLUE if noise else VERMILION
        for simple, noise in zip(shown["simplest"], shown["within_noise"], strict=True)
    ]
    with drawing():
        figure = new_figure(9.4, 0.34 * len(shown) + 1.9)
        left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=(1.0, 1.25, 0.8))
        values = shown[by].to_numpy(dtype=np.float64)
        left.barh(places, values, height=0.62, color=shades)
        _written(left, values, [f"{value:.3g}" for value in values])
        left.set_xlabel(UNITS[by])
        _gaps(middle, shown, shades)
        seconds = shown["fit_seconds"].to_numpy(dtype=np.float64)
        right.barh(places, seconds, height=0.62, color=FAINT)
        _written(right, seconds, [f"{s:.3g} s" if s >= 0.9995 else f"{1000.0 * s:.3g} ms" for s in seconds])
        right.set_xlabel("seconds to fit")
        left.set_yticks(places, [named(name, 30) for name in shown.index])
        left.set_ylim(len(shown) - 0.4, -0.6)
        for axes in (left, middle, right):
            axes.tick_params(axis="y", length=0)
        figure.suptitle(named(how, 90), x=0.01, ha="left", fontsize=9.0)
        _legend(figure)
    best, simple = str(shown.index[0]), str(shown.index[int(np.argmax(shown["simplest"]))])
    return Picture(figure, "Comparison of classifiers", f"{best} is best; the simplest that is as good: {simple}.")


def _legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    meanings = {
        GREEN: "the simplest that is not worse than the best within noise",
        BLUE: "not worse within noise",
        VERMILION: "worse",
    }
    patches = [Patch(color=shade, label=told) for shade, told in meanings.items()]
    figure.legend(handles=patches, loc="outside lower left", ncols=len(patches))


def _written(axes: Axes, values: np.ndarray, texts: list[str]) -> None:
    for place, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0.0, 1.35 * (float(values.max(initial=0.0)) or 1.0))


def _gaps(axes: Axes, shown: pd.DataFrame, shades: list[str]) -> None:
    axes.axvline(0.0, color=INK, linewidth=0.8)
    for place, (gap, low, high) in enumerate(shown[["difference", "low", "high"]].to_numpy(dtype=np.float64)):
        axes.plot([low, high], [place, place], color=shades[place], linewidth=2.0)
        axes.plot([gap], [place], marker="o", color=shades[place], markersize=5)
    axes.set_xlabel("worse than the best by (95 % interval)")
