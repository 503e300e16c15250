"""A loss and the classes of a classifier, put together: expected costs, and the cheapest decision."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike, Flags, Index, Int64, TableLike
from likely.decide.loss import REFUSED, Loss, LossLike, as_loss, moved_on
from likely.decide.scores import Block, Scores
from likely.errors import DataError, SettingsError, did_you_mean, listed
from likely.jit import kernel
from likely.parallel import BLOCK_CELLS
from likely.table import index_levels
from likely.table.cells import as_objects

if TYPE_CHECKING:
    import pandas as pd


class Chosen(NamedTuple):
    """The place of the cheapest decision of each row, and what it is expected to cost."""

    best: Index
    least: Array


@dataclass(frozen=True, slots=True, eq=False)
class LossMatrix:
    """`places[k]` is the truth that class k is. `mistake` is the price of any mistake, where all cost the same."""

    loss: Loss
    labels: AnyArray
    places: Int64
    by_class: Array | None
    mistake: float | None

    @classmethod
    def of(cls, loss: Loss, classes: AnyArray, n_rows: int) -> LossMatrix:
        """Find every class among the truths; truths that the classifier never learned are no matter."""
        known = list(classes) if classes.dtype.kind in "Mm" else classes.tolist()
        loss = loss.named(known)
        places = index_levels(known, loss.truths)
        lacking = [label for label, place in zip(known, places, strict=True) if place < 0]
        if lacking:
            hint = did_you_mean(str(lacking[0]), [str(truth) for truth in loss.truths])
            raise SettingsError(
                f"The loss gives no cost for the class {listed(lacking)}; its truths are {listed(loss.truths)}.{hint}"
            )
        if loss.n_rows not in (None, n_rows):
            raise SettingsError(f"The loss has costs for {loss.n_rows} rows, but the table has {n_rows}.")
        labels, own = _labels(loss, known, classes)
        in_order = np.array_equal(own, np.arange(len(known)))
        mistake = _mistake(loss.costs) if in_order and np.array_equal(places, np.arange(len(known))) else None
        shared = mistake is None and loss.n_rows is None
        by_class = np.ascontiguousarray(loss.costs[:, places].T, dtype=np.float64) if shared else None
        return cls(loss, labels, places, by_class, mistake)

    def risk(self, scores: Scores) -> Array:
        """Rows × options: the risk of every decision and, last, the price of refusing."""
        out = np.empty((scores.n_rows, len(self.loss.options)))

        def keep(block: slice, scored: Block) -> None:
            for rows, risks in self._expected(block, scored.posterior()):
                out[rows, : len(self.labels)] = risks

        scores.each(keep)
        if self.loss.refuse is not None:
            out[:, -1] = self.loss.refuse
        return out

    def choose(self, scores: Scores, *, with_risk: bool = True) -> Chosen:
        """The cheapest decision of every row, a refusal not considered; needs no rows × decisions.

        Where all mistakes cost the same and no risk is asked for, posteriors are not even computed.
        """
        best, least = np.empty(scores.n_rows, dtype=np.intp), np.zeros(scores.n_rows)

        def keep(block: slice, scored: Block) -> None:
            if self.mistake is None:
                for rows, risks in self._expected(block, scored.posterior()):
                    cheapest(risks, best[rows], least[rows])
                return
            scored.choose(best[block])
            if with_risk:
                expect_mistake(scored.posterior(), self.mistake, best[block], least[block])

        scores.each(keep)
        return Chosen(best, least)

    def _expected(self, block: slice, posterior: Array) -> Iterator[tuple[slice, Array]]:
        """R(decision | row) = Σ cost · P(truth | row) of every decision, for a few rows of a block at a time."""
        n_decisions = len(self.labels)
        cells = n_decisions * (1 if self.loss.n_rows is None else len(self.loss.truths))
        size = max(BLOCK_CELLS // cells, 1)
        for start in range(block.start, block.stop, size):
            rows = slice(start, min(start + size, block.stop))
            few, out = posterior[start - block.start :][:size], np.empty((rows.stop - start, n_decisions))
            if self.mistake is not None:
                expect_mistakes(few, self.mistake, out)
            elif self.by_class is not None:
                expect(few, self.by_class, out)
            else:
                costs = np.ascontiguousarray(self.loss.costs[rows], dtype=np.float64)
                expect_by_row(few, costs, self.places, out)
            yield rows, out

    def labelled(self, best: Index, refused: Flags | None) -> AnyArray:
        """Decisions by name; an array of objects if some may be refused, whether or not any is."""
        if refused is None:
            return np.asarray(self.labels[best])
        named = self.labels.astype(object)[best]
        named[refused] = REFUSED
        return np.asarray(named)


def _labels(loss: Loss, known: list[Hashable], classes: AnyArray) -> tuple[AnyArray, Int64]:
    """The decisions as an array (of the classes' own type if they are classes), and their places among the classes."""
    own = index_levels(loss.decisions, known)
    if (own >= 0).all():
        return np.asarray(classes[own]), own
    named = [known[place] if place >= 0 else label for label, place in zip(loss.decisions, own, strict=True)]
    if all(type(label) is str for label in named) and np.array(named).tolist() == named:
        return np.array(named), own
    return as_objects(named), own


def _mistake(costs: AnyArray) -> float | None:
    """What every mistake costs, if they all cost the same and right decisions nothing."""
    if costs.ndim != 2 or costs[0, 0] != 0.0:
        return None
    if len(costs) == 1:
        return 1.0
    price = float(costs[0, 1])
    lines = range(0, len(costs), len(costs) - 1) if moved_on(costs) else range(len(costs))
    even = all(costs[k, k] == 0.0 and np.count_nonzero(costs[k] == price) == len(costs) - 1 for k in lines)
    return price if price > 0.0 and even else None


# Expected costs of rows, compiled. Every row is summed class by class, so blocks do not change a bit.

TILE = 8
"""Rows that share one reading of a line of costs: with a thousand classes the costs do not fit a cache."""


@kernel
def expect(posterior: Array, costs: Array, out: Array) -> None:
    """Σ P(truth | row) · cost of each decision; `costs` is truths × decisions."""
    n_rows, n_truths = posterior.shape
    out[:] = 0.0
    for first in range(0, n_rows, TILE):
        for k in range(n_truths):
            for i in range(first, min(first + TILE, n_rows)):
                share = posterior[i, k]
                if share > 0.0:
                    for d in range(costs.shape[1]):
                        out[i, d] += share * costs[k, d]


@kernel
def expect_by_row(posterior: Array, costs: Array, places: Int64, out: Array) -> None:
    """The same where each row has its own costs (rows × decisions × truths); class k is truth `places[k]`."""
    for i in range(posterior.shape[0]):
        for d in range(costs.shape[1]):
            total = 0.0
            for k in range(posterior.shape[1]):
                if posterior[i, k] > 0.0:
                    total += posterior[i, k] * costs[i, d, places[k]]
            out[i, d] = total


@kernel
def expect_mistakes(posterior: Array, cost: float, out: Array) -> None:
    """The same where every mistake costs as much: Σ P(other class | row), not 1 − P, which would round to 0."""
    n_classes = posterior.shape[1]
    for i in range(posterior.shape[0]):
        before = 0.0
        for k in range(n_classes):
            out[i, k] = before
            before += posterior[i, k]
        after = 0.0
        for k in range(n_classes - 1, -1, -1):
            out[i, k] = cost * (out[i, k] + after)
            after += posterior[i, k]


@kernel
def expect_mistake(posterior: Array, cost: float, chosen: Index, out: Array) -> None:
    """The same for one class of each row."""
    for i in range(posterior.shape[0]):
        before, after = 0.0, 0.0
        for k in range(chosen[i]):
            before += posterior[i, k]
        for k in range(posterior.shape[1] - 1, chosen[i], -1):
            after += posterior[i, k]
        out[i] = cost * (before + after)


@kernel
def cheapest(expected: Array, best: Index, least: Array) -> None:
    """The smallest of each row, the first of equals."""
    for i in range(expected.shape[0]):
        best[i] = 0
        for d in range(1, expected.shape[1]):
            if expected[i, d] < expected[i, best[i]]:
                best[i] = d
        least[i] = expected[i, best[i]]


# Decisions from posteriors of any origin, such as those of another library's classifier.


def decide_posterior(posterior: TableLike, classes: ColumnLike, loss: LossLike) -> AnyArray:
    """The cheapest decision of each row of posteriors (rows × classes); a refusal where that is cheapest.

    >>> decide_posterior([[0.8, 0.2], [0.9, 0.1]], ["good", "bad"], {"grant": {"good": 0, "bad": 5},
    ...                                                              "deny": {"good": 1, "bad": 0}}).tolist()
    ['deny', 'grant']
    """
    scores, matrix = _aligned(posterior, classes, loss)
    chosen, price = matrix.choose(scores), matrix.loss.refuse
    return matrix.labelled(chosen.best, None if price is None else chosen.least > price)


def risk_of_posterior(posterior: TableLike, classes: ColumnLike, loss: LossLike) -> Array:
    """Rows × decisions (the refusal last, if it has a price): what each is expected to cost."""
    scores, matrix = _aligned(posterior, classes, loss)
    return matrix.risk(scores)


def _aligned(posterior: TableLike, classes: ColumnLike, loss: LossLike, fewest: int = 0) -> tuple[Scores, LossMatrix]:
    shares, named = np.asarray(posterior, dtype=np.float64), np.asarray(classes)
    if shares.ndim != 2 or shares.shape[1] != len(named) or len(shares) < fewest:
        raise DataError(f"Posteriors of the shape {shares.shape} are not rows × {len(named)} classes.")
    return Scores.of_posterior(shares), LossMatrix.of(as_loss(loss), named, len(shares))


# How much is decided, and how well, at every price of refusing.


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """If refusing has the price `price[i]`, the share `coverage[i]` of rows is decided, at the mean loss `risk[i]`.

    `area` is the mean of the risk over all coverages from one row to all of them: less is better.
    """

    price: Array
    coverage: Array
    risk: Array
    area: float

    def to_frame(self) -> pd.DataFrame:
        """One line per price at which a further row is decided."""
        import pandas as pd

        return pd.DataFrame({"price": self.price, "coverage": self.coverage, "risk": self.risk})


def risk_coverage(posterior: TableLike, truth: ColumnLike, loss: LossLike, classes: ColumnLike) -> RiskCoverage:
    """The curve of posteriors (rows × classes) with the true labels of the rows; the surest decisions come first.

    Rows with the same expected loss come in together, so the order of rows makes no difference.

    >>> curve = risk_coverage([[0.9, 0.1], [0.4, 0.6]], ["a", "a"], {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}},
    ...                       classes=["a", "b"])
    >>> curve.coverage.tolist(), curve.risk.tolist(), curve.area
    ([0.5, 1.0], [0.0, 0.5], 0.25)
    """
    scores, matrix = _aligned(posterior, classes, as_loss(loss).refusing(None), fewest=1)
    chosen = matrix.choose(scores)
    paid = matrix.loss.paid(matrix.labelled(chosen.best, None), truth)
    price, group, sizes = np.unique(chosen.least, return_inverse=True, return_counts=True)
    mean_paid = np.bincount(group, weights=paid) / sizes
    n_decided = np.cumsum(sizes)
    risk_by_row = np.cumsum(np.repeat(mean_paid, sizes)) / np.arange(1, len(paid) + 1)
    return RiskCoverage(price, n_decided / len(paid), risk_by_row[n_decided - 1], float(risk_by_row.mean()))
