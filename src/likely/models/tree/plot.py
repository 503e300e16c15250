"""A tree as a picture: boxes with class bars at every node, outcomes on the edges, one way highlighted.

Written as SVG by hand: it needs no drawing library, opens everywhere, and its text can be searched and copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from likely.io.outputs import Output, refuse, write_text, write_whole
from likely.markup import Markup, joined, tag
from likely.models.tree.layout import BOX, COLOURS, LETTER, LEVEL, LONGEST_NAME, LONGEST_TEST, Layout
from likely.models.tree.outline import outline, zoomable
from likely.models.tree.tree import Tree, cases, label, outcome, shortened
from likely.render.page import fragment, page
from likely.render.picture import suffix_of
from likely.render.theme import FAINT, INK, MUTED, PAPER, RULE


@dataclass(frozen=True, slots=True, eq=False)
class TreePicture:
    """A tree, the nodes of the way that is highlighted, and how deep it is drawn."""

    tree: Tree
    marked: frozenset[int] = frozenset()
    max_depth: int | None = None

    def to_svg(self) -> Markup:
        """The picture as a document of its own."""
        layout = Layout.of(self.tree, self.max_depth)
        shown, places, top = layout.shown, layout.places, layout.top
        wide, high = f"{layout.width:.0f}", f"{layout.height:.0f}"
        legend = [
            part
            for x, y, colour, text in layout.legend
            for part in (_rect(x, y, 12, 12, fill=colour), _text(x + 18, y + 10.5, text, fill=INK))
        ]
        return tag(
            "svg",
            tag("rect", width=wide, height=high, fill=PAPER),
            *legend,
            *(self._edges(node, shown, places, top) for node in shown),
            *(self._box(node, shown, places[node], layout.widths[node], top) for node in shown),
            xmlns="http://www.w3.org/2000/svg", role="img", aria_label=self._described(),
            viewBox=f"0 0 {wide} {high}", width=wide, height=high, font_family="sans-serif", font_size=12,
        )  # fmt: skip

    def to_png(self) -> bytes:
        """The picture as pixels; needs the extra `plot`."""
        from likely.models.tree.figure import tree_png

        return tree_png(self.tree, Layout.of(self.tree, self.max_depth), self.marked, self._described())

    def to_html(self) -> str:
        """A page that needs nothing but itself: the picture, which zooms, and the tree as an outline that folds."""
        folding = outline(self.tree, self.marked, self.max_depth)
        drawn = tag("div", self.to_svg(), style="overflow:auto;max-height:85vh")
        return page("Decision tree", tag("h1", "Decision tree"), fragment(zoomable(drawn, folding)))

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture; the suffix says how: .svg, .png or .html."""
        target = Path(path)
        suffix = suffix_of(target)
        refuse([Output(target)])
        if suffix == ".png":
            write_whole(target, self.to_png())
        else:
            write_text(target, f"{self.to_svg()}\n" if suffix == ".svg" else self.to_html())
        return target

    def _repr_html_(self) -> Markup:
        folding = tag("details", tag("summary", "the same, to fold"), outline(self.tree, self.marked, self.max_depth))
        return joined(tag("div", self.to_svg(), style="overflow-x:auto"), fragment(folding))

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


def _rect(x: float, y: float, width: float, height: float, **looks: object) -> Markup:
    return tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", **looks)


def _text(x: float, y: float, text: str, **looks: object) -> Markup:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", **looks)
