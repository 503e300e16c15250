"""A text with its telling words marked: what spoke for the class, and what against it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from likely.arrays import Array
from likely.markup import Markup, joined, tag

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
