"""Trying variances and numbers of terms on rows that are held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array
from likely.models.evidence.encoding import Terms
from likely.models.evidence.fitter import EncodedData, Expert, Fitter
from likely.models.evidence.folds import Fold
from likely.models.evidence.kernels import row_losses
from likely.models.evidence.row_source import Rows
from likely.parallel import WorkerPool

Spreads = tuple[float, float, float]

GRID = tuple(float(10.0 ** (k / 2)) for k in range(-5, 4))
"""Half decades from 10^−2.5 to 10^1.5."""

ERRORS = 1.0
"""Standard errors by which a smaller variance may be worse."""

NOTICEABLE = 1e-3
NEGLIGIBLE = 1e-4
"""Gains below this share of the loss, or below this loss, are not worth a further trial."""

WORTH_A_THREAD = 1 << 14
"""Codes × scores from which folds are learned side by side."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What experts with certain terms and variances say of held-out rows, one expert per fold."""

    experts: list[Expert]
    scores: Array
    losses: Array
    mean: float


class InnerCV:
    """Inner folds: learn from one part of the rows, judge the other."""

    def __init__(self, data: EncodedData[Rows], folds: list[Fold]) -> None:
        self.data = data
        self.benches = [Fitter(data.take(fold.train)) for fold in folds]
        self.tests = [data.take(fold.test) for fold in folds]
        places = np.concatenate([fold.test for fold in folds])
        self.y, weight = data.rows.y[places], data.rows.weight[places]
        self.share = weight / max(float(weight.sum()), 1e-300)
        self.crew = data.rows.crew if data.rows.codes.size * data.rows.n_scores > WORTH_A_THREAD else WorkerPool(1)

    @property
    def passes(self) -> int:
        """Passes over rows so far."""
        return sum(bench.passes for bench in self.benches)

    def each(self, task: Callable[[int], Expert]) -> list[Expert]:
        """One expert per fold."""
        return self.crew.do(task, range(len(self.benches)))

    def trial(self, terms: list[Terms], spreads: Spreads, warm: Trial | None) -> Trial:
        """Learn in every fold, from where another trial ended, and judge what was held out."""

        def one(k: int) -> Expert:
            return self.benches[k].expert(terms[k], spreads, [] if warm is None else [warm.experts[k]])

        experts = self.each(one)
        scores = np.concatenate(
            [expert.scores(test.frame, test.rows) for expert, test in zip(experts, self.tests, strict=True)]
        )
        losses = self.losses(scores)
        return Trial(experts, scores, losses, float(self.share @ losses))

    def losses(self, scores: Array) -> Array:
        """The log loss of each held-out row."""
        out = np.empty(len(self.y))
        row_losses(scores, self.y, out)
        return out

    def gain(self, old: Array, new: Array) -> tuple[float, float]:
        """Mean gain of one set of losses over another, and its standard error."""
        gap = old - new
        mean = float(self.share @ gap)
        return mean, float(np.sqrt(self.share**2 @ (gap - mean) ** 2))


class VarianceSearch:
    """Trials along the grid, each from where its nearest neighbour ended."""

    def __init__(self, held: InnerCV, attempt: Callable[[float, Trial | None], Trial], first: Trial | None) -> None:
        self.held, self.attempt, self.first = held, attempt, first
        self.tried: dict[int, Trial] = {}

    def at(self, place: int) -> Trial:
        """The trial at a place of the grid."""
        if place not in self.tried:
            near = min(self.tried, key=lambda other: abs(other - place), default=None)
            self.tried[place] = self.attempt(GRID[place], self.first if near is None else self.tried[near])
        return self.tried[place]

    def best(self, start: int, go_on: Callable[[], bool]) -> int:
        """The best place that can be reached downhill from `start`."""
        best = start
        self.at(start)
        for step in (1, -1):
            while 0 <= best + step < len(GRID) and go_on() and self._better(best + step, best):
                best += step
            if best != start:
                break
        return best

    def _better(self, place: int, best: int) -> bool:
        mean = self.at(best).mean
        return self.at(place).mean < mean - max(NOTICEABLE * mean, NEGLIGIBLE)

    def modest(self, best: int) -> int:
        """The smallest variance that is worse than the best by less than the error of that comparison."""
        for place in sorted(self.tried):
            if place >= best:
                break
            loss, error = self.held.gain(self.tried[place].losses, self.tried[best].losses)
            if loss <= ERRORS * error:
                return place
        return best
