"""Texts as experts: their naive Bayes log-likelihoods, from words that the judged rows had no part in counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.engines.memory import Rows
from likely.families import Settings
from likely.families.texts import Token, WeighedWords
from likely.plan import plan
from likely.stats import Part, Summary
from likely.table import Table

Array = NDArray[np.float64]

FAMILY = "text multinomial"
N_PARTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What each word of a text column says about each class."""

    column: str
    model: Model

    @classmethod
    def settle(cls, column: str, summary: Summary) -> Words:
        """From the counts of words; all classes are equally common, for what is common is said elsewhere."""
        one = Summary(
            summary.classes, {part: seen for part, seen in summary.parts.items() if part.columns == (column,)}
        )
        return cls(column, Model.settle(one, {column: FAMILY}, "uniform", Settings()))

    def evidence(self, table: Table, n_jobs: int | None) -> Array:
        """log P(text | class), rows × classes."""
        return self.model.log_joint(table, n_jobs) - np.log(self.model.prior)

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what each adds."""
        (belief,) = self.model.beliefs
        return belief.tokens(table) if isinstance(belief, WeighedWords) else []


def text_parts(columns: tuple[str, ...]) -> tuple[Part, ...]:
    """The statistics that text columns need."""
    return plan(dict.fromkeys(columns, FAMILY))


def as_scores(evidence: Array) -> Array:
    """Rows × scores of rows × classes: two classes have one score, their difference."""
    return evidence[:, 1:] - evidence[:, :1] if evidence.shape[1] == 2 else evidence - evidence.mean(axis=1)[:, None]


def honest_scores(
    table: Table, classes: NDArray[Any], y: NDArray[np.int32], weight: Array, columns: tuple[str, ...],
    recipes: Mapping[str, Any], seed: int, n_jobs: int | None,
) -> tuple[Summary, Array]:  # fmt: skip
    """The words of all rows counted, and rows × (texts × scores): each row judged by the words of other rows."""
    part = np.random.default_rng(seed).permutation(len(y)) % min(N_PARTS, max(len(y), 1))
    places = [np.flatnonzero(part == k) for k in range(int(part.max(initial=0)) + 1)]
    counted = []
    for rows in places:
        some = Rows(table.take(rows), classes, y[rows], weight[rows], n_jobs, recipes)
        counted.append(some.summarise(text_parts(columns)))
    whole = reduce(add, counted)
    n_scores = 1 if len(classes) == 2 else len(classes)
    out = np.zeros((len(y), len(columns) * n_scores))
    for k, rows in enumerate(places):
        others = [seen for other, seen in enumerate(counted) if other != k]
        if not others:
            continue
        rest, judged = reduce(add, others), table.take(rows)
        for t, column in enumerate(columns):
            said = Words.settle(column, rest).evidence(judged, n_jobs)
            out[rows, t * n_scores : (t + 1) * n_scores] = as_scores(said)
    return whole, out
