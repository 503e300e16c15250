"""Inner cross-validation: log loss of held-out rows, by which prior variances and interactions are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.evaluation.folds import shuffled_by_class
from likely.models.evidence.encoding import Terms
from likely.models.evidence.fitter import EncodedData, Expert, Fitter
from likely.models.evidence.kernels import row_losses
from likely.models.evidence.row_source import Rows
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


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Numbers of the rows to fit, and of those held out."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def n_inner_folds(n_rows: int) -> int:
    """Five folds below 1,000 rows, three below 3,000; from there on one, which holds a fifth of the rows out."""
    return 5 if n_rows < 1000 else 3 if n_rows < 3000 else 1


def inner_folds(y: NDArray[np.int32], seed: int) -> list[Fold]:
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

    def __init__(self, data: EncodedData[Rows], folds: list[Fold]) -> None:
        self.data = data
        self.fitters = [Fitter(data.take(fold.train)) for fold in folds]
        self.held_out = [data.take(fold.test) for fold in folds]
        rows = np.concatenate([fold.test for fold in folds])
        self.y, weight = data.rows.y[rows], data.rows.weight[rows]
        self.row_shares = weight / max(float(weight.sum()), 1e-300)
        work = data.rows.codes.size * data.rows.n_scores
        self.pool = data.rows.pool if work > MIN_PARALLEL_WORK else WorkerPool(1)

    @property
    def passes(self) -> int:
        """Passes over rows so far."""
        return sum(fitter.passes for fitter in self.fitters)

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
