"""The strongest reasons for a prediction, in words: what spoke for it, or against it, and how loudly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError
from likely.explain.explanation import Explanation
from likely.table import Table

MOST_CELLS = 1 << 21
"""Rows × columns × classes that are explained at once."""


class Reason(NamedTuple):
    """A cell, or a word of a text, and its log-odds for the most probable class against the next one."""

    what: str
    log_odds: float

    def __str__(self) -> str:
        return f"{self.what}: {self.log_odds:+.2f}"


def reasons(explain: Callable[[Table], object], table: Table, most: int) -> list[list[Reason]]:
    """For each row its strongest reasons, the loudest first; gaps and what was never seen say nothing.

    `explain` is a classifier's method of that name. In a text each word is a reason of its own.
    """
    few = explain(table.slice(0, min(table.n_rows, 1)))
    if not isinstance(few, Explanation):
        raise SettingsError("This classifier does not explain its rows column by column, so it has no reasons to give.")
    step = max(MOST_CELLS // max(few.contributions.size, 1), 1)
    found: list[list[Reason]] = []
    for start in range(0, table.n_rows, step):
        why = explain(table.slice(start, min(start + step, table.n_rows)))
        assert isinstance(why, Explanation)
        found.extend(_strongest(why, most))
    return found


def _strongest(why: Explanation, most: int) -> Iterator[list[Reason]]:
    order = np.argsort(-why.posterior, axis=1, kind="stable")
    best, rival = order[:, 0], order[:, min(1, len(why.classes) - 1)]
    rows, texts = np.arange(len(why)), [place for place, name in enumerate(why.columns) if name in why.words]
    odds = _difference(why.contributions[rows, :, best], why.contributions[rows, :, rival])
    odds[:, texts] = 0.0
    loudest = np.argsort(-np.abs(odds), axis=1, kind="stable")[:, :most]
    for row in rows.tolist():
        said: list[tuple[int, str | None, float]] = [
            (place, None, float(odds[row, place])) for place in loudest[row].tolist() if odds[row, place]
        ]
        for place in texts:
            words = why.words[why.columns[place]][row]
            evidence = np.array([token.evidence for token in words]).reshape(len(words), -1)
            spoken = _difference(evidence[:, best[row]], evidence[:, rival[row]]) if words else ()
            said += [(place, token.word, float(value)) for token, value in zip(words, spoken, strict=True) if value]
        said = sorted(said, key=lambda reason: (-abs(reason[2]), reason[0]))[:most]
        yield [
            Reason(why.label(row, place) if word is None else f"{why.columns[place]} has {word!r}", value)
            for place, word, value in said
        ]


def _difference(mine: Array, theirs: Array) -> Array:
    """Log-odds; two classes that a cell rules out are not told apart by it."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(mine - theirs, nan=0.0, posinf=np.inf, neginf=-np.inf)
