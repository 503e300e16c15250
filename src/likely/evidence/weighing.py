"""W: naive Bayes whose columns have weights, so that what is said twice counts less."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.passes import class_counts
from likely.evidence.kernels.weighing import weigh
from likely.evidence.rows import Rows
from likely.evidence.solver import descend, log_prior
from likely.evidence.ways import usual_weight

Array = NDArray[np.float64]

SMOOTHING = 4.0
RIDGE = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A weight per column (and per text, behind them), and tables that these are multiplied into already."""

    weights: Array
    tables: Array
    base: Array
    passes: int

    def scores(self, rows: Rows, codes: NDArray[np.uint8], starts: NDArray[np.int32], texts: Array) -> Array:
        """Scores of other rows, by their coarse codes and what their texts say."""
        seen = replace(rows, codes=codes, offset=rows.offset[:0])
        out, by_text = seen.scores(starts, self.tables, self.base), self.weights[len(starts) :]
        for t, share in enumerate(by_text):
            out += share * texts[:, t * out.shape[1] : (t + 1) * out.shape[1]]
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


def weigh_columns(rows: Rows, starts: NDArray[np.int32], n_cells: int, texts: Array, tolerance: float) -> Weighted:
    """Weights from zero up and a base per score, by the log loss of rows that are judged without themselves."""
    classes, n_scores = rows.class_weights(), rows.n_scores
    counts = np.zeros((n_cells, rows.n_classes))
    class_counts(rows.codes, starts, rows.y, rows.weight, counts)
    usual = float(rows.weight.sum() / max(np.count_nonzero(rows.weight), 1))
    tables, without = log_shares(counts, starts, classes, 0.0), log_shares(counts, starts, classes, usual)
    without[counts <= 0.0] = tables[counts <= 0.0]
    n_columns = len(starts)
    n_weights = n_columns + texts.shape[1] // n_scores
    centre = usual_weight(n_weights)
    parts = rows.slices(n_weights)

    def look(x: Array) -> tuple[float, Array]:
        by_column, base = x[:n_weights], x[n_weights:]

        def one(part: slice) -> tuple[float, Array, Array]:
            slope, base_slope = np.empty(n_weights), np.empty(n_scores)
            loss = weigh(
                rows.codes, starts, tables, without, texts, rows.y, rows.weight, by_column, base,
                part.start, part.stop, slope, base_slope,
            )  # fmt: skip
            return loss, slope, base_slope

        found = rows.crew.do(one, parts)
        gap = by_column - centre
        slope = sum((more[1] for more in found[1:]), found[0][1]) + RIDGE * gap
        base_slope = sum((more[2] for more in found[1:]), found[0][2])
        value = sum(more[0] for more in found) + 0.5 * RIDGE * float(gap @ gap)
        return value, np.concatenate([slope, base_slope])

    start = np.concatenate([np.full(n_weights, centre), log_prior(classes)])
    floored = np.arange(len(start)) < n_weights
    inverse = 1.0 / np.concatenate([_curvature(counts, tables, starts, classes, texts, n_scores), _bends(classes)])
    found, passes = descend(look, start, inverse, tolerance * float(classes.sum()), floored)
    weights = found[:n_weights]
    by_cell = np.repeat(weights[:n_columns], np.diff(np.append(starts, n_cells)))[:, None]
    scored = tables[:, 1:] - tables[:, :1] if n_scores == 1 else tables
    return Weighted(weights, by_cell * scored, found[n_weights:], passes)


def _bends(classes: Array) -> Array:
    """How strongly the loss bends with the base of each score."""
    shares = classes / classes.sum()
    bends = np.maximum(classes * (1.0 - shares), 1e-3)
    return np.asarray(bends[1:] if len(bends) == 2 else bends)


def _curvature(
    counts: Array, tables: Array, starts: NDArray[np.int32], classes: Array, texts: Array, n_scores: int
) -> Array:
    """About how strongly the loss bends with each weight: the spread between classes of what the column says."""
    shares = classes / classes.sum()
    spread = ((tables - (tables @ shares)[:, None]) ** 2) @ shares
    by_column = np.add.reduceat(counts.sum(axis=1) * spread, starts) if len(starts) else np.zeros(0)
    by_text = (texts**2).sum(axis=0).reshape(-1, n_scores).mean(axis=1) * float((shares * (1 - shares)).mean())
    return np.asarray(RIDGE + np.concatenate([by_column, by_text]))
