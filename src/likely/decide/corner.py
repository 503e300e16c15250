r"""Where a table of costs has the truth: read from its first cell, as in true\predicted."""

from __future__ import annotations

import re
from typing import Literal

Axis = Literal["columns", "rows"]

_TRUTH = {"true", "truth", "truths", "actual", "actually", "real", "reality", "gold", "reference", "observed", "target"}
_DECISION = {
    "predicted", "prediction", "predictions", "predict", "predicts", "pred", "decision", "decisions", "decide",
    "decided", "decides", "action", "actions", "act", "choice", "chosen", "classified", "assigned", "answer",
}  # fmt: skip
_BETWEEN = re.compile(r"[\\/|,;╲∖⧵⟍×]|\bvs\b\.?|\bversus\b|\bagainst\b")
_DOWN = re.compile(r"↓|\brows?\b|\blines?\b")
_ACROSS = re.compile(r"→|\bcol(?:umn)?s?\b")


def truth_in(corner: object) -> Axis | None:
    r"""Where the truth stands by the words of a first cell; None if they do not tell.

    The first word is that of the rows and the second that of the columns, unless arrows or words say otherwise.

    >>> truth_in("true\\predicted"), truth_in("Decision / truth"), truth_in("predicted → actual ↓"), truth_in("cost")
    ('rows', 'columns', 'rows', None)
    """
    text = str(corner).casefold().replace("_", " ")
    sides = [side for side in _BETWEEN.split(text) if side.strip()]
    if len(sides) == 1:
        sides = _by_arrows(text) or sides
    axes: list[Axis] = ["rows", "columns"]
    found: set[Axis] = set()
    for side, usual in zip(sides, axes, strict=False):
        axis = "rows" if _DOWN.search(side) else "columns" if _ACROSS.search(side) else usual
        words = set(re.findall(r"\w+", side))
        if bool(words & _TRUTH) != bool(words & _DECISION):
            other: Axis = "columns" if axis == "rows" else "rows"
            found.add(axis if words & _TRUTH else other)
    return found.pop() if len(found) == 1 and len(sides) <= 2 else None


def _by_arrows(text: str) -> list[str]:
    """predicted → actual ↓ without anything between them: an arrow ends a side."""
    sides = re.findall(r"[^→↓]+[→↓]", text)
    return sides if len(sides) == 2 else []
