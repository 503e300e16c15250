"""What was said about every row that was held out, written down block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32
from likely.decide import Loss, LossMatrix, Scores
from likely.jit import kernel
from likely.parallel import row_blocks, run

MOST_CELLS = 1 << 27
"""Posteriors of up to so many cells (1 GiB) are kept; beyond, only what they say about each row's true class."""

REFUSAL = -1
"""The decision not to decide."""


class PosteriorTerms(NamedTuple):
    """Of each entry the share of the true class, the sum of all squared shares, and the largest share."""

    likelihood: Array
    squares: Array
    confidence: Array


@dataclass(frozen=True, eq=False)
class Predictions:
    """One entry per prediction: the true class, what was decided, and what was believed.

    `decided` holds places in `decisions` (−1: refused), `top` the most probable class. `unit` says which entries
    belong together when rows are drawn anew: the entries of one row, or of one group. `noted` is what is known of
    posteriors that were not kept. Where a classifier gives no probabilities, neither is there.
    """

    classes: AnyArray
    decisions: AnyArray
    truth: Int32
    top: Int32
    decided: Int32
    weight: Array
    unit: Index
    fold: Int32
    posterior: Array | None
    noted: PosteriorTerms | None
    cost: Array | None
    may_refuse: bool

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def shares(self) -> PosteriorTerms | None:
        """What the posteriors say about each entry."""
        if self.posterior is None:
            return self.noted
        posterior, found = self.posterior, PosteriorTerms(*np.empty((3, len(self))))

        def look(block: slice) -> None:
            _look(posterior[block], self.truth[block], *(cells[block] for cells in found))

        run(look, row_blocks(len(self), len(self.classes)), None)
        return found

    def take(self, rows: AnyArray) -> Predictions:
        """Some of the entries, perhaps several times."""

        def some(cells: Array | None) -> Array | None:
            return None if cells is None else np.take(cells, rows, axis=0)

        return replace(
            self,
            truth=self.truth[rows],
            top=self.top[rows],
            decided=self.decided[rows],
            weight=self.weight[rows],
            unit=self.unit[rows],
            fold=self.fold[rows],
            posterior=some(self.posterior),
            noted=None if self.noted is None else PosteriorTerms(*(cells[rows] for cells in self.noted)),
            cost=some(self.cost),
        )


class PredictionBuffer:
    """Entries to be filled in, in any order and by several threads; each is made once.

    Where posteriors are kept, writing one is nothing but keeping it: rows of a fold lie scattered, and all that
    follows from their posteriors is worked out at the end, in one walk through memory.
    """

    def __init__(self, classes: AnyArray, truth: Int32, weight: Array, unit: Index, loss: Loss | None) -> None:
        n = len(truth)
        self.classes, self.truth, self.weight, self.unit, self.loss = classes, truth, weight, unit, loss
        self.fold, self._top, self._decided = np.zeros((3, n), dtype=np.int32)
        self._keeps = n * len(classes) <= MOST_CELLS
        self._noted = PosteriorTerms(*np.zeros((3, 0 if self._keeps else n)))
        self._cost = np.zeros(n if loss is not None else 0)
        self._kept = np.zeros((n if self._keeps else 0, len(classes)))
        self._has_shares, self._was_chosen, self._decisions = True, False, classes

    def write(self, rows: slice | Index, posterior: Array, chosen: Int32 | None = None, first: int = 0) -> None:
        """What was believed about some rows (their numbers count from entry `first` on), and what was chosen."""
        at: slice | Index = slice(rows.start + first, rows.stop + first) if isinstance(rows, slice) else rows + first
        if chosen is not None:
            self._was_chosen = True
            self._top[at] = chosen
        if not self._keeps:
            self._note(at, posterior)
        elif isinstance(at, slice):
            self._kept[at] = posterior
        else:
            _scatter(posterior, at, self._kept)

    def write_labels(self, rows: Index, chosen: Int32, first: int = 0) -> None:
        """What was chosen by a classifier that gives no probabilities."""
        self._has_shares = False
        self._top[rows + first] = chosen

    def finish(self, n_jobs: int | None = None) -> Predictions:
        """All entries, once each has been made."""
        if self._has_shares and self._keeps:
            blocks = row_blocks(len(self.truth), len(self.classes))
            run(lambda block: self._note(block, self._kept[block]), blocks, n_jobs)
        return Predictions(
            self.classes,
            self._decisions,
            self.truth,
            self._top,
            self._top if self.loss is None else self._decided,
            self.weight,
            self.unit,
            self.fold,
            posterior=self._kept if self._has_shares and self._keeps else None,
            noted=self._noted if self._has_shares and not self._keeps else None,
            cost=None if self.loss is None else self._cost,
            may_refuse=self.loss is not None and self.loss.refuse is not None,
        )

    def _note(self, at: slice | Index, posterior: Array) -> None:
        """Work out what follows from the posteriors of some entries."""
        if not self._keeps:
            found = PosteriorTerms(*np.empty((3, len(posterior))))
            _look(posterior, self.truth[at], *found)
            for cells, noted in zip(self._noted, found, strict=True):
                cells[at] = noted
        if not self._was_chosen:
            top = np.empty(len(posterior), dtype=np.int32)
            _largest(posterior, top)
            self._top[at] = top
        if self.loss is not None:
            self._decided[at], self._cost[at] = self._decide(self.loss, at, posterior)

    def _decide(self, loss: Loss, at: slice | Index, posterior: Array) -> tuple[Int32, Array]:
        """The cheapest decision by the loss, and what it has cost."""
        if loss.n_rows is not None:
            rows = np.arange(len(self.truth))[at] % loss.n_rows  # with repetitions a row has several entries
            loss = Loss(loss.costs[rows], decisions=loss.decisions, truths=loss.truths, refuse=loss.refuse)
        matrix = LossMatrix.of(loss, self.classes, len(posterior))
        chosen, truth = matrix.choose(Scores.of_posterior(posterior, 1)), self.truth[at]
        self._decisions = matrix.labels
        own = (np.arange(len(truth)),) if matrix.loss.n_rows is not None else ()
        cost = np.asarray(matrix.loss.costs[(*own, chosen.best, matrix.places[truth])], dtype=np.float64)
        price = matrix.loss.refuse
        if price is None:
            return chosen.best.astype(np.int32), cost
        refused = chosen.least > price
        return np.where(refused, REFUSAL, chosen.best).astype(np.int32), np.where(refused, price, cost)


@kernel
def _scatter(posterior: Array, at: Index, kept: Array) -> None:
    for i in range(posterior.shape[0]):
        line = kept[at[i]]
        for c in range(posterior.shape[1]):
            line[c] = posterior[i, c]


@kernel
def _largest(posterior: Array, top: Int32) -> None:
    """The class with the largest share of each row; the first of equals."""
    for i in range(posterior.shape[0]):
        best = 0
        for c in range(1, posterior.shape[1]):
            if posterior[i, c] > posterior[i, best]:
                best = c
        top[i] = best


@kernel
def _look(posterior: Array, truth: Int32, likelihood: Array, squares: Array, confidence: Array) -> None:
    """The shares of each row, see `PosteriorTerms`."""
    for i in range(posterior.shape[0]):
        total, largest = 0.0, 0.0
        for c in range(posterior.shape[1]):
            total += posterior[i, c] * posterior[i, c]
            largest = max(largest, posterior[i, c])
        likelihood[i], squares[i], confidence[i] = posterior[i, truth[i]], total, largest
