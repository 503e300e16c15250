"""The sheet on which points are read off, added, and turned into a probability."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array, Index
from likely.render.picture import (
    Dashes,
    Picture,
    beside,
    chances,
    colour,
    dashes,
    drawing,
    named,
    named_apart,
    new_figure,
    round_values,
    written,
)
from likely.render.theme import FAINT, GRID, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS, MOST_RIVALS, MOST_LINES = 16, 4, 24
WIDTH, RULER = 9.0, 5.9
"""Inches of the sheet, and of its scales."""

LETTER = 0.068
"""Inches that a letter of a label takes."""

FARTHEST = 12.0
"""Nats beyond which a scale is cut: odds of 160,000 to 1."""

ROOM = 0.5
"""Inches for one scale."""

FEW, SMOOTH = 4, 1000
"""Numbers that are drawn as ticks, and points of a curve for more of them."""

REFINED = 3
"""How often round values are looked for between those that lie far apart."""

STEEP = 0.06
"""Share of the sheet's width below which a curve is named at its right side."""

SIDES = {
    "above": ((0, 4), "center", "bottom"),
    "below": ((0, -4), "center", "top"),
    "right": ((6, 0), "left", "center"),
}
"""Where a value is named beside its point on a curve."""

ODDS = (1000, 300, 100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Odds of a rival that are named on the scale from totals to probability."""

BESIDE = {False: np.inf, True: 0.24}
"""Heights by which two labels must differ to stand beside each other: those of a steep curve may be stacked."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Points of some values of a column, as values × rivals; the values of a numeric scale are ascending floats."""

    column: str
    values: Sequence[Hashable] | Array
    points: Array

    @property
    def is_numeric(self) -> bool:
        return isinstance(self.values, np.ndarray)

    @property
    def is_whole(self) -> bool:
        """Whether the values are counts: there is nothing between two of them."""
        return self.is_numeric and bool((np.asarray(self.values) % 1.0 == 0.0).all())

    def spread(self, rivals: Index | None = None) -> float:
        """How much the column can change the log-odds against some rivals; infinitely if it can rule one out."""
        points = self.points if rivals is None else self.points[:, rivals]
        if np.isinf(points).any():
            return np.inf
        return float((points.max(axis=0) - points.min(axis=0)).max()) if points.size else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """All that a nomogram shows: the class, its rivals, the points to start with and the scale of each column."""

    target: Hashable
    rivals: Sequence[Hashable]
    start: Array
    scales: Sequence[Scale]
    missing: Mapping[str, Array] = field(default_factory=dict)
    """Points of a missing value, of columns where it has any."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPoints:
    """A row to be marked on the sheet: its known values and their points by column, the total, the probability."""

    values: Mapping[str, object]
    points: Mapping[str, Array]
    total: Array
    probability: float


def nomogram(sheet: Sheet, row: RowPoints | None = None) -> Picture:
    """A scale per column (and rival): find the value, read its points above, add; below, from total to probability.

    On a scale for numbers small values stand low and large ones high. Values beyond the edge are worth more
    points than the scale shows. The points of `row` are marked, if one is given.
    """
    # The lower its start, the more probable a rival is.
    rivals = np.sort(np.argsort(sheet.start, kind="stable")[:MOST_RIVALS])
    most = min(MOST_COLUMNS, MOST_LINES // len(rivals))
    scales = sorted(sheet.scales, key=lambda scale: -scale.spread(rivals))[:most]
    target = named(sheet.target, 24)
    with drawing():
        lines = [(scale, rival) for scale in scales for rival in rivals]
        upper, lower = ROOM * len(lines) + 0.3, 1.0 if len(sheet.rivals) == 1 else 1.75
        note = _note(sheet, scales, rivals, row)
        height = upper + lower + 0.95 + 0.15 * len(note)
        figure = new_figure(WIDTH, height)
        figure.set_layout_engine("none")
        left = (WIDTH - RULER - 0.45) / WIDTH
        top = figure.add_axes((left, (lower + 0.2) / height, RULER / WIDTH, upper / height))
        _points(top, sheet, lines, row)
        bottom = figure.add_axes((left, 0.25 / height, RULER / WIDTH, (lower - 0.35) / height))
        _to_probability(bottom, sheet, target)
        against = named(sheet.rivals[0], 24) if len(sheet.rivals) == 1 else "each rival"
        title = f"Nomogram for {target}: points are log-odds against {against}, in nats"
        figure.text(0.012, 1 - 0.22 / height, title, fontsize=11, fontweight="bold", va="center")
        figure.text(0.012, 1 - 0.38 / height, "\n".join(note), fontsize=7.5, va="top", color=MUTED, linespacing=1.4)
    description = f"Start with {', '.join(f'{value:.3g}' for value in sheet.start)}; the numbers are in to_frame()."
    return Picture(figure, title, description)


def _note(sheet: Sheet, scales: Sequence[Scale], rivals: Index, row: RowPoints | None) -> list[str]:
    start = ", ".join(_round(value) for value in sheet.start[rivals])
    silent = "" if sheet.missing else "; a missing value has none"
    parts = [f"Start with {start} (the intercept) and add the points of every column{silent}."]
    if any(_is_curve(scale) for scale in scales):
        parts.append("A curve rises from small numbers to large ones.")
    if any(not scale.is_numeric and len(scale.values) > FEW for scale in scales):
        parts.append("Where there is no room for a name, see to_frame().")
    if len(sheet.scales) > len(scales):
        parts.append(f"Not shown: {len(sheet.scales) - len(scales)} scales that weigh less.")
    if len(sheet.rivals) > len(rivals):
        parts.append(f"Not shown: {len(sheet.rivals) - len(rivals)} rarer rivals, whose odds belong to the sum, too.")
    if row is not None:
        shown = ", ".join(_round(value) for value in row.total[rivals])
        parts.append(f"● this row: total {shown}, P\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{row.probability:.4f}.")
    return wrap(" ".join(parts), 150)


def _round(value: float) -> str:
    return written(round(float(value), 2)) if np.isfinite(value) else ("∞" if value > 0 else "−∞")


def _points(axes: Axes, sheet: Sheet, lines: Sequence[tuple[Scale, np.intp]], row: RowPoints | None) -> None:
    values = np.concatenate([*(scale.points[:, rival] for scale, rival in lines), [-1.0, 1.0]])
    values = values[np.isfinite(values)]
    low, high = max(float(values.min()), -FARTHEST), min(float(values.max()), FARTHEST)
    margin = 0.06 * (high - low)
    low, high = low - margin, high + margin
    axes.set_xlim(low, high)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.xaxis.set_ticks_position("top")
    ticks = round_values(low, high, 10)
    axes.set_xticks(ticks, [written(tick) for tick in ticks])
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    _label(axes, -0.6, "points")
    several, names = len(sheet.rivals) > 1, named_apart(sheet.rivals, 24)
    for place, (scale, rival) in enumerate(lines):
        shade, dash = (colour(int(rival)), dashes(int(rival))) if several else (INK, "-")
        first = not several or place == 0 or lines[place - 1][0] is not scale
        if first and place:
            axes.axhline(place - 0.5, color=FAINT, linewidth=0.5)
        name = named(scale.column, 26)
        if several:
            against = f"against {names[int(rival)]}"
            _label(axes, place - 0.17 if first else place, name if first else "", fontweight="bold")
            _label(axes, place + (0.22 if first else 0.0), against, fontsize=7.5, color=shade)
        else:
            _label(axes, place, name, fontweight="bold")
        draw = _curve if _is_curve(scale) else _ticks
        draw(axes, place, scale, scale.points[:, rival], shade, dash)
        if scale.is_numeric and scale.column in sheet.missing:
            _missing(axes, place, float(sheet.missing[scale.column][rival]), shade)
        if row is not None and scale.column in row.values:
            worth = float(row.points[scale.column][rival])
            _mark(axes, place, scale, scale.points[:, rival], row.values[scale.column], worth)


def _label(axes: Axes, place: float, text: str, **look: object) -> None:
    """Words to the left of a scale."""
    beside(axes, text, 0, place, -8, xycoords=("axes fraction", "data"), **{"fontsize": 9, **look})


def _is_curve(scale: Scale) -> bool:
    return scale.is_numeric and len(scale.values) > FEW


def _visible(scale: Scale, points: Array, low: float, high: float) -> tuple[Array, Array, Array]:
    """Values whose points the sheet has room for, their points, and their height in the band of the scale."""
    ends = np.asarray(scale.values)
    values = np.linspace(ends[0], ends[-1], SMOOTH)
    worth = np.interp(values, ends, points)
    inside = np.flatnonzero((worth >= low) & (worth <= high))
    if not len(inside):
        return (np.zeros(0),) * 3
    first, last = values[inside[0]], values[inside[-1]]
    heights = 0.6 * (values - first) / ((last - first) or 1.0) - 0.3
    kept = slice(inside[0], inside[-1] + 1)
    shown = np.where((worth >= low) & (worth <= high), worth, np.nan)
    return values[kept], shown[kept], heights[kept]


def _curve(axes: Axes, place: int, scale: Scale, points: Array, shade: str, dash: Dashes) -> None:
    """A number: the curve rises from its least to its largest value; round values are named on it."""
    low, high = axes.get_xlim()
    values, worth, heights = _visible(scale, points, low, high)
    if not len(values):
        return
    axes.plot(worth, place - heights, color=shade, linestyle=dash, linewidth=1.3)
    taken: list[tuple[float, float, float]] = []
    steep = bool(np.nanmax(worth) - np.nanmin(worth) < STEEP * (high - low))
    for value in _named_values(values, worth, 0.2 * (high - low)):
        if scale.is_whole and value % 1.0:
            continue
        spot, height = float(np.interp(value, values, worth)), float(np.interp(value, values, heights))
        if np.isnan(spot):
            continue
        axes.plot([spot], [place - height], ".", color=shade, markersize=5)
        label = written(value)
        half = (len(label) * LETTER / 2 + 0.03) / RULER * (high - low)
        centre = spot + 2.0 * half if steep else spot
        if all(abs(centre - other) > half + width or abs(height - up) > BESIDE[steep] for other, width, up in taken):
            taken.append((centre, half, height))
            _name(axes, label, spot, place - height, "right" if steep else _side(worth, heights, spot, height))


def _named_values(values: Array, worth: Array, wide: float) -> Array:
    """Round values along a curve, and some between two of them that lie far apart on the sheet."""
    ticks = round_values(float(values[0]), float(values[-1]), 8)
    for _ in range(REFINED):
        ends = np.unique([values[0], *ticks, values[-1]])
        steps = np.abs(np.diff(np.interp(ends, values, np.nan_to_num(worth))))
        wide_ones = [(float(ends[k]), float(ends[k + 1])) for k in np.flatnonzero(steps > wide)]
        finer = np.concatenate([np.zeros(0), *(round_values(left, right, 4) for left, right in wide_ones)])
        ticks = np.concatenate([ticks, np.setdiff1d(finer, ticks)])
    return ticks


def _side(worth: Array, heights: Array, spot: float, height: float) -> str:
    """Lower values of a curve that turns round are named below it, so that its upper branch stays readable."""
    above = worth[heights > height]
    return "below" if len(above) and np.nanmin(above) < spot < np.nanmax(above) and height < -0.15 else "above"


def _name(axes: Axes, label: str, spot: float, place: float, side: str) -> None:
    step, ha, va = SIDES[side]
    axes.annotate(label, (spot, place), step, textcoords="offset points", ha=ha, va=va, fontsize=7.5)


def _mark(axes: Axes, place: int, scale: Scale, points: Array, value: object, worth: float) -> None:
    """The row's own value; an arrow where it lies beyond the edge."""
    low, high = axes.get_xlim()
    height = 0.0
    if _is_curve(scale) and isinstance(value, (int, float)):
        values, _, heights = _visible(scale, points, low, high)
        height = float(np.interp(float(value), values, heights)) if len(values) else 0.0
    shape = "<" if worth < low else (">" if worth > high else "o")
    spot = float(np.clip(worth, low, high))
    axes.plot([spot], [place - height], shape, color="black", markersize=6, zorder=5, clip_on=False)


def _missing(axes: Axes, place: int, worth: float, shade: str) -> None:
    """What a missing value is worth: a hollow mark below the scale."""
    spot = float(np.clip(worth, *axes.get_xlim()))
    axes.plot([spot], [place + 0.36], "D", markerfacecolor="white", markeredgecolor=shade, markersize=4, zorder=4)
    beside(axes, "missing", spot, place + 0.36, 5, fontsize=7, color=MUTED)


def _ticks(axes: Axes, place: int, scale: Scale, points: Array, shade: str, dash: Dashes) -> None:
    """Categories: a line with a tick per value, named above or below it where there is room."""
    low, high = axes.get_xlim()
    edges = np.clip(points, low, high)
    axes.plot([edges.min(), edges.max()], [place, place], color=shade, linestyle=dash, linewidth=1.3)
    ends = {-0.3: -np.inf, 0.32: -np.inf}
    for k in np.argsort(edges, kind="stable"):
        axes.plot([edges[k]] * 2, [place - 0.1, place + 0.1], color=shade, linewidth=1.3)
        value = scale.values[k]
        text = named(f"{value:g}" if isinstance(value, float) else value, 18)
        text = f"← {text}" if points[k] < low else (f"{text} →" if points[k] > high else text)
        half = (len(text) * LETTER / 2 + 0.04) / RULER * (high - low)
        centre = float(np.clip(edges[k], low + half, high - half))
        side = next((side for side, end in ends.items() if centre - half > end), None)
        if side is not None:
            ends[side] = centre + half
            axes.text(centre, place + side, text, ha="center", va="center", fontsize=7.5)


def _to_probability(axes: Axes, sheet: Sheet, target: str) -> None:
    """One rival: total to probability. Several: each total to the odds of its rival, their sum to probability."""
    totals = [(float(total), written(total)) for total in range(-7, 8)]
    odds = [(float(-np.log(value)), f"{value:g}") for value in ODDS]
    chance = f"P({target})", chances(-7.5, 7.5, 0.055)
    one = len(sheet.rivals) == 1
    pairs = [(0.2, ("total", totals), chance)]
    if not one:
        pairs = [
            (0.0, ("total against a rival", totals), ("odds of that rival", odds)),
            (1.4, ("sum of all odds", odds), chance),
        ]
    axes.axis("off")
    axes.set(xlim=(-7.5, 7.5), ylim=(1.0 if one else 2.1, -0.6))
    for place, above, below in pairs:
        axes.plot([-7.4, 7.4], [place, place], color=INK, linewidth=0.8)
        for step, (name, ticks) in ((-0.13, above), (0.13, below)):
            for tick, label in ticks:
                axes.plot([tick, tick], [place, place + step], color=INK, linewidth=0.8)
                axes.text(tick, place + 2.2 * step, label, ha="center", va="center", fontsize=7.5)
            _label(axes, place + 2.0 * step, name, fontweight="bold" if name == chance[0] else "normal")
