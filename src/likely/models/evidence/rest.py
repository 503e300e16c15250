"""The rest: experts beside the tables, each with its scores of the rows that inner folds hold out.

The quadratic discriminant sees the numbers of a row at once, trees any columns. Neither is a table of three columns at
most, so each must gain enough on held-out rows to be part of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array
from likely.models.evidence.discriminant import DiscriminantSettings
from likely.models.evidence.discriminant_fit import DiscriminantSearch, discriminant_columns, fit_discriminant
from likely.models.evidence.encoding import Encoding
from likely.models.evidence.ensemble import TreeEnsemble
from likely.models.evidence.ensemble_fit import ensemble_scores, grow, max_rounds, settle
from likely.models.evidence.predictor import AdditiveModel, Hyperparameters
from likely.models.evidence.row_source import MAX_SEARCH_ROWS, RowsInMemory, RowSource, log_prior
from likely.models.evidence.search import InnerCV
from likely.models.evidence.stacking import stack

MIN_ROWS_FOR_TREES = 2000
MAX_SCORES = 64
"""Scores up to which there is a rest."""

MAX_REST_SCORES = 1 << 22
"""Rows × scores from which the rest is fitted: of more rows, or more than choose hyperparameters, a stratified
sample."""

TREE_RIDGE = 1e-3
MIN_REST_GAIN = 0.01
"""Share of the log loss that the rest must gain, beside one standard error, to be worth a part that is not a table."""


@dataclass(frozen=True, slots=True, eq=False)
class DiscriminantCandidate:
    """Settings of a quadratic discriminant, and its scores of held-out rows."""

    settings: DiscriminantSettings
    scores: Array


@dataclass(frozen=True, slots=True, eq=False)
class TreeCandidate:
    """The trees of each fold, as many as are best on held-out rows, and the scores of these."""

    scores: Array
    trees: tuple[TreeEnsemble, ...]

    @property
    def n_rounds(self) -> int:
        return len(self.trees[0])


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Stacking weights of experts, and the scores that they give to held-out rows."""

    weights: Array
    scores: Array


def stacked(cv: InnerCV, experts: Sequence[Array], ridge: float | None = None) -> Stack:
    """Experts stacked by their held-out scores, beginning with the best of them."""
    losses = [float(cv.row_shares @ cv.log_losses(scores)) for scores in experts]
    best = int(np.argmin(losses))
    more = {} if ridge is None else {"ridge": ridge}
    weights = stack(list(experts), cv.y, cv.row_shares, best, **more, pool=cv.pool)
    return Stack(weights, np.asarray(sum(a * scores for a, scores in zip(weights, experts, strict=True))))


def gains_enough(cv: InnerCV, before: Array, after: Array) -> bool:
    """Whether held-out scores are better by one standard error, and by a share of the log loss."""
    losses = cv.log_losses(before)
    gain, error = cv.paired_gain(losses, cv.log_losses(after))
    return gain > max(error, MIN_REST_GAIN * float(cv.row_shares @ losses))


def rest_rows(rows: RowSource) -> RowsInMemory:
    """The rows from which the rest is fitted."""
    return rows.sample(min(MAX_REST_SCORES // rows.n_scores, MAX_SEARCH_ROWS), 0)


def discriminant_candidate(cv: InnerCV, encoding: Encoding) -> DiscriminantCandidate | None:
    """The best quadratic discriminant on held-out rows; None where there is nothing to make it from."""
    columns = discriminant_columns(encoding)
    if not len(columns) or cv.data.rows.n_scores > MAX_SCORES:
        return None
    folds = [(rest_rows(fitter.rows), test.rows) for fitter, test in zip(cv.fitters, cv.held_out, strict=True)]
    settings = DiscriminantSearch(encoding, columns, folds).run()
    found = []
    for train, test in folds:
        discriminant, intercept = fit_discriminant(encoding, train, columns, settings)
        found.append(np.tile(intercept, (len(test), 1)))
        discriminant.add_scores(test.codes, slice(0, len(test)), found[-1])
    return DiscriminantCandidate(settings, np.concatenate(found))


def tree_candidate(cv: InnerCV, encoding: Encoding, has_time: Callable[[], bool]) -> TreeCandidate | None:
    """As many trees as are best on held-out rows; None where there are few rows, or no tree is of use."""
    n_rows = len(cv.data.rows)
    if n_rows < MIN_ROWS_FOR_TREES or cv.data.rows.n_scores > MAX_SCORES:
        return None
    folds = [(rest_rows(fitter.rows), test.rows) for fitter, test in zip(cv.fitters, cv.held_out, strict=True)]
    grown = cv.pool.do(lambda fold: grow(encoding, fold[0], max_rounds(fold[0].n_scores), fold[1], has_time), folds)
    shortest = min(len(losses) for _, losses in grown)
    n_rounds = int(np.argmin(np.mean([losses[:shortest] for _, losses in grown], axis=0)))
    if not n_rounds:
        return None
    best = tuple(trees.first(n_rounds) for trees, _ in grown)
    scores = [
        ensemble_scores(trees, test, log_prior(train.class_weights()))
        for trees, (train, test) in zip(best, folds, strict=True)
    ]
    return TreeCandidate(np.concatenate(scores), best)


def plus_rest(
    model: AdditiveModel, rows: RowSource, hyperparameters: Hyperparameters, questions: Sequence[TreeEnsemble] = ()
) -> AdditiveModel:
    """With the quadratic discriminant and the trees of all rows, if they have a weight.

    Trees ask the `questions` of other trees; without any, they are grown.
    """
    h, encoding = hyperparameters, model.encoding
    if not h.tree_weight + h.discriminant_weight > 0.0:
        return model
    some = rest_rows(rows.deduplicate())
    columns = discriminant_columns(encoding)
    if h.discriminant_weight > 0.0 and len(columns):
        discriminant, intercept = fit_discriminant(encoding, some, columns, h.discriminant)
        model = model.plus_discriminant(discriminant, h.discriminant_weight, intercept)
    if h.tree_weight > 0.0:
        trees = settle(questions, some) if questions else grow(encoding, some, h.n_rounds)[0]
        model = model.plus_trees(trees, h.tree_weight, log_prior(some.class_weights()))
    return model
