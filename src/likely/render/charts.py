"""Pictures of frames and tables: dependence, ranking, comparison, evaluation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.render.picture import (
    Picture,
    beside,
    colour,
    dashes,
    drawing,
    head_line,
    in_legend,
    legend_columns,
    lines_down,
    named,
    named_apart,
    new_figure,
)
from likely.render.table import seconds
from likely.render.theme import BLUE, FAINT, GREEN, INK, ON_CELL, ON_DARK_CELL, ORANGE, SKY, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A heat map of the columns that say the same thing given the class.

TITLE = "Dependence between columns, given the class"
CELL, MARGIN = 0.32, 2.2
"""Inches of a cell, and of the names beside and below."""


def heat_map(columns: Sequence[str], excess: Array, most: int = 30) -> Picture:
    """Bits beyond chance of each pair, as colours; columns in their order, the least dependent left out."""
    if len(columns) < 2:
        raise SettingsError("There are no pairs of columns to draw: at least two columns are needed.")
    kept = np.sort(np.argsort(-excess.max(axis=1), kind="stable")[:most])
    shown = excess[np.ix_(kept, kept)]
    names = [named(columns[k], 22) for k in kept]
    first, second = np.triu_indices(len(columns), 1)
    strongest = int(excess[first, second].argmax())
    pair = first[strongest], second[strongest]
    with drawing():
        size = CELL * len(kept)
        figure = new_figure(max(size + MARGIN + 1.0, 4.5), max(size + MARGIN, 3.5))
        axes = figure.subplots()
        np.fill_diagonal(shown, np.nan)
        image = axes.imshow(np.ma.masked_invalid(shown), cmap="cividis", vmin=0.0, interpolation="nearest")
        axes.set_xticks(range(len(kept)), names, rotation=90)
        axes.set_yticks(range(len(kept)), names)
        axes.tick_params(length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        figure.colorbar(image, ax=axes, label="bits beyond chance", shrink=0.8)
        left = len(columns) - len(kept)
        title = TITLE + (f" (not shown: {left} further columns)" if left else "")
        head_line(figure, title)
    description = f"Most in common: {columns[pair[0]]} and {columns[pair[1]]}, {excess[pair]:.3f} bits."
    return Picture(figure, title, description)


# A picture of the columns, best first.

MOST_COLUMNS = 25
RANKING_UNITS = {
    "held_out": "information on held-out rows, in bits",
    "contribution": "mean absolute log-odds, in nats",
    "permutation": "log loss when it is shuffled, in bits",
}


def ranking(ranked: pd.DataFrame, most: int = MOST_COLUMNS) -> Picture:
    """What `rank` found, as bars: information, what missing values tell of it, and what was seen on rows."""
    shown = ranked.head(most)
    kinds = [kind for kind in RANKING_UNITS if kind in ranked.columns]
    with drawing():
        figure = new_figure(4.2 + 2.6 * len(kinds), 0.24 * max(len(shown), 1) + 1.1)
        panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
        for axes, kind, shade in zip(panels, kinds, (BLUE, ORANGE, GREEN), strict=False):
            values = shown[kind].to_numpy(dtype=np.float64)
            texts = [f"{value:.3g}" if np.isfinite(value) else "∞" for value in values]
            _bars(axes, values, texts, RANKING_UNITS[kind], shade)
        if "held_out" in kinds and "gaps" in ranked.columns and shown["gaps"].any():
            gaps = shown["gaps"].to_numpy(dtype=np.float64)
            panels[0].barh(np.arange(len(gaps)), gaps, height=0.3, color=SKY, label="by missing values alone")
            panels[0].legend(loc="lower right", fontsize=8)
        lines_down(panels[0], [named(name, 34) for name in shown["column"]])
        left = len(ranked) - len(shown)
        title = "How informative each column is about the class" + (
            f" (best {len(shown)} of {len(ranked)})" if left else ""
        )
        head_line(figure, title)
    return Picture(figure, title, f"Best first: {', '.join(str(name) for name in shown['column'].head(5))}.")


def _bars(axes: Axes, values: Array, texts: Sequence[str], unit: str, shades: str | Sequence[str]) -> None:
    """A bar to the right for each line, with its text beside it; what is infinite is longer than all others."""
    finite = np.isfinite(values)
    widest = float(values[finite].max(initial=0.0)) or 1.0
    lengths = np.where(finite, values, 1.15 * widest)
    axes.barh(np.arange(len(values)), lengths, height=0.65, color=shades)
    for place, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        beside(axes, text, length, place)
    axes.set_xlim(1.3 * float(lengths.min(initial=0.0)), 1.3 * float(lengths.max(initial=widest)))
    axes.set_xlabel(unit)
    axes.tick_params(axis="y", length=0)


# A picture of a comparison: who is worse than the best, by how much, and how sure that is.

UNITS = {"error": "error", "log_loss": "log loss in nats", "brier": "Brier score", "expected_cost": "expected cost"}


def leaderboard(frame: pd.DataFrame, by: str, how: str, best: str) -> Picture:
    """From the frame of a comparison: the measure, the difference to the best with its interval, seconds to fit."""
    shown = frame[frame["reason"] == ""]
    shades = [
        GREEN if simple else BLUE if noise else VERMILION
        for simple, noise in zip(shown["simplest"], shown["within_noise"], strict=True)
    ]
    with drawing():
        figure = new_figure(9.4, 0.34 * len(shown) + 1.9)
        left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=(1.0, 1.25, 0.8))
        values, times = (shown[name].to_numpy(dtype=np.float64) for name in (by, "fit_seconds"))
        _bars(left, values, [f"{value:.3g}" for value in values], UNITS[by], shades)
        _gaps(middle, shown, shades)
        _bars(right, times, [seconds(each) for each in times], "seconds to fit", FAINT)
        lines_down(left, [named(name, 30) for name in shown.index])
        head_line(figure, f"Comparison by {UNITS[by]}: {named(how, 70)}")
        _legend(figure)
    simple = str(shown.index[int(np.argmax(shown["simplest"]))])
    return Picture(figure, "Comparison of classifiers", f"{best} is best; the simplest that is as good: {simple}.")


def _legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    meanings = {
        GREEN: "the simplest that is not worse than the best within noise",
        BLUE: "not worse within noise",
        VERMILION: "worse",
    }
    patches = [Patch(color=shade, label=meaning) for shade, meaning in meanings.items()]
    figure.legend(handles=patches, loc="outside lower left", ncols=len(patches))


def _gaps(axes: Axes, shown: pd.DataFrame, shades: list[str]) -> None:
    axes.axvline(0.0, color=INK, linewidth=0.8)
    for place, (gap, low, high) in enumerate(shown[["difference", "low", "high"]].to_numpy(dtype=np.float64)):
        axes.plot([low, high], [place, place], color=shades[place], linewidth=2.0)
        axes.plot([gap], [place], marker="o", color=shades[place], markersize=5)
    axes.set_xlabel("worse than the best by (95 % interval)")
    axes.tick_params(axis="y", length=0)


# A picture of an evaluation: confusion, calibration, ROC and precision–recall curves.

MOST_CLASSES = 12
"""Curves that are drawn at most: those of the most frequent classes."""

MOST_CELLS = 15
"""Rows and columns of a confusion matrix whose counts are written out."""

POINTS = 500
CROWD = 8
"""Classes from which on a picture of them becomes larger."""

MOST_NAMES = 40
"""Names along a side of a confusion matrix: of more classes every second, third … is named."""

FLAT_LETTERS = 30
"""Letters of all names that stand side by side without being turned."""


class Curves(NamedTuple):
    """What posteriors are judged by: bins of calibration, points of both curves by class, and the mean areas."""

    calibration: pd.DataFrame
    roc: pd.DataFrame
    precision_recall: pd.DataFrame
    roc_auc: float
    average_precision: float


def quality(title: str, description: str, table: pd.DataFrame, curves: Curves | None) -> Picture:
    """Four panels; without posteriors only the confusion matrix."""
    crowd = max(max(table.shape) - CROWD, 0)
    with drawing():
        wider, higher = min(0.22 * crowd, 8.0), min(0.14 * crowd, 5.0)
        figure = new_figure(9.6 + wider, 8.4 + higher) if curves else new_figure(5.2 + wider, 4.6 + higher)
        if curves is None:
            confusion(figure.subplots(), table)
        else:
            panels = figure.subplots(2, 2)
            confusion(panels[0, 0], table)
            calibration(panels[0, 1], curves.calibration)
            _ranked_curves(figure, panels[1], table, curves)
        head_line(figure, title)
    return Picture(figure, title, description)


def _ranked_curves(figure: Figure, panels: Sequence[Axes], table: pd.DataFrame, curves: Curves) -> None:
    """ROC and precision–recall curves of the most frequent classes; of two classes, whose curves mirror, the rarer."""
    weights = table.sum(axis=1)
    often = weights.sort_values(ascending=False, kind="stable").index
    shown = often[1:] if len(often) == 2 else often[:MOST_CLASSES]
    labels = dict(zip(shown, named_apart(shown, 28), strict=True))
    roc, precise = (points[points["class"].isin(shown)] for points in (curves.roc, curves.precision_recall))
    rates = "false_positive_rate", "true_positive_rate"
    _curves(panels[0], roc, *rates, "false positive rate", "true positive rate", labels)
    _curves(panels[1], precise, "recall", "precision", "recall", "precision", labels)
    panels[0].plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=0)
    if len(shown) == 1:
        share = float(weights[shown[0]] / max(float(weights.sum()), 1e-300))
        panels[1].axhline(share, color=FAINT, linewidth=1, zorder=0)
        panels[0].set_title(f"ROC of {labels[shown[0]]}: area {curves.roc_auc:.3f}")
        panels[1].set_title(f"Precision and recall of {labels[shown[0]]} (grey: guessing, {share:.2f})")
        return
    panels[0].set_title(f"ROC, one class against the rest: mean area {curves.roc_auc:.3f}")
    panels[1].set_title(f"Precision and recall: mean of average precision {curves.average_precision:.3f}")
    handles, texts = panels[1].get_legend_handles_labels()
    left = len(often) - len(shown)
    ncols = legend_columns(texts, figure.get_figwidth())
    title = f"{left} rarer classes are not drawn" if left else None
    figure.legend(handles, texts, loc="outside lower left", ncols=ncols, fontsize=8, title=title, alignment="left")


def confusion(axes: Axes, table: pd.DataFrame) -> None:
    """Truths down, decisions across, shaded by the share of the truth's rows."""
    counts = table.to_numpy(dtype=np.float64)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    if max(counts.shape) <= MOST_CELLS:
        for (row, column), count in np.ndenumerate(counts):
            shade = ON_DARK_CELL if shares[row, column] > 0.6 else ON_CELL
            axes.annotate(f"{count:,.6g}", (column, row), ha="center", va="center", color=shade, fontsize=8)
    across, down = (named_apart(labels, 18) for labels in (table.columns, table.index))
    flat = sum(map(len, across)) <= FLAT_LETTERS
    size = 8.0 if max(counts.shape) <= 2 * MOST_CELLS else 6.0
    every = max(-(-max(counts.shape) // MOST_NAMES), 1)
    places = [range(0, n, every) for n in counts.shape]
    axes.set_xticks(places[1], across[::every], rotation=0 if flat else 90, fontsize=size)
    axes.set_yticks(places[0], down[::every], fontsize=size)
    axes.set_xlabel("decision")
    axes.set_ylabel("truth")
    axes.set_title("Confusion matrix: rows, shaded by proportion of the true class")


def calibration(axes: Axes, bins: pd.DataFrame) -> None:
    """What was given to the most probable class against how often it was right; dots grow with the rows."""
    weight = bins["weight"].to_numpy(dtype=np.float64)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=0)
    axes.plot(bins["predicted"], bins["observed"], color=BLUE, linewidth=1)
    sizes = 12 + 160 * weight / max(weight.max(initial=0.0), 1.0)
    axes.scatter(bins["predicted"], bins["observed"], s=sizes, color=BLUE)
    _unit_square(axes, "probability of the predicted class", "proportion that was right")
    axes.set_title("Calibration: the closer to the diagonal, the better")


def _curves(
    axes: Axes,
    points: pd.DataFrame,
    across: str,
    up: str,
    across_label: str,
    up_label: str,
    labels: Mapping[Hashable, str],
) -> None:
    for place, (label, curve) in enumerate(points.groupby("class", sort=False)):
        shown = in_legend(labels[label])
        axes.plot(curve[across], curve[up], color=colour(place), linestyle=dashes(place), label=shown)
    _unit_square(axes, across_label, up_label)


def _unit_square(axes: Axes, across_label: str, up_label: str) -> None:
    """Two shares, with a little room around them."""
    axes.set(xlim=(-0.02, 1.04), ylim=(-0.02, 1.04), xlabel=across_label, ylabel=up_label)
