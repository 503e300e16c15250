"""W: naive Bayes whose columns have weights, so that what is said twice counts less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, UInt8
from likely.models.evidence.hyperparameters import usual_weight
from likely.models.evidence.kernels import residuals
from likely.models.evidence.row_source import Block, Rows, RowSource
from likely.models.evidence.solver import descend, log_prior

SMOOTHING = 4.0
RIDGE = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A weight per column (and per text, behind them), and tables that these are multiplied into already."""

    weights: Array
    tables: Array
    base: Array
    passes: int

    def scores(self, rows: Rows, starts: NDArray[np.int32]) -> Array:
        """Scores of other rows, given by their coarse codes, without what is known beforehand."""
        out, by_text = rows.scores(starts, self.tables, self.base), self.weights[len(starts) :]
        for t, share in enumerate(by_text):
            out += share * rows.texts[:, t * out.shape[1] : (t + 1) * out.shape[1]]
        return out


def log_shares(counts: Array, starts: NDArray[np.int32], classes: Array, less: float) -> Array:
    """log((count + m·share)/(class + m)) per cell and class, without `less` of the class's own rows; 0 for code 0."""
    total = counts.sum(axis=1)
    grand = max(float(classes.sum()), 1e-300)
    believed = SMOOTHING * total / grand
    tops = np.maximum(counts - less, 0.0) + believed[:, None]
    bottoms = np.maximum(classes - less, 0.0) + SMOOTHING
    out = np.zeros_like(counts)
    seen = total > 0.0
    out[seen] = np.log(tops[seen] / bottoms)
    out[starts] = 0.0
    return out


def weigh_columns(rows: RowSource, starts: NDArray[np.int32], n_cells: int, tolerance: float) -> Weighted:
    """Weights from zero up and a base per score, by the log loss of rows that are judged without themselves."""
    classes, n_scores = rows.class_weights(), rows.n_scores
    counts, (weighing, by_text) = rows.class_counts(starts, n_cells), rows.summed(_looked_over, len(starts))
    usual = float(classes.sum()) / max(weighing, 1)
    tables, without = log_shares(counts, starts, classes, 0.0), log_shares(counts, starts, classes, usual)
    without[counts <= 0.0] = tables[counts <= 0.0]
    n_columns = len(starts)
    n_weights = n_columns + len(by_text) // n_scores
    centre = usual_weight(n_weights)

    def look(x: Array) -> tuple[float, Array]:
        by_column, base = x[:n_weights], x[n_weights:]

        def one(b: Block) -> list[Any]:
            slope, base_slope = np.empty(n_weights), np.empty(n_scores)
            texts = b.texts if len(b.texts) else np.zeros((len(b.y), 0))
            loss = weigh(
                b.codes, starts, tables, without, texts, b.y, b.weight, by_column, base, b.first, b.last,
                slope, base_slope,
            )  # fmt: skip
            return [loss, slope, base_slope]

        loss, slope, base_slope = rows.summed(one, n_weights)
        gap = by_column - centre
        value = loss + 0.5 * RIDGE * float(gap @ gap)
        return value, np.concatenate([slope + RIDGE * gap, base_slope])

    start = np.concatenate([np.full(n_weights, centre), log_prior(classes)])
    floored = np.arange(len(start)) < n_weights
    inverse = 1.0 / np.concatenate([_curvature(counts, tables, starts, classes, by_text, n_scores), _bends(classes)])
    found, passes = descend(look, start, inverse, tolerance * float(classes.sum()), floored)
    weights = found[:n_weights]
    by_cell = np.repeat(weights[:n_columns], np.diff(np.append(starts, n_cells)))[:, None]
    scored = tables[:, 1:] - tables[:, :1] if n_scores == 1 else tables
    return Weighted(weights, by_cell * scored, found[n_weights:], passes)


def _looked_over(b: Block) -> list[Any]:
    """How many rows have any weight, and the sum of squares of what each text says."""
    here = slice(b.first, b.last)
    return [np.count_nonzero(b.weight[here]), (b.texts[here] ** 2).sum(axis=0)]


def _bends(classes: Array) -> Array:
    """How strongly the loss bends with the base of each score."""
    shares = classes / classes.sum()
    bends = np.maximum(classes * (1.0 - shares), 1e-3)
    return np.asarray(bends[1:] if len(bends) == 2 else bends)


def _curvature(
    counts: Array, tables: Array, starts: NDArray[np.int32], classes: Array, squares: Array, n_scores: int
) -> Array:
    """About how strongly the loss bends with each weight: the spread between classes of what the column says."""
    shares = classes / classes.sum()
    spread = ((tables - (tables @ shares)[:, None]) ** 2) @ shares
    by_column = np.add.reduceat(counts.sum(axis=1) * spread, starts) if len(starts) else np.zeros(0)
    by_text = squares.reshape(-1, n_scores).mean(axis=1) * float((shares * (1 - shares)).mean())
    return np.asarray(RIDGE + np.concatenate([by_column, by_text]))


# Weighted naive Bayes: one pass over rows, each judged without its own count.


@numba.njit(nogil=True, cache=True)
def weigh(
    codes: UInt8, starts: Int32, tables: Array, without: Array, texts: Array, y: NDArray[np.int32], weight: Array,
    by_column: Array, base: Array, first: int, last: int, slope: Array, base_slope: Array,
) -> float:  # fmt: skip
    """Log loss, and its slope by the weight of each column and by each class's base.

    `tables` and `without` are cells × classes: log shares, and the same without one row of the class. `texts` is
    rows × (texts × scores), what texts say; their weights stand behind those of the columns.
    """
    n_said, n_scores = len(by_column), len(base)
    said = np.empty((n_said, n_scores))
    scores = np.empty((1, n_scores))
    slope[:] = 0.0
    base_slope[:] = 0.0
    loss = 0.0
    for i in range(first, last):
        _listen(codes[i], starts, tables, without, texts[i], y[i], said)
        for c in range(n_scores):
            scores[0, c] = base[c]
        for j in range(n_said):
            for c in range(n_scores):
                scores[0, c] += by_column[j] * said[j, c]
        loss += residuals(scores, y[i : i + 1], weight[i : i + 1])
        for c in range(n_scores):
            base_slope[c] += scores[0, c]
        for j in range(n_said):
            for c in range(n_scores):
                slope[j] += scores[0, c] * said[j, c]
    return loss


@numba.njit(nogil=True, cache=True)
def _listen(codes: UInt8, starts: Int32, tables: Array, without: Array, texts: Array, own: int, out: Array) -> None:
    """What each column and each text of a row says, the row's own count taken out."""
    n_columns, n_scores = len(starts), out.shape[1]
    for j in range(n_columns):
        cell = starts[j] + codes[j]
        if n_scores == 1:
            out[j, 0] = without[cell, 1] - tables[cell, 0] if own == 1 else tables[cell, 1] - without[cell, 0]
        else:
            for c in range(n_scores):
                out[j, c] = tables[cell, c]
            out[j, own] = without[cell, own]
    for t in range(len(out) - n_columns):
        for c in range(n_scores):
            out[n_columns + t, c] = texts[t * n_scores + c]
