"""Inner cross-validation, by which prior variances and interactions are chosen; and screening of interactions.

Terms are ranked by a score test of the residuals that a model without them leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index, Int32, UInt8
from likely.evaluation.folds import shuffled_by_class
from likely.jit import kernel
from likely.models.evidence.encoding import Resolution, Terms
from likely.models.evidence.fitter import EncodedData, Expert, Fitter
from likely.models.evidence.losses import fill_hessian, residuals, row_losses
from likely.models.evidence.row_source import RowsInMemory
from likely.numerics import Place
from likely.parallel import WorkerPool

Variances = tuple[float, float, float]
"""Prior variances of main effects, pairs and triples."""

VARIANCE_GRID = tuple(float(10.0 ** (k / 2)) for k in range(-5, 4))
"""Half decades from 10^−2.5 to 10^1.5."""

STANDARD_ERRORS = 1.0
"""By so many a smaller variance may be worse than the best: the one-standard-error rule."""

MIN_RELATIVE_GAIN = 1e-3
MIN_GAIN = 1e-4
"""Gains below this share of the log loss, or below this log loss, end the search."""

MIN_PARALLEL_WORK = 1 << 14
"""Codes × scores from which folds are fitted in parallel."""

PRIOR_PRECISION = 2.0
N_TASKS = 16
MAX_WORK = {2: 1 << 28, 3: 1 << 25}
"""Rows × scores × pairs, or triples, that are screened: of a wide table the most important columns are combined."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Numbers of the rows to fit, and of those held out."""

    train: Index
    test: Index


def n_inner_folds(n_rows: int) -> int:
    """Five folds below 1,000 rows, three below 3,000; from there on one, which holds a fifth of the rows out."""
    return 5 if n_rows < 1000 else 3 if n_rows < 3000 else 1


def inner_folds(y: Int32, seed: int) -> list[Fold]:
    """Stratified folds: rows in random order within their class are dealt out in turn."""
    n_folds = n_inner_folds(len(y))
    n_parts = 5 if n_folds == 1 else n_folds
    rng = np.random.default_rng(seed)
    order = shuffled_by_class(y, rng)
    part = np.empty(len(y), dtype=np.intp)
    part[order] = (np.arange(len(y)) + rng.integers(n_parts)) % n_parts
    return [Fold(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(n_folds)]


@dataclass(frozen=True, slots=True, eq=False)
class CVResult:
    """Experts with some terms and variances, one per fold, and their scores and log losses of held-out rows."""

    experts: list[Expert]
    scores: Array
    log_losses: Array
    mean_log_loss: float


class InnerCV:
    """Inner folds of the training rows: one fitter and one held-out part each."""

    def __init__(self, data: EncodedData[RowsInMemory], folds: list[Fold]) -> None:
        self.data = data
        self.fitters = [Fitter(data.take(fold.train)) for fold in folds]
        self.held_out = [data.take(fold.test) for fold in folds]
        rows = np.concatenate([fold.test for fold in folds])
        self.y, weight = data.rows.y[rows], data.rows.weight[rows]
        self.row_shares = weight / max(float(weight.sum()), 1e-300)
        work = data.rows.codes.size * data.rows.n_scores
        self.pool = data.rows.pool if work > MIN_PARALLEL_WORK else WorkerPool(1)

    def evaluate(self, terms: list[Terms], variances: Variances, warm_start: CVResult | None) -> CVResult:
        """Fit every fold, from the coefficients of another result, and score the rows held out."""

        def fit(k: int) -> Expert:
            begin = [] if warm_start is None else [warm_start.experts[k]]
            return self.fitters[k].expert(terms[k], variances, begin)

        experts = self.pool.do(fit, range(len(self.fitters)))
        scores = np.concatenate(
            [expert.scores(test.encoding, test.rows) for expert, test in zip(experts, self.held_out, strict=True)]
        )
        log_losses = self.log_losses(scores)
        return CVResult(experts, scores, log_losses, float(self.row_shares @ log_losses))

    def log_losses(self, scores: Array) -> Array:
        """Log loss of each held-out row."""
        out = np.empty(len(self.y))
        row_losses(scores, self.y, out)
        return out

    def paired_gain(self, before: Array, after: Array) -> tuple[float, float]:
        """Mean difference of two sets of log losses over the same rows, and its standard error."""
        differences = before - after
        mean = float(self.row_shares @ differences)
        return mean, float(np.sqrt(self.row_shares**2 @ (differences - mean) ** 2))


class VarianceSearch:
    """Hill climbing along the grid of variances; every fit starts from its nearest neighbour's coefficients."""

    def __init__(
        self, cv: InnerCV, evaluate: Callable[[float, CVResult | None], CVResult], warm_start: CVResult | None
    ) -> None:
        self.cv, self.evaluate, self.warm_start = cv, evaluate, warm_start
        self.results: dict[int, CVResult] = {}

    def result(self, k: int) -> CVResult:
        """The result at a place of the grid."""
        if k not in self.results:
            nearest = min(self.results, key=lambda other: abs(other - k), default=None)
            start = self.warm_start if nearest is None else self.results[nearest]
            self.results[k] = self.evaluate(VARIANCE_GRID[k], start)
        return self.results[k]

    def climb(self, start: int, has_time: Callable[[], bool]) -> int:
        """The place of the lowest log loss that is reached from `start` without a step uphill."""
        best = start
        self.result(start)
        for step in (1, -1):
            while 0 <= best + step < len(VARIANCE_GRID) and has_time() and self._is_better(best + step, best):
                best += step
            if best != start:
                break
        return best

    def _is_better(self, k: int, best: int) -> bool:
        loss = self.result(best).mean_log_loss
        return self.result(k).mean_log_loss < loss - max(MIN_RELATIVE_GAIN * loss, MIN_GAIN)

    def one_se(self, best: int) -> int:
        """The smallest variance tried whose log loss is within one standard error (paired) of the best."""
        for k in sorted(self.results):
            if k >= best:
                break
            loss, error = self.cv.paired_gain(self.results[k].log_losses, self.results[best].log_losses)
            if loss <= STANDARD_ERRORS * error:
                return k
        return best


# Screening of interactions.


def candidate_terms(resolution: Resolution, importance: Array, order: int, work_per_term: int) -> Int32:
    """All pairs (order 2) or triples (3) of the most important columns, of as many columns as the work allows."""
    columns = np.flatnonzero(resolution.widths > 2)
    columns = columns[np.argsort(-importance[columns], kind="stable")]
    n = len(columns)
    while n > order and comb(n, order) * work_per_term > MAX_WORK[order]:
        n -= 1
    return np.array(list(combinations(sorted(columns[:n].tolist()), order)), dtype=np.int32).reshape(-1, order)


def screening_scores(rows: RowsInMemory, resolution: Resolution, terms: Int32, scores: Array) -> Array:
    """Σ (G² − H)/(H + 2) over the cells and classes of each term: about the gain of one Newton step per cell.

    G = observed − expected weight of a class in a cell, H = Σ weight · p (1 − p), given the present scores of rows.
    """
    residual = scores.copy()
    residuals(residual, rows.y, rows.weight)
    hessian = hessian_of(residual, rows)
    by_column = np.ascontiguousarray(resolution.codes(rows.codes).T)
    out = np.empty(len(terms))
    bounds = [len(terms) * k // N_TASKS for k in range(N_TASKS + 1)]

    def screen(k: int) -> None:
        part = slice(bounds[k], bounds[k + 1])
        score_test(by_column, resolution.widths, terms[part], residual, hessian, PRIOR_PRECISION, out[part])

    rows.pool.do(screen, range(N_TASKS))
    return out


def hessian_of(residual: Array, rows: RowsInMemory) -> Array:
    """weight · p (1 − p), from weight · (p − [class is true])."""
    out = np.empty_like(residual)
    fill_hessian(residual, rows.y, rows.weight, out)
    return out


@kernel(interpretable=True)
def score_test(
    codes: UInt8,
    widths: Int32,
    terms: Int32,
    residual: Array,
    hessian: Array,
    prior_precision: float,
    out: Array,
) -> None:
    """Σ (G² − H)/(H + prior precision) of each term; G sums `residual` by cell, H sums `hessian`.

    `codes` is columns × rows, `residual` and `hessian` are rows × scores; a term is a line of two or three columns.
    """
    n_rows, n_scores = residual.shape
    max_cells = 0
    for k in range(len(terms)):
        n_cells = 1
        for a in terms[k]:
            n_cells *= widths[a]
        max_cells = max(max_cells, n_cells)
    g = np.empty((max_cells, n_scores))
    h = np.empty((max_cells, n_scores))
    cells = np.empty(n_rows, dtype=np.uint32)  # three bytes at most: a term is of two or three columns
    for k in range(len(terms)):
        cells[:] = 0
        n_cells = 1
        for a in terms[k]:
            width = widths[a]
            n_cells *= width
            for i in range(n_rows):
                cells[i] = cells[i] * np.uint32(width) + np.uint32(codes[a, i])
        g[:n_cells] = 0.0
        h[:n_cells] = 0.0
        _sum_by_cell(cells, residual, g)
        _sum_by_cell(cells, hessian, h)
        total = 0.0
        for cell in range(n_cells):
            for c in range(n_scores):
                total += (g[cell, c] * g[cell, c] - h[cell, c]) / (h[cell, c] + prior_precision)
        out[k] = total


@kernel
def _sum_by_cell(cells: NDArray[np.uint32], rows: Array, out: Array) -> None:
    """Add each row to its cell."""
    n_scores = rows.shape[1]
    if n_scores == 1:
        for i in range(len(cells)):
            out[Place(cells[i]), 0] += rows[i, 0]
        return
    for i in range(len(cells)):
        cell = Place(cells[i])
        for c in range(n_scores):
            out[cell, c] += rows[i, c]
