"""A tree as a picture: boxes with class bars, outcomes on the edges, the path of one row highlighted; and an outline.

The SVG is written by hand: it needs no drawing library, opens everywhere, and its text can be searched and copied.
Matplotlib draws the same shapes as pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely.io.outputs import Output, refuse, write_text, write_whole
from likely.markup import Markup, joined, tag
from likely.models.tree.tree import Tree, cases, label, outcome, outcome_above, shortened
from likely.render.page import fragment, page
from likely.render.picture import DOTS_PER_INCH, Picture, drawing, suffix_of
from likely.render.theme import CLASSES, FAINT, INK, MUTED, PAPER, RULE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class TreePicture:
    """A tree, the nodes of the path that is highlighted, and how deep it is drawn."""

    tree: Tree
    marked: frozenset[int] = frozenset()
    max_depth: int | None = None

    def to_svg(self) -> Markup:
        """The picture as a document of its own."""
        layout = TreeLayout.of(self.tree, self.max_depth)
        wide, high = f"{layout.width:.0f}", f"{layout.height:.0f}"
        boxes = (
            tag("g", tag("title", self._class_counts(node)), *(shape.svg() for shape in self._box(layout, node)))
            for node in layout.shown
        )
        return tag(
            "svg",
            tag("rect", width=wide, height=high, fill=PAPER),
            *(shape.svg() for shape in [*layout.legend, *self._edges(layout)]),
            *boxes,
            xmlns="http://www.w3.org/2000/svg", role="img", aria_label=self._described(),
            viewBox=f"0 0 {wide} {high}", width=wide, height=high, font_family="sans-serif", font_size=FONT_SIZE,
        )  # fmt: skip

    def to_png(self) -> bytes:
        """The picture as pixels; needs the extra `plot`."""
        from matplotlib.figure import Figure

        layout = TreeLayout.of(self.tree, self.max_depth)
        inches = layout.width / PIXELS, layout.height / PIXELS
        with drawing():
            figure = Figure(figsize=inches)
            axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
            axes.set(xlim=(0.0, layout.width), ylim=(layout.height, 0.0))
            axes.axis("off")
            boxes = [shape for node in layout.shown for shape in self._box(layout, node)]
            for shape in [*layout.legend, *self._edges(layout), *boxes]:
                shape.draw(axes)
        dots = min(DOTS_PER_INCH, int(WIDEST / max(inches)))
        return Picture(figure, self._described(), self._described()).to_png(max(dots, 20))

    def to_html(self) -> str:
        """A page that needs nothing but itself: the picture, which zooms, and the tree as an outline that folds."""
        folding = outline(self.tree, self.marked, self.max_depth)
        drawn = tag("div", self.to_svg(), style="overflow:auto;max-height:85vh")
        return page("Decision tree", tag("h1", "Decision tree"), fragment(_with_buttons(drawn, folding)))

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

    def _edges(self, layout: TreeLayout) -> Iterator[Shape]:
        for node in layout.shown:
            for branch, child in enumerate(self.tree.children(node) if layout.shown[node] else ()):
                (x, y), (end, below) = layout.centre(node), layout.centre(child)
                is_marked = node in self.marked and child in self.marked
                colour, thick = (INK, 3) if is_marked else (FAINT, 1.2)
                yield Edge(x, y + BOX, end, below, {"stroke": colour, "stroke_width": thick})
                text = shortened(outcome(self.tree, node, branch), LONGEST_TEST)
                room = 0.9 * LETTER * len(text) + 4
                yield Rect(end - room / 2, below - 19, room, 16, {"fill": PAPER})
                weight = "bold" if is_marked else None
                looks: Looks = {"text_anchor": "middle", "font_size": 11, "fill": INK, "font_weight": weight}
                yield Text(end, below - 7, text, looks)

    def _box(self, layout: TreeLayout, node: int) -> Iterator[Shape]:
        tree, width, (middle, y) = self.tree, layout.widths[node], layout.centre(node)
        x, is_leaf = middle - width / 2, bool(tree.is_leaf[node])
        stroke, thick = (INK, 2.6) if node in self.marked else (RULE, 1)
        looks = {"rx": 10 if is_leaf else 2, "fill": PAPER, "stroke": stroke, "stroke_width": thick}
        yield Rect(x, y, width, BOX, looks)
        more = " …" if not is_leaf and not layout.shown[node] else ""
        name = f"{shortened(_name(tree, node), LONGEST_NAME)}{more}"
        yield Text(x + 8, y + 18, name, {"fill": INK, "font_weight": "bold" if is_leaf else "normal"})
        looks = {"fill": MUTED, "text_anchor": "end", "font_size": 11}
        yield Text(x + width - 8, y + 18, cases(tree, node), looks)
        left, total = x + 8, max(float(tree.sizes[node]), 1e-300)
        for place, count in enumerate(tree.counts[node].tolist()):
            part = (width - 16) * count / total
            if part > 0.05:
                colour = CLASSES[min(place, len(CLASSES) - 1)]
                yield Rect(left, y + 28, part, 10, {"fill": colour, "stroke": "white", "stroke_width": 0.5})
                left += part

    def _class_counts(self, node: int) -> str:
        labels, counts = self.tree.classes.tolist(), self.tree.counts[node]
        return ", ".join(f"{labels[c]}: {counts[c]:g}" for c in np.flatnonzero(counts > 0.0))


def tree_page(tree: Tree, title: str) -> Markup:
    """How large the tree is, and its picture, as HTML."""
    counted = f"{len(tree):,} nodes, {tree.n_leaves:,} of them leaves, {int(tree.depths.max()):,} tests deep"
    return joined(tag("p", tag("strong", title), tag("br"), counted), TreePicture(tree)._repr_html_())


def _name(tree: Tree, node: int) -> str:
    return label(tree, node) if tree.is_leaf[node] else tree.features[tree.column[node]].name


# Shapes, each as an element of SVG and as an artist of matplotlib; their looks are named as in SVG.

FONT_SIZE = 12
PIXELS = 96.0
"""Pixels of the SVG to an inch."""

POINT = 72.0 / PIXELS
WIDEST = 20_000
"""Dots across at most: wider pictures are drawn with fewer dots to an inch."""


ANCHORS: dict[object, str] = {None: "left", "middle": "center", "end": "right"}

Looks = Mapping[str, str | float | None]


class Rect(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    looks: Looks

    def svg(self) -> Markup:
        sides = {"x": self.x, "y": self.y, "width": self.width, "height": self.height}
        return tag("rect", **{name: f"{side:.1f}" for name, side in sides.items()}, **self.looks)

    def draw(self, axes: Axes) -> None:
        from matplotlib.patches import FancyBboxPatch

        shape = f"round,pad=0,rounding_size={self.looks.get('rx', 0)}"
        axes.add_patch(
            FancyBboxPatch(
                (self.x, self.y), self.width, self.height, shape, facecolor=str(self.looks["fill"]),
                edgecolor=str(self.looks.get("stroke", "none")),
                linewidth=POINT * float(self.looks.get("stroke_width") or 0),
            )
        )  # fmt: skip


class Text(NamedTuple):
    """A line of text; y is where its letters stand."""

    x: float
    y: float
    text: str
    looks: Looks

    def svg(self) -> Markup:
        return tag("text", self.text, x=f"{self.x:.1f}", y=f"{self.y:.1f}", **self.looks)

    def draw(self, axes: Axes) -> None:
        across = ANCHORS[self.looks.get("text_anchor")]
        size = POINT * float(self.looks.get("font_size") or FONT_SIZE)
        weight, colour = self.looks.get("font_weight") or "normal", self.looks["fill"]
        axes.text(self.x, self.y - 4, self.text, fontsize=size, ha=across, va="center", color=colour, fontweight=weight)


class Edge(NamedTuple):
    """A curve from the lower side of a box down to the upper side of another."""

    x: float
    y: float
    end: float
    below: float
    looks: Looks

    def points(self) -> list[tuple[float, float]]:
        """The four points of a Bézier curve."""
        middle = (self.y + self.below) / 2
        return [(self.x, self.y), (self.x, middle), (self.end, middle), (self.end, self.below)]

    def svg(self) -> Markup:
        start, *others = (f"{x:.1f} {y:.1f}" for x, y in self.points())
        return tag("path", d=f"M{start} C{' '.join(others)}", fill="none", **self.looks)

    def draw(self, axes: Axes) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        curve, thick = [Path.MOVETO, *[Path.CURVE4] * 3], POINT * float(self.looks["stroke_width"] or 0)
        axes.add_patch(
            PathPatch(Path(self.points(), curve), fill=False, edgecolor=self.looks["stroke"], linewidth=thick)
        )


Shape = Rect | Text | Edge


# Where the boxes stand, in pixels.

MOST_NODES = 250
LETTER = 7.2
"""Width of a letter of 12 px, a little more than most have."""

BOX, GAP, LEVEL = 46, 18, 96
PAD, LEGEND = 14, 22
LONGEST_NAME, LONGEST_TEST = 28, 22


@dataclass(frozen=True, slots=True, eq=False)
class TreeLayout:
    """The nodes that are drawn (and whether their children are, too), middle and width of their boxes, the legend."""

    tree: Tree
    shown: dict[int, bool]
    middles: dict[int, float]
    widths: dict[int, float]
    legend: list[Shape]
    width: float
    height: float
    top: float

    @classmethod
    def of(cls, tree: Tree, max_depth: int | None) -> TreeLayout:
        """All nodes down to a depth; without one, as many levels as can be read."""
        limit = _readable_depth(tree, MOST_NODES) if max_depth is None else max_depth
        shown = {
            int(node): bool(not tree.is_leaf[node] and tree.depths[node] < limit)
            for node in np.flatnonzero(tree.depths <= limit)
        }
        middles, widths, width = _places(tree, shown)
        legend, legend_height = _legend(tree, width)
        top = PAD + legend_height
        height = top + PAD + int(tree.depths[list(shown)].max()) * LEVEL + BOX
        return cls(tree, shown, middles, widths, legend, width, height, top)

    def centre(self, node: int) -> tuple[float, float]:
        """The middle of a box, and its upper edge."""
        return self.middles[node], self.top + int(self.tree.depths[node]) * LEVEL


def _readable_depth(tree: Tree, most_nodes: int) -> int:
    """How many levels of a tree have no more than `most_nodes` nodes together; at least one test is shown."""
    sizes = np.cumsum(np.bincount(tree.depths))
    return max(int(np.searchsorted(sizes, most_nodes, side="right")) - 1, 1)


def _places(tree: Tree, shown: dict[int, bool]) -> tuple[dict[int, float], dict[int, float], float]:
    """Middle and width of every box: ends side by side, tests above the middle of their branches; and the width."""
    widths = {
        node: LETTER * (len(shortened(_name(tree, node), LONGEST_NAME)) + len(cases(tree, node)) + 2) + 22
        for node in shown
    }
    middles: dict[int, float] = {}
    at = float(PAD)
    for node in tree.walk():
        if node in shown and not shown[node]:
            above = LETTER * len(shortened(outcome_above(tree, node), LONGEST_TEST)) + 6 if node else 0.0
            room = max(widths[node], above)
            middles[node] = at + room / 2
            at += room + GAP
    for node in sorted(shown, reverse=True):
        if shown[node]:
            children = tree.children(node)
            middles[node] = max((middles[children[0]] + middles[children[-1]]) / 2, PAD + widths[node] / 2)
    right = max(middles[node] + widths[node] / 2 for node in shown)
    return middles, widths, max(right, at - GAP) + PAD


def _legend(tree: Tree, width: float) -> tuple[list[Shape], float]:
    """Colours and names of the classes, in as many lines as they need; and how high these are.

    Classes beyond the palette share the last colour, and every leaf names its class.
    """
    shapes: list[Shape] = []
    x, y = float(PAD), float(PAD)
    labels = [shortened(value, LONGEST_NAME) for value in tree.classes.tolist()]
    if len(labels) > len(CLASSES):
        labels = [*labels[: len(CLASSES) - 1], f"{len(labels) - len(CLASSES) + 1} more classes"]
    for place, text in enumerate(labels):
        needed = LETTER * len(text) + 34
        if x + needed > width - PAD and x > PAD:
            x, y = float(PAD), y + LEGEND
        shapes += [Rect(x, y, 12, 12, {"fill": CLASSES[place]}), Text(x + 18, y + 10.5, text, {"fill": INK})]
        x += needed
    return shapes, y - PAD + LEGEND + 6


# The outline: tests as lines that fold, and the buttons of the page around it.

OPEN_LEVELS = 3
"""Levels that are unfolded at first."""

MOST_LINES = 3_000
"""Nodes of an outline at most: whole levels, as many as fit."""

LONGEST = 60
BAR = 8.0
"""Width of a class bar, in letters."""

STYLE = Markup(
    ".outline details,.outline .leaf{margin-left:1.3em;line-height:1.7}.outline summary{cursor:pointer}"
    ".outline .bars{display:inline-flex;height:.7em;margin:0 .5em;vertical-align:middle}"
    ".outline .on-the-way{font-weight:600;box-shadow:inset 0 -.4em 0 -.1em var(--accent)}"
    ".outline .cases{opacity:.7}.zoom button{font:inherit;min-width:2.2em;margin:0 .3em .6em 0;cursor:pointer}"
)

SCRIPT = Markup(
    'const all=(what,act)=>document.querySelectorAll(what).forEach(act),tree=document.querySelector("svg");'
    'all("[data-zoom]",b=>b.onclick=()=>{const by=+b.dataset.zoom,now=tree.getBoundingClientRect().width;'
    'tree.style.cssText=by?`max-width:none;width:${now*by}px`:"max-width:100%;width:100%"});'
    'all("[data-fold]",b=>b.onclick=()=>all(".outline details",d=>d.open=b.dataset.fold==="0"));'
)
"""It runs without any request, and a page whose scripts are switched off still shows and folds everything."""


def outline(tree: Tree, marked: frozenset[int] = frozenset(), max_depth: int | None = None) -> Markup:
    """Tests as lines that fold, with class bars; those on a row's path are marked."""
    limit = _readable_depth(tree, MOST_LINES)
    limit = limit if max_depth is None else min(limit, max_depth)
    done: dict[int, Markup] = {}
    for node in np.flatnonzero(tree.depths <= limit)[::-1].tolist():  # children are done before their parents
        depth, line = int(tree.depths[node]), _line(tree, node, marked)
        if tree.is_leaf[node] or depth == limit:
            more = None if tree.is_leaf[node] else " …"
            done[node] = tag("div", line, more, class_="leaf")
            continue
        inside = [done.pop(child) for child in tree.children(node)]
        is_open = "" if depth < OPEN_LEVELS or node in marked else None
        done[node] = tag("details", tag("summary", line), *inside, open=is_open)
    return tag("div", tag("style", STYLE), done[0], class_="outline")


def _line(tree: Tree, node: int, marked: frozenset[int]) -> Markup:
    leads = f"{shortened(outcome_above(tree, node), LONGEST)}: " if node else None
    name = shortened(_name(tree, node), LONGEST)
    total = max(float(tree.sizes[node]), 1e-300)
    bars = [
        tag("span", style=f"width:{BAR * count / total:.2f}em;background:var(--class-{min(k, 6)})")
        for k, count in enumerate(tree.counts[node].tolist())
        if count > 0.0
    ]
    return joined(
        tag("span", leads, tag("strong", name) if tree.is_leaf[node] else name,
            class_="on-the-way" if node in marked else None),
        tag("span", *bars, class_="bars"),
        tag("span", cases(tree, node), class_="cases"),
    )  # fmt: skip


def _with_buttons(picture: Markup, folding: Markup) -> Markup:
    """A picture with buttons to zoom it, and below it the outline with buttons to fold it."""
    zoom = [("0.8", "−"), ("1.25", "+"), ("0", "fit")]
    fold = [("0", "unfold all"), ("1", "fold all")]
    return joined(
        tag("p", *(tag("button", text, type="button", data_zoom=by) for by, text in zoom), class_="zoom"),
        picture,
        tag("h2", "The same, to fold"),
        tag("p", *(tag("button", text, type="button", data_fold=by) for by, text in fold), class_="zoom"),
        folding,
        tag("script", SCRIPT),
    )
