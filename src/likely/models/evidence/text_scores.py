"""Scores of text columns by multinomial naive Bayes, computed out of fold for the training rows.

A model that scored the texts whose words it counted would be too sure of itself, so the training rows are divided into
five folds, and every text is scored by the words of the other four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import add

import numpy as np

from likely.arrays import Array, Index
from likely.engines.memory import Rows
from likely.engines.plan import plan
from likely.evaluation.folds import sums_without_each
from likely.families import Settings
from likely.families.protocol import HasTokens, Token
from likely.scorer import Model
from likely.stats import Part, Summary
from likely.table import Table

FAMILY = "text multinomial"
N_FOLDS = 5
FOLD_ORDERS = np.array(list(permutations(range(N_FOLDS))))


@dataclass(frozen=True, slots=True, eq=False)
class TextModel:
    """Naive Bayes of the words of one text column."""

    column: str
    model: Model

    @classmethod
    def settle(cls, column: str, summary: Summary) -> TextModel:
        """From the counts of words, under a uniform prior: that of classes is in the intercept."""
        one = Summary(
            summary.classes, {part: seen for part, seen in summary.parts.items() if part.columns == (column,)}
        )
        return cls(column, Model.settle(one, {column: FAMILY}, "uniform", Settings()))

    def log_likelihood(self, table: Table, n_jobs: int | None) -> Array:
        """log P(text | class), rows × classes."""
        return self.model.log_joint(table, n_jobs).array() - np.log(self.model.prior)

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what each adds."""
        (belief,) = self.model.beliefs
        return (belief.tokens(table) if isinstance(belief, HasTokens) else None) or []


def text_parts(columns: tuple[str, ...]) -> tuple[Part, ...]:
    """The statistics that text columns need."""
    return plan(dict.fromkeys(columns, FAMILY))


def as_scores(log_likelihoods: Array) -> Array:
    """Rows × scores of rows × classes: for two classes their difference, else centred over classes."""
    if log_likelihoods.shape[1] == 2:
        return log_likelihoods[:, 1:] - log_likelihoods[:, :1]
    return np.asarray(log_likelihoods - log_likelihoods.mean(axis=1)[:, None])


def assign_folds(first: int, n_rows: int, seed: int) -> Index:
    """The fold of each of some rows, the first of which has the number `first`: every five rows go to five folds.

    It follows from the number of the row alone, so that rows can be counted in one pass and scored in another.
    """
    rows = np.arange(first, first + n_rows)
    mixed = (rows // N_FOLDS + seed).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    order = (mixed >> np.uint64(32)) % np.uint64(len(FOLD_ORDERS))
    return np.asarray(FOLD_ORDERS[order.astype(np.intp), rows % N_FOLDS])


def count_by_fold(rows: Rows, fold: Index, columns: tuple[str, ...]) -> list[Summary]:
    """The words of each fold."""
    counted = []
    for k in range(N_FOLDS):
        own = np.flatnonzero(fold == k)
        some = Rows(rows.table.take(own), rows.classes, rows.y[own], rows.weight[own], rows.n_jobs, rows.preprocessing)
        counted.append(some.summarise(text_parts(columns)))
    return counted


def models_without_fold(counted: Sequence[Summary], columns: tuple[str, ...]) -> list[tuple[TextModel, ...]]:
    """For each fold the text models of all other folds; none where these have no rows."""
    return [
        tuple(TextModel.settle(column, others) for column in columns) if others.n_rows else ()
        for others in sums_without_each(counted, add)
    ]


def scores_by_fold(
    models: Sequence[tuple[TextModel, ...]], fold: Index, table: Table, n_text_scores: int, n_classes: int,
    n_jobs: int | None,
) -> Array:  # fmt: skip
    """Rows × (texts × scores), `n_text_scores` in all, each row by the models without its fold."""
    n_scores = 1 if n_classes == 2 else n_classes
    out = np.zeros((len(fold), n_text_scores))
    for k, text_models in enumerate(models):
        own = np.flatnonzero(fold == k)
        held_out = table.take(own)
        for t, model in enumerate(text_models if len(own) else ()):
            out[own, t * n_scores : (t + 1) * n_scores] = as_scores(model.log_likelihood(held_out, n_jobs))
    return out


def out_of_fold_scores(rows: Rows, columns: tuple[str, ...], seed: int) -> tuple[Summary, Array]:
    """The words of all rows counted, and rows × (texts × scores), out of fold."""
    fold, n_classes = assign_folds(0, len(rows.y), seed), len(rows.classes)
    counted = count_by_fold(rows, fold, columns)
    models, n_scores = models_without_fold(counted, columns), 1 if n_classes == 2 else n_classes
    scores = scores_by_fold(models, fold, rows.table, len(columns) * n_scores, n_classes, rows.n_jobs)
    return reduce(add, counted), scores
