"""Where the boxes, edges and legend of a drawn tree stand, in pixels; the same for SVG and for pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.models.tree.tree import Tree, cases, label, outcome, shortened
from likely.render.theme import CLASSES

COLOURS = CLASSES
"""Classes beyond the palette share the last colour, and every leaf names its class."""

MOST_NODES = 250
LETTER = 7.2
"""Width of a letter of 12 px, a little more than most have."""

BOX, GAP, LEVEL = 46, 18, 96
PAD, LEGEND = 14, 22
LONGEST_NAME, LONGEST_TEST = 28, 22


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where everything stands, in pixels: boxes by node, the legend, and what is drawn at all."""

    shown: dict[int, bool]
    places: dict[int, tuple[float, int]]
    widths: dict[int, float]
    legend: list[tuple[float, float, str, str]]
    width: float
    height: float
    top: float

    box: ClassVar[int] = BOX
    longest_name: ClassVar[int] = LONGEST_NAME
    longest_test: ClassVar[int] = LONGEST_TEST

    @classmethod
    def of(cls, tree: Tree, max_depth: int | None) -> Layout:
        """All nodes down to a depth; without one, as many levels as can be read."""
        shown = _shown(tree, max_depth)
        places, widths, width = _places(tree, shown)
        legend, legend_height = _legend(tree, width)
        top = PAD + legend_height
        height = top + PAD + max(level for _, level in places.values()) * LEVEL + BOX
        return cls(shown, places, widths, legend, width, height, top)

    def centre(self, node: int) -> tuple[float, float]:
        """The middle of a box, and its upper edge."""
        x, level = self.places[node]
        return x, self.top + level * LEVEL


def _shown(tree: Tree, max_depth: int | None) -> dict[int, bool]:
    """The nodes that are drawn, and whether their children are, too: whole levels, as many as can be read."""
    limit = max_depth
    if limit is None and len(tree) > MOST_NODES:
        sizes = np.cumsum(np.bincount(tree.depths))
        limit = max(int(np.searchsorted(sizes, MOST_NODES, side="right")) - 1, 1)
    shown = {}
    for node in range(len(tree)):
        if limit is None or tree.depths[node] <= limit:
            deeper = limit is None or tree.depths[node] < limit
            shown[node] = not tree.is_leaf[node] and deeper
    return shown


def _places(tree: Tree, shown: dict[int, bool]) -> tuple[dict[int, tuple[float, int]], dict[int, float], float]:
    """The middle and level of every box and its width: ends side by side, tests above the middle of their branches."""
    widths = {node: _width(tree, node) for node in shown}
    places: dict[int, tuple[float, int]] = {}
    at = float(PAD)
    for node in tree.walk():
        if node in shown and not shown[node]:
            room = max(widths[node], _test_width(tree, node))
            places[node] = at + room / 2, int(tree.depths[node])
            at += room + GAP
    for node in sorted(shown, reverse=True):
        if shown[node]:
            children = tree.children(node)
            middle = (places[children[0]][0] + places[children[-1]][0]) / 2
            places[node] = max(middle, PAD + widths[node] / 2), int(tree.depths[node])
    right = max(places[node][0] + widths[node] / 2 for node in shown)
    return places, widths, max(right, at - GAP) + PAD


def _width(tree: Tree, node: int) -> float:
    name = label(tree, node) if tree.is_leaf[node] else tree.features[tree.column[node]].name
    return LETTER * (len(shortened(name, LONGEST_NAME)) + len(cases(tree, node)) + 2) + 22


def _test_width(tree: Tree, node: int) -> float:
    """Room for the outcome that is written above a box."""
    above = int(tree.parent[node])
    if above < 0:
        return 0.0
    return LETTER * len(shortened(outcome(tree, above, node - int(tree.first_child[above])), LONGEST_TEST)) + 6


def _legend(tree: Tree, width: float) -> tuple[list[tuple[float, float, str, str]], float]:
    """Place, colour and name of classes, in as many lines as they need; and how high these are."""
    parts: list[tuple[float, float, str, str]] = []
    x, y = float(PAD), float(PAD)
    labels = [shortened(value, LONGEST_NAME) for value in tree.classes.tolist()]
    if len(labels) > len(COLOURS):
        labels = [*labels[: len(COLOURS) - 1], f"{len(labels) - len(COLOURS) + 1} more classes"]
    for place, text in enumerate(labels):
        needed = LETTER * len(text) + 34
        if x + needed > width - PAD and x > PAD:
            x, y = float(PAD), y + LEGEND
        parts.append((x, y, COLOURS[place], text))
        x += needed
    return parts, y - PAD + LEGEND + 6
