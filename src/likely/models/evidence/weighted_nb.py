"""Weighted naive Bayes: the first expert, in which redundant columns count less.

score_c = b_c + Σ_j w_j · log P(bin_j | c) (+ Σ_t w_t · score of text t), w ≥ 0, over the coarse bins, with
P(bin | c) = (count + m · share of the bin) / (weight of the class + m), m = 4. Feature weights w and intercepts b
minimise the log loss of rows, each scored by counts without itself, plus a ridge (`models.feature_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Int32, UInt8
from likely.jit import kernel
from likely.models.evidence.losses import residuals
from likely.models.evidence.row_source import RowBlock, RowsInMemory, RowSource, log_prior
from likely.models.feature_weights import RIDGE, penalised
from likely.numerics import lbfgs

SMOOTHING = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class WeightedNaiveBayes:
    """A weight per column, then per text; `tables` are cells × scores, already multiplied by the weights."""

    feature_weights: Array
    tables: Array
    intercept: Array
    passes: int

    def scores(self, rows: RowsInMemory, starts: Int32) -> Array:
        """Scores of rows, given by their coarse codes and without offset."""
        out, text_weights = rows.scores(starts, self.tables, self.intercept), self.feature_weights[len(starts) :]
        for t, weight in enumerate(text_weights):
            out += weight * rows.text_scores[:, t * out.shape[1] : (t + 1) * out.shape[1]]
        return out


def log_conditionals(counts: Array, starts: Int32, class_weights: Array, left_out: float) -> Array:
    """log P(cell | class), smoothed, with a weight of `left_out` taken from every count; 0 for code 0.

    log((count + m · share)/(class + m)) of counts, cells × classes.
    """
    total = counts.sum(axis=1)
    prior_counts = SMOOTHING * total / max(float(class_weights.sum()), 1e-300)
    numerators = np.maximum(counts - left_out, 0.0) + prior_counts[:, None]
    denominators = np.maximum(class_weights - left_out, 0.0) + SMOOTHING
    out = np.zeros_like(counts)
    occupied = total > 0.0
    out[occupied] = np.log(numerators[occupied] / denominators)
    out[starts] = 0.0
    return out


def fit_feature_weights(rows: RowSource, starts: Int32, n_cells: int, tolerance: float) -> WeightedNaiveBayes:
    """Feature weights (≥ 0) and intercepts that minimise the leave-one-out log loss plus a ridge."""
    class_weights, n_scores = rows.class_weights(), rows.n_scores
    counts, (n_rows, text_squares) = rows.class_counts(starts, n_cells), rows.sum_over_blocks(_row_sums, len(starts))
    row_weight = float(class_weights.sum()) / max(int(n_rows), 1)
    tables = log_conditionals(counts, starts, class_weights, 0.0)
    loo_tables = log_conditionals(counts, starts, class_weights, row_weight)
    loo_tables[counts <= 0.0] = tables[counts <= 0.0]
    n_columns = len(starts)
    n_weights = n_columns + len(text_squares) // n_scores

    def loss(weights: Array, intercept: Array) -> tuple[float, Array, Array]:
        def statistics(b: RowBlock) -> list[Array]:
            gradient, intercept_gradient = np.empty(n_weights), np.empty(n_scores)
            text_scores = b.text_scores if len(b.text_scores) else np.zeros((len(b.y), 0))
            value = leave_one_out_loss(
                b.codes, starts, tables, loo_tables, text_scores, b.y, b.weight, weights, intercept, b.first, b.last,
                gradient, intercept_gradient,
            )  # fmt: skip
            return [np.array(value), gradient, intercept_gradient]

        value, gradient, intercept_gradient = rows.sum_over_blocks(statistics, n_weights)
        return float(value), gradient, intercept_gradient

    objective, start = penalised(loss, n_weights, log_prior(class_weights))
    weight_hessian = _weight_hessian(counts, tables, starts, class_weights, text_squares, n_scores)
    preconditioner = 1.0 / np.concatenate([RIDGE + weight_hessian, _intercept_hessian(class_weights)])
    is_weight = np.arange(len(start)) < n_weights
    x, passes = lbfgs(objective, start, preconditioner, tolerance * float(class_weights.sum()), nonnegative=is_weight)
    weights = x[:n_weights]
    cell_weights = np.repeat(weights[:n_columns], np.diff(np.append(starts, n_cells)))[:, None]
    scores = tables[:, 1:] - tables[:, :1] if n_scores == 1 else tables
    return WeightedNaiveBayes(weights, cell_weights * scores, x[n_weights:], passes)


def _row_sums(b: RowBlock) -> list[Array]:
    """Number of rows with a weight, and the sum of squares of each text score."""
    return [np.array(np.count_nonzero(b.weight[b.rows])), (b.text_scores[b.rows] ** 2).sum(axis=0)]


def _intercept_hessian(class_weights: Array) -> Array:
    """Approximate Hessian diagonal by the intercepts: N_c (1 − p_c)."""
    shares = class_weights / class_weights.sum()
    diagonal = np.maximum(class_weights * (1.0 - shares), 1e-3)
    return np.asarray(diagonal[1:] if len(diagonal) == 2 else diagonal)


def _weight_hessian(
    counts: Array, tables: Array, starts: Int32, class_weights: Array, text_squares: Array, n_scores: int
) -> Array:
    """Approximate Hessian diagonal by the feature weights: Σ_rows variance over classes of log P(cell | c)."""
    shares = class_weights / class_weights.sum()
    variance = ((tables - (tables @ shares)[:, None]) ** 2) @ shares
    of_columns = np.add.reduceat(counts.sum(axis=1) * variance, starts) if len(starts) else np.zeros(0)
    of_texts = text_squares.reshape(-1, n_scores).mean(axis=1) * float((shares * (1 - shares)).mean())
    return np.concatenate([of_columns, of_texts])


STRIP_FEATURES = 2048
"""Features of rows that are held at once, so that they stay in the first-level cache."""


@kernel
def leave_one_out_loss(
    codes: UInt8, starts: Int32, tables: Array, loo_tables: Array, text_scores: Array, y: Int32,
    weight: Array, feature_weights: Array, intercept: Array, first: int, last: int, gradient: Array,
    intercept_gradient: Array,
) -> float:  # fmt: skip
    """Σ weight · log loss of rows `first` to `last`; writes its gradient by feature weights and by intercepts.

    `tables` and `loo_tables` are cells × classes: log P(cell | class), and the same without one row of the class.
    `text_scores` is rows × (texts × scores).
    """
    n_features, n_scores = len(feature_weights), len(intercept)
    strip_rows = max(STRIP_FEATURES // max(n_features * n_scores, 1), 1)
    features = np.empty((strip_rows, n_features, n_scores))
    scores = np.empty((strip_rows, n_scores))
    gradient[:] = 0.0
    intercept_gradient[:] = 0.0
    loss = 0.0
    for start in range(first, last, strip_rows):
        size = min(strip_rows, last - start)
        for i in range(size):
            row, of_row = start + i, features[i]
            _leave_one_out_features(codes[row], starts, tables, loo_tables, text_scores[row], y[row], of_row)
            for c in range(n_scores):
                scores[i, c] = intercept[c]
            for j in range(n_features):
                for c in range(n_scores):
                    scores[i, c] += feature_weights[j] * of_row[j, c]
        loss += residuals(scores[:size], y[start : start + size], weight[start : start + size])
        for i in range(size):
            for c in range(n_scores):
                intercept_gradient[c] += scores[i, c]
            for j in range(n_features):
                for c in range(n_scores):
                    gradient[j] += scores[i, c] * features[i, j, c]
    return loss


@kernel
def _leave_one_out_features(
    codes: UInt8, starts: Int32, tables: Array, loo_tables: Array, text_scores: Array, own: int, out: Array
) -> None:
    """Scores that each column and each text of a row gives, with the row's own count taken out of its class."""
    n_columns, n_scores = len(starts), out.shape[1]
    for j in range(n_columns):
        cell = starts[j] + codes[j]
        if n_scores == 1:
            out[j, 0] = loo_tables[cell, 1] - tables[cell, 0] if own == 1 else tables[cell, 1] - loo_tables[cell, 0]
        else:
            for c in range(n_scores):
                out[j, c] = tables[cell, c]
            out[j, own] = loo_tables[cell, own]
    for t in range(len(out) - n_columns):
        for c in range(n_scores):
            out[n_columns + t, c] = text_scores[t * n_scores + c]
