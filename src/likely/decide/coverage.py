"""What is gained by refusing: the loss of the rows that are decided, as fewer of them are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.arrays import Array
from likely.decide.loss import as_loss
from likely.decide.loss_matrix import LossMatrix
from likely.decide.scores import Scores
from likely.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


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
    bound = LossMatrix.of(as_loss(loss).refusing(None), named, len(shares))
    chosen = bound.choose(Scores.of_posterior(shares))
    paid = bound.loss.paid(bound.labelled(chosen.best, None), truth)
    price, group, sizes = np.unique(chosen.least, return_inverse=True, return_counts=True)
    mean_paid = np.bincount(group, weights=paid) / sizes
    n_decided = np.cumsum(sizes)
    risk_by_row = np.cumsum(np.repeat(mean_paid, sizes)) / np.arange(1, len(paid) + 1)
    return RiskCoverage(price, n_decided / len(paid), risk_by_row[n_decided - 1], float(risk_by_row.mean()))
