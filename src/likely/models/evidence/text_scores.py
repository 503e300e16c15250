"""Texts as experts: their naive Bayes log-likelihoods, from words that the judged rows had no part in counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.engines.plan import plan
from likely.families import Settings
from likely.families.protocol import HasTokens, Token
from likely.scorer import Model
from likely.stats import Part, Summary
from likely.table import Table

FAMILY = "text multinomial"
N_PARTS = 5
ORDERS = np.array(list(permutations(range(N_PARTS))))


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
        return (belief.tokens(table) if isinstance(belief, HasTokens) else None) or []


def text_parts(columns: tuple[str, ...]) -> tuple[Part, ...]:
    """The statistics that text columns need."""
    return plan(dict.fromkeys(columns, FAMILY))


def as_scores(evidence: Array) -> Array:
    """Rows × scores of rows × classes: two classes have one score, their difference."""
    return evidence[:, 1:] - evidence[:, :1] if evidence.shape[1] == 2 else evidence - evidence.mean(axis=1)[:, None]


def dealt(first: int, n_rows: int, seed: int) -> NDArray[np.intp]:
    """The part of each of some rows, the first of which has this number in its table: each five go to five parts.

    It follows from the number of the row alone, so that rows can be counted here and judged elsewhere.
    """
    rows = np.arange(first, first + n_rows)
    mixed = (rows // N_PARTS + seed).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    order = (mixed >> np.uint64(32)) % np.uint64(len(ORDERS))
    return np.asarray(ORDERS[order.astype(np.intp), rows % N_PARTS])


def count_parts(rows: Rows, part: NDArray[np.intp], columns: tuple[str, ...]) -> list[Summary]:
    """The words of each part."""
    counted = []
    for k in range(N_PARTS):
        own = np.flatnonzero(part == k)
        some = Rows(rows.table.take(own), rows.classes, rows.y[own], rows.weight[own], rows.n_jobs, rows.recipes)
        counted.append(some.summarise(text_parts(columns)))
    return counted


def judges_of(counted: Sequence[Summary], columns: tuple[str, ...]) -> list[tuple[Words, ...]]:
    """For each part the words of all other parts; nobody where these have no rows."""
    judges = []
    for k in range(len(counted)):
        rest = reduce(add, [seen for other, seen in enumerate(counted) if other != k])
        judges.append(tuple(Words.settle(column, rest) for column in columns) if rest.n_rows else ())
    return judges


def judged_by(
    judges: Sequence[tuple[Words, ...]], part: NDArray[np.intp], table: Table, n_said: int, n_classes: int,
    n_jobs: int | None,
) -> Array:  # fmt: skip
    """Rows × (texts × scores), `n_said` numbers for each row, by the judges of its part."""
    n_scores = 1 if n_classes == 2 else n_classes
    out = np.zeros((len(part), n_said))
    for k, words in enumerate(judges):
        own = np.flatnonzero(part == k)
        judged = table.take(own)
        for t, one in enumerate(words if len(own) else ()):
            out[own, t * n_scores : (t + 1) * n_scores] = as_scores(one.evidence(judged, n_jobs))
    return out


def honest_scores(
    table: Table, classes: NDArray[Any], y: NDArray[np.int32], weight: Array, columns: tuple[str, ...],
    recipes: Mapping[str, Any], seed: int, n_jobs: int | None,
) -> tuple[Summary, Array]:  # fmt: skip
    """The words of all rows counted, and rows × (texts × scores): each row judged by the words of other rows."""
    part = dealt(0, len(y), seed)
    counted = count_parts(Rows(table, classes, y, weight, n_jobs, recipes), part, columns)
    judges, n_said = judges_of(counted, columns), len(columns) * (1 if len(classes) == 2 else len(classes))
    return reduce(add, counted), judged_by(judges, part, table, n_said, len(classes), n_jobs)
