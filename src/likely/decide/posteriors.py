"""Decisions from posteriors of any origin, such as those of another library's classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.decide.bound import Bound
from likely.decide.loss import as_loss
from likely.decide.scores import Scores
from likely.errors import DataError

Array = NDArray[np.float64]


def decide_posterior(posterior: Any, classes: Any, loss: Any) -> NDArray[Any]:
    """The cheapest decision of each row of posteriors (rows × classes); a refusal where that is cheapest.

    >>> decide_posterior([[0.8, 0.2], [0.9, 0.1]], ["good", "bad"], {"grant": {"good": 0, "bad": 5},
    ...                                                              "deny": {"good": 1, "bad": 0}}).tolist()
    ['deny', 'grant']
    """
    scores, bound = _bound(posterior, classes, loss)
    chosen, price = bound.choose(scores), bound.loss.refuse
    return bound.labelled(chosen.best, None if price is None else chosen.least > price)


def risk_of_posterior(posterior: Any, classes: Any, loss: Any) -> Array:
    """Rows × decisions (the refusal last, if it has a price): what each is expected to cost."""
    scores, bound = _bound(posterior, classes, loss)
    return bound.risk(scores)


def _bound(posterior: Any, classes: Any, loss: Any) -> tuple[Scores, Bound]:
    shares, named = np.asarray(posterior, dtype=np.float64), np.asarray(classes)
    if shares.ndim != 2 or shares.shape[1] != len(named):
        raise DataError(f"Posteriors of the shape {shares.shape} are not rows × {len(named)} classes.")
    return Scores.of_posterior(shares), Bound.of(as_loss(loss), named, len(shares))
