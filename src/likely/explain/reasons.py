"""The strongest reasons for a prediction, in words: what spoke for it, or against it, and how loudly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

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


def reasons(explain: Callable[[Table], Explanation], table: Table, most: int) -> list[list[Reason]]:
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
        found.extend(_strongest(why, most))
    return found


def _strongest(why: Explanation, most: int) -> Iterator[list[Reason]]:
    posterior, n_classes = why.posterior, len(why.classes)
    for row in range(len(why)):
        best, rival = [*np.argsort(-posterior[row], kind="stable"), 0][:2] if n_classes > 1 else (0, 0)
        said = []
        for place, name in enumerate(why.columns):
            if name in why.words:
                words = why.words[name][row]
                said += [(f"{name} has {token.word!r}", token.evidence[best], token.evidence[rival]) for token in words]
                continue
            line = why.contributions[row, place]
            said.append((why.label(row, place), line[best], line[rival]))
        with np.errstate(invalid="ignore"):  # two classes that a cell rules out are not told apart by it
            odds = [
                Reason(label, float(np.nan_to_num(a - b, nan=0.0, posinf=np.inf, neginf=-np.inf)))
                for label, a, b in said
            ]
        yield sorted((reason for reason in odds if reason.log_odds), key=lambda reason: -abs(reason.log_odds))[:most]
