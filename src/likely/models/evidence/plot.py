"""Plots of tables: main effects with the distribution of the rows beneath, heat maps of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SettingsError, missing_columns
from likely.models.evidence.encoding import BinnedNumber
from likely.models.evidence.explain import TermTable, term_table
from likely.render.picture import (
    Picture,
    colour,
    dashes,
    drawing,
    in_legend,
    legend_columns,
    marker,
    named,
    named_apart,
    new_figure,
)
from likely.render.theme import AGAINST, FAINT, FOR, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from likely.models.evidence.predictor import AdditivePredictor

MAX_COLUMNS, MAX_CLASSES, MAX_VALUES, MAX_PANELS = 12, 7, 10, 6
PANELS_ACROSS = 3
FLAT = 3
"""Letters of a name that still stands upright below a column of a heat map."""
MIN_DIGITS = 3
MIN_BIN_WIDTH = 0.004
"""Where half of the bins are narrower than this part of the axis, they stand side by side, all of one width."""

TITLE = "What each column adds for each class"
UNIT = "nats"


def plot_main_effects(
    model: AdditivePredictor, columns: Sequence[str] | None = None, most: int = MAX_COLUMNS
) -> Picture:
    """Main effects of the columns that are named, or of those with the largest ones, with the rows beneath."""
    available = model.evidence.encoding.names
    unknown = [name for name in columns or () if name not in model.columns]
    if unknown:
        raise missing_columns(unknown, model.columns)
    chosen = [name for name in columns if name in available] if columns is not None else _by_strength(model, available)
    if not chosen:
        raise SettingsError("Texts have no picture of this kind; explain(X).tokens(row) lists the top words of a row.")
    shown = chosen[:most]
    two = len(model.classes) == 2
    classes = np.array([1]) if two else np.sort(np.argsort(-model.prior, kind="stable")[:MAX_CLASSES])
    with drawing():
        across = 2 if len(shown) == 4 else min(PANELS_ACROSS, len(shown))
        down = -(-len(shown) // across)
        figure = new_figure(max(3.4 * across + 0.4, 5.2), 2.9 * down + 0.8)
        grid = figure.add_gridspec(down, across)
        for place, name in enumerate(shown):
            inner = grid[place // across, place % across].subgridspec(2, 1, height_ratios=(4.0, 1.0), hspace=0.04)
            above = figure.add_subplot(inner[0])
            below = figure.add_subplot(inner[1], sharex=above)
            table = term_table(model, [name])
            # Only differences between classes count. Those of two mirror each other: one is the log-odds of the second.
            entries = table.entries - table.entries.mean(axis=-1, keepdims=True)
            table = replace(table, entries=2.0 * entries if two else entries)
            _panel(above, below, table, classes)
        rarer = 0 if two else len(model.classes) - len(classes)
        if not two:
            _legend(figure, named_apart([model.classes[k] for k in classes], 24))
        left_out = [(len(chosen) - len(shown), "further columns"), (rarer, "rarer classes")]
        missing = ", ".join(f"{n} {what}" for n, what in left_out if n > 0)
        target, other = named_apart(model.classes[::-1], 24) if two else ("", "")
        head = f"What each column adds to the log-odds of {target} against {other}" if two else TITLE
        title = head + (f" (not shown: {missing})" if missing else "")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return Picture(figure, title, f"Columns: {', '.join(shown)}.")


def plot_pair(model: AdditivePredictor, a: str, b: str) -> Picture:
    """Heat map of the interaction of two columns, beyond their main effects."""
    table = term_table(model, (a, b), MIN_DIGITS)
    if table.names != (a, b):
        table = TermTable(table.columns[::-1], table.cells[::-1], table.entries.swapaxes(0, 1))
    multiclass = len(model.classes) > 2
    shown = np.sort(np.argsort(-model.prior, kind="stable")[:MAX_PANELS]) if multiclass else np.array([1])
    limit = max(float(np.abs(table.entries[..., shown]).max(initial=0.0)), 1e-9)
    rows, columns = (np.flatnonzero(np.array(cells) != "") for cells in table.cells)
    with drawing():
        across = min(PANELS_ACROSS, len(shown))
        down = -(-len(shown) // across)
        size = max(0.26 * len(columns), 1.6), max(0.24 * len(rows), 1.4)
        figure = new_figure(max(across * size[0] + 2.9, 5.2), down * (size[1] + 0.5) + 1.7)
        panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, k in zip(panels, shown, strict=False):
            cells = table.entries[..., k][np.ix_(rows, columns)]
            image = axes.imshow(cells, cmap=_shades(), vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
            axes.set_title(f"for {named(model.classes[k], 24)}")
            names = named_apart([table.cells[1][c] for c in columns], 22)
            axes.set_xticks(range(len(columns)), names, rotation=90 if max(map(len, names), default=0) > FLAT else 0)
            axes.set_yticks(range(len(rows)), named_apart([table.cells[0][r] for r in rows], 22))
            axes.tick_params(length=0)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        figure.supxlabel(named(b, 40))
        figure.supylabel(named(a, 40))
        figure.colorbar(image, ax=list(panels), label=f"contribution of the pair, in {UNIT}", shrink=0.9)
        title = f"{named(a, 30)} and {named(b, 30)} together"
        left_out = len(model.classes) - len(shown) if multiclass else 0
        figure.suptitle(title + (f" (not shown: {left_out} rarer classes)" if left_out else ""), x=0.01, ha="left",
                        fontweight="bold")  # fmt: skip
    return Picture(figure, title, f"Contributions from {table.entries.min():.2f} to {table.entries.max():.2f} nats.")


def _by_strength(model: AdditivePredictor, names: Sequence[str]) -> list[str]:
    """Columns by the mean over rows of the largest absolute entry over classes."""
    strength = {}
    for name in names:
        table = term_table(model, [name])
        mass = table.columns[0].mass
        strength[name] = float(mass @ np.abs(table.entries).max(axis=1, initial=0.0)) / max(float(mass.sum()), 1e-300)
    return sorted(names, key=lambda name: -strength[name])


def _panel(above: Axes, below: Axes, table: TermTable, classes: NDArray[np.intp]) -> None:
    column, entries = table.columns[0], table.entries[:, classes]
    share = column.mass / max(float(column.mass.sum()), 1e-300)
    above.set_title(named(column.name, 34))
    above.axhline(0.0, color=FAINT, linewidth=0.8)
    n_bins = len(column.means) if isinstance(column, BinnedNumber) else 0
    if isinstance(column, BinnedNumber) and n_bins > 1:
        _by_value(above, below, column, entries, share)
    else:
        _by_name(above, below, table.cells[0], entries, share)
    above.set_ylabel(UNIT)
    above.tick_params(axis="x", labelbottom=False, length=0)
    below.set_yticks([])
    below.set_ylim(bottom=0.0)
    below.spines["left"].set_visible(False)
    below.set_ylabel("rows", color=MUTED)


def _by_value(above: Axes, below: Axes, column: BinnedNumber, entries: Array, share: Array) -> None:
    """Steps along the values; a gap stands to the right of them."""
    n = len(column.means)
    edges = np.concatenate([[_outer(column, 0)], column.cuts, [_outer(column, -1)]])
    span, most = edges[-1] - edges[0], float(np.abs(edges).max())
    # Beyond these, neither heights nor sums of edges are numbers.
    drawable = np.diff(edges).min() > 1e-300 and most < 1e300
    ranked = not drawable or float(np.median(np.diff(edges))) < MIN_BIN_WIDTH * span
    places = np.arange(n + 1, dtype=np.float64) if ranked else edges
    span = places[-1] - places[0]
    for place in range(entries.shape[1]):
        above.stairs(
            entries[:n, place], places, baseline=None, color=colour(place), linestyle=dashes(place), linewidth=1.6
        )
    heights = share[:n] / np.diff(places)
    below.stairs(heights, places, fill=True, color=FAINT)
    if ranked:
        ticks = np.unique(np.linspace(1, n - 1, min(n - 1, 4)).astype(int))
        below.set_xticks(ticks, [_short_number(float(column.cuts[k - 1])) for k in ticks])
        below.set_xlabel("bins of about equal shares", fontsize=7.5, color=MUTED)
    if column.gap:
        at = places[-1] + 0.08 * span
        for place in range(entries.shape[1]):
            above.plot(
                [at], [entries[n, place]], color=colour(place), marker=marker(place), markersize=5, linestyle="none"
            )
        below.annotate(
            f"gap\n{share[n]:.1%}", (at, 0.0), (0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=7
        )
        above.axvline(places[-1] + 0.03 * span, color=FAINT, linewidth=0.6, linestyle=":")
    above.set_xlim(places[0] - 0.02 * span, places[-1] + (0.16 if column.gap else 0.02) * span)


def _short_number(value: float) -> str:
    """Three digits, and no power of ten where the number itself is as short."""
    return f"{float(f'{value:.3g}'):,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"


def _outer(column: BinnedNumber, end: int) -> float:
    """Where an outer bin is drawn to: as far beyond its mean as that lies beyond the last cut."""
    mean, cut = float(column.means[end]), float(column.cuts[end])
    return 2.0 * mean - cut if mean != cut else mean + (1.0 if end else -1.0) * max(abs(mean), 1.0) * 1e-6


def _by_name(above: Axes, below: Axes, cells: Sequence[str], entries: Array, share: Array) -> None:
    """A mark per category, the most frequent first."""
    order = np.argsort(-share, kind="stable")[:MAX_VALUES]
    n_classes = entries.shape[1]
    for place in range(n_classes):
        where = np.arange(len(order)) + 0.5 * (place - (n_classes - 1) / 2) / n_classes
        above.vlines(where, 0.0, entries[order, place], color=colour(place), linewidth=1.2)
        above.plot(
            where, entries[order, place], color=colour(place), marker=marker(place), markersize=4, linestyle="none"
        )
    below.bar(np.arange(len(order)), share[order], width=0.7, color=FAINT)
    names = named_apart([cells[k] for k in order], 14)
    slanted = max((len(name) for name in names), default=0) * len(names) > 34
    below.set_xticks(range(len(order)), names, rotation=90 if slanted else 0)
    below.tick_params(axis="x", length=0)
    left_out = len(cells) - len(order)
    if left_out:
        below.set_xlabel(f"{left_out} rarer values not shown", fontsize=7.5, color=MUTED)
    above.set_xlim(-0.6, max(len(order), 1) - 0.4)


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("for and against", [AGAINST, "#FFFFFF", FOR])


def _legend(figure: Figure, labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour(k), linestyle=dashes(k), linewidth=2.0, marker=marker(k), markersize=4,
               markeredgecolor=colour(k))
        for k in range(len(labels))
    ]  # fmt: skip
    ncols = legend_columns(labels, figure.get_figwidth())
    figure.legend(handles, [in_legend(label) for label in labels], loc="outside lower left", ncols=ncols)
