"""The one page: a shell that opens offline, in light and in dark, and what stands in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

import numpy as np

from likely.arrays import Array
from likely.errors import MissingExtra
from likely.markup import Markup, joined, tag
from likely.render import theme

STYLE = Markup(
    theme.variables(".likely") + ".likely{--rule:rgba(128,128,128,.4);font:var(--step-0)/1.5 var(--sans)}"
    ".likely table{border-collapse:collapse;margin:.5rem 0 1.2rem;font-variant-numeric:tabular-nums}"
    ".likely caption{text-align:left;font:600 var(--step-1)/1.3 var(--serif);padding-bottom:.3rem}"
    ".likely thead th{opacity:.8;font-weight:600;font-size:var(--step--1)}"
    ".likely th,.likely td{padding:.2rem .7rem;text-align:right;white-space:nowrap}"
    ".likely tr{border-bottom:1px solid var(--rule)}"
    ".likely tbody th{font-weight:inherit}"
    ".likely tr>:first-child,.likely .left{text-align:left;white-space:normal}"
    ".likely .total{border-top:2px solid var(--edge);font-weight:600}"
    ".likely .chosen{box-shadow:inset 0 -.5em 0 -.1em color-mix(in srgb,var(--accent) 45%,transparent);font-weight:600}"
    ".likely .close>:first-child:after{content:' ≈'}"
    ".likely .bar{display:inline-block;height:.7em;vertical-align:middle;background:var(--for)}"
    ".likely .left-half,.likely .right-half{display:inline-block;width:7em;text-align:right}"
    ".likely .left-half .bar{background:var(--against)}"
    ".likely .right-half{text-align:left;border-left:1px solid var(--edge)}"
    ".likely figure{margin:0;overflow-x:auto}.likely svg{max-width:100%;height:auto;background:var(--card)}"
)
"""What stands in notebooks and pages. Letters keep the colour around them: a notebook may be light on a dark desk."""

_SHELL = Markup(
    theme.variables(":root") + ":root{color-scheme:light dark}"
    "body{background:var(--paper);color:var(--ink);font:var(--step-0)/1.5 var(--sans);max-width:70rem;"
    "margin:2rem auto;padding:0 1rem}"
    "h1{font:600 var(--step-3)/1.2 var(--serif)}h1:after{content:'';display:block;width:3.5rem;height:.3rem;"
    "margin-top:.4rem;background:var(--accent)}"
    "h2{font:600 var(--step-1)/1.3 var(--serif);margin:1.2rem 0 .2rem}"
    "a{color:inherit;text-decoration:underline .15em var(--accent);text-underline-offset:.2em}"
    "@media print{body{margin:0;max-width:none;background:#fff}table,figure{break-inside:avoid}}"
)


def fragment(*parts: object) -> Markup:
    """What a notebook shows, with its own style."""
    return tag("div", tag("style", STYLE), *parts, class_="likely")


def page(title: str, *parts: object) -> Markup:
    """A page of its own around fragments; it needs nothing else."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", title),
        tag("style", _SHELL),
    )
    return joined(Markup("<!DOCTYPE html>\n"), tag("html", head, tag("body", *parts), lang="en"), "\n")


def paragraphs(lines: list[str]) -> Markup:
    """A paragraph for each line."""
    return joined(*(tag("p", line) for line in lines))


def more(n: int, what: str) -> Markup | None:
    """How much is not shown; nothing if that is nothing."""
    return tag("p", f"… and {n:,} more {what}") if n > 0 else None


# A page of results: a heading, from what file and when, tables, and charts where the drawing library is installed.


class Drawing(Protocol):
    """What shows itself in a page."""

    def _repr_html_(self) -> Markup: ...


def report_page(
    title: str,
    *parts: object,
    source: str | None = None,
    chart: Callable[[], Drawing] | None = None,
    studio: str | None = None,
) -> Markup:
    """The page; `source` names the file or table that was judged, `chart` draws what is shown below the tables.

    `studio` is the address of a page of the model's studio, to which a line links.
    """
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    of = f"{source}, {when}" if source else when
    drawn = None if chart is None else _drawn(chart)
    link = None if studio is None else tag("p", tag("a", "See the model in the studio", href=studio))
    return page(title, tag("h1", title), fragment(tag("p", of), link), *parts, drawn)


def _drawn(chart: Callable[[], Drawing]) -> Markup:
    """The chart; without the drawing library, a line that says what is missing."""
    try:
        return chart()._repr_html_()
    except MissingExtra as missing:
        return fragment(tag("p", str(missing)))


# A text with its telling words marked: what spoke for the class, and what against it.

WORD = re.compile(r"\w+")
STRONGEST = 60
"""Per cent of the colour behind the word that speaks loudest."""

LEAST = 0.02
"""A word that says less than this part of what the loudest says is not marked."""

SHORTEST_STEM = 4
"""Letters from which on the beginning of a word is taken for its stem."""


def marked_text(text: str, log_odds: Mapping[str, float]) -> Markup:
    """The text, each word with the colour of what it says: log-odds by word, or by several words with spaces between.

    A word that is spelled otherwise than it was counted is found by its lower case, or by its stem.

    >>> marked_text("Win <now>", {"else": 2.0})
    'Win &lt;now&gt;'
    """
    places = list(WORD.finditer(text))
    said = _by_place([place.group().lower() for place in places], log_odds)
    loudest = float(np.abs(said).max(initial=0.0)) or 1.0
    parts: list[object] = []
    end = 0
    for place, value in zip(places, said.tolist(), strict=True):
        parts.append(text[end : place.start()])
        end = place.end()
        share = abs(value) / loudest
        if share < LEAST:
            parts.append(place.group())
            continue
        side = "var(--for)" if value > 0.0 else "var(--against)"
        look = f"background:color-mix(in srgb,{side} {STRONGEST * share:.0f}%,transparent);color:inherit"
        parts.append(tag("mark", place.group(), style=look, title=f"{value:+.2f}"))
    return joined(*parts, text[end:])


def _by_place(words: list[str], log_odds: Mapping[str, float]) -> Array:
    """What the word at each place says; that of several words is shared out evenly among them."""
    said = np.zeros(len(words))
    spots: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        spots.setdefault(word, []).append(place)
    for token, value in log_odds.items():
        pieces = token.lower().split()
        first = spots.get(pieces[0], []) if pieces else []
        found = [start for start in first if words[start : start + len(pieces)] == pieces]
        if not found and len(pieces) == 1 and len(token) >= SHORTEST_STEM:
            found = [place for word, places in spots.items() if word.startswith(pieces[0]) for place in places]
        for start in found:  # a word that occurs twice has said its part twice
            said[start : start + len(pieces)] += value / (len(pieces) * len(found))
    return said
