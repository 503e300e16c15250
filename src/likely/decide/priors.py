"""New priors from rows without labels, when classes have become more or less common since training."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from likely.arrays import Array
from likely.decide.loss import LossLike, as_loss
from likely.decide.scores import Block, Scores
from likely.errors import DataError, SettingsError, listed

MOST_CELLS = 1 << 26
"""Rows × classes that are kept: half a gigabyte. Of more rows every second, third, … says enough."""


def likelihood_ratios(scores: Scores, prior: Array) -> Array:
    """P(row | class) of some or all rows, each row up to a factor of its own: the posterior divided by the prior."""
    step = max(-(-scores.n_rows * len(prior) // MOST_CELLS), 1)
    out = np.empty((-(-scores.n_rows // step), len(prior)))
    with np.errstate(divide="ignore"):
        inverse = np.where(prior > 0.0, 1.0 / prior, 0.0)

    def keep(block: slice, scored: Block) -> None:
        first = -(-block.start // step) * step
        kept = slice(first // step, -(-block.stop // step))
        out[kept] = scored.posterior()[first - block.start :: step] * inverse

    scores.each(keep)
    return out


def shifted_prior(ratios: Array, prior: Array, tolerance: float = 1e-3, max_iterations: int = 1_000) -> Array:
    """The prior under which the rows are most likely, by expectation and maximisation (Saerens and others, 2002).

    Each step averages the posteriors that the last prior gives. It ends once the log-likelihood of all rows
    together cannot grow by more than `tolerance`, which its gradient bounds, for it is concave.
    """
    if not tolerance > 0.0:
        raise SettingsError(f"tolerance is {tolerance!r}, but it is a number above 0.")
    telling = ratios.max(axis=1, initial=0.0) > 0.0
    n_rows = int(np.count_nonzero(telling))
    if n_rows == 0:
        raise DataError("No row tells anything about the classes, so their priors cannot be estimated.")
    known = ratios if n_rows == len(ratios) else ratios[telling]
    shares = prior / prior.sum()
    before: list[Array] = []
    for _ in range(max_iterations):
        gradient = (1.0 / (known @ shares)) @ known / n_rows
        before.append(shares)
        shares = shares * gradient
        shares /= shares.sum()
        if n_rows * (gradient.max() - 1.0) <= tolerance:
            return np.asarray(shares)
        if len(before) == 2:
            shares = _further(known, before[0], before[1], shares)
            before.clear()
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"After {max_iterations} steps the estimated priors still move: the classes may be hard to tell apart. "
        "Allow more steps (max_iterations) or a larger tolerance.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return np.asarray(shares)


def _further(known: Array, first: Array, second: Array, third: Array) -> Array:
    """Where two steps point to, if the rows are more likely there than after the second step (SQUAREM).

    Plain steps take thousands where classes overlap; these take tens.
    """
    step, curvature = second - first, third - 2.0 * second + first
    size = float(np.linalg.norm(curvature))
    if size == 0.0:
        return third
    reach = float(np.linalg.norm(step)) / size
    leap = first + 2.0 * reach * step + reach**2 * curvature
    # A share that was possible stays possible: from zero no step leads back.
    if reach <= 1.0 or not (leap[third > 0.0] > 0.0).all():
        return third
    leap = np.where(third > 0.0, leap, 0.0)
    leap /= leap.sum()
    return leap if np.log(known @ leap).sum() >= np.log(known @ third).sum() else third


# Two classes, two decisions: the likelihood ratio from which the first decision is the cheaper one.

Priors = Mapping[Hashable, float] | Sequence[float] | Array
ROUNDING = 1e-6


def likelihood_ratio_threshold(loss: LossLike, priors: Priors) -> float:
    """The first decision is cheapest where p(row | first truth) / p(row | second truth) is at least this.

    It is (l12 − l22) / (l21 − l11) · P(2) / P(1), where l12 is the cost of the first decision under the second
    truth. 0 means that the first decision is never more expensive, infinity that it is never cheaper.

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
