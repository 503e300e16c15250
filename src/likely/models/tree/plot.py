"""A tree as a picture: boxes with class bars at every node, outcomes on the edges, one way highlighted.

Written as SVG by hand: it needs no drawing library, opens everywhere, and its text can be searched and copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from likely.errors import SettingsError
from likely.io.outputs import Output, refuse, write_text
from likely.markup import Markup, joined, tag
from likely.models.tree.tree import Tree, cases, label, outcome, shortened
from likely.render.page import page
from likely.render.theme import CLASSES, FAINT, INK, MUTED, PAPER, RULE

COLOURS = CLASSES
"""Classes beyond the palette share the last colour, and every leaf names its class."""

MOST_NODES = 250
LETTER = 7.2
"""Width of a letter of 12 px, a little more than most have."""

BOX, GAP, LEVEL = 46, 18, 96
PAD, LEGEND = 14, 22
LONGEST_NAME, LONGEST_TEST = 28, 22


@dataclass(frozen=True, slots=True, eq=False)
class TreePicture:
    """A tree, the nodes of the way that is highlighted, and how deep it is drawn."""

    tree: Tree
    marked: frozenset[int] = frozenset()
    max_depth: int | None = None

    def to_svg(self) -> Markup:
        """The picture as a document of its own."""
        shown = _shown(self.tree, self.max_depth)
        places, widths, width = _places(self.tree, shown)
        depth = max(level for _, level in places.values())
        legend, legend_height = _legend(self.tree, width)
        height = 2 * PAD + legend_height + depth * LEVEL + BOX
        wide, high, top = f"{width:.0f}", f"{height:.0f}", PAD + legend_height
        return tag(
            "svg",
            tag("rect", width=wide, height=high, fill=PAPER),
            legend,
            *(self._edges(node, shown, places, top) for node in shown),
            *(self._box(node, shown, places[node], widths[node], top) for node in shown),
            xmlns="http://www.w3.org/2000/svg", role="img", aria_label=self._described(),
            viewBox=f"0 0 {wide} {high}", width=wide, height=high, font_family="sans-serif", font_size=12,
        )  # fmt: skip

    def to_html(self) -> str:
        """A page that needs nothing but itself."""
        return page("Decision tree", self._repr_html_())

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture; the suffix says how: .svg or .html."""
        target = Path(path)
        if target.suffix.lower() not in (".svg", ".html", ".htm"):
            raise SettingsError(f"A tree is saved as .svg or .html, not as {target.name!r}.")
        refuse([Output(target)])
        text = f"{self.to_svg()}\n" if target.suffix.lower() == ".svg" else self.to_html()
        write_text(target, text)
        return target

    def _repr_html_(self) -> Markup:
        return tag("div", self.to_svg(), style="overflow-x:auto")

    def __repr__(self) -> str:
        return f"TreePicture({len(self.tree)} nodes)"

    def _described(self) -> str:
        return f"Decision tree with {len(self.tree)} nodes, {self.tree.n_leaves} of them leaves"

    def _edges(self, node: int, shown: dict[int, bool], places: dict[int, tuple[float, int]], top: float) -> Markup:
        if not shown[node]:
            return joined()
        x, level = places[node]
        y = top + level * LEVEL + BOX
        parts = []
        for branch, child in enumerate(self.tree.children(node)):
            end, below = places[child][0], top + (level + 1) * LEVEL
            is_marked = node in self.marked and child in self.marked
            colour, thick = (INK, 3) if is_marked else (FAINT, 1.2)
            middle = (y + below) / 2
            way = f"M{x:.1f} {y:.1f} C{x:.1f} {middle:.1f} {end:.1f} {middle:.1f} {end:.1f} {below:.1f}"
            parts.append(tag("path", d=way, fill="none", stroke=colour, stroke_width=thick))
            text = shortened(outcome(self.tree, node, branch), LONGEST_TEST)
            room = 0.9 * LETTER * len(text) + 4
            parts += [
                _rect(end - room / 2, below - 19, room, 16, fill=PAPER),
                _text(end, below - 7, text, text_anchor="middle", font_size=11, fill=INK,
                      font_weight="bold" if is_marked else None),
            ]  # fmt: skip
        return joined(*parts)

    def _box(self, node: int, shown: dict[int, bool], place: tuple[float, int], width: float, top: float) -> Markup:
        tree = self.tree
        x, y = place[0] - width / 2, top + place[1] * LEVEL
        is_marked = node in self.marked
        stroke, thick = (INK, 2.6) if is_marked else (RULE, 1)
        name = label(tree, node) if tree.is_leaf[node] else tree.features[tree.column[node]].name
        more = " …" if not tree.is_leaf[node] and not shown[node] else ""
        rounded = 10 if tree.is_leaf[node] else 2
        weight = "bold" if tree.is_leaf[node] else "normal"
        parts = [
            tag("title", self._class_counts(node)),
            _rect(x, y, width, BOX, rx=rounded, fill=PAPER, stroke=stroke, stroke_width=thick),
            _text(x + 8, y + 18, f"{shortened(name, LONGEST_NAME)}{more}", fill=INK, font_weight=weight),
            _text(x + width - 8, y + 18, cases(tree, node), fill=MUTED, text_anchor="end", font_size=11),
        ]
        left, total = x + 8, max(float(tree.sizes[node]), 1e-300)
        for place_, count in enumerate(tree.counts[node]):
            part = (width - 16) * float(count) / total
            if part > 0.05:
                colour = COLOURS[min(place_, len(COLOURS) - 1)]
                parts.append(_rect(left, y + 28, part, 10, fill=colour, stroke="white", stroke_width=0.5))
                left += part
        return tag("g", *parts)

    def _class_counts(self, node: int) -> str:
        labels = self.tree.classes.tolist()
        return ", ".join(
            f"{labels[c]}: {self.tree.counts[node, c]:g}" for c in np.flatnonzero(self.tree.counts[node] > 0.0)
        )


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


def _rect(x: float, y: float, width: float, height: float, **looks: object) -> Markup:
    return tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", **looks)


def _text(x: float, y: float, text: str, **looks: object) -> Markup:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", **looks)


def _legend(tree: Tree, width: float) -> tuple[Markup, float]:
    """Classes and their colours, in as many lines as they need."""
    parts, x, y = [], float(PAD), float(PAD)
    labels = [shortened(value, LONGEST_NAME) for value in tree.classes.tolist()]
    if len(labels) > len(COLOURS):
        labels = [*labels[: len(COLOURS) - 1], f"{len(labels) - len(COLOURS) + 1} more classes"]
    for place, text in enumerate(labels):
        needed = LETTER * len(text) + 34
        if x + needed > width - PAD and x > PAD:
            x, y = float(PAD), y + LEGEND
        parts += [_rect(x, y, 12, 12, fill=COLOURS[place]), _text(x + 18, y + 10.5, text, fill=INK)]
        x += needed
    return joined(*parts), y - PAD + LEGEND + 6
