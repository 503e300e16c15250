"""Growing the rest: gradient boosting of trees that ask the same questions of every row.

A tree is grown question by question: the one that gains most over all leaves so far, by Newton's approximation of the
log loss, Σ G²/(H + λ) with G and H the gradient and curvature of a leaf. A question cuts the codes of a number in two,
with the gap on either side, or takes some categories out: in the order of their gradients, or one alone. With many
classes the gradients are seen through a few random mixtures when questions are chosen; leaves have all of them. A tree
begins with the halves of four columns where these speak together and none of them alone.

Questions take the time, leaves do not: once held-out rows have said how many trees are best, all rows settle the leaves
of those trees anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from likely.arrays import Array
from likely.models.evidence.boosted_rows import BoostedRows, HeldOutRows, start_scores
from likely.models.evidence.contrasts import Contrasts
from likely.models.evidence.encoding import BinnedNumber, Encoding
from likely.models.evidence.ensemble import TreeEnsemble
from likely.models.evidence.questions import Kinds, QuestionSearch
from likely.models.evidence.row_source import RowsInMemory, log_prior

MAX_ROUNDS = 600
MAX_ROUND_SCORES = 6000
"""Trees at most, and trees × scores: with many classes every tree takes longer and is larger."""

PATIENCE = 20
MIN_RELATIVE_GAIN = 1e-3
MIN_GAIN = 1e-4
"""No further tree is grown once the last twenty rounds together have gained less log loss on held-out rows, or less
than this share of it."""

MAX_MIXTURES = 4
MAX_QUESTION_ROWS = 20_000
"""Questions are chosen by about so many rows, others for every tree; leaves are settled by all."""

MIN_COLUMNS = 12
"""A tree may ask about 2 · √columns, drawn by chance, and about so many at least."""


def grow(
    encoding: Encoding,
    rows: RowsInMemory,
    n_rounds: int,
    held_out: RowsInMemory | None = None,
    has_time: Callable[[], bool] | None = None,
) -> tuple[TreeEnsemble, list[float]]:
    """Trees of these rows, and the log loss of the rows held out before the first tree and after each.

    Without held-out rows it is exactly so many rounds; with them, fewer when they gain nothing more.
    """
    rng = np.random.default_rng(0)
    columns = encoding.columns
    sizes = np.array([column.size for column in columns], dtype=np.int64)
    numeric = np.array([isinstance(column, BinnedNumber) for column in columns])
    gaps = np.array([column.gap for column in columns])
    by_column = np.ascontiguousarray(rows.codes.T)
    trees, losses = TreeEnsemble.empty(rows.n_scores, n_rounds), []
    boosted = BoostedRows(rows, by_column)
    prior = log_prior(rows.class_weights())
    judged = None if held_out is None else HeldOutRows(held_out, start_scores(held_out, prior))
    if judged is not None:
        losses.append(judged.mean_loss())
    contrasts, together = Contrasts(encoding, by_column), True
    n_tried = min(max(MIN_COLUMNS, round(2.0 * np.sqrt(len(columns)))), len(columns))
    search = QuestionSearch(Kinds(sizes, numeric, gaps), n_tried, min(rows.n_scores, MAX_MIXTURES), rows.pool)
    for t in range(n_rounds):
        mixing = _mixing(rows.n_scores, rng)
        tried = np.sort(rng.permutation(len(columns))[:n_tried]).astype(np.int64)
        step = -(-len(rows) // MAX_QUESTION_ROWS)
        drawn = slice(int(rng.integers(step)) if step > 1 else 0, None, max(step, 1))
        some = np.ascontiguousarray(by_column[:, drawn])
        seen, curvature = _mixtures(boosted.gradient[drawn], boosted.hessian[drawn], mixing)
        four = contrasts.strongest(boosted.gradient) if together else contrasts.columns[:0]
        together = len(four) > 0
        trees.columns[t, : len(four)], trees.sides[t, : len(four)] = four, contrasts.sides[four]
        search.choose(some, tried, (seen, curvature), len(four), trees.columns[t], trees.sides[t])
        boosted.settle(trees.columns[t], trees.sides[t], trees.leaves[t], trees.covers[t])
        boosted.add(trees.leaves[t])
        if judged is None:
            continue
        one = trees.first(t + 1)
        judged.add(one.columns[t:], one.sides[t:], one.leaves[t:])
        losses.append(judged.mean_loss())
        if not _still_gains(losses) or not (has_time is None or has_time()):
            return one, losses
    return trees, losses


def max_rounds(n_scores: int) -> int:
    """How many trees are grown at most."""
    return min(MAX_ROUNDS, MAX_ROUND_SCORES // n_scores)


def settle(questions: Sequence[TreeEnsemble], rows: RowsInMemory) -> TreeEnsemble:
    """Trees that ask what others ask, of several ensembles in turn; their leaves are those of these rows."""
    boosted, n_rounds = BoostedRows(rows, np.ascontiguousarray(rows.codes.T)), min(map(len, questions))
    trees = TreeEnsemble.empty(rows.n_scores, n_rounds)
    for t in range(n_rounds):
        asked = questions[t % len(questions)]
        trees.columns[t], trees.sides[t] = asked.columns[t], asked.sides[t]
        boosted.settle(trees.columns[t], trees.sides[t], trees.leaves[t], trees.covers[t])
        boosted.add(trees.leaves[t])
    return trees


def _still_gains(losses: list[float]) -> bool:
    if len(losses) <= PATIENCE:
        return True
    best = min(losses)
    return min(losses[:-PATIENCE]) - best > max(MIN_RELATIVE_GAIN * best, MIN_GAIN)


def ensemble_scores(trees: TreeEnsemble, rows: RowsInMemory, intercept: Array) -> Array:
    """Scores of rows: intercept, offset and leaves."""
    out = start_scores(rows, intercept)
    trees.add_scores(rows.codes, slice(0, len(rows)), out)
    return out


def _mixing(n_scores: int, rng: np.random.Generator) -> Array | None:
    """Random mixtures of many scores."""
    return rng.normal(size=(n_scores, MAX_MIXTURES)) / np.sqrt(MAX_MIXTURES) if n_scores > MAX_MIXTURES else None


def _mixtures(gradient: Array, hessian: Array, mixing: Array | None) -> tuple[Array, Array]:
    """Gradients by which questions are chosen, rows × few, and one curvature for each row."""
    curvature = hessian[:, 0] if gradient.shape[1] == 1 else 0.5 * hessian.sum(axis=1)
    mixed = gradient if mixing is None else gradient @ mixing
    return np.ascontiguousarray(mixed), np.ascontiguousarray(curvature)
