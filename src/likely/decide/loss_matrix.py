"""A loss and the classes of a classifier, put together: expected costs, and the cheapest decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.decide.loss import Loss, as_loss, moved_on
from likely.decide.refusal import REFUSED
from likely.decide.scores import Block, Scores, cheapest, expect, expect_by_row, expect_mistake, expect_mistakes
from likely.errors import DataError, SettingsError, did_you_mean, listed
from likely.parallel import BLOCK_CELLS
from likely.table import index_levels
from likely.table.column import as_objects

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The place of the cheapest decision of each row, and what it is expected to cost."""

    best: NDArray[np.intp]
    least: Array


@dataclass(frozen=True, slots=True, eq=False)
class LossMatrix:
    """`places[k]` is the truth that class k is. `mistake` is the price of any mistake, where all cost the same."""

    loss: Loss
    labels: NDArray[Any]
    places: NDArray[np.int64]
    by_class: Array | None
    mistake: float | None

    @classmethod
    def of(cls, loss: Loss, classes: NDArray[Any], n_rows: int) -> LossMatrix:
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
        in_order = len(own) == len(known) and np.array_equal(own, np.arange(len(known)))
        mistake = _mistake(loss.costs) if in_order and np.array_equal(places, np.arange(len(known))) else None
        shared = mistake is None and loss.n_rows is None
        by_class = np.ascontiguousarray(loss.costs[:, places].T, dtype=np.float64) if shared else None
        return cls(loss, labels, places, by_class, mistake)

    @property
    def room(self) -> int:
        """Rows whose costs are looked at together."""
        n_decisions = len(self.labels)
        return max(BLOCK_CELLS // (n_decisions * (1 if self.loss.n_rows is None else len(self.loss.truths))), 1)

    def expected(self, posterior: Array, rows: slice, out: Array) -> None:
        """Risk of every decision in each row, R(decision | row) = Σ cost · P(truth | row)."""
        if self.mistake is not None:
            expect_mistakes(posterior, self.mistake, out)
        elif self.by_class is not None:
            expect(posterior, self.by_class, out)
        else:
            costs = np.ascontiguousarray(self.loss.costs[rows], dtype=np.float64)
            expect_by_row(posterior, costs, self.places, out)

    def risk(self, scores: Scores) -> Array:
        """Rows × options: the risk of every decision and, last, the price of refusing."""
        out = np.empty((scores.n_rows, len(self.loss.options)))
        n_decisions = len(self.labels)

        def keep(block: slice, scored: Block) -> None:
            posterior = scored.posterior()
            for rows in _pieces(block, self.room):
                risks = np.empty((rows.stop - rows.start, n_decisions))
                self.expected(posterior[rows.start - block.start : rows.stop - block.start], rows, risks)
                out[rows, :n_decisions] = risks

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
            if self.mistake is not None:
                scored.choose(best[block])
                if with_risk:
                    expect_mistake(scored.posterior(), self.mistake, best[block], least[block])
                return
            posterior = scored.posterior()
            for rows in _pieces(block, self.room):
                risks = np.empty((rows.stop - rows.start, len(self.labels)))
                self.expected(posterior[rows.start - block.start : rows.stop - block.start], rows, risks)
                cheapest(risks, best[rows], least[rows])

        scores.each(keep)
        return Chosen(best, least)

    def labelled(self, best: NDArray[np.intp], refused: NDArray[np.bool_] | None) -> NDArray[Any]:
        """Decisions by name; an array of objects if some may be refused, whether or not any is."""
        if refused is None:
            return np.asarray(self.labels[best])
        named = self.labels.astype(object)[best]
        named[refused] = REFUSED
        return np.asarray(named)


def _labels(loss: Loss, known: list[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The decisions as an array (of the classes' own type if they are classes), and their places among the classes."""
    own = index_levels(loss.decisions, known)
    if (own >= 0).all():
        return np.asarray(classes[own]), own
    named = [known[place] if place >= 0 else label for label, place in zip(loss.decisions, own, strict=True)]
    if all(type(label) is str for label in named) and np.array(named).tolist() == named:
        return np.array(named), own
    return as_objects(named), own


def _mistake(costs: NDArray[Any]) -> float | None:
    """What every mistake costs, if they all cost the same and right decisions nothing."""
    if costs.ndim != 2 or costs[0, 0] != 0.0:
        return None
    if len(costs) == 1:
        return 1.0
    price = float(costs[0, 1])
    lines = range(0, len(costs), len(costs) - 1) if moved_on(costs) else range(len(costs))
    even = all(costs[k, k] == 0.0 and np.count_nonzero(costs[k] == price) == len(costs) - 1 for k in lines)
    return price if price > 0.0 and even else None


def _pieces(block: slice, size: int) -> list[slice]:
    return [slice(start, min(start + size, block.stop)) for start in range(block.start, block.stop, size)]


# Decisions from posteriors of any origin, such as those of another library's classifier.


def decide_posterior(posterior: Any, classes: Any, loss: Any) -> NDArray[Any]:
    """The cheapest decision of each row of posteriors (rows × classes); a refusal where that is cheapest.

    >>> decide_posterior([[0.8, 0.2], [0.9, 0.1]], ["good", "bad"], {"grant": {"good": 0, "bad": 5},
    ...                                                              "deny": {"good": 1, "bad": 0}}).tolist()
    ['deny', 'grant']
    """
    scores, matrix = _aligned(posterior, classes, loss)
    chosen, price = matrix.choose(scores), matrix.loss.refuse
    return matrix.labelled(chosen.best, None if price is None else chosen.least > price)


def risk_of_posterior(posterior: Any, classes: Any, loss: Any) -> Array:
    """Rows × decisions (the refusal last, if it has a price): what each is expected to cost."""
    scores, matrix = _aligned(posterior, classes, loss)
    return matrix.risk(scores)


def _aligned(posterior: Any, classes: Any, loss: Any) -> tuple[Scores, LossMatrix]:
    shares, named = np.asarray(posterior, dtype=np.float64), np.asarray(classes)
    if shares.ndim != 2 or shares.shape[1] != len(named):
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


def risk_coverage(posterior: Any, truth: Any, loss: Any, classes: Any) -> RiskCoverage:
    """The curve of posteriors (rows × classes) with the true labels of the rows; surest decisions come first.

    Rows with the same expected loss come in together, so the order of rows makes no difference.

    >>> curve = risk_coverage([[0.9, 0.1], [0.4, 0.6]], ["a", "a"], {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}},
    ...                       classes=["a", "b"])
    >>> curve.coverage.tolist(), curve.risk.tolist(), curve.area
    ([0.5, 1.0], [0.0, 0.5], 0.25)
    """
    shares = np.asarray(posterior, dtype=np.float64)
    named = np.asarray(classes)
    if shares.ndim != 2 or shares.shape[1] != len(named) or len(shares) == 0:
        raise DataError(f"Posteriors of the shape {shares.shape} are not rows × {len(named)} classes.")
    matrix = LossMatrix.of(as_loss(loss).refusing(None), named, len(shares))
    chosen = matrix.choose(Scores.of_posterior(shares))
    paid = matrix.loss.paid(matrix.labelled(chosen.best, None), truth)
    price, group, sizes = np.unique(chosen.least, return_inverse=True, return_counts=True)
    mean_paid = np.bincount(group, weights=paid) / sizes
    n_decided = np.cumsum(sizes)
    risk_by_row = np.cumsum(np.repeat(mean_paid, sizes)) / np.arange(1, len(paid) + 1)
    return RiskCoverage(price, n_decided / len(paid), risk_by_row[n_decided - 1], float(risk_by_row.mean()))
