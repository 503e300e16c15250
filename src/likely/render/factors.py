"""Pictures of one row: prior × contributions = posterior, and how log-odds grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.render.explanation_page import relative
from likely.render.picture import Picture
from likely.render.style import AGAINST, FAINT, FOR, INK, chances, colour, drawing, named, new_figure
from likely.render.text import factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likely.explain.contrast import Contrast
    from likely.explain.explanation import Explanation
    from likely.render.text import Board

MOST_COLUMNS, MOST_CLASSES = 16, 6
LINE_HEIGHT = 0.27
LONGEST_LABEL = 40


def bars(why: Explanation, row: int = 0) -> Picture:
    """Prior × contributions = posterior of one row, a panel per class.

    A bar is the factor's share of its sum over the classes shown: what that factor alone would make of classes
    that were equally probable. The number beside it is the factor itself, a probability or a density.
    """
    board = why.board(row, MOST_COLUMNS, MOST_CLASSES)
    with drawing():
        labels = ["prior", *(f"× {named(line.label, LONGEST_LABEL)}" for line in board.lines[1:]), "= posterior"]
        widest = max(len(label) for label in labels)
        width = 0.075 * widest + 1.75 * len(board.classes) + 0.5
        figure = new_figure(max(width, 5.0), LINE_HEIGHT * len(labels) + 1.3)
        panels = figure.subplots(1, len(board.classes), sharey=True, squeeze=False)[0]
        shares = np.array([*(relative(line.logs) for line in board.lines), board.posterior])
        for place, axes in enumerate(panels):
            numbers = [*(factor(line.logs[place]) for line in board.lines), f"{board.posterior[place]:.4f}"]
            _panel(axes, shares[:, place], numbers, colour(place))
            axes.set_title(named(board.classes[place], 22), fontweight="bold", fontsize=9)
        panels[0].set_yticks(range(len(labels)), labels)
        panels[0].get_yticklabels()[-1].set_fontweight("bold")
        panels[0].set_ylim(len(labels) - 0.4, -0.6)
        figure.suptitle("Prior × contributions = posterior", x=0.01, ha="left", fontweight="bold")
        figure.supxlabel(_bars_note(board), x=0.01, ha="left", fontsize=7.5, color="#555555")
    best = int(board.posterior.argmax())
    told = f"Most probable: {board.classes[best]} with {board.posterior[best]:.4f}; {len(why.columns)} columns."
    return Picture(figure, f"Why row {row} got its posterior", told)


def _panel(axes: Axes, shares: np.ndarray, numbers: list[str], shade: str) -> None:
    places = np.arange(len(shares))
    last = len(shares) - 1
    axes.barh(places, 1.0, height=0.62, color="#F2F2F2")
    axes.barh(places[:last], shares[:last], height=0.62, color=shade, alpha=0.55)
    axes.barh(last, shares[last], height=0.62, color=shade)
    for place, number in enumerate(numbers):
        weight = "bold" if place == last else "normal"
        axes.text(1.06, place, number, va="center", ha="left", fontsize=8, fontweight=weight)
    axes.axhline(last - 0.5, color=INK, linewidth=0.8)
    axes.set_xlim(0.0, 1.85)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _bars_note(board: Board) -> str:
    notes = [
        "Number: the factor; in naive Bayes P(value | class), or a density. Bar: its share among the classes shown."
    ]
    if board.classes_left_out:
        mass = f"{board.mass_left_out:.4f}" if board.mass_left_out >= 5e-5 else "less than 0.0001"
        left = f"{board.classes_left_out} less probable classes, with {mass} of the posterior"
        notes.append(f"Not shown: {left}.")
    return "\n".join(notes)


def odds(contrast: Contrast, row: int = 0) -> Picture:
    """How the log-odds of one class against others grow from the prior to the posterior, column by column."""
    lines = [*contrast.lines(row, MOST_COLUMNS), ("posterior", float(contrast.total[row]))]
    with drawing():
        figure = new_figure(7.2, LINE_HEIGHT * 1.15 * len(lines) + 1.6)
        axes = figure.subplots()
        starts, ends = _steps([value for _, value in lines])
        low, high = _limits(starts, ends)
        ends = np.clip(ends, low, high)
        for place, ((_, value), start, end) in enumerate(zip(lines, starts, ends, strict=True)):
            shade = FOR if value >= 0.0 else AGAINST
            axes.barh(place, end - start, left=start, height=0.6, color=shade)
            if start == end:
                axes.plot([end, end], [place - 0.3, place + 0.3], color=FAINT, linewidth=1.0)
            side, step = ("left", 4) if end >= start else ("right", -4)
            label = axes.annotate(
                _signed(value), (end, place), (step, 0), textcoords="offset points", ha=side, va="center"
            )
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
            if place < len(lines) - 1:
                axes.plot([end, end], [place + 0.3, place + 0.7], color=FAINT, linewidth=1.0)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.axhline(len(lines) - 1.5, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(lines)), [named(label, LONGEST_LABEL) for label, _ in lines])
        axes.get_yticklabels()[-1].set_fontweight("bold")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_ylim(len(lines) - 0.4, -0.6)
        margin = 0.17 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        target, against = named(contrast.target, 24), named(contrast.against, 24)
        axes.set_xlabel(f"log-odds in nats   (← for {against}, for {target} →)")
        _chance_axis(axes, named(contrast.chance, 60))
        figure.suptitle(f"{target} against {against}", x=0.01, ha="left", fontweight="bold")
    told = f"Log-odds {contrast.total[row]:.4g}, probability {contrast.probability[row]:.4f}."
    return Picture(figure, f"{contrast.title}, row {row}", told)


def _steps(values: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Where each bar starts and ends: one after the other, and the last from zero to the total."""
    ends = np.cumsum(np.nan_to_num(values[:-1], posinf=1e9, neginf=-1e9))
    total = float(np.nan_to_num(values[-1], posinf=1e9, neginf=-1e9))
    starts = np.concatenate([[0.0], ends[:-1], [0.0]])
    return starts, np.concatenate([ends, [total]])


def _limits(starts: np.ndarray, ends: np.ndarray) -> tuple[float, float]:
    """Range of all that is finite, with a little room where something is not."""
    both = np.concatenate([starts, ends, [-1.0, 1.0]])
    near = both[np.abs(both) < 1e8]
    low, high = float(near.min()), float(near.max())
    room = 0.35 * (high - low)
    return low - room * bool((both < -1e8).any()), high + room * bool((both > 1e8).any())


def _chance_axis(axes: Axes, chance: str) -> None:
    low, high = axes.get_xlim()
    ticks = chances(low, high, 0.11)
    top = axes.secondary_xaxis("top")
    top.set_xticks([place for place, _ in ticks], [label for _, label in ticks])
    top.set_xlabel(chance)


def _signed(value: float) -> str:
    if not np.isfinite(value):
        return "+∞" if value > 0 else "−∞"
    return f"{value:+.2f}".replace("-", "−")
