"""How far a figure may be off by chance: Wilson's formula for shares of rows, the bootstrap for all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array
from likely.evaluation.metrics import CURVES, RATES, UNBOUNDED, figures
from likely.evaluation.predictions import Predictions
from likely.measures import wilson_interval
from likely.parallel import run

LEVEL = 0.95
RESAMPLES = 200
MOST_DRAWN = 5000
"""Rows (or groups) drawn for a resample; where there are more, the spread is scaled to all of them."""

MOST_CURVED = 20
"""Classes up to which areas under curves are resampled, too."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Ends of an interval and the method it comes from."""

    low: float
    high: float
    method: str


def wilson(share: float, n: float, level: float = LEVEL) -> Interval:
    """Where the true share lies if `share` of n rows was seen.

    >>> interval = wilson(0.5, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2366, 0.7634)
    """
    if n <= 0.0:
        return Interval(0.0, 1.0, "Wilson")
    low, high = wilson_interval(share * n, n, level)
    return Interval(float(low), float(high), "Wilson")


def rows_worth(weight: Array, repeats: int) -> float:
    """How many rows of equal weight say as much: (Σ w)² / Σ w², each row counted once however often it was judged."""
    return float(weight.sum()) ** 2 / max(float(weight @ weight), np.finfo(float).tiny) / repeats


def intervals(
    predictions: Predictions, found: dict[str, float], beta: float, repeats: int, random_state: int,
    rows: int | None = None,
) -> dict[str, Interval]:  # fmt: skip
    """An interval for every figure; `rows` is how many were judged in all, if the predictions are a sample of them."""
    more = 1.0 if rows is None else rows / max(len(predictions), 1)
    n = rows_worth(predictions.weight, repeats) * more
    decided = n * found["coverage"]
    known = {"accuracy": decided, "error_rate": decided, "coverage": n}
    result = {name: wilson(found[name], known[name]) for name in RATES}
    spread, method = _spread(predictions, beta, random_state)
    for name, value in found.items():
        if name in spread:
            scale = 1.0 if name in CURVES else np.sqrt(more)  # curves are known from the sample alone
            low, high = (value + float(end) / scale for end in spread[name])
            most = np.inf if name in UNBOUNDED else 1.0
            least = -np.inf if name == "expected_cost" else 0.0
            result[name] = Interval(max(low, least), min(high, most), method)
    return {name: result[name] for name in found if name in result}


def _spread(predictions: Predictions, beta: float, random_state: int) -> tuple[dict[str, Array], str]:
    """Quantiles of the deviations of resampled figures from their mean.

    Whole units (rows, or groups of rows) are drawn with replacement, so that all judgements of one row stay together.
    """
    order = np.argsort(predictions.unit, kind="stable")
    units, starts = np.unique(predictions.unit[order], return_index=True)
    ends = np.append(starts[1:], len(order))
    drawn = min(len(units), MOST_DRAWN)
    curved = len(predictions.classes) <= MOST_CURVED

    def resample(child: np.random.SeedSequence) -> dict[str, float]:
        chosen = np.random.default_rng(child).integers(0, len(units), drawn)
        sizes = ends[chosen] - starts[chosen]
        steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = order[np.repeat(starts[chosen], sizes) + steps]
        return figures(predictions.take(rows), beta, with_curves=curved)

    draws = run(resample, np.random.SeedSequence(random_state).spawn(RESAMPLES), None)
    names = [name for name in draws[0] if name not in RATES and all(name in draw for draw in draws)]
    tails = [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL]
    scale = np.sqrt(drawn / len(units))
    spread = {}
    for name in names:
        values = np.array([draw[name] for draw in draws])
        spread[name] = scale * np.quantile(values - values.mean(), tails)
    return spread, "bootstrap" if drawn == len(units) else f"bootstrap of {drawn:,}"
