"""Two classes, two decisions: the likelihood ratio from which the first decision is the cheaper one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.decide.loss import as_loss
from likely.errors import SettingsError, listed

Priors = Mapping[Any, float] | Sequence[float] | NDArray[np.float64]
ROUNDING = 1e-6


def likelihood_ratio_threshold(loss: Any, priors: Priors) -> float:
    """The first decision is cheapest where p(row | first truth) / p(row | second truth) is at least this.

    It is (l12 − l22) / (l21 − l11) · P(2) / P(1), where l12 is the cost of the first decision under the second
    truth. 0 means that the first decision is never the dearer one, infinity that it is never the cheaper one.

    >>> loss = {"operate": {"ill": 0, "well": 3}, "wait": {"ill": 10, "well": 0}}
    >>> round(likelihood_ratio_threshold(loss, {"ill": 0.25, "well": 0.75}), 12)
    0.9
    """
    costs = as_loss(loss)
    if costs.costs.shape != (2, 2) or costs.refuse is not None:
        raise SettingsError("A single threshold needs two decisions, two truths and no refusal.")
    l11, l12, l21, l22 = (float(cost) for cost in costs.costs.ravel())
    first, second = _shares(priors, costs.truths)
    dearer, saved = (l12 - l22) * second, (l21 - l11) * first
    if dearer < 0.0 and saved < 0.0:
        raise SettingsError(
            f"The decision {costs.decisions[0]!r} is for the second truth, {costs.truths[1]!r}: "
            "name decisions and truths in the same order."
        )
    if saved > 0.0:
        return max(dearer / saved, 0.0)
    return float("inf") if dearer > 0.0 or saved < 0.0 else 0.0


def _shares(priors: Priors, truths: tuple[Hashable, ...]) -> tuple[float, float]:
    if isinstance(priors, Mapping):
        lacking = [truth for truth in truths if truth not in priors]
        if lacking:
            raise SettingsError(f"priors gives no share for the class {listed(lacking)}.")
        shares = np.array([priors[truth] for truth in truths], dtype=np.float64)
    else:
        shares = np.asarray(priors, dtype=np.float64)
    if shares.shape != (2,) or not (shares >= 0.0).all() or abs(shares.sum() - 1.0) > ROUNDING:
        raise SettingsError("priors are two shares that are not negative and sum to 1.")
    return float(shares[0]), float(shares[1])
