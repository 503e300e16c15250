"""Draws house.svg: the packages of likely, one floor above the other, as their imports have it.

A package stands one floor above the highest that it imports; a line leads to what it rests on directly. Run it again
after a package was added or imports something new; a test compares the picture with the imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path

import grimp

ROOT = "likely"
LEFT_OUT = frozenset({"__main__", "version"})
"""They say nothing about how data flows."""

OPENED = frozenset({"models"})
"""Packages whose own rooms are drawn."""

COLOURS = {"doors": "#0072B2", "models": "#009E73", "answers": "#E69F00", "nouns": "#777777"}
DOORS = frozenset({"api", "cli", "serve", "studio", "streaming", "teaching"})
ANSWERS = frozenset({"comparison", "decide", "evaluation", "explain", "render", "scorer", "store"})
BOX, GAP, FLOOR, LETTER, MARGIN = 30, 18, 76, 7.6, 24


def rooms(graph: grimp.ImportGraph) -> dict[str, str]:
    """The room of every module."""
    found = {}
    for module in graph.modules:
        parts = module.split(".")[1:]
        if parts and parts[0] not in LEFT_OUT:
            found[module] = ".".join(parts[: 2 if parts[0] in OPENED and len(parts) > 1 else 1])
    return {module: room for module, room in found.items() if room not in OPENED}


def edges(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """What every room imports from."""
    room_of = rooms(graph)
    below: dict[str, set[str]] = {room: set() for room in room_of.values()}
    for module, room in room_of.items():
        for other in graph.find_modules_directly_imported_by(module):
            if other in room_of and room_of[other] != room:
                below[room].add(room_of[other])
    return below


def floors(below: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Rooms by floor, from the ground up."""

    @cache
    def floor(room: str) -> int:
        return max((floor(other) + 1 for other in below[room]), default=0)

    highest = max(floor(room) for room in below)
    return [sorted(room for room in below if floor(room) == level) for level in range(highest + 1)]


def direct(below: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Imports that do not follow from others (the transitive reduction)."""

    @cache
    def reach(room: str) -> frozenset[str]:
        return frozenset(below[room]).union(*(reach(other) for other in below[room]))

    return [
        (room, other)
        for room in sorted(below)
        for other in sorted(below[room])
        if not any(other in reach(between) for between in below[room] - {other})
    ]


def kind(room: str) -> str:
    """What a room is for, by which it is coloured."""
    first = room.split(".")[0]
    if first in DOORS:
        return "doors"
    if first in ("models", "naive_bayes"):
        return "models"
    return "answers" if first in ANSWERS else "nouns"


def drawn() -> str:
    """The picture."""
    below = edges(grimp.build_graph(ROOT, cache_dir=None))
    house = floors(below)
    widths = {room: len(room) * LETTER + 20 for room in below}
    line = [sum(widths[room] for room in level) + GAP * (len(level) - 1) for level in house]
    width, height = max(line) + 2 * MARGIN, FLOOR * len(house) + 2 * MARGIN + 26
    place: dict[str, tuple[float, float]] = {}
    for level, names in enumerate(house):
        x, y = (width - line[level]) / 2, height - MARGIN - FLOOR * level - BOX
        for room in names:
            place[room] = (x, y)
            x += widths[room] + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        'font-family="ui-monospace, monospace" font-size="12.5">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    for number, (name, colour) in enumerate(COLOURS.items()):
        x = MARGIN + 110 * number
        parts.append(f'<rect x="{x}" y="12" width="12" height="12" rx="2" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="22" fill="#333333">{name}</text>')
    for upper, lower in direct(below):
        (x1, y1), (x2, y2) = place[upper], place[lower]
        a, b = x1 + widths[upper] / 2, x2 + widths[lower] / 2
        middle = (y1 + BOX + y2) / 2
        curve = f"M{a:.1f} {y1 + BOX:.1f}C{a:.1f} {middle:.1f} {b:.1f} {middle:.1f} {b:.1f} {y2:.1f}"
        parts.append(f'<path d="{curve}" fill="none" stroke="#BBBBBB"/>')
    for room, (x, y) in place.items():
        box = f'x="{x:.1f}" y="{y:.1f}" width="{widths[room]:.1f}" height="{BOX}" rx="5"'
        parts.append(f'<rect {box} fill="white" stroke="{COLOURS[kind(room)]}" stroke-width="1.6"/>')
        middle = x + widths[room] / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{y + 19.5:.1f}" text-anchor="middle" fill="#333333">{escape(room)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(drawn())
