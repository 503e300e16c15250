"""The picture of a tree as a figure of matplotlib, for pixels: the same boxes at the same places as in the SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.models.tree.layout import Layout
from likely.models.tree.tree import Tree, cases, label, outcome, shortened
from likely.render.picture import DOTS_PER_INCH, Picture, drawing
from likely.render.theme import CLASSES, FAINT, INK, MUTED, RULE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS = 96.0
"""Of the SVG, to an inch."""

POINT = 72.0 / PIXELS
WIDEST = 20_000
"""Dots across at most: wider pictures are drawn with fewer dots to an inch."""


def tree_png(tree: Tree, layout: Layout, marked: frozenset[int], title: str) -> bytes:
    """The boxes, bars and edges of a layout, as a PNG."""
    from matplotlib.figure import Figure

    with drawing():
        inches = layout.width / PIXELS, layout.height / PIXELS
        figure = Figure(figsize=inches)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0.0, layout.width), ylim=(layout.height, 0.0))
        axes.axis("off")
        for x, y, colour, text in layout.legend:
            _bar(axes, x, y, 12.0, 12.0, colour)
            axes.text(x + 18, y + 6.5, text, fontsize=12 * POINT, va="center", color=INK)
        for node, goes_on in layout.shown.items():
            if goes_on:
                _edges(axes, tree, layout, node, marked)
        for node in layout.shown:
            _box(axes, tree, layout, node, marked)
    dots = min(DOTS_PER_INCH, int(WIDEST / max(inches)))
    return Picture(figure, title, title).to_png(max(dots, 20))


def _edges(axes: Axes, tree: Tree, layout: Layout, node: int, marked: frozenset[int]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x, y = layout.centre(node)
    start = y + layout.box
    for branch, child in enumerate(tree.children(node)):
        end, below = layout.centre(child)
        on_way = node in marked and child in marked
        middle = (start + below) / 2
        way = Path([(x, start), (x, middle), (end, middle), (end, below)], [Path.MOVETO, *[Path.CURVE4] * 3])
        axes.add_patch(
            PathPatch(way, fill=False, edgecolor=INK if on_way else FAINT, linewidth=(3.0 if on_way else 1.2) * POINT)
        )
        text = shortened(outcome(tree, node, branch), layout.longest_test)
        axes.text(
            end, below - 11, text, fontsize=11 * POINT, ha="center", va="center", color=INK,
            fontweight="bold" if on_way else "normal", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )  # fmt: skip


def _box(axes: Axes, tree: Tree, layout: Layout, node: int, marked: frozenset[int]) -> None:
    from matplotlib.patches import FancyBboxPatch

    (middle, y), width = layout.centre(node), layout.widths[node]
    x, leaf, on_way = middle - width / 2, bool(tree.is_leaf[node]), node in marked
    shape = f"round,pad=0,rounding_size={10 if leaf else 2}"
    edge, thick = (INK, 2.6 * POINT) if on_way else (RULE, POINT)
    box = FancyBboxPatch((x, y), width, layout.box, shape, facecolor="white", edgecolor=edge, linewidth=thick)
    axes.add_patch(box)
    name = label(tree, node) if leaf else tree.features[tree.column[node]].name
    more = " …" if not leaf and not layout.shown[node] else ""
    text = f"{shortened(name, layout.longest_name)}{more}"
    axes.text(x + 8, y + 14, text, fontsize=12 * POINT, va="center", color=INK, fontweight="bold" if leaf else "normal")
    axes.text(x + width - 8, y + 14, cases(tree, node), fontsize=11 * POINT, ha="right", va="center", color=MUTED)
    left, total = x + 8, max(float(tree.sizes[node]), 1e-300)
    for place, count in enumerate(tree.counts[node].tolist()):
        part = (width - 16) * count / total
        _bar(axes, left, y + 28, part, 10.0, CLASSES[min(place, len(CLASSES) - 1)])
        left += part


def _bar(axes: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="none"))
